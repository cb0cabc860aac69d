"""Recording nodes explicitly: what extension authors build elementals from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..elements import Interval, as_element, decided_zero
from ..errors import InputTypeError, ShapeError, TapeError
from ..local import BinaryCurvature, Curvature, NoCurvature, UnaryCurvature
from ._blocks import Floats, Operand
from ._convert import tape_of
from ._covervar import CoverVar, Recorder
from ._storage import ArrayBase
from ._tape import Tape
from ._tvar import TVar, new_tvar

__all__ = [
    "binarynode",
    "constantnode",
    "constantvar",
    "dotnode",
    "isconstant",
    "linearnode",
    "nnodes",
    "noderef",
    "pushnode",
    "unarynode",
]

_V = TypeVar("_V", bound=CoverVar)


def nnodes(tape: Tape) -> int:
    """Number of nodes recorded on a tape, inputs included: the length of the tape.

    Args:
        tape: Any tape.

    Returns:
        The count.

    Example:
        >>> import derivative_covers as dc
        >>> dc.nnodes(dc.tape_function(lambda x: x[0] * x[1], [2.0, 3.0])[0])
        3
    """
    return tape.nnodes


def isconstant(x: Any) -> bool:
    """Whether a variable has a value but no node behind it.

    Args:
        x: A recorded scalar or array, or a plain number (which is constant).

    Returns:
        True if no derivative flows through it.

    Example:
        >>> from derivative_covers import TVar, isconstant
        >>> isconstant(TVar(1.0))
        True
    """
    if isinstance(x, CoverVar):
        return bool(x.is_constant)
    if isinstance(x, ArrayBase):
        return bool((x.node_ids() < 0).all())
    return True


def constantvar(V: type[_V], c: Any) -> _V:
    """The constant of a backend's variable type.

    Args:
        V: The variable type; a backend's own constructor makes the constant.
        c: A real number.

    Returns:
        A variable with that value and no node.

    Example:
        >>> from derivative_covers.extend import TVar, constantvar
        >>> constantvar(TVar, 2.0)
        TVar(2.0)
    """
    return V(c)  # type: ignore[call-arg]


def noderef(x: Any) -> tuple[Any, Any]:
    """The tape and node id behind a recorded scalar.

    Args:
        x: A recorded scalar, or a variable of another backend.

    Returns:
        ``(tape, k)``: what :func:`pushnode` takes as the tape and as a parent. A backend
        without a tape gives its recorder, and the variable itself as the parent, so that
        one code serves both.

    Raises:
        TapeError: For a constant, which has neither: fold it before recording.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import noderef
        >>> dc.gradient(lambda x: x[noderef(x[1])[1]], [1.0, 2.0])
        array([0., 1.])
    """
    if isinstance(x, TVar) and x.tape is not None:
        return x.tape, x.i
    return _live(x).noderef()


def _live(x: Any) -> CoverVar:
    """A variable with a node behind it, of any backend."""
    if not isinstance(x, CoverVar) or x.is_constant:
        msg = (
            f"{x!r} is a constant and has no node; fold constants into the coefficients "
            "of the node that consumes them (isconstant tells them apart)."
        )
        raise TapeError(msg)
    return x


def _elsewhere(xs: Any) -> bool:
    """Whether some entry belongs to a backend other than the tape."""
    return isinstance(xs, (list, tuple, np.ndarray)) and any(
        isinstance(x, CoverVar) and not isinstance(x, TVar) for x in xs
    )


def pushnode(
    tape: Any,
    val: Any,
    parents: Any,
    d: Any,
    C: Any,
    *,
    replay: Callable[[Any], tuple[Any, Any, Curvature]] | None = None,
) -> Any:
    """Append a node to a recording.

    Args:
        tape: A tape that is recording, or what :func:`noderef` gave.
        val: Value of the node.
        parents: Ids of its parents, one a slot.
        d: First partials, one a slot.
        C: Curvature form, slot-aligned with the parents, in the tape's element type.
        replay: ``replay(values)`` gives ``(val, d, C)`` for an array of values of the
            parents, one a slot, and for these alone. With it a recording can be
            replayed at another point; ``val``, ``d`` and ``C`` may then all be None,
            and are those of the rule. (A program that reads a bare number with
            :func:`value` cannot be replayed.)

    Returns:
        The new variable. ``val`` and ``d`` are converted to the tape's element type.
        Over a box they are intervals (:func:`value` of a parent is one), and so are the
        entries of ``C``.

    Raises:
        ShapeError: If ``parents``, ``d`` and ``C`` differ in their number of slots.
        TapeError: If a parent is not on the tape, or the tape is finished.
        InputTypeError: If ``tape`` is no tape, a parent no integer, or ``C`` no
            :class:`Curvature`; over a box, if a value, or partials beside a curvature,
            came as numbers where the parents are no points.

    Cost:
        O(slots).

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import UnaryCurvature, noderef, pushnode
        >>> def cube(x):
        ...     tape, k = noderef(x)
        ...     v = dc.value(x)
        ...     return pushnode(tape, v**3, [k], [3 * v**2], UnaryCurvature(6 * v))
        >>> dc.gradient(lambda x: cube(x[0]), [2.0])
        array([12.])
        >>> def rule(values):
        ...     (v,) = values
        ...     return v**3, [3 * v**2], UnaryCurvature(6 * v)
        >>> def cube(x):
        ...     tape, k = noderef(x)
        ...     return pushnode(tape, None, [k], None, None, replay=rule)
        >>> tape, out = dc.tape_function(lambda x: cube(x[0]), [2.0])
        >>> dc.gradient(tape.replay([3.0]), out)
        array([27.])
    """
    asked = replay is not None and C is None and val is None and d is None
    if isinstance(tape, Recorder):
        if asked and replay is not None:  # its parents are variables
            val, d, C = replay(np.array([x.v for x in parents]))
        return tape.pushnode(val, parents, d, C)
    _check_tape(tape)
    if asked:
        val, d, C = _ruled(tape, parents, replay)
    given = np.asarray(parents).reshape(-1)
    if given.size and given.dtype.kind not in "iu":
        msg = f"parents {given.tolist()} are not all integers; give ids of nodes."
        raise InputTypeError(msg)
    ids = given.astype(np.int64)
    partials: Any
    if tape.box is not None:
        partials, ranging = _interval_of(d).reshape(-1), _interval_of(val).reshape(-1)
    else:
        partials = np.array(as_element(d, tape.dtype), dtype=tape.dtype).reshape(-1)
    if ids.size != partials.size:
        msg = f"{ids.size} parents and {partials.size} partials; one a slot is needed."
        raise ShapeError(msg)
    if not isinstance(C, Curvature):
        msg = f"the curvature is a {type(C).__name__}; a Curvature form is needed."
        raise InputTypeError(msg)
    slots = getattr(C, "shape", (ids.size,))[0]
    if slots != ids.size:
        msg = (
            f"the {type(C).__name__} has {slots} slots and the node {ids.size} parents; "
            "one a slot is needed."
        )
        raise ShapeError(msg)
    if ids.size and (ids.min() < 0 or ids.max() >= tape.nnodes):
        msg = f"parents {ids.tolist()} are not all on this tape of {tape.nnodes} nodes."
        raise TapeError(msg)
    if tape.box is not None:
        return _over_box(tape, ranging, ids, partials, C, (val, d))
    held = _one(val, tape)
    block = tape.node(held, ids, partials, C, replay)
    return new_tvar(tape, block.start, held[0])


def _ruled(tape: Tape, parents: Any, rule: Any) -> Any:
    """What a rule gives at the values of its parents."""
    ids = np.asarray(parents, dtype=np.int64).reshape(-1)
    if ids.size and (ids.min() < 0 or ids.max() >= tape.nnodes):
        msg = f"parents {ids.tolist()} are not all on this tape of {tape.nnodes} nodes."
        raise TapeError(msg)
    if tape.box is not None:
        msg = (
            "a node over a box needs intervals for value and partials; a rule for points "
            "does not give them."
        )
        raise InputTypeError(msg)
    tape.flush()
    found = [tape.block_of(k) for k in ids.tolist()]
    values = [b.values[k - b.start] for b, k in zip(found, ids.tolist(), strict=True)]
    return rule(np.array(values, dtype=tape.dtype))


def _interval_of(x: Any) -> Interval:
    """Intervals from intervals, numbers, and lists of both."""
    return x if isinstance(x, Interval) else Interval(x)


def _ranges(x: Any) -> bool:
    """Whether an interval was given, alone or in a list."""
    if isinstance(x, Interval):
        return True
    return isinstance(x, (list, tuple)) and any(map(_ranges, x))


def _over_box(
    tape: Tape, value: Interval, ids: Any, d: Interval, C: Curvature, given: Any
) -> TVar:
    """A node whose value and partials hold all over the box."""
    if value.size != 1:
        msg = f"the value of a node has shape {value.shape}; one number is needed."
        raise ShapeError(msg)
    lo, hi = tape.enclosures.of(ids)
    linear = isinstance(C, NoCurvature)
    if (lo != hi).any() and not (
        _ranges(given[0]) and (linear or not ids.size or _ranges(given[1]))
    ):
        msg = (
            "the parents of this node range over a box, and its value and partials came "
            "as numbers, which hold at a point; give an Interval for each that encloses "
            "it over the box (value(x) of a parent is one)."
        )
        raise InputTypeError(msg)
    block = tape.node(np.full(1, np.nan), ids, d, C)
    tape.sets[block.start] = (np.ravel(value.lo), np.ravel(value.hi))
    return new_tvar(tape, block.start, np.nan)


def _one(value: Any, tape: Tape) -> Floats:
    """A value as the array of one entry that a node holds."""
    held = np.array(as_element(value, tape.dtype), dtype=tape.dtype)
    if held.size != 1:
        msg = f"the value of a node has shape {held.shape}; one number is needed."
        raise ShapeError(msg)
    return held.reshape(1)


def _check_tape(tape: Any) -> None:
    if not isinstance(tape, Tape):
        msg = (
            f"a node was to be put on a {type(tape).__name__}; give the tape that is "
            "recording (noderef(x) gives that of a variable)."
        )
        raise InputTypeError(msg)


def unarynode(x: Any, val: Any, d: Any, c: Any) -> Any:
    """Record a node ``phi(x)`` with value ``val`` and derivatives ``d`` and ``c``.

    Args:
        x: A recorded scalar.
        val: ``phi(x)``.
        d: ``phi'(x)``.
        c: ``phi''(x)``; an exact zero is stored as :class:`NoCurvature`.

    Returns:
        The new variable.

    Raises:
        TapeError: If ``x`` is a constant.

    Example:
        >>> import math, derivative_covers as dc
        >>> from derivative_covers.extend import unarynode
        >>> def gauss(x):
        ...     v = dc.value(x)
        ...     e = math.exp(-v * v)
        ...     return unarynode(x, e, -2 * v * e, (4 * v * v - 2) * e)
        >>> float(dc.hessian(lambda x: gauss(x[0]), [0.0])[0, 0])
        -2.0
    """
    if not isinstance(x, TVar):
        return _live(x).unarynode(val, d, c)
    tape, k = noderef(x)
    second = _second(c, tape)
    form: Curvature = NoCurvature() if _vanishes(second) else UnaryCurvature(second)
    return pushnode(tape, val, [k], [d], form)


def _second(c: Any, tape: Tape) -> Any:
    return _interval_of(c) if tape.box is not None else as_element(c, tape.dtype)


def _vanishes(c: Any) -> bool:
    if isinstance(c, Interval):
        return bool(np.all(c.lo == 0) and np.all(c.hi == 0))
    return decided_zero(c)


def binarynode(
    x: Any, y: Any, val: Any, d1: Any, d2: Any, c11: Any, c12: Any, c22: Any
) -> Any:
    """Record a node ``phi(x, y)`` with its first and second partials.

    Args:
        x: First recorded scalar.
        y: Second recorded scalar, on the same tape.
        val: Value.
        d1: First partial in ``x``.
        d2: First partial in ``y``.
        c11: Second partial in ``x``; an all-zero block is stored as NoCurvature.
        c12: Mixed second partial.
        c22: Second partial in ``y``.

    Returns:
        The new variable.

    Raises:
        TapeError: If an operand is a constant, or they live on two tapes.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import binarynode
        >>> def times(x, y):
        ...     a, b = dc.value(x), dc.value(y)
        ...     return binarynode(x, y, a * b, b, a, 0.0, 1.0, 0.0)
        >>> dc.hessian(lambda x: times(x[0], x[1]), [2.0, 3.0])
        array([[0., 1.],
               [1., 0.]])
    """
    if not isinstance(x, TVar):
        return _live(x).binarynode(_live(y), val, d1, d2, c11, c12, c22)
    tape, i = noderef(x)
    other, j = noderef(y)
    if other is not tape:
        msg = "the operands live on two tapes; record one function of both."
        raise TapeError(msg)
    block = [_second(c, tape) for c in (c11, c12, c22)]
    form: Curvature = NoCurvature()
    if not all(map(_vanishes, block)):
        form = BinaryCurvature(*block)
    return pushnode(tape, val, [i, j], [d1, d2], form)


def _scalars(xs: Sequence[Any], name: str) -> tuple[Tape, np.ndarray[Any, Any], Any]:
    entries = list(xs)
    tape = tape_of(entries) if not isinstance(xs, ArrayBase) else xs.tape
    if tape is None:
        msg = f"{name} holds no recorded variable; fold constants into coefficients."
        raise TapeError(msg)
    refs = [noderef(x) for x in entries]
    if any(t is not tape for t, _ in refs):
        msg = (
            f"{name} holds variables of two tapes; record one function of all of them."
        )
        raise TapeError(msg)
    ids = np.array([k for _, k in refs], dtype=np.int64)
    return tape, ids, np.array([x.v for x in entries], dtype=tape.dtype)


def dotnode(ws: Sequence[Any], xs: Sequence[Any]) -> Any:
    """Record an inner product ``sum_j w_j x_j`` as one node with paired curvature.

    Slots are ordered ``(w_1, .., w_q, x_1, .., x_q)`` and stay independent even where
    ``ws`` and ``xs`` share entries.

    Args:
        ws: Recorded scalars (a list, or a recorded 1-d array).
        xs: As many of them, on the same tape.

    Returns:
        The new variable.

    Raises:
        ShapeError: If the lengths differ or are zero.
        TapeError: If an entry is a constant, or on another tape.

    Cost:
        O(q).

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import dotnode
        >>> dc.gradient(lambda x: dotnode([x[0]], [x[1]]), [2.0, 3.0])
        array([3., 2.])
    """
    if len(ws) != len(xs) or not len(xs):
        msg = f"dotnode got {len(ws)} and {len(xs)} entries; equally many are needed."
        raise ShapeError(msg)
    if _elsewhere(ws) or _elsewhere(xs):
        return type(_live(ws[0])).dotnode([*map(_live, ws)], [*map(_live, xs)])
    tape, w, wv = _scalars(ws, "ws")
    other, x, xv = _scalars(xs, "xs")
    if other is not tape:
        msg = "the operands live on two tapes; record one function of both."
        raise TapeError(msg)
    held = np.array([np.dot(wv, xv)], dtype=tape.dtype)
    walk = (0, 0, 0, 1)
    block = tape.dot(
        (1, 1, 1, w.size), Operand(0, walk, w), Operand(0, walk, x), held, merge=False
    )
    return new_tvar(tape, block.start, held[0])


def linearnode(coeffs: Any, xs: Sequence[Any]) -> Any:
    """Record a linear combination ``sum_j coeffs[j] x_j`` as one node.

    Args:
        coeffs: Constant coefficients, converted to the tape's element type.
        xs: As many recorded scalars.

    Returns:
        The new variable.

    Raises:
        ShapeError: If the lengths differ or are zero.
        TapeError: If an entry is a constant, or they live on several tapes.

    Cost:
        O(q).

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import linearnode
        >>> dc.gradient(lambda x: linearnode([2.0, -1.0], [x[0], x[1]]), [1.0, 1.0])
        array([ 2., -1.])
    """
    if len(coeffs) != len(xs) or not len(xs):
        msg = f"linearnode got {len(coeffs)} coefficients and {len(xs)} variables."
        raise ShapeError(msg)
    if _elsewhere(xs):
        return type(_live(xs[0])).linearnode(coeffs, [*map(_live, xs)])
    tape, ids, values = _scalars(xs, "xs")
    c = np.array(as_element(coeffs, tape.dtype), dtype=tape.dtype)
    if c.ndim != 1:
        msg = f"the coefficients have shape {c.shape}; one number a variable is needed."
        raise ShapeError(msg)
    if c.ndim != 1:
        msg = f"the coefficients have shape {c.shape}; one number a variable is needed."
        raise ShapeError(msg)
    held = np.array([np.dot(c, values)], dtype=tape.dtype)
    operand = Operand(0, (0, 0, 0, 1), ids)
    block = tape.linear((1, 1, 1, ids.size), operand, c, (0, 0, 0, 1), held)
    return new_tvar(tape, block.start, held[0])


def constantnode(tape: Tape, c: Any) -> TVar:
    """Record a node that depends on nothing.

    Elementals fold constants, so this is needed only where a constant must have an id,
    such as a fixed entry among a program's outputs.

    Args:
        tape: A tape that is recording.
        c: Its value.

    Returns:
        The new variable; its Jacobian row is zero and it has no atom.

    Raises:
        InputTypeError: If ``tape`` is no tape.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import constantnode, noderef
        >>> dc.jacobian(lambda x: [x[0], constantnode(noderef(x[0])[0], 7.0)], [1.0])
        array([[1.],
               [0.]])
    """
    _check_tape(tape)
    if isinstance(c, Interval) and tape.box is not None:
        if c.size != 1:
            msg = f"the value of a node has shape {c.shape}; one number is needed."
            raise ShapeError(msg)
        return new_tvar(tape, tape.given((c.lo, c.hi)).start, np.nan)
    held = _one(c, tape)
    return new_tvar(tape, tape.constants(held).start, held[0])


for _function in (unarynode, binarynode, noderef):
    setattr(TVar, _function.__name__, _function)
for _static in (dotnode, linearnode):
    setattr(TVar, _static.__name__, staticmethod(_static))
