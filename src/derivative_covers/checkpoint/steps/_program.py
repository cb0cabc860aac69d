"""A step recorded to be replayed: its index and its data are inputs of the tape.

The inputs are the entries of the parameters, of the state, the index and the step's row
of data. Nobody differentiates with respect to the last two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError, NondifferentiableError, ReplayError
from ...replay._same import difference
from ...tape import Tape, one_recording
from ..states._states import Space, canonical, finite, flat, leaves, space
from ._names import name_of
from ._taped import _read, _variables

__all__ = ["Program", "record_program", "same_at_two_steps"]

Array = NDArray[Any]
_FLOAT64 = np.dtype(np.float64)


@dataclass(slots=True)
class Program:
    """A recorded step.

    Attributes:
        tape: The tape.
        outs: Node ids of the next state's entries, flat; -1 for a constant.
        y: Its values, flat.
        outputs: Its space.
        nparams: Number of parameters.
        index: The input that is the step's index.
    """

    tape: Tape
    outs: NDArray[np.int64]
    y: Array
    outputs: Space
    nparams: int
    index: int

    @property
    def work(self) -> int:
        """Operations of the step."""
        return self.tape.nnodes - self.tape.ninputs


def record_program(
    f: Callable[..., Any], x: Any, params: Any, k: int, row: Any, *, branch: bool
) -> Program | None:
    """Record ``f(x, [params,] k[, row])``; None where it has no derivative, or no float64.

    Args:
        f: The step.
        x: State, canonical.
        params: Parameters, canonical, or None.
        k: The index.
        row: The step's data, canonical, or None.
        branch: Whether kinks and ties take the value's branch.

    Raises:
        ReplayError: If the function takes its index, or its data, for plain numbers.
    """
    arrays = [*(() if params is None else leaves(params)), *leaves(x)]
    if any(a.dtype is not _FLOAT64 for a in arrays):
        return None
    before = 0 if params is None else space(params).size
    at = before + space(x).size
    tail = [np.array([float(k)]), *(() if row is None else leaves(row))]
    tape = Tape(np.concatenate([a.ravel() for a in (*arrays, *tail)]))
    tape.branch = branch
    outs: list[Array] = []
    try:
        with one_recording(tape), np.errstate(all="ignore"):
            args = [_variables(tape, x, before, None)]
            if params is not None:
                args.append(_variables(tape, params, 0, None))
            args.append(_variables(tape, np.array(float(k)), at, None))
            if row is not None:
                args.append(_variables(tape, row, at + 1, None))
            read = _read(tape, f(*args), outs)
        y = canonical(read, "the output", k)
    except (DomainError, NondifferentiableError) as error:
        if str(error).startswith("int("):
            raise _needs_numbers(f, k, row, error) from error
        return None
    except Exception as error:
        raise _needs_numbers(f, k, row, error) from error
    _refuse(f, tape)
    if any(a.dtype is not _FLOAT64 for a in leaves(y)) or not finite(y):
        return None
    found = np.concatenate(outs) if len(outs) > 1 else outs[0]
    return Program(tape, found, flat(y).copy(), space(y), before, at)


def same_at_two_steps(f: Any, first: Program, second: Program, k: int, j: int) -> None:
    """Raise if a constant of the step depends on its index.

    Raises:
        ReplayError: If two recordings that took the same decisions have other constants.
    """
    if _decisions(first.tape) != _decisions(second.tape):
        return  # another branch, which guards tell apart
    what = _difference(first, second)
    if what is not None:
        msg = (
            f"{name_of(f)}, recorded at step {k} and at step {j} from one state, is not "
            f"one program: {what}. Something besides its arguments depends on the step. "
            f"{_REMEDY}"
        )
        raise ReplayError(msg)


_REMEDY = (
    "Use the index in arithmetic and comparisons alone, and declare what else depends on "
    "the step as data: Transition.compiled(f, data=array) with a row a step, which f "
    "receives after its index. Transition.taped takes any function."
)


def _needs_numbers(f: Any, k: int, row: Any, error: Exception) -> ReplayError:
    given = "its index as a recorded variable"
    if row is not None:
        given = "its index and its data as recorded variables"
    what = (
        str(error).partition(". ")[0].rstrip(".")
    )  # its advice is for other functions
    msg = (
        f"{name_of(f)} cannot be recorded for replay at step {k}: with {given} it raises "
        f"{type(error).__name__}: {what}. {_REMEDY}"
    )
    return ReplayError(msg)


def _refuse(f: Any, tape: Tape) -> None:
    """Raises ReplayError for what a tape says no replay can follow."""
    reasons = tape.guards.reasons
    if reasons:
        what, remedy = next(iter(reasons.items()))
        msg = (
            f"{name_of(f)} cannot be replayed: it uses {what}.{remedy and ' '}{remedy} "
            "Transition.taped takes any function."
        )
        raise ReplayError(msg)


def _decisions(tape: Tape) -> Any:
    """What the program decided by comparing values."""
    return bytes(tape.guards.table(tape).relation)


def _difference(first: Program, second: Program) -> str | None:
    """What differs between two recordings of one step, apart from values."""
    found = difference(first.tape, second.tape)
    if found is not None:
        return found
    if first.outputs != second.outputs or (first.outs != second.outs).any():
        return "its outputs are other nodes"
    constant = first.outs < 0
    if not np.array_equal(first.y[constant], second.y[constant], equal_nan=True):
        return "constants in its result differ"
    return None
