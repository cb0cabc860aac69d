"""The mode of Hessian-vector products: tangents forward, two adjoints in reverse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError, UnsupportedOperationError
from ...sweeps import (
    Program,
    adjoints,
    not_finite,
    refuse_inexact,
    second_order,
    tangents,
)
from ..states._states import copy, space
from ..steps._blame import blame
from ..steps._chain import Chain
from ..steps._taped import StepRecord
from ._carry import at_outputs, fresh_pattern, inputs_of, pattern_of
from ._gradient import check_scalar
from ._local import LocalSteps
from ._modes import Record, Seen

__all__ = ["HvpMode"]

Array = NDArray[Any]


class _Held(NamedTuple):
    """A recorded step.

    Attributes:
        step: Its tape and outputs.
        program: Behind the outputs; None if all of them are constants.
        dot: Tangents of all nodes.
    """

    step: StepRecord
    program: Program | None
    dot: Array


class HvpMode:
    """Carries the adjoint ``v`` and the second adjoint ``b`` from the last state to x0.

    A state is a dict: ``x``, the user's; ``ids``, its pattern (see :mod:`._carry`);
    ``dot``, its tangent, flat.

    Attributes:
        value: The last state, a NumPy scalar; None before the last step was recorded.
        v: Adjoint of the state that the reverse pass has reached, flat.
        b: Its derivative in the direction of the tangent.
        params_v: Adjoint of the parameters so far, flat; empty without parameters.
        params_b: Its derivative.
    """

    recorded_forward = True

    def __init__(
        self, chain: Chain, params: Any, direction: tuple[Array, Array]
    ) -> None:
        """Takes canonical parameters, and the directions of x0 and of params, flat."""
        self._steps = LocalSteps(chain, params, blind=False)
        self._length = len(chain)
        self._direction = direction
        self.value: Any = None
        self._x0: Any = None
        dtype = direction[0].dtype
        self._nparams = direction[1].size
        self.v, self.b = np.ones(1, dtype), np.zeros(1, dtype)
        self.params_v, self.params_b = np.zeros((2, self._nparams), dtype)

    @property
    def rechecked(self) -> int:
        """None: every step is recorded."""
        return 0

    def start(self, x0: Any) -> Any:
        """The point with its tangent."""
        self._x0 = x = copy(x0)
        ids = fresh_pattern(space(x0).size, self._nparams)
        return {"x": x, "ids": ids, "dot": self._direction[0]}

    def advance(self, state: Any, start: int, stop: int, seen: Seen | None) -> Any:
        """Runs steps, recording each."""
        for k in range(start, stop):
            state, _ = self._run(state, k, "advance")
            if seen is not None:
                seen(k + 1, state)
        if stop == self._length:
            check_scalar(state["x"], stop - 1)
        return state

    def record(self, state: Any, k: int) -> tuple[Any, Record]:
        """Records step ``k``."""
        after, held = self._run(state, k, "record")
        if k + 1 == self._length:
            self.value = check_scalar(held.step.y, k)
        tape = held.step.tape
        nbytes = tape.nbytes + held.step.outs.nbytes + held.dot.nbytes
        return after, Record(held, tape.nnodes, 2 * tape.nnodes, nbytes)

    def _run(self, state: Any, k: int, phase: str) -> tuple[Any, _Held]:
        n = self._nparams
        ids = inputs_of(state["ids"], n)
        step, program = self._steps.local(state["x"], k, ids, phase)
        if k + 1 == self._length:
            step.refuse_constant(k)
        outs = step.outs
        if program is None:
            dot = np.zeros(step.tape.nnodes, step.tape.dtype)
        else:
            w = np.concatenate([self._direction[1], state["dot"]])
            dot = tangents(program, step.tape, w)
        along = at_outputs(dot, outs, 0)
        try:
            if program is not None:
                _refuse_inexact(program, outs, k)
            if not np.isfinite(along).all():
                msg = (
                    "the tangent of its output is not finite: products of partials "
                    "overflow along the chain. Rescale the direction or the variables."
                )
                raise DomainError(msg)
        except DomainError as error:
            blame(error, k, phase)
            raise
        after = {"x": step.y, "ids": pattern_of(outs, n), "dot": along}
        return after, _Held(step, program, dot)

    def reverse(self, record: Record, k: int) -> None:
        """Takes both adjoints over step ``k``."""
        step, program, dot = record.held
        n, tape = self._nparams, step.tape
        if program is None:
            self.v, self.b = np.zeros((2, tape.ninputs - n), tape.dtype)
            return
        outs, v, b = step.outs, self.v, self.b
        recorded = outs >= 0
        if not recorded.all():
            outs, v, b = outs[recorded], v[recorded], b[recorded]
        adj = adjoints(program, tape, v, outs, held=self.params_v)
        total = second_order(program, tape, adj, dot, outs, seeds=b, held=self.params_b)
        for found, what in ((adj, "the gradient"), (total, "the Hessian product")):
            if not np.isfinite(found[: tape.ninputs]).all():
                error = not_finite(tape, outs, what)
                blame(error, k, "reverse")
                raise error
        self.params_v, self.v = adj[:n].copy(), adj[n : tape.ninputs].copy()
        self.params_b, self.b = total[:n].copy(), total[n : tape.ninputs].copy()

    @property
    def nbytes(self) -> int:
        """Bytes of both adjoints."""
        return sum(a.nbytes for a in (self.v, self.b, self.params_v, self.params_b))

    def export(self) -> dict[str, Any]:
        """Value, cotangents, the point and the direction."""
        found = {name: getattr(self, name) for name in _BUFFERS}
        found["x0"] = self._x0
        found["direction"], found["params_direction"] = self._direction
        if self.value is not None:
            found["value"] = np.asarray(self.value)
        return found

    def load(self, nest: dict[str, Any]) -> None:
        """Goes on from what :meth:`export` gave."""
        for name in _BUFFERS:
            setattr(self, name, nest[name])
        self._x0 = nest["x0"]
        self._direction = nest["direction"], nest["params_direction"]
        self.value = nest["value"][()] if "value" in nest else None


_BUFFERS = ("v", "b", "params_v", "params_b")


def _refuse_inexact(program: Program, outs: Array, k: int) -> None:
    try:
        refuse_inexact(program, int(outs.max()))
    except UnsupportedOperationError as error:
        msg = f"step {k}: {error}"
        raise UnsupportedOperationError(msg) from None
