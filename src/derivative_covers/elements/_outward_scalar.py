"""The arithmetic of :mod:`._outward` for single intervals, with the same bits.

Each function takes and gives floats, and None where a kernel has to look: near underflow
and overflow, at zeros and infinities.
"""

from __future__ import annotations

import math
from math import inf, nextafter

__all__ = ["add", "divide", "square_root", "squares", "times"]

Ends = tuple[float, float] | None

_NORMAL = math.ldexp(1.0, -1022)
_TINY, _HUGE = math.ldexp(1.0, -1000), math.ldexp(1.0, 1020)
_BITS = 2.0**26


def add(xl: float, xh: float, yl: float, yh: float) -> Ends:
    """``x + y``."""
    lo, hi = xl + yl, xh + yh
    if not (lo > -_HUGE and hi < _HUGE):
        return None
    if _error(xl, yl, lo) < 0:
        lo = nextafter(lo, -inf)
    if _error(xh, yh, hi) > 0:
        hi = nextafter(hi, inf)
    return lo, hi


def times(xl: float, xh: float, yl: float, yh: float) -> Ends:
    """``x * y``."""
    if _subnormal(xl, xh, yl, yh):
        return None
    products = xl * yl, xl * yh, xh * yl, xh * yh
    exact = (_binary(xl) and _binary(xh)) or (_binary(yl) and _binary(yh))
    return _moved(min(products), max(products), exact or _few_bits(xl, xh, yl, yh))


def divide(xl: float, xh: float, yl: float, yh: float) -> Ends:
    """``x / y``."""
    if yl <= 0 <= yh or _subnormal(xl, xh, yl, yh):
        return None
    quotients = xl / yl, xl / yh, xh / yl, xh / yh
    lo = min(quotients)
    exact = _binary(yl) and _binary(yh)
    if xl == xh and yl == yh and abs(xl) > _TINY:
        exact = exact or (lo * yl == xl and _few_bits(lo, yl))
    return _moved(lo, max(quotients), exact)


def squares(xl: float, xh: float) -> Ends:
    """``x**2``."""
    if xl <= 0 <= xh or _subnormal(xl, xh):
        return None
    lo, hi = sorted((xl * xl, xh * xh))
    return _moved(lo, hi, (_binary(xl) and _binary(xh)) or _few_bits(xl, xh))


def square_root(xl: float, xh: float) -> Ends:
    """``sqrt(x)``."""
    if not _TINY < xl <= xh < _HUGE:
        return None
    lo, hi = math.sqrt(xl), math.sqrt(xh)
    if not (_few_bits(lo) and lo * lo == xl):
        lo = nextafter(lo, -inf)
    if not (_few_bits(hi) and hi * hi == xh):
        hi = nextafter(hi, inf)
    return lo, hi


def _moved(lo: float, hi: float, exact: bool) -> Ends:
    if not (_TINY < abs(lo) < _HUGE and _TINY < abs(hi) < _HUGE):
        return None
    return (lo, hi) if exact else (nextafter(lo, -inf), nextafter(hi, inf))


def _error(a: float, b: float, s: float) -> float:
    t = s - a
    return (a - (s - t)) + (b - t)


def _few_bits(*numbers: float) -> bool:
    """Whether all have at most 26 bits, so that products of two are exact."""
    return all((math.frexp(v)[0] * _BITS).is_integer() for v in numbers)


def _binary(v: float) -> bool:
    """Whether ``v`` is zero or a power of two."""
    return math.frexp(v)[0] in (0.5, -0.5, 0.0)


def _subnormal(*numbers: float) -> bool:
    """Whether one of them is."""
    return any(0.0 < abs(v) < _NORMAL for v in numbers)
