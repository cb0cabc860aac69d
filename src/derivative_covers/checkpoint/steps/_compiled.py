"""Steps that are recorded once and replayed by compiled code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputTypeError, OptionError, ReplayError, ShapeError
from ..states._nests import mapped
from ..states._states import (
    Space,
    canonical,
    leaves,
    present,
    rebuild,
)
from ._machines import StepMachine, maker
from ._names import name_of
from ._program import Program, record_program, same_at_two_steps
from ._taped import StepRecord
from ._transition import Taped

__all__ = ["Branch", "Compiled"]

Array = NDArray[Any]
_Key = tuple[Space, Space | None]
_KEPT = 8


class Branch(NamedTuple):
    """A machine for one branch of a step.

    Attributes:
        machine: What runs it.
        work: Operations of a step.
    """

    machine: StepMachine
    work: int


class Compiled(Taped):
    """A step that is recorded once and replayed; see :meth:`Transition.compiled`.

    Attributes:
        data: Rows of declared data, flat and float64, a row a step; None without.
        refused: Why a recording was last taped and not compiled; None if none was.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        *,
        data: Any = None,
        kinks: Literal["raise", "branch"] = "raise",
    ) -> None:
        super().__init__(f, kinks=kinks)
        if self.rewritten is not None:
            msg = (
                f"{name_of(f)} is a function of with_numpy, which changes at run time what "
                "names mean: pass the function itself, written with NumPy's functions."
            )
            raise OptionError(msg)
        self._nest = None if data is None else _rows(data)
        self.data: Array | None = None
        if self._nest is not None:
            parts = leaves(self._nest)
            rows = [a.reshape(len(a), -1) for a in parts]
            self.data = np.concatenate(rows, axis=1)
            self.data.setflags(write=False)
        self._plain: Taped | None = None
        self._branches: dict[_Key, list[Branch]] = {}
        self.refused: str | None = None
        self._looked: set[_Key] = set()  # where two steps were compared
        self._idle = False
        self._lock = Lock()

    # As a taped step ------------------------------------------------------------------

    def forward(self, x: Any, params: Any, k: int) -> Any:
        """The state after step ``k``: the function's own call."""
        if self.data is None:
            return super().forward(x, params, k)
        return self._with_row().forward(x, params, k)

    def step(self, x: Any, params: Any, k: int, ids: Any = None) -> StepRecord:
        """The recorded step, for whatever no machine does."""
        if self.data is None:
            return super().step(x, params, k, ids)
        return self._with_row().step(x, params, k, ids)

    def _with_row(self) -> Taped:
        """The step as a taped one of state, parameters and index alone."""
        if self._plain is not None:
            return self._plain
        f = self.function

        def step(*args: Any) -> Any:
            row = present(self.row(args[-1]))
            try:
                return f(*args, row)
            except TypeError as error:
                _explain(error, f, len(args) == 3)
                raise

        step.__name__ = step.__qualname__ = name_of(f)
        kinks: Literal["raise", "branch"] = "branch" if self.branch else "raise"
        self._plain = Taped(step, kinks=kinks)
        return self._plain

    def row(self, k: int) -> Any:
        """The data of step ``k``, canonical.

        Raises:
            ShapeError: If there is no such row.
        """
        self.check_rows(k + 1)
        return mapped(self._nest, lambda a: np.array(a[k]), "data")

    def check_rows(self, stop: int) -> None:
        """Raises ShapeError unless the steps before ``stop`` have data."""
        if self.data is not None and stop > len(self.data):
            msg = (
                f"data has {len(self.data)} rows, and {name_of(self.function)} runs as "
                f"step {stop - 1} of the chain: data[k] belongs to step k, counted from 0 "
                "over the whole chain, so more rows are needed."
            )
            raise ShapeError(msg)

    def __getstate__(self) -> dict[str, Any]:
        """All but what was recorded."""
        new: dict[str, Any] = {
            "_branches": {},
            "_looked": set(),
            "_lock": None,
            "_plain": None,
        }
        return self.__dict__ | new

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begins without recordings."""
        self.__dict__.update(state)
        self._lock = Lock()

    # As a replayed one ----------------------------------------------------------------

    def branches(self, key: _Key) -> list[Branch]:
        """The branches that are kept for a space of states, the last used one first."""
        with self._lock:
            return list(self._branches.get(key, ()))

    def used(self, key: _Key, branch: Branch) -> None:
        """Moves a branch to the front; the one used longest ago is forgotten."""
        with self._lock:
            kept = self._branches.setdefault(key, [])
            kept[:] = [branch, *(b for b in kept if b is not branch)][:_KEPT]

    def idle(self) -> bool:
        """Whether nothing is compiled here, and two steps have been compared."""
        return self._idle and maker() is None

    def branch_at(self, key: _Key, x: Any, params: Any, k: int) -> Branch | None:
        """Records the step here; None where nothing can be replayed.

        Raises:
            ReplayError: If the function takes its index for a plain number, or has
                constants that depend on it.
        """
        make = maker()
        first = self._program(x, params, k)
        if first is None or first.outputs != key[0]:
            return None
        if key not in self._looked:
            j = k + 1 if self.data is None or k + 1 < len(self.data) else k - 1
            if j >= 0:
                other = self._program(x, params, j)
                if other is not None:
                    same_at_two_steps(self.function, first, other, k, j)
            with self._lock:
                self._looked.add(key)
        if make is None:
            self._idle = True
            return None
        at = first.index
        try:
            machine = make(first.tape, first.outs, first.y, first.nparams, at, at + 1)
        except ReplayError as error:
            self.refused = str(error)
            return None
        return Branch(machine, first.work)

    def _program(self, x: Any, params: Any, k: int) -> Program | None:
        row = None if self.data is None else self.row(k)
        try:
            return record_program(self.function, x, params, k, row, branch=self.branch)
        except ReplayError:
            self.step(present(x), None if params is None else present(params), k)
            raise  # what is wrong at any rate has been raised by now

    def __repr__(self) -> str:
        return f"Transition.compiled({name_of(self.function)})"


def _rows(data: Any) -> Any:
    """Declared data in canonical form: float64 arrays with the steps along axis 0."""
    found = canonical(data, "data", convert=True)
    parts = leaves(found)
    lengths = {len(a) if a.ndim else -1 for a in parts}
    if len(lengths) != 1 or -1 in lengths:
        shapes = ", ".join(str(a.shape) for a in parts[:6])
        msg = (
            f"data has arrays of shape {shapes}; each needs the steps along its first "
            "axis, equally many: the row of step k is data[k]."
        )
        if isinstance(data, (list, tuple)):
            msg += " A list is a nest of arrays; numpy.array(data) makes it one array."
        raise ShapeError(msg)
    converted = [np.array(a, dtype=np.float64) for a in parts]
    for a in converted:
        a.setflags(write=False)
    return rebuild(found, converted)


def _explain(error: TypeError, f: Any, with_params: bool) -> None:
    """Raises where the function cannot take a row of data."""
    names = ["x", "params", "k", "d"] if with_params else ["x", "k", "d"]
    try:
        inspect.signature(f).bind(*names)
    except TypeError as wrong:
        msg = (
            f"{name_of(f)} cannot be called as f({', '.join(names)}), which is how a sweep "
            f"{'with' if with_params else 'without'} parameters calls a step with data: "
            f"{wrong}."
        )
        raise InputTypeError(msg) from error
    except ValueError:
        pass
