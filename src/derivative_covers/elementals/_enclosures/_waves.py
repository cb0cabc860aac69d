"""Functions that turn without end, enclosed by balls over pieces of an interval.

Where the ball of the derivative over a piece has a sign, the function is monotone there
and its values at the ends span the range. A piece whose ball lies in what was reached
elsewhere adds nothing. Other pieces are halved, a few times, and then enclosed by the
mean value form.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import ball_package
from ._balls import at_points, precision, rounded

__all__ = ["wave_ranges"]

_DEPTH = 6
_SHORT = 1 / 16  # of pieces that are not halved further below that depth
_MOST = 127
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
                reached = [(float(a[place]), float(b[place])) for a, b in found]
                spans = _inner(
                    flint, jet, float(lo[place]), float(hi[place]), given, reached
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
    flint: Any,
    jet: Jet,
    lo: float,
    hi: float,
    constants: list[Any],
    reached: list[tuple[float, float]],
) -> list[list[Any]]:
    """Balls that hold, with what is ``reached`` at both ends, each of the ranges."""
    arb = flint.arb
    spans: list[list[Any]] = [[] for _ in reached]
    known = [(arb(low), arb(high)) for low, high in reached]
    pending = deque([(lo, hi, 0, tuple(range(len(reached))))])
    pieces = 0
    while pending:
        a, b, depth, wanted = pending.popleft()
        pieces += 1
        piece = arb(a).union(arb(b))
        found = jet(piece, *constants)
        left = tuple(
            k
            for k in wanted
            if not (_signed(found[k + 1]) or _within(found[k], known[k]))
        )
        if not left:
            continue
        middle = a / 2 + b / 2
        inner = jet(arb(middle), *constants)
        split = (depth < _DEPTH or b - a > _SHORT) and pieces < _MOST
        if split and a < middle < b:
            balls = [inner[k] for k in left]
            pending.append((a, middle, depth + 1, left))
            pending.append((middle, b, depth + 1, left))
        else:
            step = piece - arb(middle)
            balls = [
                _common(arb, found[k], inner[k] + found[k + 1] * step) for k in left
            ]
        for k, ball in zip(left, balls, strict=True):
            spans[k].append(ball)
            low, high = known[k]
            known[k] = _least(low, ball.lower()), -_least(-high, -ball.upper())
    return spans


def _least(x: Any, y: Any) -> Any:
    return y if y < x else x


def _within(ball: Any, pair: tuple[Any, Any]) -> bool:
    return bool(ball >= pair[0] and ball <= pair[1])


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
