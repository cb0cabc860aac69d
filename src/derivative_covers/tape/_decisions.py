"""How rules that look at values tell the tape what they decided by."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from ._blocks import Operand
from ._convert import array_of, holds_nodes, tape_of
from ._guards import Guard, Side
from ._storage import ArrayBase, entrywise, memory_order, scalar
from ._tape import Tape
from ._tvar import TVar

__all__ = [
    "by_finiteness",
    "by_ids",
    "by_missing",
    "by_order",
    "by_pairs",
    "by_places",
    "by_sign",
    "by_truth",
    "by_winner",
    "cancels",
    "decided",
    "refuse_replay",
]


def _watched(*operands: Any) -> Tape | None:
    """The tape whose guards are kept; None over a box, which decides by enclosures."""
    tape = tape_of(*operands)
    return tape if _keeps(tape) and not tape.finished else None


def cancels(x: Any) -> Any:
    """Note that the constants of the block of a fresh result cancel in the end; gives it."""
    tape = _watched(x)
    if tape is not None and isinstance(x, ArrayBase):
        ids = x.node_ids()
        if (ids >= 0).any():
            tape.guards.free.add(int(ids[ids >= 0].min()))
    return x


def _keeps(tape: Tape | None) -> TypeGuard[Tape]:
    return tape is not None and tape.box is None and tape.guards.keep


def refuse_replay(what: str, remedy: str, *operands: Any) -> None:
    """Note that the recording of some operands cannot be replayed, and why.

    Operands that are all constants are the same at every point.
    """
    tape = _watched(*operands)
    if tape is not None and holds_nodes(operands):
        tape.guards.refuse(what, remedy)


def decided(
    tape: Tape, what: str, x: Any, y: Any, shape: Any, *, equality: bool = False
) -> None:
    """Keep the relations of two operands, entry by entry, as what was decided by.

    They are recorded arrays or scalars, numbers, or arrays of them.
    """
    if not _keeps(tape) or 0 in shape:
        return
    like = None
    for e in (x, y):
        if like is None and isinstance(e, ArrayBase) and e.v.shape == shape:
            like = e.v if e.v.flags.c_contiguous else None
    if like is None:
        like = np.empty(shape, dtype=tape.dtype)
    left, right = _side(tape, x, like), _side(tape, y, like)
    tape.guards.found.append(Guard(what, like.size, left, right, equality))


def _side(tape: Tape, x: Any, like: Any) -> Side:
    if isinstance(x, TVar):
        return Side(None, x.v) if x.tape is None else Side(Operand(x.i, (0,)))
    if not isinstance(x, ArrayBase):
        return Side(None, _constant(tape, x, like))
    if x.s.tape is None:
        return Side(None, _constant(tape, x.v, like))
    if x.has_constants():
        return Side(_listed(x.node_ids(), like), _constant(tape, x.v, like))
    return Side(entrywise(x, like))


def _listed(ids: Any, like: Any) -> Operand:
    return Operand(0, (1,), np.array(memory_order(ids, like)))


def _constant(tape: Tape, x: Any, like: Any) -> Any:
    """A copy: the array may be written to later. Numbers of Python's take the type met."""
    if type(x) in (float, int, bool):
        return tape.dtype.type(x)
    if not np.ndim(x):
        return np.array(x)[()]
    return np.array(memory_order(np.asarray(x), like))


def by_pairs(what: str, x: Any, y: Any, *, equality: bool = False) -> None:
    """Keep relations of entries, with broadcasting; pairs of constants do not count."""
    tape = _watched(x, y)
    if tape is None:
        return
    x, y = _listed_as_array(tape, x), _listed_as_array(tape, y)
    by_ids(tape, what, (_ids(x), _values(x)), (_ids(y), _values(y)), equality=equality)


