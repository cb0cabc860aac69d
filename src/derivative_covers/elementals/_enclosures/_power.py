"""Powers and roots."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._arithmetic import contains_zero
from ._backends import ball_package, has_balls
from ._balls import at_points
from ._boxes import at_boxes
from ._enclosed import Enclosed
from ._fast import Fast
from ._registry import add_shape, encloses
from ._shapes import Shape, fast
from ._slow import functions, hull_of_corners

__all__: list[str] = []

_ONE = ow.point(1.0)


@encloses("square")
def _square(pattern: int, x: Pair, order: int) -> Enclosed:
    return Enclosed(ow.square(x), (ow.multiply(ow.point(2.0), x), 2.0))


@encloses("reciprocal")
def _reciprocal(pattern: int, x: Pair, order: int) -> Enclosed:
    outside = contains_zero(x)
    v = ow.reciprocal(x)
    if not order:
        return Enclosed(v, (), outside)
    d = ow.divide(v, x)
    c = ow.divide(d, x)
    return Enclosed(v, (ow.negative(d), ow.add(c, c)), outside)


@encloses("sqrt")
def _sqrt(pattern: int, x: Pair, order: int) -> Enclosed:
    root = _positive_part(x)
    v = ow.sqrt(root)
    outside = x[0] <= 0.0
    mark = outside if np.any(outside) else None
    undefined = None if mark is None else x[0] < 0.0
    if not order:
        return Enclosed(v, (), mark, None, undefined)
    # Each falls or rises, so that quotients of the ranges are ranges.
    d = ow.divide(ow.point(0.5), v)
    c = ow.divide(ow.multiply(ow.point(-0.5), d), root)
    return Enclosed(v, (d, c), mark, None, undefined)


def _positive_part(x: Pair) -> Pair:
    lo = np.maximum(x[0], 0.0)
    return lo, lo if x[1] is x[0] else np.maximum(x[1], 0.0)


@encloses("norm")
def _norm(pattern: int, x: Pair, order: int) -> Enclosed:
    found = _sqrt(pattern, x, order)
    outside, kink = x[0] < 0.0, (x[0] <= 0.0) & (x[1] >= 0.0)
    parts = found.parts
    zero = (x[0] == 0.0) & (x[1] == 0.0)
    if np.any(zero):
        nought = (np.zeros_like(x[0]), np.zeros_like(x[0]))
        parts = tuple(ow.where(zero, nought, part) for part in parts)  # type: ignore[arg-type]
    return Enclosed(
        found.value,
        parts,
        outside if np.any(outside) else None,
        kink if np.any(kink) else None,
    )


def _cbrt_jet(x: Any) -> tuple[Any, ...]:
    a = abs(x).root(3)
    v = a if x > 0 else -a
    d = 1 / (3 * a * a)
    return v, d, -2 * d / (3 * x)


def _cbrt_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    v = f.cbrt(x)
    three = ow.point(3.0)
    d = ow.reciprocal(ow.multiply(three, ow.square(v)))
    return v, d, ow.divide(ow.divide(ow.multiply(ow.point(-2.0), d), three), x)


add_shape(
    Shape(
        "cbrt",
        _cbrt_jet,
        limits={
            -inf: (-inf, 0.0, 0.0),
            0.0: (0.0, inf, (-inf, inf)),
            inf: (inf, 0.0, 0.0),
        },
        poles=(0.0,),
        quick=_cbrt_quick,
    )
)


@encloses("power", "float_power")
def _power(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    if (pattern == 2 or (pattern == 1 and not order)) and np.all(y[0] == y[1]):
        found = _constant_exponent(x, (y[0], y[0]), order)
        if pattern == 2:
            return found
        outside = x[0] <= 0.0
        return Enclosed(found.value, (), outside, None, found.undefined)
    if pattern == 3:
        return _constant_base(x, y)
    v, d1, d2, c11, c12, c22 = _both(x, y)
    outside = x[0] <= 0.0
    parts = (d1, c11) if pattern == 2 else (d1, d2, c11, c12, c22)
    return Enclosed(v, parts, outside if np.any(outside) else None)


def _constant_base(x: Pair, y: Pair) -> Enclosed:
    """``v``, ``v log(x)`` and ``v log(x)**2``; zero at the base zero."""
    base = np.maximum(x[0], 0.0), np.maximum(x[1], 0.0)
    f = functions()
    v = f.pow(base, y)
    log = f.log(base)
    d, c = ow.multiply(v, log), ow.multiply(v, ow.square(log))
    zero = (x[0] == 0.0) & (x[1] == 0.0) & (y[0] > 0.0)
    if np.any(zero):
        nought = (np.zeros_like(y[0]), np.zeros_like(y[0]))
        v, d, c = (ow.where(zero, nought, pair) for pair in (v, d, c))
    outside = ~((x[0] > 0.0) | ((x[0] == 0.0) & (y[0] > 0.0)))
    return Enclosed(v, (d, c), outside if np.any(outside) else None)


def _both_jet(x: Any, y: Any) -> tuple[Any, ...]:
    log = x.log()
    v, w = x**y, x ** (y - 1)
    return (
        v,
        y * w,
        v * log,
        y * (y - 1) * x ** (y - 2),
        w * (1 + y * log),
        v * log * log,
    )


def _both_wide(x: Pair, y: Pair) -> list[Pair]:
    x = np.maximum(x[0], 0.0), np.maximum(x[1], 0.0)
    f = functions()
    log, v = f.log(x), f.pow(x, y)
    less = ow.subtract(y, _ONE)
    w, u = f.pow(x, less), f.pow(x, ow.subtract(y, ow.point(2.0)))
    return [
        v,
        ow.multiply(y, w),
        ow.multiply(v, log),
        ow.multiply(_falling(y), u),
        ow.multiply(w, ow.add(_ONE, ow.multiply(y, log))),
        ow.multiply(v, ow.square(log)),
    ]


def _falling(y: Pair) -> Pair:
    """``y (y - 1)``, at least -1/4."""
    lo, hi = ow.multiply(y, ow.subtract(y, _ONE))
    return np.maximum(lo, np.where(y[0] == y[1], -inf, -0.25)), hi


def _both(x: Pair, y: Pair) -> list[Pair]:
    point = (x[0] == x[1]) & (y[0] == y[1]) & (x[0] > 0.0) & np.isfinite(x[0] * y[0])
    if not has_balls() or not np.any(point):
        return _both_wide(x, y)
    if np.all(point):
        return at_boxes("power", _both_jet, _both_wide, x, y)
    safe = np.where(point, x[0], 1.0)
    exponent = np.where(point, y[0], 1.0)
    exact = at_boxes("power", _both_jet, _both_wide, (safe, safe), (exponent, exponent))
    wide = _both_wide(x, y)
    return [ow.where(point, a, b) for a, b in zip(exact, wide, strict=True)]


def _constant_exponent(x: Pair, y: Pair, order: int) -> Enclosed:
    lo, hi = x
    exponent = y[0]
    whole = exponent == np.floor(exponent)
    smooth = (exponent == 0.0) | (exponent == 1.0) | (exponent >= 2.0)
    inside = np.isfinite(exponent) & (
        (lo > 0.0) | (whole & (hi < 0.0)) | (smooth & (whole | (lo >= 0.0)))
    )
    outside = None if np.all(inside) else ~inside
    pole = (exponent < 0.0) & (lo <= 0.0) & (hi >= 0.0)
    undefined = ~(whole | (lo >= 0.0)) | pole
    v = _powers(x, exponent, 0)
    if not order:
        return Enclosed(v, (), outside, None, undefined)
    d = _times(y, _powers(x, exponent, 1))
    c = _times(_product_of_exponents(y), _powers(x, exponent, 2))
    return Enclosed(v, (d, c), outside, None, undefined)


def _product_of_exponents(y: Pair) -> Pair:
    return ow.multiply(y, ow.subtract(y, _ONE))


def _times(factor: Pair, x: Pair) -> Pair:
    """Products; a factor of zero makes zero of anything."""
    found = ow.multiply(factor, x)
    zero = (factor[0] == 0.0) & (factor[1] == 0.0)
    return np.where(zero, 0.0, found[0])[()], np.where(zero, 0.0, found[1])[()]


def _powers(x: Pair, exponent: Any, less: int) -> Pair:
    """``x**(exponent - less)``, by products and roots for small multiples of a half."""
    if np.size(exponent) == 0:
        return x
    kinds = np.ravel(exponent)[:1]
    if not np.all(exponent == kinds[0]):
        kinds = np.unique(exponent)
    simple = (2.0 * kinds == np.floor(2.0 * kinds)) & (np.abs(kinds - less) <= 8.5)
    if kinds.size == 1 and simple[0]:
        return _simple_power(x, float(kinds[0]) - less)
    lo, hi = np.empty(np.shape(exponent)), np.empty(np.shape(exponent))
    rest = np.ones(np.shape(exponent), dtype=bool)
    for kind in kinds[simple].tolist():
        here = exponent == kind
        lo[here], hi[here] = _simple_power((x[0][here], x[1][here]), kind - less)
        rest &= ~here
    if np.any(rest):
        given = (x[0][rest], x[1][rest])
        lo[rest], hi[rest] = _general(given, exponent[rest], less)
    return lo[()], hi[()]


def _simple_power(x: Pair, exponent: float) -> Pair:
    if exponent.is_integer():
        return ow.power(x, int(exponent))
    root = ow.sqrt(x)
    size = abs(exponent)
    if size > 1.0:
        root = ow.multiply(ow.power(_positive_part(x), int(size)), root)
    found = root if exponent > 0.0 else ow.reciprocal(root)
    lost = x[1] < 0.0
    if not np.any(lost):
        return found
    return ow.where(lost, (np.full_like(x[0], -inf), np.full_like(x[0], inf)), found)


def _general(x: Pair, exponent: Any, less: int) -> Pair:
    """Powers of ``|x|`` at both ends, with the sign of odd whole ones."""
    lo, hi = x
    if np.all(lo > 0.0) and np.all(np.isfinite(hi) & np.isfinite(exponent)):
        return _positive_powers(x, exponent, less)
    whole = exponent == np.floor(exponent)
    low: Any = np.where(whole, lo, np.maximum(lo, 0.0))
    high: Any = np.where(whole, hi, np.maximum(hi, 0.0))
    lost = ~whole & (hi < 0.0)
    size = ow.absolute((low, high))
    power = hull_of_corners(
        lambda a, _: _size_power(a, exponent, less), size, (exponent, exponent)
    )
    with np.errstate(all="ignore"):
        odd = whole & ((np.fmod(exponent, 2.0) != 0.0) ^ (less % 2 == 1))
    falls = exponent < less
    both = (low < 0.0) & (high > 0.0)
    negative = ow.negative(power)
    span = np.where(both & falls, inf, power[1])
    # The powers at both ends, which is not the hull where an odd one changes its sign.
    at_low = _size_power(np.abs(low), exponent, less)
    at_high = _size_power(np.abs(high), exponent, less)
    crossing = (
        np.where(falls, -inf, 0.0 - at_low[1]),
        np.where(falls, inf, at_high[1]),
    )
    found = ow.where(odd & (high <= 0.0), negative, (power[0], span))
    found = ow.where(odd & both, crossing, found)
    whole_line = np.full(lo.shape, -inf), np.full(lo.shape, inf)
    return ow.where(lost | ~np.isfinite(exponent), whole_line, found)


def _positive_powers(x: Pair, exponent: Any, less: int) -> Pair:
    """Powers of positive intervals, whose ends give the range."""
    quick = fast()
    exact = ow.subtract(ow.point(exponent), ow.point(float(less)))
    far = ~_certain(exact, x[0], x[1])
    if quick is None or (np.any(far) and has_balls()):
        return hull_of_corners(
            lambda a, _: _size_power(a, exponent, less), x, (exponent, exponent)
        )
    found: Pair = quick.pow(x, exact)
    return found


def _certain(exponent: Pair, lo: Any, hi: Any) -> Any:
    """Where rounding the exponent costs a few ulps at most: ``|y log(x)|`` is small."""
    known = exponent[0] == exponent[1]
    if np.all(known):
        return known
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(np.log2(lo)), np.abs(np.log2(hi)))
        return known | (size * np.maximum(np.abs(exponent[0]), 1.0) < 16.0)


def _size_power(x: Any, exponent: Any, less: int) -> Pair:
    """``x**(exponent - less)`` at points that are not negative."""
    exact = ow.subtract(ow.point(exponent), ow.point(float(less)))
    quick = fast()
    lo, hi = np.full(x.shape, -inf), np.full(x.shape, inf)
    inner = (x > 0.0) & (x < inf) & np.isfinite(exponent)
    by_balls = (
        inner & ~_certain(exact, x, x) if has_balls() else np.zeros(x.shape, bool)
    )
    if quick is None:
        by_balls = inner
    by_crival = inner & ~by_balls
    if np.any(by_crival):
        base = x[by_crival]
        assert quick is not None
        lo[by_crival], hi[by_crival] = quick.pow(
            (base, base), (exact[0][by_crival], exact[1][by_crival])
        )
    if np.any(by_balls):
        (found,) = at_points(
            ball_package("power"),
            lambda a, b: (a ** (b - less),),
            (x[by_balls], exponent[by_balls]),
            1,
        )
        lo[by_balls], hi[by_balls] = np.maximum(found[0], 0.0), found[1]
    for place, small in ((0.0, exponent > less), (inf, exponent < less)):
        here = (x == place) & np.isfinite(exponent)
        value = np.where(exponent == less, 1.0, np.where(small, 0.0, inf))
        lo[here] = hi[here] = value[here]
    return lo, hi
