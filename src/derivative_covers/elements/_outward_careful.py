"""The arithmetic of :mod:`._outward` for entries of every kind, one rule after another.

Infinite ends, overflow and divisors that contain zero: entries that the quick kernels
leave over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from derivative_covers.elements._outward_kernels import ETA, MAX, PHI

__all__ = ["add", "divide", "down", "square_root", "squares", "times", "up"]

Pair = tuple[Any, Any]


def down(x: Any) -> Any:
    """A float at or below the predecessor of ``x``; the largest one for ``inf``."""
    with np.errstate(all="ignore"):
        return np.fmin(x - (np.abs(x) * PHI + ETA), MAX)


def up(x: Any) -> Any:
    """A float at or above the successor of ``x``; the lowest one for ``-inf``."""
    with np.errstate(all="ignore"):
        return np.fmax(x + (np.abs(x) * PHI + ETA), -MAX)


def add(xl: Any, xh: Any, yl: Any, yh: Any) -> Pair:
    """``x + y``; the whole line where there is no sum."""
    below, above = xl + yl, xh + yh
    lost = np.isnan(below) | np.isnan(above)
    exact = (xl == 0) | (yl == 0), (xh == 0) | (yh == 0)
    lo, hi = (
        np.where(exact[0], below, down(below)),
        np.where(exact[1], above, up(above)),
    )
    return np.where(lost, -np.inf, lo), np.where(lost, np.inf, hi)


def times(xl: Any, xh: Any, yl: Any, yh: Any) -> Pair:
    """``x * y``, where zero times infinity is zero."""
    return _extremes([_product(a, b) for a in (xl, xh) for b in (yl, yh)])


def divide(xl: Any, xh: Any, yl: Any, yh: Any) -> Pair:
    """``x / y``: a half line, or the whole one, where ``y`` contains zero."""
    lo, hi = _extremes([_quotient(a, b) for a in (xl, xh) for b in (yl, yh)])
    zero = (yl <= 0) & (yh >= 0)
    one_sided = (yl == 0) != (yh == 0)
    above = one_sided & (yl == 0)
    far = np.where(above, yh, yl)  # the end of the divisor that is not zero
    low, high = _extremes([_quotient(xl, far), _quotient(xh, far)])
    positive = one_sided & np.where(above, xl >= 0, xh <= 0)
    negative = one_sided & np.where(above, xh <= 0, xl >= 0)
    lo = np.where(zero, np.where(positive, low, -np.inf), lo)
    hi = np.where(zero, np.where(negative, high, np.inf), hi)
    return lo, hi


def square_root(xl: Any, xh: Any) -> Pair:
    """``sqrt(x)`` of what is not negative."""
    ends = []
    for x, step in ((xl, down), (xh, up)):
        given = np.maximum(x, 0.0)
        end = np.sqrt(given)
        exact = (end == np.rint(end)) & (end < 2**26) & (end * end == given)
        ends.append(np.where(exact, end, step(end)))
    return ends[0], ends[1]


def squares(xl: Any, xh: Any) -> Pair:
    """``x**2``."""
    size = np.maximum(np.maximum(xl, -xh), 0.0), np.maximum(-xl, xh)
    return times(*size, *size)


def _extremes(ends: list[Pair]) -> Pair:
    lo, hi = ends[0]
    for below, above in ends[1:]:
        lo, hi = np.minimum(lo, below), np.maximum(hi, above)
    return lo, hi


def _product(a: Any, b: Any) -> Pair:
    """Bounds of the products of numbers."""
    p = a * b
    sign = np.sign(a) * np.sign(b)
    exact = np.isinf(a) | np.isinf(b) | (np.abs(a) == 1) | (np.abs(b) == 1)
    lo, hi = np.where(exact, p, down(p)), np.where(exact, p, up(p))
    return _signed(sign, lo, hi)


def _quotient(a: Any, b: Any) -> Pair:
    """Bounds of the quotients of numbers, of no meaning for a zero divisor.

    Infinite ends of two intervals: quotients of members near them are of any size.
    """
    q = a / b
    sign = np.sign(a) * np.sign(b)
    exact, lost = np.isinf(a) | (np.abs(b) == 1), np.isinf(a) & np.isinf(b)
    lo, hi = np.where(exact, q, down(q)), np.where(exact, q, up(q))
    return _signed(sign, np.where(lost, -np.inf, lo), np.where(lost, np.inf, hi))


def _signed(sign: Any, lo: Any, hi: Any) -> Pair:
    """Ends that do not pass zero, and are zero where an operand is."""
    lo = np.where(sign > 0, np.maximum(lo, 0.0), lo)
    hi = np.where(sign < 0, np.minimum(hi, 0.0), hi)
    return np.where(sign == 0, 0.0, lo), np.where(sign == 0, 0.0, hi)
