"""Recording nodes explicitly: what extension authors build elementals from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..elements import Interval, as_element, decided_zero
from ..errors import InputTypeError, ShapeError, TapeError
from ..local import BinaryCurvature, Curvature, NoCurvature, UnaryCurvature
from ._blocks import Floats
from ._covervar import Recorder
from ._refs import live, noderef
from ._tape import Tape
from ._tvar import TVar, new_tvar

__all__ = ["binarynode", "constantnode", "pushnode", "unarynode"]


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
        msg = (
            f"the curvature is of type {type(C).__name__}; a Curvature form is needed."
        )
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
        return live(x).unarynode(val, d, c)
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
        return live(x).binarynode(live(y), val, d1, d2, c11, c12, c22)
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


for _function in (unarynode, binarynode):
    setattr(TVar, _function.__name__, _function)