def by_ids(
    tape: Any,
    what: str,
    x: tuple[Any, Any],
    y: tuple[Any, Any],
    *,
    equality: bool = False,
) -> None:
    """Keep relations of entries given as pairs of node ids and values."""
    if not _keeps(tape):
        return
    (xi, xv), (yi, yv) = x, y
    xi, yi = np.broadcast_arrays(xi, yi)
    live = (xi >= 0) | (yi >= 0)
    if not live.any():
        return
    sides = []
    for ids, v in ((xi, xv), (yi, yv)):
        here = ids[live]
        const = np.broadcast_to(v, ids.shape)[live] if (here < 0).any() else None
        sides.append(Side(Operand(0, (1,), here), const))
    left, right = sides
    tape.guards.found.append(Guard(what, int(live.sum()), left, right, equality))


def _listed_as_array(tape: Tape, x: Any) -> Any:
    return array_of(tape, x) if isinstance(x, (list, tuple)) else x


def _ids(x: Any) -> Any:
    if isinstance(x, ArrayBase):
        return x.node_ids()
    if isinstance(x, TVar):
        return np.array(x.i)
    return np.full(np.shape(x), -1, dtype=np.int64)


def _values(x: Any) -> Any:
    return x.v if isinstance(x, (ArrayBase, TVar)) else np.asarray(x)


def by_winner(what: str, x: Any, best: tuple[Any, Any], rest: tuple[Any, Any]) -> None:
    """Keep relations of the chosen entries with all; pairs of node ids and values."""
    tape = x.tape
    if np.size(best[0]) == 1 and not x.is_constant and not x.has_constants():
        node = scalar(tape, int(np.ravel(best[0])[0]), 0.0)
        decided(tape, what, node, x, x.v.shape)
    else:
        by_ids(tape, what, best, rest)


def by_missing(what: str, *operands: Any) -> None:
    """Which entries are NaN."""
    for x in operands:
        by_pairs(what, x, x, equality=True)


def by_finiteness(what: str, *operands: Any) -> None:
    """Which entries are NaN or infinite, and of which sign."""
    for x in operands:
        by_pairs(what, x, np.inf)
        by_pairs(what, x, -np.inf)


def by_truth(what: str, *operands: Any) -> None:
    """Which entries are zero."""
    for x in operands:
        by_pairs(what, x, 0.0, equality=True)


def by_sign(what: str, x: Any) -> None:
    """The sign bits; no relation tells those of zeros and of NaN."""
    tape = _watched(x)
    if tape is None:
        return
    v = np.asarray(_values(x))
    if ((_ids(x) >= 0) & ((v == 0) | np.isnan(v))).any():
        tape.guards.refuse(f"{what} of a zero or NaN")
    by_pairs(what, x, 0.0)


def by_order(what: str, x: Any, order: Any, axis: int = -1) -> None:
    """The order of the entries along an axis, ``order`` as argsort gives it."""
    tape = _watched(x)
    if tape is None:
        return
    v = np.moveaxis(np.take_along_axis(_values(x), order, axis), axis, -1)
    ids = np.moveaxis(np.take_along_axis(_ids(x), order, axis), axis, -1)
    by_ids(tape, what, (ids[..., :-1], v[..., :-1]), (ids[..., 1:], v[..., 1:]))
    if np.isnan(v).any():
        by_missing(what, x)


def by_places(what: str, edges: Any, points: Any, k: Any) -> None:
    """How many of some edges, in increasing order, lie before every point."""
    tape = _watched(edges, points)
    if tape is None:
        return
    at, ids = _values(edges), _ids(edges)
    n = at.size
    if (at[:-1] > at[1:]).any() or np.isnan(at).any():
        tape.guards.refuse(
            f"{what} with edges that are in no order", "Sort them first."
        )
        return
    by_ids(tape, what, (ids[:-1], at[:-1]), (ids[1:], at[1:]))
    own, where, k = np.ravel(_ids(points)), np.ravel(_values(points)), np.ravel(k)
    for near, inside in ((k - 1, k > 0), (k, k < n)):
        edge = near[inside]
        by_ids(tape, what, (own[inside], where[inside]), (ids[edge], at[edge]))
