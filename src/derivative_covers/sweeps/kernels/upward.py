"""Kernels of magnitudes over a box: nonnegative numbers, rounded up.

Legends of nodes and parents are those of :mod:`.pair` and :mod:`.wide`; partials are
magnitudes. Slots of one parent are merged before. Zeros are exact, and nothing else is
ever rounded to zero.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from .pair import (
    DONE,
    NEEDS_SCALE,
    NOT_COVERED,
    NOT_FINITE,
    _balanced,
    _declared,
    _needs,
)
from .rounding import INF, above, lost, moderate, sum_above, times_above
from .wide import first


@kernel
def pair_adjoint(g, topo, partials):
    """Reverse sweep of one block: ``g[parent] += d * g[node]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = partials
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n - 1, -1, -1):
        w = g[k0 + k]
        if w == 0:
            continue
        if two:
            i = bid[k] if gb else b0 + sb * k
            g[i] = sum_above(g[i], times_above(d2[t2 * k], w))
        i = aid[k] if ga else a0 + sa * k
        g[i] = sum_above(g[i], times_above(d1[t1 * k], w))


@kernel
def pair_tangent(s, topo, partials):
    """Forward sweep of one block: ``s[node] = sum of d * s[parent]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = partials
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n):
        t = times_above(d1[t1 * k], s[aid[k] if ga else a0 + sa * k])
        if two:
            x = times_above(d2[t2 * k], s[bid[k] if gb else b0 + sb * k])
            t = sum_above(t, x)
        s[k0 + k] = t


@kernel
def wide_adjoint(g, w, shape, x, coef):
    """Reverse: ``g[parent] += coefficient * w[node]``; ``w`` may be ``g`` itself."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    weights, ck = coef[0], coef[5]
    given = ids.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        wo = w[k0 + o]
        if wo == 0:
            continue
        p = first(x, shape, o)
        c = first(coef, shape, o)
        for m in range(nk):
            i = ids[p + m * sk] if given else p + m * sk
            g[i] = sum_above(g[i], times_above(weights[c + m * ck], wo))


