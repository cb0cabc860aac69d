"""Selection by order: the chosen entries keep their nodes; a tie marks its own node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import by_name
from ..errors import NondifferentiableError, UnsupportedOperationError
from ._blocks import Ids, Operand
from ._call import axes_of, check_dtype, extent, stored
from ._convert import tape_of
from ._decide import refuse_undecided, settled_order, shown
from ._decisions import by_ids, by_order, by_winner
from ._elementwise import compare
from ._kinks import note
from ._over_box import bounds
from ._protocol import UFUNC_METHODS, as_array, implements
from ._storage import ArrayBase, assembled, constant
from ._tape import Tape
from ._wide import sum_axes

__all__ = ["clip", "refuse_ties", "with_ties"]


def with_ties(tape: Tape, r: Any, ids: Ids, tied: NDArray[np.bool_]) -> Any:
    """Selected entries; those where nodes tied get a node that marks the kink."""
    tied = tied & (ids >= 0)
    if tied.any():
        ids = np.array(ids)
        values = np.asarray(np.asarray(r)[tied], dtype=tape.dtype)
        start = tape.unary(by_name("tie"), Operand(0, (1,), ids[tied]), values).start
        ids[tied] = np.arange(start, start + values.size)
    return assembled(tape, r, ids)


def _truth(where: Any) -> Any:
    return compare(as_array(where), 0.0, "!=") if tape_of(where) else where


def _lanes(a: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    """The reduced axes last, as one."""
    moved = np.moveaxis(a, axes, range(-len(axes), 0)) if axes else a[..., None]
    kept = moved.shape[: a.ndim - len(axes)]
    return moved.reshape(*kept, -1)


def _winner(name: str, x: ArrayBase, axes: tuple[int, ...], largest: bool) -> Any:
    """Where the extreme entry of every lane stands, which is the same all over the box.

    Raises:
        UndecidedError: If another node may exceed it.
    """
    lo, hi = (_lanes(e, axes) for e in bounds(x))
    if not largest:
        lo, hi = -hi, -lo
    ids = _lanes(x.node_ids(), axes)
    best = np.max(lo, axis=-1, keepdims=True)
    at = np.argmax(np.where(lo == best, hi, -np.inf), axis=-1)[..., None]
    chosen = np.take_along_axis(ids, at, -1)
    below = hi < best
    open_ = ~(below | (ids == chosen))
    if open_.any():
        k = tuple(np.argwhere(open_)[0])
        rival = lo[k], hi[k]
        first = best[k[:-1]][0], np.take_along_axis(hi, at, -1)[k[:-1]][0]
        if not largest:
            rival, first = (-rival[1], -rival[0]), (-first[1], -first[0])
        refuse_undecided(f"{name} of {shown(*first)} and {shown(*rival)}")
    return at[..., 0]


def _extremum(
    a: Any, axis: Any, keepdims: bool, initial: Any, where: Any, largest: bool
) -> Any:
    x = as_array(a, initial)
    if where is not True:
        mask = _truth(where)
        if initial is None:
            # NumPy says what is lacking.
            return (np.max if largest else np.min)(x.v, axis=axis, where=mask)
        x = as_array(np.where(mask, x, -np.inf if largest else np.inf), x)
    v = x.v
    if initial is not None and not extent(v.shape, axes_of(axis, v.ndim)):
        kept = np.sum(v, axis, keepdims=keepdims).shape
        return np.broadcast_to(as_array(initial, x), kept).copy()
    r = (np.max if largest else np.min)(v, axis=axis, keepdims=keepdims)
    if not x._depends:
        chosen = constant(x.tape, r)
    elif x.tape.box is not None:
        axes = axes_of(axis, v.ndim)
        at = _winner("max" if largest else "min", x, axes, largest)[..., None]
        shape = np.shape(r)
        parts = (np.take_along_axis(_lanes(e, axes), at, -1) for e in (v, x.node_ids()))
        chosen = assembled(x.tape, *(np.reshape(e, shape)[()] for e in parts))
    else:
        axes = axes_of(axis, v.ndim)
        entries, ids = _lanes(v, axes), _lanes(x.node_ids(), axes)
        at = (np.argmax if largest else np.argmin)(entries, axis=-1)[..., None]
        equal = entries == np.take_along_axis(entries, at, -1)
        picked = np.take_along_axis(ids, at, -1)
        _keep(x, "max" if largest else "min", entries, ids, at)
        tied = (equal & (ids != picked)).any(axis=-1)
        node = picked[..., 0]
        if tied.any() and x.tape.branch:
            constants = tied & (node < 0)
            if constants.any():
                value = np.reshape(r, node.shape)[constants]
                others = np.where(equal, ids, -1).max(axis=-1)[constants]
                note(x.tape, "max" if largest else "min", others, value, value)
        elif tied.any():
            node = np.where(tied, np.where(equal, ids, -1).max(axis=-1), node)
        shape = np.shape(r)
        chosen = with_ties(x.tape, r, node.reshape(shape), tied.reshape(shape))
    if initial is None:
        return chosen
    if tape_of(initial) is None:
        return (np.maximum if largest else np.minimum)(chosen, initial)
    # As one more entry: it is no tie with itself.
    both = np.stack(np.broadcast_arrays(as_array(chosen, x), as_array(initial, x)))
    return _extremum(both, 0, False, None, True, largest)


def _keep(x: ArrayBase, name: str, entries: Any, ids: Any, at: Any) -> None:
    """Let a replay find out whether the extreme entries of the lanes are others."""
    best, node = (np.take_along_axis(e, at, -1) for e in (entries, ids))
    by_winner(f"numpy.{name}", x, (node, best), (ids, entries))


@implements(np.max, np.amax)
def max_(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The largest entries, each the node that it was."""
    return stored(_extremum(a, axis, keepdims, initial, where, largest=True), out)


