"""Sub-maps: a function recorded as one node an output, by what it declares of itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval, as_element, magtype
from ..elements._contract import as_type
from ..errors import InputTypeError, OptionError, ShapeError
from ..local import Curvature, DeclaredCurvature, NoCurvature
from ..tape import (
    CoverVar,
    Tape,
    TArray,
    TVar,
    constantvar,
    isconstant,
    noderef,
    pushnode,
)
from ..tape._active import active
from ..tape._convert import array_of, tape_of
from ..tape._detach import bare
from ..tape._storage import assembled
from ._arguments import RecordingOptions, tape_function
from ._hessian import cover_hessian
from ._structure import flat

__all__ = ["SubmapDeclaration", "declare_submap", "submap", "submapnode"]

Array = NDArray[Any]


class SubmapDeclaration(NamedTuple):
    """What a sub-map declares of itself at one point, for :func:`submapnode`.

    Attributes:
        y: Values of the outputs, shape (q,).
        J: Jacobian, shape (q, p).
        S: Curvature covers, shape (q, p): ``|second partials of output k|`` lie below
            ``S[k] S[k]'``.

    Example:
        >>> import derivative_covers as dc
        >>> dc.declare_submap(lambda v: v[0] ** 2 + 3 * v[1], [1.0, 2.0]).J
        array([[2., 3.]])
    """

    y: Array
    J: Array
    S: Array


def declare_submap(
    F: Callable[..., Any],
    x0: Any,
    *,
    scales: Any = None,
    ratio: float | None = None,
    **recording: Unpack[RecordingOptions],
) -> SubmapDeclaration:
    """The values, Jacobian and curvature covers of a program, from a tape of its own.

    Args:
        F: Program of one argument, as for :func:`tape_function`. An array of outputs is
            declared in C order; a scalar output as one.
        x0: Point, any shape with p entries; float32 stays float32.
        scales: Declared scales of the arguments of ``F``, in their units; see
            :func:`cover_hessian`.
        ratio: As in :func:`cover_hessian`.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`.

    Returns:
        A :class:`SubmapDeclaration` ``(y, J, S)``: ``S[k]`` is the sum merge for output
        ``k``, exactly zero for a linear one.

    Raises:
        ConstantProgramError: If no output depends on the arguments.
        DomainError: If ``F`` leaves the domain of an elemental at ``x0``.
        NondifferentiableError: If it meets a kink, jump or tie there.
        OptionError: For scales or a ratio that cannot be used.
        ShapeError: If ``x0`` or the result is empty, or ``scales`` has another shape.

    Guarantee:
        ``y`` and ``J`` exact up to rounding, ``S`` a cover to rounding, at ``x0`` alone.
        Over a box, ``y`` and ``J`` are intervals and all three hold at every point.
        Under a change of units the declaration transforms as :func:`submapnode` wants
        it, up to the exceptions of :func:`cover_hessian`.

    Cost:
        One joint reverse sweep over the tape of ``F`` for each output, once, and O(q p)
        memory: for diagnosis and for sub-maps of few outputs.

    Source:
        Reverse sweeps, and the sum merge of :func:`cover_hessian`.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> y, J, S = dc.declare_submap(lambda v: np.exp(v[0]) * v[1], [0.0, 4.0])
        >>> y, J
        (array([4.]), array([[4., 1.]]))
        >>> dc.iscover(S[0], [[4.0, 1.0], [1.0, 0.0]])
        True
    """
    tape, out = tape_function(F, x0, **recording)
    outs = np.atleast_1d(np.asarray(out)).ravel()
    covers = [
        cover_hessian(tape, int(k), scales=scales, ratio=ratio) for k in outs.tolist()
    ]
    J = np.stack([flat(cover.gradient) for cover in covers])
    S = np.stack([flat(cover.h) for cover in covers])
    return SubmapDeclaration(tape.values_at(outs).copy(), J, S)


def submap(
    F: Callable[..., Any],
    xs: Any,
    *,
    scales: Any = None,
    ratio: float | None = None,
    **recording: Unpack[RecordingOptions],
) -> Any:
    """Call a program as one declared node for each of its outputs.

    ``F`` runs on a tape of its own, at the values of ``xs``, and only what it declares
    there (:func:`declare_submap`) enters the recording: as many nodes as outputs,
    however many operations it takes inside. First-order sweeps through the call are
    exact and covers hold; ``hvp`` and ``hessian`` refuse a tape with such a call.

    Args:
        F: Program of one argument, of the shape of ``xs``. It must not use variables of
            the outer recording except through that argument.
        xs: Recorded array, recorded scalar, or a list of recorded scalars and numbers;
            or variables of another backend that has ``noderef``, such as those of
            :func:`forward_cover`. Constants among them contribute nothing.
        scales: Declared scales of the arguments of ``F``, in *their* units and shape;
            they choose the split behind the declaration only.
        ratio: As in :func:`cover_hessian`, for the declaration only.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, for the recording of ``F``.

    Returns:
        Recorded array of shape (q,), of all outputs in C order; of shape (1,) for a
        scalar output. Constants (a plain array outside of a recording) where nothing in
        ``xs`` is recorded.

    Raises:
        TapeError: If ``F`` uses other variables of the outer recording, or ``xs`` holds
            variables of two.
        InputTypeError: If ``xs`` holds anything but variables and real numbers.
        ConstantProgramError: If no output of ``F`` depends on its argument.
        DomainError: If ``F`` leaves the domain of an elemental.
        NondifferentiableError: If it meets a kink, jump or tie.
        OptionError: For scales or a ratio that cannot be used.
        ShapeError: If ``xs`` or the result is empty, or ``scales`` has another shape.

    Guarantee:
        Covers through the call hold to rounding at the point of recording, or exactly at
        every point of the box.

    Cost:
        That of :func:`declare_submap`; the recording keeps O(q p) numbers.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> def F(v):
        ...     for _ in range(50):
        ...         v = np.sin(v) + 0.5 * v
        ...     return np.sum(v * v)
        >>> f = lambda x: dc.submap(F, x)[0] * x[0]
        >>> tape, out = dc.tape_function(f, [0.3, 0.7])
        >>> dc.nnodes(tape)
        4
        >>> direct = dc.hessian(lambda x: F(x) * x[0], [0.3, 0.7])
        >>> dc.iscover(dc.cover_hessian(tape, out), direct)
        True
    """
    others = _other_backend(xs)
    if others is not None:
        at = np.array([bare(x) for x in others.ravel()]).reshape(others.shape)
        return submapnode(
            xs, *declare_submap(F, at, scales=scales, ratio=ratio, **recording)
        )
    _, arguments = _arguments(xs)
    at = bare(arguments) if isinstance(arguments, TArray) else arguments

    def declare(v: Any) -> SubmapDeclaration:
        v = v if isinstance(v, Interval) else np.reshape(v, np.shape(at))
        return declare_submap(F, v, scales=scales, ratio=ratio, **recording)

    return submapnode(arguments, *declare(at), replay=declare)


def submapnode(
    xs: Any,
    y: Any,
    J: Any,
    S: Any = None,
    *,
    replay: Callable[[Array], tuple[Any, Any, Any]] | None = None,
) -> Any:
    """Record a call whose values, Jacobian and curvature bounds the caller declares.

    So a black box takes part in a program: a table look-up, a compiled routine, a
    simulator with adjoints. Output ``k`` becomes one node with value ``y[k]``, parents
    ``xs``, first partials ``J[k]`` and second partials below ``S[k] S[k]'``.

    Args:
        xs: The p arguments: recorded array, recorded scalar, or a list of recorded
            scalars and numbers; or variables of another backend, as for :func:`submap`.
            Constants among them contribute nothing: their columns are dropped.
        y: Values of the q outputs at the values of ``xs``, shape (q,).
        J: Jacobian there, shape (q, p), signed and exact.
        S: Bounds, nonnegative, shape (q, p): ``|d2 y_k / dv_i dv_j| <= S[k,i] S[k,j]``.
            None, or a row of zeros, declares an output linear.
        replay: ``replay(v)`` gives ``(y, J, S)`` at other values ``v`` of the arguments,
            shape (p,), so that a recording can be replayed at another point. With it,
            ``y`` and ``J`` may be None, and all three are then those that it gives.

    Returns:
        Recorded array of shape (q,). Constants (a plain array outside of a recording)
        where nothing in ``xs`` is recorded.

    Raises:
        ShapeError: If the shapes do not fit, or there is no argument or output.
        OptionError: If a number is not finite, or an entry of ``S`` negative.
        InputTypeError: If an argument holds anything but real numbers (``xs``: and
            variables), or ``y`` or ``J`` are points on a tape whose values stand for
            sets: there they must enclose values and Jacobian over the sets.
        TapeError: If ``xs`` holds variables of two recordings, or of a finished one.

    Guarantee:
        First-order sweeps are as exact as ``y`` and ``J``; covers and
        ``hessian_bound`` hold if the declaration does, which nothing can verify.
        ``hvp`` and ``hessian`` refuse the tape. Covers keep their behaviour under a
        change of units if ``y``, ``J`` and ``S`` change to ``c y``, ``c J / d`` and
        ``sqrt(c) S / d`` with units ``c`` of outputs and ``d`` of arguments; they do not
        depend on ``c``.

    Cost:
        O(q p) time and memory.

    Source:
        Covers read second partials only through bounds on their magnitudes.

    Example:
        >>> import math, derivative_covers as dc
        >>> def erf(x):  # a compiled routine, with |erf''| < 0.97 everywhere
        ...     v = dc.value(x)
        ...     slope = 2 / math.sqrt(math.pi) * math.exp(-v * v)
        ...     return dc.submapnode([x], [math.erf(v)], [[slope]], [[0.97**0.5]])[0]
        >>> cover = dc.cover_hessian(lambda x: erf(x[0]) * x[1], [0.5, 2.0])
        >>> float(cover.gradient[1]) == math.erf(0.5)
        True
    """
    others = _other_backend(xs)
    asked = y is None and J is None and replay is not None
    if others is not None:
        if asked and replay is not None:
            y, J, S = replay(np.array([bare(x) for x in others.ravel()]))
        return _propagated(others, y, J, S)
    tape, arguments = _arguments(xs)
    v = np.asarray(arguments.v if isinstance(arguments, TArray) else arguments)
    p = v.size
    if asked and replay is not None and (tape is None or tape.box is None):
        y, J, S = replay(v.reshape(-1).copy())
    if not p:
        msg = "xs is empty; a sub-map needs at least one argument."
        raise ShapeError(msg)
    dtype = tape.dtype if tape is not None else v.dtype
    if tape is not None and tape.box is not None:
        y, J, S = _enclosing(p, y, J, S)
    else:
        y, J, S = _declaration(dtype, p, y, J, S)
    if tape is None:
        return y
    ids = np.ravel(arguments.node_ids())
    live = np.flatnonzero(ids >= 0)
    if not live.size:
        if isinstance(y, Interval):
            return array_of(tape, y)
        return assembled(tape, y, np.full(y.size, -1))
    again = None if replay is None else _Again(replay, v.reshape(-1).copy(), live)
    nodes = [
        pushnode(
            tape,
            y[k],
            ids[live],
            J[k, live],
            _form(S[k, live]),
            replay=None if again is None else partial(again, k),
        ).i
        for k in range(y.size)
    ]
    values = np.full(y.size, np.nan) if isinstance(y, Interval) else y
    return assembled(tape, values, np.array(nodes))


class _Again:
    """The declaration of a call at other values of its recorded arguments.

    The last one is kept, for the outputs ask one after the other.
    """

    def __init__(self, declare: Any, at: Array, live: Array) -> None:
        self._declare, self._at, self._live = declare, at, live
        self._last: tuple[bytes, SubmapDeclaration] | None = None

    def __call__(self, k: int, values: Array) -> tuple[Any, Any, Curvature]:
        last, key = self._last, values.tobytes()
        if last is None or last[0] != key:
            at = self._at.copy()
            at[self._live] = values
            found = _declaration(at.dtype, at.size, *self._declare(at))
            self._last = last = key, found
        y, J, S = last[1]
        return y[k], J[k, self._live], _form(S[k, self._live])


def _declaration(dtype: Any, p: int, y: Any, J: Any, S: Any) -> SubmapDeclaration:
    """The declaration of a call with ``p`` arguments, validated and converted."""
    refuse_points(dtype, y, "y")
    refuse_points(dtype, J, "J")
    y = _numbers(y, dtype, "y", 1)
    if not y.size:
        msg = "y is empty; a sub-map needs at least one output."
        raise ShapeError(msg)
    J = _matrix(J, dtype, "J", (y.size, p))
    M = np.dtype(magtype(dtype))
    S = np.zeros((y.size, p), M) if S is None else _matrix(S, M, "S", (y.size, p))
    if (S < 0).any():
        k, i = np.argwhere(S < 0)[0].tolist()
        msg = f"S[{k}, {i}] is {S[k, i]}; curvature bounds are nonnegative."
        raise OptionError(msg)
    return SubmapDeclaration(y, J, S)


def _enclosing(p: int, y: Any, J: Any, S: Any) -> tuple[Any, Any, Array]:
    """A declaration that holds over a box: intervals, and bounds."""
    for x, name, shape in ((y, "y", "(q,)"), (J, "J", "(q, p)")):
        if not isinstance(x, Interval):
            msg = (
                f"{name} is of type {type(x).__name__}, and the arguments range over a box: "
                f"give an Interval of shape {shape} that encloses it over the box, as "
                "declare_submap does for one."
            )
            raise InputTypeError(msg)
    q = y.size
    if y.shape != (q,) or not q or J.shape != (q, p):
        msg = (
            f"y and J have the shapes {y.shape} and {J.shape}; (q,) and (q, {p}) with "
            "q outputs are needed."
        )
        raise ShapeError(msg)
    zero = np.zeros((q, p))
    return y, J, _declaration(np.float64, p, zero[:, 0], zero, S).S


def _other_backend(xs: Any) -> Array | None:
    """The arguments as an object array, if they are variables of no tape."""
    if isinstance(xs, (CoverVar, list, tuple)):
        entries = [xs] if isinstance(xs, CoverVar) else list(xs)
        found = np.empty(len(entries), dtype=object)
        found[:] = entries
    elif isinstance(xs, np.ndarray) and xs.dtype == object:
        found = xs
    else:
        return None
    mine = [isinstance(x, CoverVar) and not isinstance(x, TVar) for x in found.flat]
    return found if any(mine) else None


def _propagated(xs: Array, y: Any, J: Any, S: Any) -> Array:
    """The nodes of a call on variables of a backend without a tape."""
    flat = xs.ravel()
    live = [k for k, x in enumerate(flat) if not isconstant(x)]
    values = np.array([bare(x) for x in flat])
    if values.dtype.kind not in "fiub":
        msg = "xs holds something else than variables and real numbers."
        raise InputTypeError(msg)
    recorder = noderef(flat[live[0]])[0] if live else None
    dtype = values.dtype if recorder is None else recorder.dtype
    y, J, S = _declaration(dtype, flat.size, y, J, S)
    found = np.empty(y.size, dtype=object)
    backend = next(type(x) for x in flat if isinstance(x, CoverVar))
    for k in range(y.size):
        if recorder is None:
            found[k] = constantvar(backend, y[k])
            continue
        parents = [noderef(flat[i])[1] for i in live]
        found[k] = pushnode(recorder, y[k], parents, J[k, live], _form(S[k, live]))
    return found.view(type(xs))


def refuse_points(dtype: Any, x: Any, name: str) -> None:
    """Raise if a tape whose numbers stand for sets is given points.

    Such a type differs from that of its magnitudes. (Complex numbers do too, and are
    points.)

    Args:
        dtype: Element type of the tape.
        x: Numbers of the declaration.
        name: What they are called.

    Raises:
        InputTypeError: If ``x`` holds points on a tape of sets.
    """
    if not _stands_for_sets(dtype):
        return
    entries = np.asarray(x, dtype=object).ravel()
    if not all(_stands_for_sets(type(e)) for e in entries):
        msg = (
            f"{name} holds points, and the values of this tape stand for sets "
            f"({as_type(dtype).__name__}): declare enclosures over the sets that the "
            "arguments range over, as submap does."
        )
        raise InputTypeError(msg)


def _stands_for_sets(T: Any) -> bool:
    cls = as_type(T)
    point = issubclass(cls, (int, float, complex, np.number, np.bool_))
    return not point and magtype.registered(cls) and magtype(cls) is not cls


def _arguments(xs: Any) -> tuple[Tape | None, Any]:
    """Tape, and the arguments as a recorded array (plain numbers without a tape)."""
    tape = tape_of(xs)
    if tape is None:
        tape = xs.tape if isinstance(xs, TArray) else active()
    if tape is None:
        if isinstance(xs, (list, tuple)):
            xs = [x.v if isinstance(x, TVar) else x for x in xs]
        plain = xs.v if isinstance(xs, TVar) else xs
        return None, np.atleast_1d(as_element(plain, np.float64))
    return tape, array_of(tape, [xs] if isinstance(xs, TVar) else xs)


def _numbers(x: Any, dtype: Any, name: str, ndim: int) -> Array:
    try:
        found = np.asarray(as_element(x, dtype))
    except InputTypeError as error:
        msg = f"{name} cannot be read: {error}"
        raise InputTypeError(msg) from None
    if found.ndim != ndim:
        need = "(q,), one entry an output" if ndim == 1 else "(q, p), one row an output"
        msg = f"{name} has shape {found.shape}; shape {need} is needed."
        raise ShapeError(msg)
    if not np.isfinite(found).all():
        msg = f"{name} holds a NaN or an infinity; finite numbers are needed."
        raise OptionError(msg)
    return found.copy()


def _matrix(x: Any, dtype: Any, name: str, shape: tuple[int, int]) -> Array:
    found = _numbers(x, dtype, name, 2)
    if found.shape != shape:
        msg = (
            f"{name} has shape {found.shape}; with {shape[0]} outputs and {shape[1]} "
            f"arguments it must be {shape}."
        )
        raise ShapeError(msg)
    return found


def _form(s: Array) -> Curvature:
    return DeclaredCurvature(s) if s.any() else NoCurvature()
