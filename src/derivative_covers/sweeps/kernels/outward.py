"""Arithmetic of single intervals with the bits of :mod:`derivative_covers.elements._outward`.

A kernel takes and gives ends. Where NumPy's arithmetic would have to look closer (results
that are not finite, or too near overflow for the error of a sum) both ends are NaN, and so is what
is computed of them: the caller leaves such programs to it. Divisors hold no zero; that is asked before.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel
from .rounding import ETA, INF, PHI

__all__ = [
    "add",
    "divide",
    "multiply",
    "power",
    "square",
    "square_root",
    "total",
]

NAN = np.nan
SMALL = 2.0**-1060  # a step of numbers below 2**-1007
LARGE = 2.0**969  # of numbers near overflow, where an error may have none
NORMAL = 2.0**-1022
MANTISSA = np.int64(2**52 - 1)
LOW = np.int64(2**27 - 1)
FEW = 256  # terms of a sum that is rounded once


@kernel
def bits(x):
    """The representation of a number."""
    return np.float64(x).view(np.int64)


@kernel
def few(a, b, c, d):
    """Whether all four have at most 26 bits, so that products of two are exact."""
    return ((bits(a) | bits(b) | bits(c) | bits(d)) & LOW) == 0


@kernel
def binary(a, b):
    """Whether both are zero, or a power of two that is not subnormal."""
    return ((bits(a) | bits(b)) & MANTISSA) == 0


@kernel
def add(xl, xh, yl, yh):
    """``x + y``; a step outward where there is an error."""
    lo = xl + yl
    hi = xh + yh
    below = abs(lo) * PHI + ETA
    above = abs(hi) * PHI + ETA
    if not (below < LARGE and above < LARGE):
        return NAN, NAN
    t = lo - xl
    if (xl - (lo - t)) + (yl - t) < 0:
        lo = lo - below
    t = hi - xh
    if (xh - (hi - t)) + (yh - t) > 0:
        hi = hi + above
    return lo, hi


@kernel
def moved(lo, hi, exact):
    """A step outward from ends that are not exact."""
    below = abs(lo) * PHI + ETA
    above = abs(hi) * PHI + ETA
    if not (below < INF and above < INF):
        return NAN, NAN
    if not (exact and below > SMALL):
        lo = lo - below
    if not (exact and above > SMALL):
        hi = hi + above
    return lo, hi


@kernel
def multiply(xl, xh, yl, yh):
    """``x * y``."""
    p = xl * yl
    q = xh * yh
    if xl >= 0 and yl >= 0:
        lo = p
        hi = q
    else:
        r = xl * yh
        s = xh * yl
        lo = min(min(p, q), min(r, s))
        hi = max(max(p, q), max(r, s))
    exact = binary(xl, xh) or binary(yl, yh) or few(xl, xh, yl, yh)
    lo, hi = moved(lo, hi, exact)
    if (xl == 0 and xh == 0) or (yl == 0 and yh == 0):
        return 0.0, 0.0
    if lo < 0 and ((xl >= 0 and yl >= 0) or (xh <= 0 and yh <= 0)):
        lo = 0.0
    if hi > 0 and ((xl >= 0 and yh <= 0) or (xh <= 0 and yl >= 0)):
        hi = 0.0
    return lo, hi


@kernel
def divide(xl, xh, yl, yh):
    """``x / y``, where ``y`` does not hold zero."""
    p = xl / yl
    q = xh / yh
    r = xl / yh
    s = xh / yl
    lo = min(min(p, q), min(r, s))
    hi = max(max(p, q), max(r, s))
    exact = binary(yl, yh)
    if not exact and xl == xh and yl == yh:
        exact = p * yl == xl and abs(xl) > NORMAL and few(p, p, yl, yl)
    lo, hi = moved(lo, hi, exact)
    if xl == 0 and xh == 0:
        return 0.0, 0.0
    if lo < 0 and ((xl >= 0 and yl > 0) or (xh <= 0 and yh < 0)):
        lo = 0.0
    if hi > 0 and ((xl >= 0 and yh < 0) or (xh <= 0 and yl > 0)):
        hi = 0.0
    return lo, hi


@kernel
def square(xl, xh):
    """``x**2``."""
    p = xl * xl
    q = xh * xh
    lo, hi = moved(min(p, q), max(p, q), binary(xl, xh) or few(xl, xh, xl, xh))
    if xl == 0 and xh == 0:
        return 0.0, 0.0
    if lo < 0 or (xl <= 0 and xh >= 0 and lo == lo):
        lo = 0.0
    return lo, hi


@kernel
def square_root(xl, xh):
    """``sqrt(x)`` of what is not negative."""
    lo = np.sqrt(xl)
    hi = np.sqrt(xh)
    below = abs(lo) * PHI + ETA
    above = abs(hi) * PHI + ETA
    if not (below < INF and above < INF):
        return NAN, NAN
    if not (few(lo, lo, lo, lo) and lo * lo == xl and (xl > NORMAL or xl == 0)):
        lo = lo - below
    if not (few(hi, hi, hi, hi) and hi * hi == xh and (xh > NORMAL or xh == 0)):
        hi = hi + above
    return lo, hi


@kernel
def raised(xl, xh, n):
    """The ``n``-th powers of numbers that are not negative, ``n >= 1``."""
    first = True
    lo = xl
    hi = xh
    while True:
        if n & 1:
            if first:
                lo = xl
                hi = xh
                first = False
            else:
                lo, hi = multiply(lo, hi, xl, xh)
        n >>= 1
        if n == 0:
            return lo, hi
        xl, xh = multiply(xl, xh, xl, xh)


@kernel
def power(xl, xh, n):
    """The ``n``-th powers for a whole number ``n``; no zero in them where it is negative."""
    m = abs(n)
    if m == 0:
        return 1.0, 1.0
    if m == 1:
        lo = xl
        hi = xh
    elif m % 2 == 0:
        lo, hi = raised(max(max(xl, 0.0 - xh), 0.0), max(0.0 - xl, xh), m)
    elif xl >= 0:
        lo, hi = raised(xl, xh, m)
    else:
        a, b = raised(abs(xl), abs(xl), m)
        lo = 0.0 - b
        a, b = raised(abs(xh), abs(xh), m)
        hi = 0.0 - a if xh < 0 else b
        if not lo <= hi:
            return NAN, NAN
    if n < 0:
        if lo <= 0 and hi >= 0:  # it underflows
            return NAN, NAN
        return divide(1.0, 1.0, lo, hi)
    return lo, hi


@kernel
def directed(terms, n, parts, upward):
    """The sum of ``n`` terms rounded downward or upward, exactly.

    Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric
    predicates": the sum is kept as numbers that do not overlap, the smallest one first.
    """
    count = 0
    for m in range(n):
        x = terms[m]
        kept = 0
        for k in range(count):
            y = parts[k]
            s = x + y
            t = s - x
            rest = (x - (s - t)) + (y - t)
            if rest != 0:
                parts[kept] = rest
                kept += 1
            x = s
        parts[kept] = x
        count = kept + 1
    k = count - 1
    near = parts[k]
    rest = 0.0
    while k > 0 and rest == 0:
        k -= 1
        x = near
        y = parts[k]
        near = x + y
        rest = y - (near - x)
    if not abs(near) < INF or rest != rest:
        return NAN
    if upward:
        return np.nextafter(near, INF) if rest > 0 else near
    return np.nextafter(near, -INF) if rest < 0 else near


@kernel
def total(lo, hi, n, rows, parts):
    """The sum of ``n`` intervals, which are overwritten, of one of ``rows`` sums.

    Halves are added to one another until one is left, or few enough to be summed and
    rounded once.
    """
    while n > 1:
        if n > 4 and n < FEW and rows <= 8:
            return directed(lo, n, parts, False), directed(hi, n, parts, True)
        half = n // 2
        for k in range(half):
            lo[k], hi[k] = add(lo[k], hi[k], lo[half + k], hi[half + k])
        if n % 2:
            lo[half] = lo[n - 1]
            hi[half] = hi[n - 1]
        n = half + n % 2
    return lo[0], hi[0]
