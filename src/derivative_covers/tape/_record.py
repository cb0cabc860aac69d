"""Recording a function: from a user's program and a point to a tape and its outputs."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import element_type
from ..errors import (
    ConstantProgramError,
    DomainError,
    InputTypeError,
    RecursionDepthError,
    ShapeError,
    TapeError,
)
from ._active import recording
from ._convert import array_of
from ._storage import ArrayBase, fresh
from ._tape import Tape
from ._tvar import TVar

__all__ = ["input_array", "record"]


def input_array(x0: Any) -> NDArray[Any]:
    """The point as a float array of the tape's type.

    Raises:
        InputTypeError: If it does not hold real numbers.
        ShapeError: If it is empty.
        DomainError: If an entry is NaN or infinite.
    """
    if isinstance(x0, (ArrayBase, TVar)):
        msg = (
            "x0 is a recorded variable; recordings cannot be nested. Pass plain numbers "
            "(derivative_covers.value(x))."
        )
        raise InputTypeError(msg)
    if isinstance(x0, (np.ma.MaskedArray, np.matrix)):
        msg = (
            f"x0 is a {type(x0).__name__}, whose rules differ from an array's; pass "
            "numpy.asarray(x0), or the filled data of a masked array."
        )
        raise InputTypeError(msg)
    try:
        x = np.asarray(x0)
    except ValueError as error:
        msg = f"x0 is no array of real numbers ({error}); give a rectangular array."
        raise InputTypeError(msg) from None
    x = np.asarray(x, dtype=element_type(x))
    if x.size == 0:
        msg = f"x0 is empty (shape {x.shape}); at least one input is needed."
        raise ShapeError(msg)
    if not np.isfinite(x).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(np.atleast_1d(x)))[0])
        bad = np.atleast_1d(x)[at]
        msg = f"x0{list(at)} is {bad!s}; every input must be finite."
        raise DomainError(msg, values=(float(bad),))
    return x


def record(f: Any, x0: Any) -> tuple[Tape, Any]:
    """Run ``f`` on variables at ``x0``; gives the tape and the ids of the outputs."""
    if not callable(f):
        msg = f"the program must be a function of x; got {type(f).__name__}."
        raise InputTypeError(msg)
    tape = Tape(input_array(x0))
    block = tape.blocks[0]
    if tape.shape:
        base = block.values.base
        assert base is not None
        x: Any = fresh(tape, base, 0, block)
    else:
        x = TVar(tape, 0)
    try:
        with np.errstate(all="ignore"), recording(tape):
            result = f(x)
        out = _outputs(tape, result)
    except RecursionError as error:
        msg = (
            "the program called itself, or its result is nested, deeper than Python's "
            f"limit of {sys.getrecursionlimit()} calls. Write the recursion as a loop and "
            "return a flat list or an array, or raise sys.setrecursionlimit."
        )
        raise RecursionDepthError(msg) from error
    finally:
        tape.finish()
    return tape, out


def _outputs(tape: Tape, result: Any) -> Any:
    if isinstance(result, TVar):
        _check_tape(tape, result.tape)
        if result.tape is None:
            _refuse_constant()
        return result.i
    if isinstance(result, (list, tuple)) or (
        isinstance(result, np.ndarray) and result.dtype == object
    ):
        try:
            result = array_of(tape, result)
        except InputTypeError as error:
            msg = f"the program's result cannot be read as outputs: {error}"
            raise InputTypeError(msg) from None
    if isinstance(result, ArrayBase):
        _check_tape(tape, result.tape)
        ids = np.array(result.node_ids())
        if ids.size == 0:
            msg = "the program returned an empty array; at least one output is needed."
            raise ShapeError(msg)
        constant = ids < 0
        if constant.all():
            _refuse_constant()
        if constant.any():
            values = np.asarray(result.v[constant], dtype=tape.dtype)
            start = tape.constants(values).start
            ids[constant] = np.arange(start, start + values.size)
        return int(ids) if ids.ndim == 0 else ids
    if isinstance(result, (bool, int, float, np.ndarray, np.generic)):
        _refuse_constant()
    msg = (
        f"the program returned {result!r:.80} of type {type(result).__name__}; it must "
        "return a recorded variable, an array of them, or a list of them."
    )
    raise InputTypeError(msg)


def _check_tape(tape: Tape, other: Tape | None) -> None:
    if other is not None and other is not tape:
        msg = (
            "the program returned a variable of another recording; return a result "
            "computed from its own argument."
        )
        raise TapeError(msg)


def _refuse_constant() -> None:
    msg = (
        "on the branch taken at this point, the program's result does not depend on its "
        "argument, or its dependence was lost through a plain number; every derivative "
        "would be zero. Compute the result from the argument with NumPy's functions."
    )
    raise ConstantProgramError(msg)
