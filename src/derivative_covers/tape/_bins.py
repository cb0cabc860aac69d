"""Bins: where entries fall is a plain answer, what falls there is summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedOperationError
from ._convert import tape_of
from ._decisions import by_places, refuse_replay
from ._exact import valued, values_of
from ._extrema import refuse_ties
from ._indexing import plain_index
from ._over_box import numbers
from ._protocol import as_array, implements
from ._storage import ArrayBase
from ._wide import sum_axes

__all__: list[str] = []


def _ids(x: Any) -> Any:
    return x.node_ids() if isinstance(x, ArrayBase) else np.full(np.shape(x), -1)


def _check(name: str, edges: Any, points: Any, order: Any = None) -> None:
    """Refuse points that sit exactly on an edge, where one of them is recorded."""
    at, entries = (
        e.v if isinstance(e, ArrayBase) else np.asarray(e) for e in (edges, points)
    )
    if not at.size or not entries.size:
        return
    order = np.argsort(at, kind="stable") if order is None else np.asarray(order)
    low = np.searchsorted(at[order], entries)
    high = np.searchsorted(at[order], entries, side="right")
    own = _ids(points)
    for k in range(int((high - low).max(initial=0))):
        edge = _ids(edges)[order[np.minimum(low + k, at.size - 1)]]
        tied = (low + k < high) & (own != edge)
        refuse_ties(name, as_array(points, edges), tied, np.maximum(own, edge))


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Plain integers; exact ties are refused."""
    edges, points = _operand(a), _operand(v)
    r = np.searchsorted(_plain(a), _plain(v), side, sorter)
    ordered = edges if sorter is None else edges[np.asarray(sorter)]
    by_places("numpy.searchsorted", ordered, points, r)
    _check("searchsorted", edges, points, sorter)
    return r


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Plain integers; exact ties are refused."""
    r = np.digitize(_plain(x), _plain(bins), right)
    edges, points, k = _operand(bins), _operand(x), r
    if edges.size and _plain(bins)[0] > _plain(bins)[-1]:
        edges, k = edges[::-1], edges.size - r
    by_places("numpy.digitize", edges, points, k)
    _check("digitize", _operand(bins), points)
    return r


def _operand(x: Any) -> Any:
    return np.asarray(x) if tape_of(x) is None else as_array(x)


def _plain(x: Any) -> Any:
    found = _operand(x)
    return found.v if isinstance(found, ArrayBase) else found


def _collected(w: Any, bins: NDArray[Any], r: Any) -> Any:
    """Sums of weights by bins, with values ``r``: a block for every size of bin."""
    order = np.argsort(bins, kind="stable")
    count = np.bincount(bins, minlength=r.size)
    first = np.cumsum(count) - count
    out = np.zeros_like(w, shape=r.shape)
    for size in np.unique(count[count > 0]):
        which = np.flatnonzero(count == size)
        members = order[first[which][:, None] + np.arange(size)]
        out[which] = sum_axes(w[members], (1,), np.array(r[which]))
    return out


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """Sums of recorded weights by plain bins."""
    bins = np.asarray(plain_index(x))
    if weights is None:
        return np.bincount(bins, minlength=minlength)
    w = as_array(weights)
    r = np.bincount(bins, w.v, minlength).astype(w.v.dtype)
    return _collected(w.ravel(), bins, r)


@implements(np.histogram_bin_edges)
def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None
) -> Any:
    """Edges between the extremes; how many there are is a plain answer."""
    x, plain = _operand(a), _plain(a)
    r = np.histogram_bin_edges(plain, _plain(bins) if np.ndim(bins) else bins, range)
    if np.ndim(bins):
        return _operand(bins)
    if isinstance(bins, str):
        refuse_replay("numpy.histogram with a rule for bins", "Give their number.", x)
    if range is not None or not isinstance(x, ArrayBase):
        if tape_of(range) is not None:
            msg = (
                "np.histogram takes a plain range; give recorded edges as "
                "bins=np.linspace(lo, hi, n + 1)."
            )
            raise UnsupportedOperationError(msg)
        return r
    recorded: Any = x
    low, high = (np.min(recorded), np.max(recorded)) if plain.size else (0.0, 1.0)
    if plain.size and plain.min() == plain.max():
        low, high = low - 0.5, high + 0.5
    return valued(np.linspace(low, high, r.size), r)


@implements(np.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any]:
    """Plain counts, or sums of recorded weights, and the edges.

    An entry exactly on an edge is refused; the extremes that set the edges are not.
    """
    x = _operand(a)
    edges = histogram_bin_edges(a, bins, range)
    chosen = _plain(edges)
    plain = _plain(a)
    tape = tape_of(a, bins, weights)
    heavy = None if weights is None else values_of(weights, tape)
    settings: dict[str, Any] = {"bins": _plain(bins) if np.ndim(bins) else bins}
    settings.update(range=range, density=density)
    r = np.histogram(plain, weights=heavy, **settings)[0]
    inner = edges if np.ndim(bins) or range is not None else edges[1:-1]
    by_places("numpy.histogram", inner, x, np.searchsorted(_plain(inner), plain))
    _check("histogram", inner, x)
    if tape_of(weights) is None and not (density and isinstance(edges, ArrayBase)):
        return r, edges
    flat = plain.ravel()
    at = np.searchsorted(chosen, flat, side="right") - 1
    at[flat == chosen[-1]] = chosen.size - 2
    inside = np.flatnonzero((at >= 0) & (at < chosen.size - 1))
    if weights is None:
        sums: Any = np.histogram(plain, bins=settings["bins"], range=range)[0]
    else:
        w = as_array(weights, edges).ravel()
        bare = np.histogram(plain, bins=settings["bins"], range=range, weights=heavy)[0]
        sums = _collected(w[inside], at[inside], bare.astype(w.v.dtype))
    if density:
        sums = sums / np.diff(numbers(tape, edges)) / np.sum(sums)
    return valued(sums, r), edges
