"""Sums, products and quotients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._decimals import around
from ._enclosed import Enclosed
from ._registry import encloses

__all__ = ["contains_zero"]

_DEGREE = around("0.01745329251994329576923690768488612713442871888541")
_RADIAN = around("57.29577951308232087679815481410517033240547246656")


def contains_zero(x: Pair) -> Any:
    """Where an interval contains zero; None if nowhere."""
    inside = (x[0] <= 0.0) & (x[1] >= 0.0)
    return inside if np.any(inside) else None


@encloses("copy", "positive")
def _copy(pattern: int, x: Pair, order: int) -> Enclosed:
    return Enclosed(x, (1.0, 0.0))


@encloses("tie")
def _tie(pattern: int, x: Pair, order: int) -> Enclosed:
    return Enclosed(x, (1.0, 0.0), kink=np.ones_like(x[0], dtype=bool))


@encloses("detach")
def _detach(pattern: int, x: Pair, order: int) -> Enclosed:
    return Enclosed(x, (0.0, 0.0))


@encloses("negative")
def _negative(pattern: int, x: Pair, order: int) -> Enclosed:
    return Enclosed(ow.negative(x), (-1.0, 0.0))


@encloses("deg2rad")
def _deg2rad(pattern: int, x: Pair, order: int) -> Enclosed:
    return _proportional(x, _DEGREE)


@encloses("rad2deg")
def _rad2deg(pattern: int, x: Pair, order: int) -> Enclosed:
    return _proportional(x, _RADIAN)


def _proportional(x: Pair, factor: Pair) -> Enclosed:
    slope = np.full_like(x[0], factor[0]), np.full_like(x[0], factor[1])
    return Enclosed(ow.multiply(x, slope), (slope, 0.0))


@encloses("add")
def _add(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    parts = (1.0, 1.0, 0.0, 0.0, 0.0) if pattern == 1 else (1.0, 0.0)
    return Enclosed(ow.add(x, y), parts)


@encloses("subtract")
def _subtract(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    parts = (
        (1.0, -1.0, 0.0, 0.0, 0.0)
        if pattern == 1
        else (1.0 if pattern == 2 else -1.0, 0.0)
    )
    return Enclosed(ow.subtract(x, y), parts)


@encloses("multiply")
def _multiply(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    parts: tuple[Any, ...] = (
        (y, x, 0.0, 1.0, 0.0) if pattern == 1 else (y if pattern == 2 else x, 0.0)
    )
    return Enclosed(ow.multiply(x, y), parts)


@encloses("divide")
def _divide(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    value = ow.divide(x, y)
    outside = contains_zero(y)
    if not order:
        return Enclosed(value, (), outside)
    d1 = ow.reciprocal(y)
    if pattern == 2:
        return Enclosed(value, (d1, 0.0), outside)
    # Quotients of quotients: exact ranges, since the same ends of y are the extreme ones,
    # and out of range only where the result is.
    by_square = ow.divide(value, y)
    half = ow.divide(by_square, y)
    d2, c22 = ow.negative(by_square), ow.add(half, half)
    if pattern == 3:
        return Enclosed(value, (d2, c22), outside)
    c12 = ow.negative(ow.divide(d1, y))
    return Enclosed(value, (d1, d2, 0.0, c12, c22), outside)
