"""What callers may pass: a tape and outputs, or a program and a point."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import as_element
from ..errors import InputTypeError, OptionError, ShapeError
from ..sweeps import check_outputs, check_tape
from ..tape import Tape, record

__all__ = ["inputs_like", "resolve", "scalar_output", "tape_function"]


def tape_function(f: Callable[..., Any], x0: Any) -> tuple[Tape, Any]:
    """Record a program at a point.

    Args:
        f: Function of one argument, which gets a recorded array of the shape of ``x0``
            (a scalar variable where ``x0`` is a number) and returns a recorded scalar,
            an array, or a (nested) list of them. It may use Python and NumPy freely:
            loops, branches, indexing, in-place assignment.
        x0: Point of evaluation: real numbers of any shape. float32 stays float32,
            integers and booleans become float64.

    Returns:
        ``(tape, out)``: the finished tape, and the node id of a scalar output or the
        array of node ids of an array of outputs. Inputs and repeated outputs keep their
        ids; a constant output beside others gets a node of its own.

    Raises:
        ConstantProgramError: (a ValueError) if nothing depends on the inputs.
        InputTypeError: (a TypeError) for inputs or results of a type that cannot be used.
        ShapeError: (a ValueError) for an empty ``x0`` or an empty result.
        DomainError: If an entry of ``x0``, or an output, is NaN or infinite.
        NondifferentiableError: If a comparison meets an exact tie.

    Cost:
        The program's own NumPy calls, about 1 microsecond an array operation and 0.3 a
        scalar one, and 8 bytes a recorded value (80 for scalar operations).

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> tape, out = dc.tape_function(lambda x: np.exp(x[0]) + x[0] * x[1] ** 2, [0.5, 2])
        >>> tape.ninputs, float(tape.vals[out])
        (2, 3.648721270700128)
    """
    tape, out = record(f, x0)
    if not np.isfinite(tape.values_at(np.ravel(out))).all():
        check_outputs(tape, out)
    return tape, out


def resolve(first: Any, second: Any) -> tuple[Tape, Any]:
    """Tape and outputs from either form of arguments."""
    if isinstance(first, Tape):
        return check_tape(first), _check_ids(first, second)
    if callable(first):
        return tape_function(first, second)
    msg = (
        f"the first argument is a {type(first).__name__}; a Tape (with its outputs) or a "
        "function (with a point) is needed."
    )
    raise InputTypeError(msg)


def _check_ids(tape: Tape, out: Any) -> Any:
    try:
        ids = np.asarray(operator.index(out))
    except TypeError:
        ids = np.asarray(out)
    if ids.dtype.kind not in "iu" or ids.size == 0:
        msg = (
            f"outputs must be node ids as tape_function returns them; got {out!r:.80}."
        )
        raise InputTypeError(msg)
    if ids.min() < 0 or ids.max() >= tape.nnodes:
        msg = f"output ids {out!r:.80} are not on this tape of {tape.nnodes} nodes."
        raise ShapeError(msg)
    return int(ids) if ids.ndim == 0 else ids.astype(np.int64)


def scalar_output(out: Any, what: str) -> int:
    """The id of the one output that ``what`` needs."""
    ids = np.asarray(out)
    if ids.size != 1:
        msg = (
            f"{what} needs a program with one scalar output; this one has outputs of "
            f"shape {ids.shape}. Pass one of the output ids, or return a scalar such as "
            "a sum (jacobian takes arrays of outputs)."
        )
        raise ShapeError(msg)
    return int(ids.reshape(()))


def inputs_like(tape: Tape, w: Any, name: str) -> NDArray[Any]:
    """An array of the shape of the inputs, finite, in the tape's type."""
    a = np.asarray(as_element(w, check_tape(tape).dtype))
    if a.shape != tape.shape:
        msg = f"{name} has shape {a.shape}; the inputs have shape {tape.shape}."
        raise ShapeError(msg)
    if not np.isfinite(a).all():
        msg = f"{name} holds a NaN or an infinity; finite numbers are needed."
        raise OptionError(msg)
    return a.ravel()
