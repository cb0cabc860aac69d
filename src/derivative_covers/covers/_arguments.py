"""What callers may pass: a tape and outputs, or a program and a point."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from ..elements import all_finite, as_element
from ..errors import InputTypeError, OptionError, ShapeError
from ..sweeps import check_outputs, check_tape, kinks_below
from ..tape import Tape, check_extras, check_range, record
from ..tape._replay import HOOKS
from ._compiled import explain_compiled, is_compiled

__all__ = [
    "RecordingOptions",
    "check_options",
    "declared",
    "group_count",
    "inputs_like",
    "output_weights",
    "resolve",
    "scalar_output",
    "tape_function",
]


class RecordingOptions(TypedDict, total=False):
    """How a function is recorded; the keyword arguments of :func:`tape_function`."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] | None
    kinks: Literal["raise", "branch"]
    numpy: Literal["rewrite"] | None


def tape_function(
    f: Callable[..., Any],
    x0: Any,
    *,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    kinks: Literal["raise", "branch"] = "raise",
    numpy: Literal["rewrite"] | None = None,
) -> tuple[Tape, Any]:
    """Record a program at a point.

    Args:
        f: Function that gets recorded arrays (scalar variables where ``x0`` holds
            numbers) and returns a recorded scalar, an array, or a (nested) list of
            them. It may use Python and NumPy freely: loops, branches, indexing, in-place
            assignment.
        x0: Point of evaluation: numbers. An array or a list is one argument of any
            shape, a dictionary one argument with the same keys, and a tuple holds one
            entry for each argument, ``f(*x0)``. Dictionaries and tuples may be nested
            and hold numbers and arrays; results come in the same structure, behind
            which lies one flat vector of inputs, in order. float32 stays float32 (where
            all inputs are), integers and booleans become float64. An
            :class:`Interval` in the place of an array or number is a box: the tape then
            holds for every point of it, and results over it are intervals. Complex
            inputs stay complex, and all of the program must be holomorphic then:
            derivatives are complex ones (also with respect to real parts of a
            structure), and covers bound their absolute values.
        args: Further positional arguments that are not differentiated.
        kwargs: Further keyword arguments that are not differentiated.
        kinks: What happens at exact kinks, jumps and ties. ``"raise"`` refuses them.
            ``"branch"`` takes the branch that the value takes, and notes where, in
            ``tape.kinks`` and :attr:`HessianCover.kinks`: abs, sign, rounding, hypot,
            Euclidean norms and standard deviations have derivatives 0 at their kink;
            of tied values in max, min, maximum, minimum and clip the first one is
            differentiated (so that ``clip(x, a, b)`` has slope 1 at its ends and
            ``maximum(0, x)`` slope 0 at 0), and sort keeps the order of a stable sort;
            a comparison gives NumPy's answer. Ends of domains still raise.
        numpy: ``"rewrite"`` records the function as :func:`with_numpy` rewrites it, for
            code that fills arrays of ``np.zeros``, calls ``math`` or calls functions that
            numba compiled. One that is itself compiled by numba is always rewritten: its
            Python source runs on NumPy.

    Returns:
        ``(tape, out)``: the finished tape, and the node id of a scalar output or the
        array of node ids of an array of outputs. Inputs and repeated outputs keep their
        ids; a constant output beside others gets a node of its own.

    Raises:
        ConstantProgramError: (a ValueError) if nothing depends on the inputs.
        InputTypeError: (a TypeError) for inputs or results of a type that cannot be
            used, and for a tuple that the function does not take as its arguments.
        ShapeError: (a ValueError) for an empty ``x0`` or an empty result.
        DomainError: If an entry of ``x0``, or an output, is NaN or infinite.
        NondifferentiableError: If a comparison meets an exact tie.
        OptionError: If ``kinks`` or ``numpy`` is none of the above, or ``kinks`` is
            ``"branch"`` over a box.
        UndecidedError: Over a box, if a comparison, a rounding or an order of entries is
            not the same at all of its points.
        UnsupportedOperationError: For an operation that has no rule; at complex inputs
            for one that is not holomorphic, such as abs, real or a comparison; and over
            a box for one that looks at values in a way that intervals do not decide.

    Cost:
        The program's own NumPy calls, about 1 microsecond an array operation and 0.3 a
        scalar one, and 8 bytes a recorded value (80 for scalar operations).

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> tape, out = dc.tape_function(lambda x: np.exp(x[0]) + x[0] * x[1] ** 2, [0.5, 2])
        >>> tape.ninputs, float(tape.vals[out])
        (2, 3.648721270700128)
        >>> dc.gradient(lambda p: p["a"] * np.sum(p["b"] ** 2), {"a": 2.0, "b": [3.0, 1.0]})
        {'a': array(10.), 'b': array([12.,  4.])}
        >>> dc.gradient(lambda x, y, power: x * y**power, (3.0, 2.0), args=(2,))
        (array(4.), array(12.))
    """
    check_options(args, kwargs, kinks, numpy)
    if numpy is not None or is_compiled(f):
        from ..rewrite import with_numpy  # noqa: PLC0415 - most programs do without

        f = with_numpy(f)
    try:
        tape, out = record(f, x0, tuple(args), kwargs, branch=kinks == "branch")
    except Exception as error:
        explain_compiled(error)
        raise
    if tape.box is not None:
        if tape.branch:
            msg = (
                "kinks='branch' takes the branch of a value of floats; over a box there are "
                "many, and numbers of other types refuse kinks. Leave it out, and split "
                "the box at kinks, or move the point."
            )
            raise OptionError(msg)
        check_range(tape, out)
        return tape, out
    finish(tape)
    return tape, out


