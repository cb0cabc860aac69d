"""Circular functions and their inverses."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import ball_package
from ._balls import at_points, precision
from ._enclosed import Enclosed, marked
from ._fast import Fast
from ._registry import add_shape, encloses
from ._shapes import Shape, fast

__all__ = ["extrema", "quarter_turns"]

_PI = "3.141592653589793238462643383279502884197169399375"
_HALF_PI = "1.570796326794896619231321691639751442098584699688"
_NOWHERE = np.False_
_ROOT_THIRD = "0.577350269189625764509148780501957455647601751270127"


@encloses("sin")
def _sin(pattern: int, x: Pair, order: int) -> Enclosed:
    s, c = _circle(x, order)
    return Enclosed(s, (c, ow.negative(s)), None, None, _NOWHERE)


@encloses("cos")
def _cos(pattern: int, x: Pair, order: int) -> Enclosed:
    c, s = _circle(x, order, cosine=True)
    return Enclosed(c, (ow.negative(s), ow.negative(c)), None, None, _NOWHERE)


@encloses("cosm1")
def _cosm1(pattern: int, x: Pair, order: int) -> Enclosed:
    s, c = _circle(x, 1)
    value = _cosm1_value(x, c)
    return Enclosed(value, (ow.negative(s), ow.negative(c)), None, None, _NOWHERE)


@encloses("tan")
def _tan(pattern: int, x: Pair, order: int) -> Enclosed:
    flat, shape = _raveled(x)
    found, pole, zero = _tan_quick(flat) if fast() else _tan_balls(flat)
    lo, hi = flat
    whole = np.full(lo.shape, -inf), np.full(lo.shape, inf)
    lost = pole | ~(np.isfinite(lo) & np.isfinite(hi))
    v, d, c = (ow.where(lost, whole, pair) for pair in found)
    d = np.where(zero | lost, 1.0, np.maximum(d[0], 1.0)), d[1]
    pairs = [_shaped(pair, shape) for pair in (v, d, c)]
    return Enclosed(pairs[0], tuple(pairs[1:]), marked(lost.reshape(shape)))


def _circle(x: Pair, order: int, *, cosine: bool = False) -> tuple[Pair, Pair]:
    """Ranges of the sine and of the cosine, or the other way round."""
    quick = fast()
    if quick is None:
        s, c = _circle_balls(x)
        return (c, s) if cosine else (s, c)
    first, second = (quick.cos, quick.sin) if cosine else (quick.sin, quick.cos)
    found = _bounded(first(x))
    return found, _bounded(second(x)) if order else found


def _bounded(x: Pair) -> Pair:
    return np.maximum(x[0], -1.0), np.minimum(x[1], 1.0)


def _raveled(x: Pair) -> tuple[Pair, tuple[int, ...]]:
    lo = np.asarray(x[0])
    flat = lo.ravel()
    return (flat, flat if x[1] is x[0] else np.asarray(x[1]).ravel()), lo.shape


def _shaped(x: Pair, shape: tuple[int, ...]) -> Pair:
    return np.asarray(x[0]).reshape(shape)[()], np.asarray(x[1]).reshape(shape)[()]


def quarter_turns(x: Pair, factor: Any = None) -> tuple[Any, Any]:
    """The quarter turn that each lower end is in, and how many later the upper end is.

    Args:
        x: Finite intervals, as arrays of one dimension.
        factor: Quarter turns in one unit of a ball; ``2 / pi`` if None.

    Returns:
        Numbers modulo four, and differences up to four, which stands for more and for
        what could not be decided.
    """
    flint = ball_package("a circular function")
    size = np.fmax(np.abs(x[0]), np.abs(x[1]))
    exponents = np.frexp(size)[1].tolist()
    turns, steps = [], []
    with precision(flint, 53) as context:
        for lo, hi, exponent in zip(
            x[0].tolist(), x[1].tolist(), exponents, strict=True
        ):
            context.prec = 100 + 2 * max(exponent, 0)
            arb = flint.arb
            per = factor(arb) if factor else 2 / arb.pi()
            first = (arb(lo) * per).floor().unique_fmpz()
            last = first if lo == hi else (arb(hi) * per).floor().unique_fmpz()
            if first is None or last is None or last - first > 3:
                turns.append(0)
                steps.append(4)
            else:
                turns.append(int(first % 4))
                steps.append(int(last - first))
    return np.array(turns, dtype=int), np.array(steps, dtype=int)


def extrema(turns: Any, steps: Any, place: int) -> Any:
    """Where a multiple of a quarter turn, ``place`` modulo four, lies inside."""
    after = (place - turns - 1) % 4 + 1  # quarter turns to the first such place
    return after <= steps


def _circle_balls(x: Pair) -> tuple[Pair, Pair]:
    (lo, hi), shape = _raveled(x)
    size = lo.size
    found = [(np.full(size, -1.0), np.full(size, 1.0)) for _ in range(2)]
    finite = np.flatnonzero(np.isfinite(lo) & np.isfinite(hi))
    left, right = lo[finite], hi[finite]
    flint = ball_package("sin")
    ends = at_points(flint, lambda t: t.sin_cos(), (left,), 2)
    apart = np.flatnonzero(left != right)
    if apart.size:
        others = at_points(flint, lambda t: t.sin_cos(), (right[apart],), 2)
        turns, steps = quarter_turns((left[apart], right[apart]))
        for k, top in enumerate((1, 0)):
            low, high = ow.hull((ends[k][0][apart], ends[k][1][apart]), others[k])
            ends[k][0][apart] = np.where(extrema(turns, steps, top + 2), -1.0, low)
            ends[k][1][apart] = np.where(extrema(turns, steps, top), 1.0, high)
    for pair, end in zip(found, ends, strict=True):
        pair[0][finite], pair[1][finite] = end
    return _shaped(found[0], shape), _shaped(found[1], shape)


def _cosm1_value(x: Pair, cosine: Pair) -> Pair:
    """``-2 sin(x / 2)**2``, monotone between multiples of half a turn."""
    half = ow.multiply(x, ow.point(0.5))
    sine, _ = _circle(half, 0)
    small = ow.multiply(ow.point(-2.0), ow.square(sine))
    by_cosine = ow.subtract(cosine, ow.point(1.0))
    return np.maximum(small[0], by_cosine[0]), np.minimum(small[1], by_cosine[1])


def _tan_jet(x: Any) -> tuple[Any, ...]:
    v = x.tan()
    d = 1 + v * v
    return v, d, 2 * v * d


Found = tuple[list[Pair], Any, Any]


def _tan_balls(x: Pair) -> Found:
    lo, hi = x
    ok = np.isfinite(lo) & np.isfinite(hi)
    left, right = np.where(ok, lo, 0.0), np.where(ok, hi, 0.0)
    flint = ball_package("tan")
    found = at_points(flint, _tan_jet, (left,), 3)
    pole = np.zeros(lo.shape, dtype=bool)
    zero = np.zeros(lo.shape, dtype=bool)
    if hi is not lo:
        found = [
            ow.hull(a, b)
            for a, b in zip(found, at_points(flint, _tan_jet, (right,), 3), strict=True)
        ]
        turns, steps = quarter_turns((left, right))
        pole = extrema(turns, steps, 1) | extrema(turns, steps, 3)
        zero = extrema(turns, steps, 0) | extrema(turns, steps, 2)
        zero |= (left <= 0.0) & (right >= 0.0)
    return found, pole, zero


def _tan_quick(x: Pair) -> Found:
    quick = fast()
    assert quick is not None
    v = quick.tan(x)
    pole = (v[0] == -inf) | (v[1] == inf)
    d = ow.add(ow.point(1.0), ow.square(v))
    c = [
        ow.multiply(ow.multiply(ow.point(2.0), e), ow.add(ow.point(1.0), ow.square(e)))
        for e in (ow.point(v[0]), ow.point(v[1]))
    ]
    return [v, d, (c[0][0], c[1][1])], pole, (v[0] <= 0.0) & (v[1] >= 0.0)


def _arcsin(x: Any) -> tuple[Any, ...]:
    q = 1 / ((1 - x) * (1 + x))
    d = q.sqrt()
    return x.asin(), d, x * q * d


def _arccos(x: Any) -> tuple[Any, ...]:
    _, d, c = _arcsin(x)
    return x.acos(), -d, -c


def _arctan(x: Any) -> tuple[Any, ...]:
    d = 1 / (1 + x * x)
    return x.atan(), d, -2 * x * d * d


def _arcsin_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    one = ow.point(1.0)
    gap = ow.multiply(ow.subtract(one, x), ow.add(one, x))
    d = ow.reciprocal(ow.sqrt(gap))
    return f.asin(x), d, ow.divide(ow.multiply(x, d), gap)


def _arccos_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    _, d, c = _arcsin_quick(f, x)
    return f.acos(x), ow.negative(d), ow.negative(c)


for _shape in (
    Shape(
        "arcsin",
        _arcsin,
        ((), (0.0,), ()),
        {-1.0: ("-" + _HALF_PI, inf, -inf), 1.0: (_HALF_PI, inf, inf)},
        domain=(-1.0, 1.0),
        open=(True, True),
        quick=_arcsin_quick,
    ),
    Shape(
        "arccos",
        _arccos,
        ((), (0.0,), ()),
        {-1.0: (_PI, -inf, inf), 1.0: (0.0, -inf, -inf)},
        domain=(-1.0, 1.0),
        open=(True, True),
        quick=_arccos_quick,
    ),
    Shape(
        "arctan",
        _arctan,
        ((), (0.0,), ("-" + _ROOT_THIRD, _ROOT_THIRD)),
        {-inf: ("-" + _HALF_PI, 0.0, 0.0), inf: (_HALF_PI, 0.0, 0.0)},
    ),
):
    add_shape(_shape)