@implements(np.min, np.amin)
def min_(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The smallest entries, each the node that it was."""
    return stored(_extremum(a, axis, keepdims, initial, where, largest=False), out)


def _reduce(function: Any) -> Any:
    def reduce(
        a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, **kw: Any
    ) -> Any:
        check_dtype(dtype, tape_of(a))
        return function(a, axis, out, **kw)

    return reduce


UFUNC_METHODS[np.maximum, "reduce"] = _reduce(max_)
UFUNC_METHODS[np.minimum, "reduce"] = _reduce(min_)


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Largest less smallest entry."""
    x = as_array(a)
    return stored(max_(x, axis, None, keepdims) - min_(x, axis, None, keepdims), out)


def refuse_ties(name: str, x: ArrayBase, tied: Any, nodes: Any = None) -> None:
    """Refuse entries that tie, or note them on a tape that takes branches."""
    nodes = x.node_ids() if nodes is None else nodes
    if tied.any() and x.tape.branch:
        where = np.broadcast_to(tied, x.v.shape)
        note(
            x.tape,
            name,
            np.broadcast_to(nodes, x.v.shape)[where],
            x.v[where],
            x.v[where],
        )
    elif tied.any():
        at = int(np.flatnonzero(tied)[0])
        value = float(x.v.ravel()[at])
        msg = (
            f"{name} met an exact tie at {value!r}: a branch boundary, where the program "
            "has no derivative. Evaluate at a point off the tie."
        )
        node = int(np.ravel(nodes)[at])
        raise NondifferentiableError(
            msg, elemental=name, node=node, values=(value, value)
        )


def _position(function: Any, name: str) -> None:
    @implements(function)
    def position(
        a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False
    ) -> Any:
        x = as_array(a)
        if x.tape is not None and x.tape.box is not None and x._depends:
            found = _winner(name, x, axes_of(axis, x.v.ndim), name == "argmax")
            if keepdims:
                one = np.sum(x.v, axis=axis, keepdims=True).shape
                found = np.reshape(found, one)
            return _answer(found, out)
        ids = x.node_ids()
        if axis is None:
            at = function(x.v)
            best, chosen = x.v.ravel()[at], ids.ravel()[at]
        else:
            at = function(x.v, axis=axis, keepdims=True)
            best, chosen = (np.take_along_axis(e, at, axis) for e in (x.v, ids))
        by_winner(f"numpy.{name}", x, (chosen, best), (ids, x.v))
        refuse_ties(name, x, (x.v == best) & (ids != chosen))
        return function(x.v, axis=axis, out=out, keepdims=keepdims)


def _answer(found: Any, out: Any) -> Any:
    if out is None:
        return found[()]
    out[...] = found
    return out


_position(np.argmax, "argmax")
_position(np.argmin, "argmin")


def _order(x: ArrayBase, axis: int) -> tuple[Any, Any]:
    """Sorting order and, in the place of every entry after sorting, whether it ties."""
    if x.tape is not None and x.tape.box is not None:
        last = [np.moveaxis(e, axis, -1) for e in (*bounds(x), x.node_ids())]
        order = np.moveaxis(
            settled_order("sort", (last[0], last[1]), last[2]), -1, axis
        )
        return order, np.zeros(order.shape, dtype=bool)
    order = np.argsort(x.v, axis=axis, kind="stable")
    v = np.moveaxis(np.take_along_axis(x.v, order, axis), axis, -1)
    ids = np.moveaxis(np.take_along_axis(x.node_ids(), order, axis), axis, -1)
    by_order("the order of entries", x, order, axis)
    step = (v[..., 1:] == v[..., :-1]) & (ids[..., 1:] != ids[..., :-1])
    tied = np.zeros(v.shape, dtype=bool)
    tied[..., 1:] |= step
    tied[..., :-1] |= step
    return order, np.moveaxis(tied, -1, axis)


@implements(np.sort)
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    """The entries in order, each the node that it was."""
    x = as_array(a)
    if axis is None:
        x, axis = x.flatten(), -1
    r = np.sort(x.v, axis=axis, kind=kind, order=order)
    if not x._depends:
        return constant(x.tape, r)
    at, tied = _order(x, axis)
    ids = np.take_along_axis(x.node_ids(), at, axis)
    if x.tape.box is not None:
        r = np.take_along_axis(x.v, at, axis)
    return with_ties(x.tape, r, ids, tied)


@implements(np.argsort)
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    """Plain integers; exact ties are refused."""
    x = as_array(a)
    if axis is None:
        x, axis = x.flatten(), -1
    if stable:
        kind = "stable"
    if not x.v.ndim:
        return np.argsort(x.v)
    if x.tape is not None and x.tape.box is not None and x._depends:
        return _order(x, axis)[0]
    r = np.argsort(x.v, axis=axis, kind=kind, order=order)
    _refuse_equal("argsort", x, axis)
    return r


def _refuse_equal(name: str, x: ArrayBase, axis: int) -> None:
    at, tied = _order(x, axis)
    if tied.any():
        ordered = x._view(np.take_along_axis(x.v, at, axis))
        ids = np.take_along_axis(x.node_ids(), at, axis)
        refuse_ties(name, ordered, tied, ids)


@implements(np.partition)
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    """Entries in NumPy's order, each the node that it was."""
    x = as_array(a)
    if axis is None:
        x, axis = x.flatten(), -1
    r = np.partition(x.v, kth, axis, kind, order)
    if not x._depends:
        return constant(x.tape, r)
    at, tied = _order(x, axis)
    place = np.argsort(r, axis=axis, kind="stable")
    ids, marks = np.empty(r.shape, dtype=np.int64), np.empty(r.shape, dtype=bool)
    np.put_along_axis(ids, place, np.take_along_axis(x.node_ids(), at, axis), axis)
    np.put_along_axis(marks, place, tied, axis)
    return with_ties(x.tape, r, ids, marks)


@implements(np.argpartition)
def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    """Plain integers; exact ties are refused."""
    x = as_array(a)
    if axis is None:
        x, axis = x.flatten(), -1
    r = np.argpartition(x.v, kth, axis, kind, order)
    _refuse_equal("argpartition", x, axis)
    return r


_NEIGHBOURS = slice(None, -1), slice(1, None)


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Plain integers; entries that tie in all deciding keys but one are refused."""
    rows = [as_array(key, *keys) for key in keys]
    r = np.lexsort([row.v for row in rows], axis)
    open_: Any = True
    for row in reversed(rows):
        v = np.moveaxis(np.take_along_axis(row.v, r, axis), axis, -1)
        ids = np.moveaxis(np.take_along_axis(row.node_ids(), r, axis), axis, -1)
        equal = open_ & (v[..., 1:] == v[..., :-1])
        here = np.broadcast_to(open_, equal.shape)
        pairs = [(ids[..., s][here], v[..., s][here]) for s in _NEIGHBOURS]
        by_ids(row.tape, "numpy.lexsort", *pairs)
        tied = equal & (ids[..., 1:] != ids[..., :-1])
        nodes = np.maximum(ids[..., 1:], ids[..., :-1])
        refuse_ties("lexsort", row._view(v[..., 1:]), tied, nodes)
        open_ = equal
    return r


@implements(np.median)
def median(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """Mean of the one or two middle entries."""
    x = as_array(a)
    r = np.median(x.v, axis=axis, keepdims=keepdims)
    if not x._depends:
        return stored(constant(x.tape, r), out)
    axes = axes_of(axis, x.v.ndim)
    moved = x._view(np.moveaxis(x.v, axes, range(-len(axes), 0)))
    kept = moved.v.shape[: x.v.ndim - len(axes)]
    ordered = sort(moved.reshape(*kept, extent(x.v.shape, axes)))
    n = ordered.v.shape[-1]
    middle = ordered[..., (n - 1) // 2 : n // 2 + 1]
    share = 1.0 / middle.v.shape[-1]
    return stored(sum_axes(middle, (middle.v.ndim - 1,), r, share), out)


@implements(np.clip)
def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    where: Any = True,
    dtype: Any = None,
    casting: Any = "same_kind",
    order: Any = "K",
) -> Any:
    """The larger of each entry and the lower end, then the smaller with the upper one."""
    lo = min if a_min is None else a_min
    hi = max if a_max is None else a_max
    r = as_array(a, lo, hi)
    check_dtype(dtype, r.tape)
    if where is not True and out is None:
        msg = (
            "np.clip of recorded variables takes where together with out; write "
            "np.where(where, np.clip(x, lo, hi), x)."
        )
        raise UnsupportedOperationError(msg)
    if lo is not None:
        r = np.maximum(r, lo)
    if hi is not None:
        r = np.minimum(r, hi)
    r = +r if lo is None and hi is None else r
    return stored(r if where is True else np.where(_truth(where), r, out), out)
