"""Box and Cox's transformation, its inverse, and the exponential's difference quotient."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import has_balls
from ._boxes import at_boxes, monotone, sharpened
from ._enclosed import Enclosed
from ._registry import add_shape, encloses
from ._shapes import Shape, enclose_shape
from ._slow import functions

__all__: list[str] = []

_ONE, _TWO = ow.point(1.0), ow.point(2.0)


def _exp_quotient(x: Any) -> tuple[Any, ...]:
    """``(exp(x) - 1) / x`` and derivatives, moments of ``exp(x s)`` over the unit interval."""
    if abs(x) > 1:
        e, r = x.exp(), 1 / x
        square = r * r
        return (
            (e - 1) * r,
            e * (r - square) + square,
            e * (r - 2 * square + 2 * square * r) - 2 * square * r,
        )
    one = 0 * x + 1
    return tuple(x.hypgeom_1f1(k * one, (k + 1) * one) / k for k in (1, 2, 3))


_EXPREL = Shape(
    "exprel",
    _exp_quotient,
    limits={-inf: (0.0, 0.0, 0.0), inf: (inf, inf, inf)},
    reach=(-inf, 1e4),
)
add_shape(
    Shape(
        "exprel",
        _exp_quotient,
        limits=_EXPREL.limits,
        open=(True, True),
        reach=_EXPREL.reach,
    )
)


def _log_quotient(w: Any) -> tuple[Any, ...]:
    """``log(1 + w) / w`` and derivatives, moments of ``1 / (1 + w s)``."""
    if w == 0:
        one = 0 * w + 1
        return one, -one / 2, 2 * one / 3
    r, q, log = 1 / w, 1 / (1 + w), w.log1p()
    slope = (q - log * r) * r
    return log * r, slope, -(2 * slope + q * q) * r


_LOG_QUOTIENT = Shape(
    "inv_boxcox",
    _log_quotient,
    limits={-1.0: (inf, -inf, inf), inf: (0.0, 0.0, 0.0)},
    domain=(-1.0, inf),
)


def _transformed_jet(x: Any, power: Any, one_more: bool) -> tuple[Any, ...]:
    log = x.log1p() if one_more else x.log()
    quotient, slope, bend = _exp_quotient(power * log)
    d1 = ((power - 1) * log).exp()
    return (
        log * quotient,
        d1,
        log * log * slope,
        (power - 1) * ((power - 2) * log).exp(),
        log * d1,
        log**3 * bend,
    )


def _transformed_wide(log: Pair, power: Pair) -> list[Pair]:
    quotient = enclose_shape(_EXPREL, ow.multiply(power, log))
    slope, bend = quotient.parts
    less = ow.subtract(power, _ONE)
    exp = functions().exp
    d1 = exp(ow.multiply(less, log))
    return [
        ow.multiply(log, quotient.value),
        d1,
        ow.multiply(ow.square(log), slope),  # type: ignore[arg-type]
        ow.multiply(less, exp(ow.multiply(ow.subtract(power, _TWO), log))),
        ow.multiply(log, d1),
        ow.multiply(ow.power(log, 3), bend),  # type: ignore[arg-type]
    ]


def _transformed(
    name: str, one_more: bool, pattern: int, x: Pair, power: Pair, order: int
) -> Enclosed:
    end = -1.0 if one_more else 0.0

    def jet(a: Any, b: Any) -> tuple[Any, ...]:
        return _transformed_jet(a, b, one_more)

    def wide(a: Pair, b: Pair) -> list[Pair]:
        base = np.maximum(a[0], end), np.maximum(a[1], end)
        f = functions()
        log = f.log1p(base) if one_more else f.log(base)
        return _transformed_wide(log, b)

    inside = x[0] > end
    regular = inside & np.isfinite(x[1]) & np.isfinite(power[0]) & np.isfinite(power[1])
    found = _points_or_boxes(name, jet, wide, regular, x, power)
    if has_balls() and np.any(regular):
        safe = [
            (np.where(regular, p[0], 1.0), np.where(regular, p[1], 1.0))
            for p in (x, power)
        ]
        (corner,) = monotone(name, lambda a, b: jet(a, b)[:1], ((1, 1),), *safe)
        found[0] = ow.where(regular, sharpened(corner, found[0]), found[0])
    return _chosen(pattern, found, inside)


def _points_or_boxes(
    name: str, jet: Any, wide: Any, regular: Any, x: Pair, y: Pair
) -> list[Pair]:
    point = regular & (x[0] == x[1]) & (y[0] == y[1])
    if not has_balls() or not np.any(point):
        return list(wide(x, y))
    a, b = np.where(point, x[0], 1.0), np.where(point, y[0], 1.0)
    exact = at_boxes(name, jet, wide, (a, a), (b, b))
    if np.all(point):
        return exact
    return [ow.where(point, p, q) for p, q in zip(exact, wide(x, y), strict=True)]


def _chosen(pattern: int, found: list[Pair], inside: Any) -> Enclosed:
    v, d1, d2, c11, c12, c22 = found
    outside = None if np.all(inside) else ~inside
    if pattern == 1:
        return Enclosed(v, (d1, d2, c11, c12, c22), outside)
    return Enclosed(v, (d1, c11) if pattern == 2 else (d2, c22), outside)


@encloses("boxcox")
def _boxcox(pattern: int, x: Pair, power: Pair, order: int) -> Enclosed:
    return _transformed("boxcox", False, pattern, x, power, order)


@encloses("boxcox1p")
def _boxcox1p(pattern: int, x: Pair, power: Pair, order: int) -> Enclosed:
    return _transformed("boxcox1p", True, pattern, x, power, order)


def _inverse_jet(y: Any, power: Any) -> tuple[Any, ...]:
    quotient, slope, bend = _log_quotient(power * y)
    log = y * quotient
    g = y * y * slope
    less = 1 - power
    x, d = log.exp(), (less * log).exp()
    return (
        x,
        d,
        x * g,
        less * ((1 - 2 * power) * log).exp(),
        d * (less * g - log),
        x * (g * g + y**3 * bend),
    )


def _inverse_wide(y: Pair, power: Pair) -> list[Pair]:
    w = ow.multiply(power, y)
    found = enclose_shape(
        _LOG_QUOTIENT, (np.maximum(w[0], -1.0), np.maximum(w[1], -1.0))
    )
    slope, bend = found.parts
    log = ow.multiply(y, found.value)
    g = ow.multiply(ow.square(y), slope)  # type: ignore[arg-type]
    less = ow.subtract(_ONE, power)
    exp = functions().exp
    x, d = exp(log), exp(ow.multiply(less, log))
    twice = ow.subtract(less, power)
    return [
        x,
        d,
        ow.multiply(x, g),
        ow.multiply(less, exp(ow.multiply(twice, log))),
        ow.multiply(d, ow.subtract(ow.multiply(less, g), log)),
        ow.multiply(x, ow.add(ow.square(g), ow.multiply(ow.power(y, 3), bend))),  # type: ignore[arg-type]
    ]


def _inverse(name: str, pattern: int, y: Pair, power: Pair, order: int) -> Enclosed:
    w = ow.multiply(power, y)
    inside = w[0] > -1.0
    # At points the product is decided exactly: its rounded lower end may be -1.
    finite = np.isfinite(y[0]) & np.isfinite(y[1]) & np.isfinite(power[0] * power[1])
    regular = inside & finite

    def jet(a: Any, b: Any) -> tuple[Any, ...]:
        found = _inverse_jet(a, b)
        return (found[0] - 1, *found[1:]) if one_less else found

    def wide(a: Pair, b: Pair) -> list[Pair]:
        found = _inverse_wide(a, b)
        return [ow.subtract(found[0], _ONE), *found[1:]] if one_less else found

    one_less = name == "inv_boxcox1p"
    found = _points_or_boxes(name, jet, wide, regular, y, power)
    return _chosen(pattern, found, inside)


@encloses("inv_boxcox")
def _inv_boxcox(pattern: int, y: Pair, power: Pair, order: int) -> Enclosed:
    return _inverse("inv_boxcox", pattern, y, power, order)


@encloses("inv_boxcox1p")
def _inv_boxcox1p(pattern: int, y: Pair, power: Pair, order: int) -> Enclosed:
    return _inverse("inv_boxcox1p", pattern, y, power, order)
