"""Rounding of single operations outward, for the kernels over boxes.

A step to a neighbour is ``x + (phi |x| + eta)``: at least the next number above, as long
as the compiler keeps every operation as it stands, which it does without fast-math. Sums
and products without a rounding error stay as they are. Zero times infinity is zero.

Sources: Rump, Zimmermann, Boldo, Melquiond 2009, "Computing predecessor and successor in
rounding to nearest", BIT 49; the errors of sums and products: Knuth, TAOCP 2, section
4.2.2, and Dekker 1971, "A floating-point technique for extending the available precision".
"""

from __future__ import annotations

import math

from ._jit import kernel

PHI = 2.0**-53 * (1 + 2.0**-52)
ETA = 2.0**-1074
MOST = 1.7976931348623157e308
INF = math.inf


@kernel
def above(x):
    """A number above ``x``, or infinity; the lowest number for minus infinity."""
    if x == -INF:
        return -MOST
    return x + (PHI * abs(x) + ETA)


@kernel
def below(x):
    """A number below ``x``, or minus infinity; the largest number for infinity."""
    if x == INF:
        return MOST
    return x - (PHI * abs(x) + ETA)


@kernel
def sum_above(a, b):
    """At least ``a + b``."""
    s = a + b
    t = s - a
    return s if (a - (s - t)) + (b - t) <= 0 else above(s)


@kernel
def sum_below(a, b):
    """At most ``a + b``."""
    s = a + b
    t = s - a
    return s if (a - (s - t)) + (b - t) >= 0 else below(s)


@kernel
def lost(a, b, p):
    """``a * b - p`` exactly, where ``p`` is the rounded product and :func:`moderate`."""
    s = 134217729.0 * a
    ah = s - (s - a)
    al = a - ah
    t = 134217729.0 * b
    bh = t - (t - b)
    bl = b - bh
    return al * bl - (((p - ah * bh) - al * bh) - ah * bl)


@kernel
def moderate(a, b, p):
    """Whether numbers and their product are far from all limits."""
    return abs(p) > 1e-280 and abs(p) < 1e280 and abs(a) < 1e140 and abs(b) < 1e140


@kernel
def times_above(a, b):
    """At least ``a * b``; zero times anything is zero, and nothing else is."""
    if a == 1:
        return b
    p = a * b
    if moderate(a, b, p):
        return p + (PHI * abs(p) + ETA) * (1.0 * (lost(a, b, p) > 0))
    if a == 0 or b == 0:
        return 0.0
    p = above(p)
    return 0.0 if p > 0 and (a < 0) != (b < 0) else p


@kernel
def times_below(a, b):
    """At most ``a * b``; zero times anything is zero, and nothing else is."""
    p = a * b
    if moderate(a, b, p):
        return p - (PHI * abs(p) + ETA) * (1.0 * (lost(a, b, p) < 0))
    if a == 0 or b == 0:
        return 0.0
    p = below(p)
    return 0.0 if p < 0 and (a < 0) == (b < 0) else p


@kernel
def product(al, ah, bl, bh):
    """An interval that contains the products of members of two intervals.

    The ends are tight where one of the two is a point, else a step outward.
    """
    if al == ah:
        if al == 1:
            return bl, bh
        if al == -1:
            return 0.0 - bh, 0.0 - bl
        if al >= 0:
            return times_below(al, bl), times_above(al, bh)
        return times_below(al, bh), times_above(al, bl)
    if bl == bh:
        if bl >= 0:
            return times_below(al, bl), times_above(ah, bl)
        return times_below(ah, bl), times_above(al, bl)
    p = al * bl
    q = al * bh
    r = ah * bl
    s = ah * bh
    low = p if p < q else q
    high = q if p < q else p
    other = r if r < s else s
    more = s if r < s else r
    low = other if other < low else low
    high = more if more > high else high
    if abs(low) > 1e-280 and abs(high) > 1e-280 and abs(low) < INF and abs(high) < INF:
        return below(low), above(high)
    p = times_below(al, bl if al >= 0 else bh)
    q = times_below(ah, bl if ah >= 0 else bh)
    r = times_above(al, bh if al >= 0 else bl)
    s = times_above(ah, bh if ah >= 0 else bl)
    return (p if p < q else q), (r if r > s else s)