def finish(tape: Tape) -> None:
    """Check the outputs of a recorded, or replayed, program, and find its kinks."""
    out = tape.outputs
    if out is None:  # a part of a program
        return
    if not np.isfinite(tape.values_at(np.ravel(out))).all():
        check_outputs(tape, out)
    tape.kinks = kinks_below(tape, out)


HOOKS.finish = finish


def check_options(args: Any, kwargs: Any, kinks: Any, numpy: Any) -> None:
    """Refuse options of a recording that cannot be used.

    Raises:
        OptionError: If ``kinks`` or ``numpy`` is none of those that there are.
        InputTypeError: If ``args`` is no tuple or ``kwargs`` no dictionary of names.
    """
    if not isinstance(kinks, str) or kinks not in ("raise", "branch"):
        msg = f"kinks is {kinks!r}; it must be 'raise' or 'branch'."
        raise OptionError(msg)
    if numpy is not None and not (isinstance(numpy, str) and numpy == "rewrite"):
        msg = f"numpy is {numpy!r}; it must be None or 'rewrite'."
        raise OptionError(msg)
    check_extras(args, kwargs)


def resolve(
    first: Any, second: Any, recording: RecordingOptions | None = None
) -> tuple[Tape, Any]:
    """Tape and outputs from either form of arguments."""
    if isinstance(first, Tape):
        if recording:
            msg = (
                f"{', '.join(recording)} came with a tape; they say how a function is "
                "recorded, so pass them to tape_function."
            )
            raise OptionError(msg)
        return check_tape(first), _check_ids(first, second)
    if callable(first):
        return tape_function(first, second, **(recording or {}))
    msg = (
        f"the first argument is of type {type(first).__name__}; a Tape (with its outputs) or a "
        "function (with a point) is needed."
    )
    raise InputTypeError(msg)


def _check_ids(tape: Tape, out: Any) -> Any:
    try:
        ids = np.asarray(operator.index(out))
    except TypeError:
        try:
            ids = np.asarray(out)
        except ValueError:  # rows of different length
            ids = np.empty(1, dtype=object)
    if not ids.size:
        msg = "no output was given; at least one is needed."
        raise ShapeError(msg)
    if ids.dtype.kind not in "iu":
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
            f"shape {ids.shape}. Return a scalar such as a sum, or pass a tape and one "
            "of its output ids (jacobian takes arrays of outputs)."
        )
        raise ShapeError(msg)
    return int(ids.reshape(()))


def inputs_like(tape: Tape, w: Any, name: str, dtype: Any = None) -> NDArray[Any]:
    """A flat vector from what has the structure of the inputs.

    It has the type of the tape unless another is given.
    """
    structure = check_tape(tape).structure
    if structure is not None:
        return structure.flatten(w, name, dtype or tape.dtype)
    a = _numbers(w, name, dtype or tape.dtype)
    if a.shape != tape.shape:
        msg = f"{name} has shape {a.shape}; the inputs have shape {tape.shape}."
        raise ShapeError(msg)
    if not all_finite(a):
        msg = f"{name} holds a NaN or an infinity; finite numbers are needed."
        raise OptionError(msg)
    return a.ravel()


def output_weights(tape: Tape, ids: Any, given: Any, name: str) -> NDArray[Any]:
    """One nonnegative number an output, in the shape of the outputs.

    Raises:
        ShapeError: If there is neither one for all nor one for each.
        OptionError: If one is negative or not finite.
        InputTypeError: If they are no real numbers.
    """
    found = _numbers(given, name, tape.magtype)
    if not (np.isfinite(found).all() and (found >= 0).all()):
        msg = f"{name} must be finite and nonnegative, one for all or each output."
        raise OptionError(msg)
    if found.ndim and found.shape != np.shape(ids):
        msg = (
            f"{name} have shape {found.shape}; the outputs have shape {np.shape(ids)}."
        )
        raise ShapeError(msg)
    return np.broadcast_to(found, np.shape(ids))


def _numbers(given: Any, name: str, dtype: Any) -> NDArray[Any]:
    try:
        return np.asarray(as_element(given, dtype))
    except (InputTypeError, ShapeError) as error:
        msg = str(error).replace("the value ", f"{name} ", 1)
        raise type(error)(msg) from None


def declared(tape: Tape, scales: Any) -> NDArray[Any]:
    """Declared scales of the inputs as a flat vector.

    Raises:
        ShapeError: If they have another shape than the inputs.
        OptionError: If one is not finite and positive.
    """
    if scales is None:
        return np.ones(tape.ninputs, dtype=tape.magtype)
    w = inputs_like(tape, scales, "scales", tape.magtype)
    if not (w > 0).all():
        msg = "scales must be positive, one for each input."
        raise OptionError(msg)
    return w


def group_count(ngroups: Any, what: str = "ngroups") -> int:
    """The number of groups, or of something else.

    Raises:
        OptionError: If it is no positive integer.
    """
    if (
        isinstance(ngroups, bool)
        or not isinstance(ngroups, (int, np.integer))
        or ngroups < 1
    ):
        msg = f"{what} is {ngroups!r}; it must be an integer of at least 1."
        raise OptionError(msg)
    return int(ngroups)