@kernel
def wide_tangent(s, shape, x, coef):
    """Forward: ``s[node] += sum of coefficient * s[parent]``."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    weights, ck = coef[0], coef[5]
    given = ids.size > 0
    for o in range(n0 * n1 * n2):
        p = first(x, shape, o)
        c = first(coef, shape, o)
        t = s[k0 + o]
        for m in range(nk):
            e = s[ids[p + m * sk] if given else p + m * sk]
            t = sum_above(t, times_above(weights[c + m * ck], e))
        s[k0 + o] = t


@kernel
def scaled(found, c, t, s, ids, a0, sa):
    """Products of the numbers ``c`` of a block with those of its parents."""
    given = ids.size > 0
    for k in range(found.size):
        found[k] = times_above(c[t * k], s[ids[k] if given else a0 + sa * k])


@kernel
def root_above(x):
    """At least the square root of ``x``."""
    r = np.sqrt(x)
    return r if x == 0 or x == 1 else above(r)  # r may be 1 where x is not


@kernel
def quotient_above(a, b):
    """At least ``a / b``, for ``a >= 0`` and ``b > 0``."""
    return a if a == 0 or b == 1 else above(a / b)


@kernel
def product_reaches(a, b, c):
    """Whether ``a * b >= c`` in exact arithmetic; never where it is not."""
    p = a * b
    if p != c or c == 0 or c == INF:
        return p >= c
    if moderate(a, b, p):
        return lost(a, b, p) >= 0
    a, i = math.frexp(a)
    b, j = math.frexp(b)
    c, k = math.frexp(c)
    c = math.ldexp(c, min(max(k - i - j, -9), 9))  # they are as large to rounding
    p = a * b
    return p > c or (p == c and lost(a, b, p) >= 0)


@kernel
def split(aw, e11, e12, e22, z1, z2, have, s1, s2, ratio, check):
    """Slot weights ``(r1, r2, status)`` that cover one block exactly.

    The first weight may be any number; the point that balances the slots is computed as
    at a point, and what has to hold is then made to hold, upward.
    """
    if not (aw < INF and e11 < INF and e12 < INF and e22 < INF):
        return 0.0, 0.0, NOT_FINITE
    f11 = times_above(aw, e11)
    f22 = times_above(aw, e22)
    if (
        e12 == 0
        and (e11 == 0 or 1e-280 < f11 < 1e280)
        and (e22 == 0 or 1e-280 < f22 < 1e280)
    ):
        return root_above(f11), root_above(f22), DONE
    f12 = times_above(aw, e12)
    low = min(f12, f11 if e11 != 0 else f12, f22 if e22 != 0 else f12)
    half = 0
    if not (low > 1e-280 and f11 < 1e280 and f12 < 1e280 and f22 < 1e280):
        m, k = math.frexp(aw)
        half = (k + 1) // 2
        m = math.ldexp(m, k - 2 * half)
        f11 = times_above(m, e11)
        f12 = times_above(m, e12)
        f22 = times_above(m, e22)
    r1 = root_above(f11)
    r2 = root_above(f22)
    if f12 != 0 and not (r1 * r2 > f12):
        if _needs(ratio, e11, e12, e22, z1, z2):
            if not have:
                return 0.0, 0.0, NEEDS_SCALE
            z1, z2 = _declared(s1, s2)
        x, _ = _balanced(f11, f12, f22, z1, z2, 2.0**1022)
        r1 = x if x > r1 else r1
        y = quotient_above(f12, r1)
        r2 = y if y > r2 else r2
        if check and not product_reaches(r1, r2, f12):
            r2 = above(r2)
            if not product_reaches(r1, r2, f12):
                return 0.0, 0.0, NOT_COVERED
    if half != 0:
        r1 = scaled_above(r1, half)
        r2 = scaled_above(r2, half)
    return r1, r2, DONE


@kernel
def scaled_above(r, k):
    """At least ``r * 2**k``."""
    x = r * math.ldexp(1.0, k)
    return x if x == INF or x * math.ldexp(1.0, -k) >= r else above(x)


@kernel
def weights(r1, r2, size, per, topo, twice, refs, merge, options):
    """Slot weights of blocks, ``per`` a node; ``size`` are the adjoints' magnitudes.

    Returns ``(status, k)``: the block that is the cause.
    """
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    c11, u11, c12, u12, c22, u22 = twice
    z1, w1, z2, w2 = refs
    live, sigma, ratio, check, _ = options
    ga = aid.size > 0
    gb = bid.size > 0
    watch = live.size > 0
    have = sigma.size > 0
    for k in range(n):
        r1[k] = 0
        r2[k] = 0
        e11 = c11[u11 * k]
        e12 = c12[u12 * k]
        e22 = c22[u22 * k]
        if e11 == 0 and e12 == 0 and e22 == 0:
            continue
        aw = size[k0 + (k if per == 1 else k // per)]
        if aw == 0:
            continue
        ia = aid[k] if ga else a0 + sa * k
        ib = (bid[k] if gb else b0 + sb * k) if two else ia
        if ia == ib and merge:
            e11 = sum_above(e11, sum_above(e12 + e12, e22))
            e12 = 0.0
            e22 = 0.0
        if watch:
            if live[ia] == 0:
                e11 = 0.0
                e12 = 0.0
            if live[ib] == 0:
                e12 = 0.0
                e22 = 0.0
        if e11 == 0 and e12 == 0 and e22 == 0:
            continue
        s1 = sigma[ia] if have else 0.0
        s2 = sigma[ib] if have else 0.0
        r1[k], r2[k], status = split(
            aw, e11, e12, e22, z1[w1 * k], z2[w2 * k], have, s1, s2, ratio, check
        )
        if status != DONE:
            return status, k
    return DONE, 0


@kernel
def scatter(g, r, ids, a0, sa, group, want):
    """Add weights to the slots: those of one group, or all where there is none."""
    given = ids.size > 0
    every = group.size == 0
    for k in range(r.size):
        if r[k] != 0 and (every or group[k] == want):
            i = ids[k] if given else a0 + sa * k
            g[i] = sum_above(g[i], r[k])


@kernel
def squares(h2, ptr, slots, r, rows, cols, size, inverse, acc):
    """Add the squares of atoms, over a reference, at every input.

    Slot ``e`` of an atom has the weight ``r[e]``; the magnitudes of its gradient are
    ``size[rows[s] : rows[s+1]]`` at the inputs ``cols``, with ``s = slots[e]``.
    """
    for a in range(ptr.size - 1):
        for e in range(ptr[a], ptr[a + 1]):
            s = slots[e]
            for m in range(rows[s], rows[s + 1]):
                c = cols[m]
                acc[c] = sum_above(acc[c], times_above(r[e], size[m]))
        for e in range(ptr[a], ptr[a + 1]):
            s = slots[e]
            for m in range(rows[s], rows[s + 1]):
                c = cols[m]
                if acc[c] != 0:
                    u = times_above(acc[c], inverse[c])
                    h2[c] = sum_above(h2[c], times_above(u, u))
                    acc[c] = 0


@kernel
def squares_at(ptr, slots, r, size, inverse):
    """The same at one input, in which ``size`` are the derivatives of the slots."""
    total = 0.0
    for a in range(ptr.size - 1):
        u = 0.0
        for e in range(ptr[a], ptr[a + 1]):
            u = sum_above(u, times_above(r[e], size[slots[e]]))
        u = times_above(u, inverse)
        total = sum_above(total, times_above(u, u))
    return total


@kernel
def colour(rows, cols, ptr, owner, group, stamp):
    """Group the inputs so that no row has two of one group; returns their number.

    ``owner[ptr[c] : ptr[c+1]]`` are the rows with an entry at input ``c``.
    """
    most = 0
    for c in range(group.size):
        for e in range(ptr[c], ptr[c + 1]):
            s = owner[e]
            for m in range(rows[s], rows[s + 1]):
                if cols[m] < c:
                    stamp[group[cols[m]]] = c
        g = 0
        while stamp[g] == c:
            g += 1
        group[c] = g
        most = max(most, g + 1)
    return most


@kernel
def lift(i, j, size, h):
    """Raise entries of ``h`` until ``h_i h_j`` reaches all magnitudes exactly."""
    for e in range(i.size):
        if not product_reaches(h[i[e]], h[j[e]], size[e]):
            h[i[e]] = above(above(size[e] / h[j[e]]))
