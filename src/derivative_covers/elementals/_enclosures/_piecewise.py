"""Piecewise linear and piecewise constant functions."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._arithmetic import contains_zero
from ._enclosed import Enclosed, marked
from ._registry import encloses

__all__: list[str] = []


def _signs(x: Pair) -> Pair:
    return np.sign(x[0]), np.sign(x[1])


@encloses("absolute")
def _absolute(pattern: int, x: Pair, order: int) -> Enclosed:
    return Enclosed(ow.absolute(x), (_signs(x), 0.0), None, contains_zero(x))


@encloses("sign")
def _sign(pattern: int, x: Pair, order: int) -> Enclosed:
    return Enclosed(_signs(x), (0.0, 0.0), None, contains_zero(x))


@encloses("floor")
def _floor(pattern: int, x: Pair, order: int) -> Enclosed:
    lo, hi = np.floor(x[0]), np.floor(x[1])
    return Enclosed((lo, hi), (0.0, 0.0), None, marked((lo != hi) | (x[0] == lo)))


@encloses("ceil")
def _ceil(pattern: int, x: Pair, order: int) -> Enclosed:
    lo, hi = np.ceil(x[0]), np.ceil(x[1])
    return Enclosed((lo, hi), (0.0, 0.0), None, marked((lo != hi) | (x[1] == hi)))


@encloses("trunc")
def _trunc(pattern: int, x: Pair, order: int) -> Enclosed:
    lo, hi = np.trunc(x[0]), np.trunc(x[1])
    kink = (lo != hi) | ((x[0] == lo) & (lo != 0.0)) | ((x[1] == hi) & (hi != 0.0))
    return Enclosed((lo, hi), (0.0, 0.0), None, marked(kink))


@encloses("rint")
def _rint(pattern: int, x: Pair, order: int) -> Enclosed:
    lo, hi = np.rint(x[0]), np.rint(x[1])
    half = [np.abs(e) - np.floor(np.abs(e)) == 0.5 for e in x]
    return Enclosed((lo, hi), (0.0, 0.0), None, marked((lo != hi) | half[0] | half[1]))


@encloses("maximum", "fmax")
def _maximum(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    return _chosen(ow.maximum(x, y), x[0] > y[1], y[0] > x[1], pattern, x)


@encloses("minimum", "fmin")
def _minimum(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    return _chosen(ow.minimum(x, y), x[1] < y[0], y[1] < x[0], pattern, x)


def _chosen(value: Pair, first: Any, second: Any, pattern: int, x: Pair) -> Enclosed:
    d1 = np.where(first, 1.0, 0.0), np.where(second, 0.0, 1.0)
    d2 = 1.0 - d1[1], 1.0 - d1[0]
    kink = marked(~(first | second))
    if pattern == 1:
        return Enclosed(value, (d1, d2, 0.0, 0.0, 0.0), None, kink)
    return Enclosed(value, (d1 if pattern == 2 else d2, 0.0), None, kink)


@encloses("heaviside")
def _heaviside(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    zero = (x[0] <= 0.0) & (x[1] >= 0.0)
    below, above = x[0] < 0.0, x[1] > 0.0
    lo = np.where(below, 0.0, np.where(zero, y[0], 1.0))
    hi = np.where(above, 1.0, np.where(zero, y[1], 0.0))
    lo = np.where(zero, np.minimum(lo, y[0]), lo)
    hi = np.where(zero, np.maximum(hi, y[1]), hi)
    lo = np.where(zero & above, np.minimum(lo, 1.0), lo)
    hi = np.where(zero & below, np.maximum(hi, 0.0), hi)
    d2 = np.where(zero & ~below & ~above, 1.0, 0.0), np.where(zero, 1.0, 0.0)
    kink = marked(zero)
    if pattern == 1:
        return Enclosed((lo, hi), (0.0, d2, 0.0, 0.0, 0.0), None, kink)
    if pattern == 2:
        return Enclosed((lo, hi), (0.0, 0.0), None, kink)
    return Enclosed((lo, hi), (d2, 0.0))


@encloses("copysign")
def _copysign(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    size = ow.absolute(x)
    sign = np.copysign(1.0, y[0]), np.copysign(1.0, y[1])
    # Zero in an interval stands for both of its signs unless it is the point given.
    mixed = (
        (sign[0] != sign[1])
        | ((y[0] == 0.0) & (y[0] != y[1]))
        | ((y[1] == 0.0) & (y[0] != y[1]))
    )
    low = np.where(mixed & (y[0] <= 0.0) & (y[1] >= 0.0), -1.0, np.minimum(*sign))
    high = np.where(mixed & (y[0] <= 0.0) & (y[1] >= 0.0), 1.0, np.maximum(*sign))
    value = ow.multiply(size, (low, high))
    d1 = ow.multiply(_signs(x), (low, high))
    x_zero = (x[0] <= 0.0) & (x[1] >= 0.0)
    y_zero = (y[0] <= 0.0) & (y[1] >= 0.0)
    if pattern == 1:
        return Enclosed(value, (d1, 0.0, 0.0, 0.0, 0.0), None, marked(x_zero | y_zero))
    if pattern == 2:
        return Enclosed(value, (d1, 0.0), None, marked(x_zero))
    always_zero = (x[0] == 0.0) & (x[1] == 0.0)
    return Enclosed(value, (0.0, 0.0), None, marked(y_zero & ~always_zero))


@encloses("mod")
def _mod(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    """``x - y floor(x / y)``."""
    quotient = ow.divide(x, y)
    n = np.floor(quotient[0]), np.floor(quotient[1])
    # At a boundary of the rounded quotient the remainder of the division decides.
    n = _floors(x, y, n)
    return _remainder(pattern, x, y, n, contains_zero(y))


@encloses("fmod")
def _fmod(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    """``x - y trunc(x / y)``."""
    size = ow.absolute(x), ow.absolute(y)
    n = _floors(*size, _down(ow.divide(*size)))
    same = np.where((x[0] >= 0.0) == (y[0] > 0.0), 1.0, -1.0)
    straddles = (x[0] < 0.0) & (x[1] > 0.0)
    signed = ow.where(same > 0, n, ow.negative(n))
    signed = ow.where(straddles, (0.0 - n[1], n[1]), signed)
    return _remainder(pattern, x, y, signed, contains_zero(y), truncated=True)


def _down(x: Pair) -> Pair:
    return np.floor(x[0]), np.floor(x[1])


def _floors(x: Pair, y: Pair, n: Pair) -> Pair:
    """Exact quotients at points: the rounded one is one off at most."""
    point = (x[0] == x[1]) & (y[0] == y[1]) & (n[0] != n[1]) & (n[1] - n[0] == 1.0)
    if not np.any(point):
        return n
    exact = _exact_floors(x[0], y[0], n, point)
    return ow.where(point, (exact, exact), n)


def _exact_floors(x: Any, y: Any, n: Pair, point: Any) -> Any:
    found = np.array(n[0])
    flat = found.reshape(-1)
    for k in np.flatnonzero(np.ravel(point)).tolist():
        a, b = np.ravel(x)[k], np.ravel(y)[k]
        (p, q), (r, s) = a.as_integer_ratio(), b.as_integer_ratio()
        flat[k] = float((p * s) // (q * r))
    return found


def _remainder(
    pattern: int, x: Pair, y: Pair, n: Pair, outside: Any, *, truncated: bool = False
) -> Enclosed:
    with np.errstate(all="ignore"):
        known = (n[0] == n[1]) & (np.abs(n[0]) < 2.0**53)
    bad = outside if outside is not None else np.zeros(np.shape(n[0]), dtype=bool)
    bad = bad | ~(np.isfinite(x[0]) & np.isfinite(x[1]))
    steps = ow.where(known, n, (np.zeros_like(n[0]), np.zeros_like(n[0])))
    value = ow.subtract(x, ow.multiply(y, steps))
    point = (x[0] == x[1]) & (y[0] == y[1]) & ~bad
    if np.any(point):
        exact = (np.fmod if truncated else np.remainder)(x[0], y[0])
        if not truncated:
            # NumPy adds the divisor to an exact remainder, which rounds.
            rest = np.fmod(x[0], y[0])
            shifted = ow.add(ow.point(rest), ow.point(y[0]))
            exact_pair = ow.where(
                (rest != 0.0) & ((rest < 0.0) != (y[0] < 0.0)), shifted, ow.point(rest)
            )
        else:
            exact_pair = ow.point(exact)
        value = ow.where(point, exact_pair, value)
    size = ow.absolute(y)[1]
    if truncated:
        most = np.minimum(size, ow.absolute(x)[1])
        range_ = (
            np.where(x[0] >= 0.0, 0.0, 0.0 - most),
            np.where(x[1] <= 0.0, 0.0, most),
        )
    else:
        range_ = np.where(y[0] > 0.0, 0.0, 0.0 - size), np.where(y[1] < 0.0, 0.0, size)
    clipped = ow.intersect(value, range_)
    value = ow.where(
        known | point, ow.where(clipped[0] <= clipped[1], clipped, value), range_
    )
    line = (np.full_like(n[0], -inf), np.full_like(n[0], inf))
    value = ow.where(bad, line, value)
    d2 = ow.where(bad, line, ow.negative(n))
    kink = _remainder_kink(x, y, n, known, point, truncated)
    mark = marked(bad)
    if pattern == 1:
        return Enclosed(value, (1.0, d2, 0.0, 0.0, 0.0), mark, kink)
    return Enclosed(value, (1.0 if pattern == 2 else d2, 0.0), mark, kink)


def _remainder_kink(
    x: Pair, y: Pair, n: Pair, known: Any, point: Any, truncated: bool
) -> Any:
    divisible = np.fmod(x[0], y[0]) == 0.0
    touches = ~known
    for a in x:
        for b in y:
            touches = touches | (np.fmod(a, b) == 0.0)
    kink = np.where(point, divisible, touches)
    if truncated:
        kink = np.where(known & (n[0] == 0.0) & ~_reaches(x, y), False, kink)
    return marked(kink)


def _reaches(x: Pair, y: Pair) -> Any:
    """Whether the size of the dividend reaches that of the divisor."""
    return ow.absolute(x)[1] >= ow.absolute(y)[0]
