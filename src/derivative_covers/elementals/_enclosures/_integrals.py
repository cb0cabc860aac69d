"""Exponential, trigonometric and Fresnel integrals, and sinc."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ...errors import UnsupportedOperationError
from ._arithmetic import contains_zero
from ._boxes import monotone
from ._decimals import around
from ._enclosed import Enclosed, endless
from ._registry import add_shape, encloses
from ._shapes import Shape
from ._waves import wave_ranges

__all__: list[str] = []

_PI = around("3.141592653589793238462643383279502884197169399375")
_PI2 = around("9.869604401089358618834490999876151135313699407241")
_LARGEST_SI = around("1.851937051982466170361053370157991363345809728981")


def _exp1(x: Any) -> tuple[Any, ...]:
    e = (-x).exp() / x
    return x.expint(0 * x + 1), -e, e + e / x


def _expi(x: Any) -> tuple[Any, ...]:
    d = x.exp() / x
    return x.ei(), d, d * (x - 1) / x


add_shape(
    Shape(
        "exp1",
        _exp1,
        limits={0.0: (inf, -inf, inf), inf: (0.0, 0.0, 0.0)},
        domain=(0.0, inf),
        open=(True, False),
        reach=(0.0, 1e4),
    )
)
add_shape(
    Shape(
        "expi",
        _expi,
        ((), (1.0,), ()),
        {
            -inf: (0.0, 0.0, 0.0),
            0.0: (-inf, (-inf, inf), -inf),
            inf: (inf, inf, inf),
        },
        poles=(0.0,),
        reach=(-1e4, 1e4),
    )
)


def _expn_jet(order: Any, x: Any) -> tuple[Any, ...]:
    e = (-x).exp() / x

    def lower(k: int) -> Any:
        less = order - k
        if less == 0:
            return e
        return e + e / x if less == -1 else x.expint(less)

    return x.expint(order), -lower(1), lower(2)


@encloses("expn")
def _expn(pattern: int, n: Pair, x: Pair, order: int) -> Enclosed:
    constant_order("expn", pattern, n, order)
    inside = (n[0] >= 1.0) & (x[0] > 0.0)
    regular = inside & np.isfinite(n[0])
    # Everything vanishes long before.
    ends = tuple(np.where(regular, np.minimum(end, 1e4), 1.0) for end in x)
    orders = np.where(regular, n[0], 1.0)
    v, d, c = monotone(
        "expn",
        _expn_jet,
        ((1, -1), (1, 1), (1, -1)),
        (orders, orders),
        (ends[0], ends[1]),
    )
    far = x[1] > 1e4
    v, c = (np.where(far, 0.0, v[0]), v[1]), (np.where(far, 0.0, c[0]), c[1])
    d = d[0], np.where(far, 0.0, d[1])
    whole = (np.full_like(v[0], -inf), np.full_like(v[0], inf))
    pairs = [ow.where(regular, pair, whole) for pair in (v, d, c)]
    return Enclosed(pairs[0], tuple(pairs[1:]), None if np.all(inside) else ~inside)


def constant_order(name: str, pattern: int, n: Pair, order: int) -> None:
    """Refuse an order that is recorded, or an interval."""
    if (pattern != 3 and order) or not np.array_equal(n[0], n[1]):
        msg = (
            f"'special.{name}' has no enclosure over intervals of its first operand, the "
            "order; make it a constant."
        )
        raise UnsupportedOperationError(msg)


def _quotient(x: Any) -> tuple[Any, ...]:
    """``sin(x) / x`` and its first three derivatives."""
    if abs(x) > 1:
        s, c = x.sin_cos()
        f = s / x
        f1 = (c - f) / x
        f2 = (-s - 2 * f1) / x
        return f, f1, f2, (-c - 3 * f2) / x
    z, one = -x * x / 4, 0 * x + 1
    f0, f5, f7, f9 = (z.hypgeom_0f1(one * k / 2) for k in (3, 5, 7, 9))
    square = x * x
    return (
        f0,
        -x / 3 * f5,
        -f5 / 3 + square / 15 * f7,
        x / 5 * f7 - x * square / 105 * f9,
    )


def _sine_integral_jet(x: Any) -> tuple[Any, ...]:
    return x.si(), *_quotient(x)[:3]


def _sinc_jet(x: Any) -> tuple[Any, ...]:
    pi = x.pi()
    if abs(x) > 0.5:
        s, c = x.sin_cos_pi()
        f = s / (pi * x)
        f1 = (c - f) / x
        f2 = -(pi * s + 2 * f1) / x
        return f, f1, f2, -(pi * pi * c + 3 * f2) / x
    f, f1, f2, f3 = _quotient(pi * x)
    return f, pi * f1, pi * pi * f2, pi**3 * f3


def _cosine_integral_jet(x: Any) -> tuple[Any, ...]:
    s, c = x.sin_cos()
    d = c / x
    e = -(s + d) / x
    return x.ci(), d, e, (-c - 2 * e) / x


def _turns(x: Any) -> tuple[Any, Any, Any]:
    """Sine and cosine of ``pi x**2 / 2``, and pi."""
    s, c = (x * x / 2).sin_cos_pi()
    return s, c, x.pi()


def _fresnel_sine_jet(x: Any) -> tuple[Any, ...]:
    s, c, pi = _turns(x)
    return x.fresnel_s(), s, pi * x * c, pi * (c - pi * x * x * s)


def _fresnel_cosine_jet(x: Any) -> tuple[Any, ...]:
    s, c, pi = _turns(x)
    return x.fresnel_c(), c, -pi * x * s, -pi * (s + pi * x * x * c)


def _wave(
    name: str, jet: Any, x: Pair, order: int, bounds: Any, most: float = 1e300
) -> list[Pair]:
    """Ranges where the operand is no larger than ``most``, global bounds elsewhere."""
    shape = np.shape(x[0])
    lo, hi = np.ravel(x[0]), np.ravel(x[1])
    bounded = bounds(lo, hi)
    found = [
        (np.array(np.broadcast_to(a, lo.shape)), np.array(np.broadcast_to(b, lo.shape)))
        for a, b in bounded
    ]
    near = np.flatnonzero((np.abs(lo) <= most) & (np.abs(hi) <= most))
    if near.size:
        given = wave_ranges(
            name, jet, (lo[near], hi[near]), order + 1,
            bounds=[(a[near], b[near]) for a, b in found],
        )  # fmt: skip
        for pair, (low, high) in zip(found, given, strict=False):
            pair[0][near], pair[1][near] = low, high
    return [(a.reshape(shape)[()], b.reshape(shape)[()]) for a, b in found]


@encloses("sine_integral")
def _sine_integral(pattern: int, x: Pair, order: int) -> Enclosed:
    def bounds(lo: Any, hi: Any) -> list[Pair]:
        return [(-_LARGEST_SI[1], _LARGEST_SI[1]), (-0.25, 1.0), (-0.5, 0.5)]

    v, d, c = _wave("sine_integral", _sine_integral_jet, x, order, bounds)
    return Enclosed(v, (d, c), endless(x))


@encloses("sinc")
def _sinc(pattern: int, x: Pair, order: int) -> Enclosed:
    def bounds(lo: Any, hi: Any) -> list[Pair]:
        slope, bend = _PI[1] / 2, ow.up(_PI2[1] / 3)
        return [(-0.25, 1.0), (-slope, slope), (-bend, bend)]

    v, d, c = _wave("sinc", _sinc_jet, x, order, bounds)
    return Enclosed(v, (d, c), endless(x))


@encloses("cosine_integral")
def _cosine_integral(pattern: int, x: Pair, order: int) -> Enclosed:
    size = ow.absolute(x)
    zero = contains_zero(x)
    safe = size if zero is None else tuple(np.where(zero, 1.0, end) for end in size)

    def bounds(lo: Any, hi: Any) -> list[Pair]:
        with np.errstate(all="ignore"):
            r = ow.up(1.0 / lo)
            s = ow.up(ow.up(r * r) + r)
        # Ci has its largest value, below 1/2, at pi/2.
        return [(np.full_like(lo, -inf), np.full_like(lo, 0.5)), (-r, r), (-s, s)]

    v, d, c = _wave(
        "cosine_integral", _cosine_integral_jet, (safe[0], safe[1]), order, bounds
    )
    left = x[1] < 0.0
    d = ow.where(left, ow.negative(d), d)
    if zero is not None:
        line = (np.full_like(v[0], -inf), np.full_like(v[0], inf))
        v, d, c = (
            ow.where(zero, (line[0], np.full_like(v[0], 0.5)), v),
            ow.where(zero, line, d),
            ow.where(zero, line, c),
        )
    infinite = endless(x)
    outside = (
        zero if infinite is None else infinite if zero is None else zero | infinite
    )
    return Enclosed(v, (d, c), outside)


def _fresnel(jet: Any, name: str, x: Pair, order: int) -> Enclosed:
    def bounds(lo: Any, hi: Any) -> list[Pair]:
        with np.errstate(all="ignore"):
            size = ow.up(np.maximum(np.abs(lo), np.abs(hi)) * _PI[1])
        return [(-1.0, 1.0), (-1.0, 1.0), (-size, size)]

    v, d, c = _wave(name, jet, x, order, bounds)
    return Enclosed(v, (d, c), endless(x))


@encloses("fresnel_sine")
def _fresnel_sine(pattern: int, x: Pair, order: int) -> Enclosed:
    return _fresnel(_fresnel_sine_jet, "fresnel_sine", x, order)


@encloses("fresnel_cosine")
def _fresnel_cosine(pattern: int, x: Pair, order: int) -> Enclosed:
    return _fresnel(_fresnel_cosine_jet, "fresnel_cosine", x, order)
