"""Piecewise linear interpolation in recorded points, knots and ordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._convert import tape_of
from ._decide import refuse_over_box, refuse_undecided, shown
from ._decisions import by_order, by_places
from ._exact import valued, values_of
from ._extrema import with_ties
from ._over_box import bounds, numbers
from ._protocol import as_array, implements
from ._storage import ArrayBase
from ._wide import contract

__all__: list[str] = []


@implements(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """The segment that holds a point; a point exactly on a knot is a kink.

    It is none where the function is constant around the knot, or the point and the knot
    are one node.
    """
    tape = tape_of(x, xp, fp, left, right, period)
    assert tape is not None
    given = [values_of(e, tape) for e in (x, xp, fp, left, right, period)]
    r = np.asarray(np.interp(*given), dtype=tape.dtype)
    points, knots, heights = (
        v if tape_of(e) is None else as_array(e)
        for e, v in zip((x, xp, fp), given[:3], strict=True)
    )
    if period is not None:
        points, knots, heights = _wrapped(points, knots, heights, np.abs(period))
        left = right = None
    points = points.reshape(-1)
    if tape.box is not None:
        found = _over_box(points, knots, heights, left, right)
        return found.reshape(r.shape) if r.ndim else found[0]
    at, where = _plain(points), _plain(knots)
    below, above = at < where[0], at > where[-1]
    by_places("numpy.interp", knots, points, np.searchsorted(where, at))
    inside = np.flatnonzero(~(below | above))
    flat = as_array(np.zeros(at.size), x, xp, fp, left, right, period)
    ends = (
        heights[0] if left is None else left,
        heights[-1] if right is None else right,
    )
    for outside, end in zip((below, above), ends, strict=True):
        if outside.any():
            flat[outside] = end
    if inside.size:
        flat[inside] = _segments(points[inside], knots, heights)
    found = valued(flat.reshape(r.shape) if r.ndim else flat[0], r)
    kinks = _kinks(points, knots, heights, ends)
    if not kinks.any():
        return found
    y = as_array(found)
    # A copy: the values of y are those of its nodes, and callers may store into it.
    return with_ties(tape, np.array(y.v)[()], y.node_ids(), kinks.reshape(r.shape))


def _over_box(points: Any, knots: Any, heights: Any, left: Any, right: Any) -> Any:
    """One segment, or side, for every point; touching a knot does not matter.

    Raises:
        UndecidedError: If a knot lies inside of a point's interval.
    """
    lo, hi = bounds(points)
    low, high = bounds(knots)
    if not (high[:-1] <= low[1:]).all():
        refuse_undecided("the order of the knots in np.interp")
    n = high.size
    k = np.searchsorted(high, lo, "right")
    open_ = np.searchsorted(low, hi, "left") > k
    # A value given for a side need not be that of the outermost knot: then it jumps.
    if left is not None:
        open_ |= (k == 0) & (hi >= low[0])
    if right is not None:
        open_ |= (k == n) & (lo <= high[-1]) & (hi > low[-1])
    if open_.any():
        at = int(np.flatnonzero(open_)[0])
        refuse_undecided(f"the segment of {shown(lo[at], hi[at])} in np.interp")
    out = as_array(np.zeros(lo.size), points, knots, heights, left, right)
    above = (k == n) & ((lo > high[-1]) | (hi > low[-1]))
    for outside, end in (
        (k == 0, heights[0] if left is None else left),
        (above, heights[-1] if right is None else right),
    ):
        if outside.any():
            out[outside] = end
    inside = np.flatnonzero((k > 0) & ~above)
    if inside.size:
        found = _segments(points[inside], knots, heights, k[inside] - 1)
        out[inside] = found
    return out


def _plain(x: Any) -> NDArray[Any]:
    return x.v if isinstance(x, ArrayBase) else x


def _ids(x: Any) -> Any:
    return x.node_ids() if isinstance(x, ArrayBase) else np.full(np.shape(x), -1)


def _wrapped(
    points: Any, knots: Any, heights: Any, period: Any
) -> tuple[Any, Any, Any]:
    """Everything in one period, with a knot beyond either end."""
    if isinstance(knots, ArrayBase) and knots.tape.box is not None:
        refuse_over_box("numpy.interp with a period and recorded knots")
    tape = next((e.tape for e in (points, heights) if isinstance(e, ArrayBase)), None)
    order = np.argsort(_plain(knots) % period)
    points, knots = (numbers(tape, e) % period for e in (points, knots))
    by_order("numpy.interp", knots, order)
    knots, heights = knots[order], heights[order]
    knots = np.concatenate([knots[-1:] - period, knots, knots[:1] + period])
    return points, knots, np.concatenate([heights[-1:], heights, heights[:1]])


def _segments(points: Any, knots: Any, heights: Any, k: Any = None) -> Any:
    """Values at points between the first and the last knot; ``k``: the one below."""
    n = knots.size
    if n == 1:
        return heights[np.zeros(points.size, dtype=np.intp)]
    if k is None:
        k = np.searchsorted(_plain(knots), _plain(points), side="right") - 1
    k = np.clip(k, 0, n - 2)
    lo, hi = knots[k], knots[k + 1]
    if not any(isinstance(e, ArrayBase) for e in (points, knots)):
        if heights.tape.box is not None:
            lo, hi = (numbers(heights.tape, e) for e in (lo, hi))
            share = (points - lo) / (hi - lo)
            return (1.0 - share) * heights[k] + share * heights[k + 1]
        share = (points - lo) / (hi - lo)
        pair = np.stack([heights[k], heights[k + 1]], axis=1)[:, None]
        weights = np.stack([1.0 - share, share], axis=1)[..., None]
        return contract(pair, weights, (_plain(pair) @ weights).ravel())
    tape = tape_of(points, knots)
    height, lo, hi = heights[k], numbers(tape, lo), numbers(tape, hi)
    slope = (heights[k + 1] - numbers(tape, height)) / (hi - lo)
    return slope * (points - lo) + height


def _kinks(points: Any, knots: Any, heights: Any, ends: tuple[Any, Any]) -> Any:
    """Which points sit on a knot where the slope changes."""
    at, where = _plain(points), _plain(knots)
    k = np.searchsorted(where, at, side="right") - 1
    k = np.clip(k, 0, where.size - 1)
    known, own = _ids(points), _ids(knots)[k]
    met = (at == where[k]) & (known != own)
    if isinstance(heights, ArrayBase) or tape_of(*ends) is not None:
        return met
    around = np.concatenate([[ends[0]], heights, [ends[1]]])
    level = (around[k] == around[k + 1]) & (around[k + 1] == around[k + 2])
    return met & ~level
