"""Kernels of signed sweeps over a box: intervals ``lo .. hi``, rounded outward.

Legends of nodes and parents are those of :mod:`.pair` and :mod:`.wide`; every array of
numbers comes twice, lower ends first. Slots of one parent are merged before. A node
whose adjoint or tangent is exactly zero passes nothing on.
"""

from __future__ import annotations

from ._jit import kernel
from .rounding import product, sum_above, sum_below
from .wide import first


@kernel
def pair_adjoint(lo, hi, topo, partials):
    """Reverse sweep of one block: ``v[parent] += d * v[node]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    p1, q1, t1, p2, q2, t2 = partials
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n - 1, -1, -1):
        wl = lo[k0 + k]
        wh = hi[k0 + k]
        if wl == 0 and wh == 0:
            continue
        if two:
            dl = p2[t2 * k]
            dh = q2[t2 * k]
            if dl != 0 or dh != 0:
                i = bid[k] if gb else b0 + sb * k
                x, y = product(dl, dh, wl, wh)
                lo[i] = sum_below(lo[i], x)
                hi[i] = sum_above(hi[i], y)
        dl = p1[t1 * k]
        dh = q1[t1 * k]
        if dl != 0 or dh != 0:
            i = aid[k] if ga else a0 + sa * k
            x, y = product(dl, dh, wl, wh)
            lo[i] = sum_below(lo[i], x)
            hi[i] = sum_above(hi[i], y)


@kernel
def pair_tangent(lo, hi, topo, partials):
    """Forward sweep of one block: ``s[node] = sum of d * s[parent]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    p1, q1, t1, p2, q2, t2 = partials
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n):
        i = aid[k] if ga else a0 + sa * k
        x = 0.0
        y = 0.0
        dl = p1[t1 * k]
        dh = q1[t1 * k]
        if (lo[i] != 0 or hi[i] != 0) and (dl != 0 or dh != 0):
            x, y = product(dl, dh, lo[i], hi[i])
        if two:
            i = bid[k] if gb else b0 + sb * k
            dl = p2[t2 * k]
            dh = q2[t2 * k]
            if (lo[i] != 0 or hi[i] != 0) and (dl != 0 or dh != 0):
                f, g = product(dl, dh, lo[i], hi[i])
                x = sum_below(x, f)
                y = sum_above(y, g)
        lo[k0 + k] = x
        hi[k0 + k] = y


@kernel
def wide_adjoint(lo, hi, wlo, whi, shape, x, low, high):
    """Reverse: ``v[parent] += coefficient * w[node]``; ``w`` may be ``v`` itself.

    ``low`` and ``high`` are walks over the ends of the coefficients.
    """
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    cl, ch, ck = low[0], high[0], low[5]
    given = ids.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        wl = wlo[k0 + o]
        wh = whi[k0 + o]
        if wl == 0 and wh == 0:
            continue
        p = first(x, shape, o)
        c = first(low, shape, o)
        f = 0.0
        g = 0.0
        if ck == 0:
            f, g = product(cl[c], ch[c], wl, wh)
        for m in range(nk):
            if ck != 0:
                f, g = product(cl[c + m * ck], ch[c + m * ck], wl, wh)
            i = ids[p + m * sk] if given else p + m * sk
            lo[i] = sum_below(lo[i], f)
            hi[i] = sum_above(hi[i], g)


@kernel
def wide_tangent(lo, hi, shape, x, low, high):
    """Forward: ``s[node] += sum of coefficient * s[parent]``."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    cl, ch, ck = low[0], high[0], low[5]
    given = ids.size > 0
    for o in range(n0 * n1 * n2):
        p = first(x, shape, o)
        c = first(low, shape, o)
        s = lo[k0 + o]
        t = hi[k0 + o]
        for m in range(nk):
            i = ids[p + m * sk] if given else p + m * sk
            if lo[i] != 0 or hi[i] != 0:
                f, g = product(cl[c + m * ck], ch[c + m * ck], lo[i], hi[i])
                s = sum_below(s, f)
                t = sum_above(t, g)
        lo[k0 + o] = s
        hi[k0 + o] = t


@kernel
def scaled(low, high, cl, ch, t, slo, shi, ids, a0, sa):
    """Products of the numbers ``c`` of a block with those of its parents."""
    given = ids.size > 0
    for k in range(low.size):
        i = ids[k] if given else a0 + sa * k
        low[k], high[k] = product(cl[t * k], ch[t * k], slo[i], shi[i])
