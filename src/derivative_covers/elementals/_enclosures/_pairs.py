"""Logarithms of sums, the length and the angle of a pair."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import ball_package
from ._balls import at_points
from ._boxes import monotone
from ._decimals import around
from ._enclosed import Enclosed
from ._registry import encloses

__all__: list[str] = []

_PI = around("3.141592653589793238462643383279502884197169399375")
_QUARTER = 0.25
_QUARTER_LN2 = around("0.1732867951399863273543080304454442018875938339")


def _shares(x: Any, y: Any) -> tuple[Any, Any, Any]:
    e = (-abs(x - y)).exp()
    large = 1 / (1 + e)
    small = e * large
    return (large, small, e) if x >= y else (small, large, e)


def _logaddexp_jet(x: Any, y: Any) -> tuple[Any, ...]:
    p, q, e = _shares(x, y)
    c = p * q
    return (x if x >= y else y) + e.log1p(), p, q, c


def _logaddexp2_jet(x: Any, y: Any) -> tuple[Any, ...]:
    ln = (0 * x + 2).log()
    p, q, e = (
        _shares(x * ln, y * ln) if x != y else (x * 0 + 0.5, x * 0 + 0.5, x * 0 + 1)
    )
    return (x if x >= y else y) + e.log1p() / ln, p, q, ln * p * q


_UP = ((1, 1), (1, -1), (-1, 1))


@encloses("logaddexp")
def _logaddexp(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    return _of_difference(
        "logaddexp", _logaddexp_jet, (_QUARTER, _QUARTER), pattern, x, y
    )


@encloses("logaddexp2")
def _logaddexp2(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    return _of_difference("logaddexp2", _logaddexp2_jet, _QUARTER_LN2, pattern, x, y)


def _of_difference(
    name: str, jet: Any, peak: Pair, pattern: int, x: Pair, y: Pair
) -> Enclosed:
    finite = (
        np.isfinite(x[0]) & np.isfinite(x[1]) & np.isfinite(y[0]) & np.isfinite(y[1])
    )
    if not np.all(finite):
        return _unbounded(name, jet, peak, pattern, x, y, finite)
    # The product of the shares falls with the size of the difference.
    v, d1, d2, c = monotone(name, jet, (*_UP, (0, 0)), x, y)
    crossing = (x[0] <= y[1]) & (x[1] >= y[0])
    highest: Any = np.where(crossing, peak[1], c[1])
    c = c[0], highest[()]
    if pattern == 1:
        return Enclosed(v, (d1, d2, c, ow.negative(c), c))
    return Enclosed(v, (d1 if pattern == 2 else d2, c))


def _unbounded(
    name: str, jet: Any, peak: Pair, pattern: int, x: Pair, y: Pair, finite: Any
) -> Enclosed:
    """What holds whatever the operands are."""
    safe = [(np.where(finite, p[0], 0.0), np.where(finite, p[1], 0.0)) for p in (x, y)]
    inner = _of_difference(name, jet, peak, pattern, *safe)
    v = ow.maximum(x, y)
    v = v[0], np.full_like(v[1], inf)
    count = 5 if pattern == 1 else 2
    signs = (0, 0, 1, -1, 1) if pattern == 1 else (0, 1)
    parts = []
    for k in range(count):
        top = 1.0 if signs[k] == 0 else peak[1]
        low, high = (-top, 0.0) if signs[k] < 0 else (0.0, top)
        parts.append(ow.where(finite, inner.parts[k], (low, high)))  # type: ignore[arg-type]
    outside = _equal_infinities(x, y)
    return Enclosed(ow.where(finite, inner.value, v), tuple(parts), outside)


def _equal_infinities(x: Pair, y: Pair) -> Any:
    both = ((x[0] == -inf) & (y[0] == -inf)) | ((x[1] == inf) & (y[1] == inf))
    return both if np.any(both) else None


def _hypot_jet(x: Any, y: Any) -> tuple[Any, ...]:
    square = x * x + y * y
    h = square.sqrt()
    d1, d2 = x / h, y / h
    return h, d1, d2, d2 * d2 / h, -d1 * d2 / h, d1 * d1 / h


@encloses("hypot")
def _hypot(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    a, b = ow.absolute(x), ow.absolute(y)
    kink = (a[0] == 0.0) & (b[0] == 0.0)
    regular = ~kink & np.isfinite(a[1]) & np.isfinite(b[1])
    h = _length(a, b) if not np.all(regular) else a
    whole = (np.full_like(h[0], -1.0), np.full_like(h[0], 1.0))
    line = (np.full_like(h[0], -inf), np.full_like(h[0], inf))
    half = (np.zeros_like(h[0]), line[1])
    safe_a = np.where(regular, a[0], 1.0), np.where(regular, a[1], 1.0)
    safe_b = np.where(regular, b[0], 1.0), np.where(regular, b[1], 1.0)
    v, s1, s2, e11, e12, e22 = monotone(
        "hypot",
        _hypot_jet,
        ((1, 1), (1, -1), (-1, 1), (0, 0), (0, 0), (0, 0)),
        safe_a,
        safe_b,
    )
    h = ow.where(regular, v, h)
    d1, d2 = _signed(s1, x), _signed(s2, y)
    point = (x[0] == x[1]) & (y[0] == y[1])
    by_h = ow.reciprocal(h)
    c11 = ow.where(point, e11, ow.multiply(ow.square(s2), by_h))
    c22 = ow.where(point, e22, ow.multiply(ow.square(s1), by_h))
    sign = np.where((x[0] < 0.0) == (y[0] < 0.0), 1.0, -1.0)
    exact = ow.multiply(e12, ow.point(sign))
    c12 = ow.where(point, exact, ow.negative(ow.multiply(ow.multiply(d1, d2), by_h)))
    d1, d2 = ow.where(regular, d1, whole), ow.where(regular, d2, whole)
    c11, c22 = ow.where(regular, c11, half), ow.where(regular, c22, half)
    c12 = ow.where(regular, c12, line)
    mark = kink if np.any(kink) else None
    if pattern == 1:
        return Enclosed(h, (d1, d2, c11, c12, c22), None, mark)
    return Enclosed(h, (d1, c11) if pattern == 2 else (d2, c22), None, mark)


def _signed(size: Pair, x: Pair) -> Pair:
    """The share of ``|x|`` with the sign of ``x``, odd in ``x`` and rising with ``|x|``."""
    straddles = (x[0] < 0.0) & (x[1] > 0.0)
    found = ow.where(x[1] <= 0.0, ow.negative(size), size)
    return ow.where(straddles, (0.0 - size[1], size[1]), found)


def _length(a: Pair, b: Pair) -> Pair:
    finite = np.isfinite(a[1]) & np.isfinite(b[1])
    (found,) = monotone(
        "hypot",
        lambda x, y: ((x * x + y * y).sqrt(),),
        ((1, 1),),
        (np.where(np.isfinite(a[0]), a[0], 0.0), np.where(finite, a[1], a[0])),
        (np.where(np.isfinite(b[0]), b[0], 0.0), np.where(finite, b[1], b[0])),
    )
    return found[0], np.where(finite, found[1], inf)[()]


def _angle_jet(y: Any, x: Any) -> tuple[Any, ...]:
    square = x * x + y * y
    d1, d2 = x / square, -y / square
    return type(y).atan2(y, x), d1, d2, 2 * d1 * d2, d2 * d2 - d1 * d1, -2 * d1 * d2


@encloses("arctan2")
def _arctan2(pattern: int, y: Pair, x: Pair, order: int) -> Enclosed:
    origin = (y[0] <= 0.0) & (y[1] >= 0.0) & (x[0] <= 0.0) & (x[1] >= 0.0)
    cut = (y[0] <= 0.0) & (y[1] >= 0.0) & (x[0] < 0.0)
    crossing = (y[0] < 0.0) & (y[1] >= 0.0) & (x[0] < 0.0)
    finite = (
        np.isfinite(x[0]) & np.isfinite(x[1]) & np.isfinite(y[0]) & np.isfinite(y[1])
    )
    regular = finite & ~origin
    safe_x = np.where(regular, x[0], 1.0), np.where(regular, x[1], 1.0)
    safe_y = np.where(regular, y[0], 1.0), np.where(regular, y[1], 1.0)
    v, e1, e2, e11, e12, e22 = monotone(
        "arctan2", _angle_jet, ((0, 0),) * 6, safe_y, safe_x
    )
    point = (x[0] == x[1]) & (y[0] == y[1])
    d1 = ow.where(point, e1, _inverse(safe_x, safe_y))
    d2 = ow.where(point, e2, ow.negative(_inverse(safe_y, safe_x)))
    double = ow.multiply(ow.point(2.0), ow.multiply(d1, d2))
    c11 = ow.where(point, e11, double)
    c12 = ow.where(point, e12, ow.subtract(ow.square(d2), ow.square(d1)))
    c22 = ow.where(point, e22, ow.negative(double))
    whole = (np.full_like(v[0], 0.0 - _PI[1]), np.full_like(v[0], _PI[1]))
    line = (np.full_like(v[0], -inf), np.full_like(v[0], inf))
    v = ow.where(regular & ~crossing, v, whole)
    d1, d2, c11, c12, c22 = (
        ow.where(regular, c, line) for c in (d1, d2, c11, c12, c22)
    )
    kink = cut if np.any(cut) and pattern != 3 else None
    outside = origin if np.any(origin) else None
    if pattern == 1:
        return Enclosed(v, (d1, d2, c11, c12, c22), outside, kink)
    if pattern == 3 and np.any(cut):
        kink = np.where((y[0] == 0.0) & (y[1] == 0.0), False, cut)
        kink = kink if np.any(kink) else None
    return Enclosed(v, (d1, c11) if pattern == 2 else (d2, c22), outside, kink)


def _inverse(x: Pair, y: Pair) -> Pair:
    """The range of ``x / (x**2 + y**2)``, largest in ``x`` at ``|y|``."""
    b = ow.absolute(y)
    upper = _greatest(x, b)
    lower = _greatest(ow.negative(x), b)
    return 0.0 - lower, upper


def _greatest(x: Pair, b: Pair) -> Any:
    lo, hi = x
    positive = hi >= 0.0
    # Above zero the nearest distance counts, below it the farthest.
    a = np.where(positive, np.clip(b[0], np.maximum(lo, 0.0), np.maximum(hi, 0.0)), 0.0)
    flint = ball_package("arctan2")
    shape = np.shape(lo)

    def jet(p: Any, q: Any) -> tuple[Any]:
        return (p / (p * p + q * q),)

    def at(p: Any, q: Any) -> Any:
        zero = (p == 0.0) & (q == 0.0)
        (found,) = at_points(
            flint, jet, (np.ravel(np.where(zero, 1.0, p)), np.ravel(q)), 1
        )
        return np.where(zero, inf, found[1].reshape(shape))

    above = np.where(hi == 0.0, 0.0, at(a, b[0]))
    below = np.maximum(at(lo, b[1]), at(hi, b[1]))
    return np.where(positive, above, below)[()]
