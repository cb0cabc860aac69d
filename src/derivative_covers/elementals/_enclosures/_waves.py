"""Functions that turn without end, enclosed by balls over pieces of an interval.

Where the ball of the derivative over a piece has a sign, the function is monotone there
and its values at the ends span the range. Other pieces are halved, a few times, and then
enclosed by the mean value form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import ball_package
from ._balls import at_points, precision, rounded

__all__ = ["wave_ranges"]

_DEPTH = 6
_BITS = 96

Jet = Callable[..., tuple[Any, ...]]


def wave_ranges(
    name: str,
    jet: Jet,
    x: Pair,
    count: int,
    constants: Sequence[Any] = (),
    bounds: Sequence[Pair] = (),
) -> list[Pair]:
    """Ranges of a function and its derivatives over finite intervals.

    Args:
        name: For messages.
        jet: Balls of the function and of one derivative more than are wanted, from a
            ball of ``x`` and the constants after it; three are enough at a point.
        x: Intervals inside of the domain, as arrays of one dimension.
        count: How many ranges.
        constants: Float arrays, one number for each interval.
        bounds: What holds everywhere, for each range.

    Returns:
        A pair for each.
    """
    lo, hi = x
    flint = ball_package(name)
    found = at_points(flint, jet, (lo, *constants), count)
    apart = np.flatnonzero(lo != hi)
    if apart.size:
        ends = at_points(flint, jet, (hi[apart], *(c[apart] for c in constants)), count)
        for k in range(count):
            low, high = ow.hull((found[k][0][apart], found[k][1][apart]), ends[k])
            found[k][0][apart], found[k][1][apart] = low, high
        with precision(flint, _BITS) as context:
            for place in apart.tolist():
                # Far out, more digits tell a place within a period.
                size = max(abs(lo[place]), abs(hi[place]), 1.0)
                context.prec = _BITS + 2 * int(np.log2(size))
                given = [flint.arb(float(c[place])) for c in constants]
                spans = _inner(
                    flint, jet, float(lo[place]), float(hi[place]), given, count
                )
                for k, balls in enumerate(spans):
                    if balls:
                        low, high = rounded(flint, balls)
                        found[k][0][place] = min(found[k][0][place], low.min())
                        found[k][1][place] = max(found[k][1][place], high.max())
    for k, bound in enumerate(bounds[:count]):
        found[k] = np.maximum(found[k][0], bound[0]), np.minimum(found[k][1], bound[1])
    return found


def _inner(
    flint: Any, jet: Jet, lo: float, hi: float, constants: list[Any], count: int
) -> list[list[Any]]:
    """Balls that hold, with the values at both ends, each of the ranges."""
    arb = flint.arb
    spans: list[list[Any]] = [[] for _ in range(count)]
    pending = [(lo, hi, 0, tuple(range(count)))]
    while pending:
        a, b, depth, wanted = pending.pop()
        piece = arb(a).union(arb(b))
        found = jet(piece, *constants)
        left = [k for k in wanted if not _signed(found[k + 1])]
        if not left:
            continue
        middle = a / 2 + b / 2
        if depth < _DEPTH and a < middle < b:
            inner = jet(arb(middle), *constants)
            for k in left:
                spans[k].append(inner[k])
            pending.append((a, middle, depth + 1, tuple(left)))
            pending.append((middle, b, depth + 1, tuple(left)))
            continue
        inner = jet(arb(middle), *constants)
        step = piece - arb(middle)
        for k in left:
            mean = inner[k] + found[k + 1] * step
            spans[k].append(_common(arb, found[k], mean))
    return spans


def _signed(ball: Any) -> bool:
    return bool(ball >= 0 or ball <= 0)


def _common(arb: Any, x: Any, y: Any) -> Any:
    if not x.is_finite():
        return y if y.is_finite() else arb.nan()
    if not y.is_finite():
        return x
    try:
        return x.intersection(y)
    except ValueError:
        return x
