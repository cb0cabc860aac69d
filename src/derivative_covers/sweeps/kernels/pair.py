"""Kernels of entrywise blocks: nodes with one or two parents.

Legend: node ``k0 + k`` has its first parent at ``aid[k]``, or at ``a0 + sa * k`` where
``aid`` is empty, likewise ``b``; ``two`` says whether there is a second one. Partials
``d`` and second partials ``c`` are read with a stride of 0 (one entry for all nodes) or
1; values of parents also with a 2, at their ids. Everywhere a zero adjoint, tangent or ``g`` times any partial is exactly zero, however
infinite or undefined the partial; two slots of one parent are merged first.

Values, partials and adjoints may be complex; ``g``, ``rho`` and declared scales are
magnitudes. What sweeps absolute values of complex numbers gets them as they are, real.
"""

from __future__ import annotations

import math

import numpy as np

from ...local import balanced_split, declared_pair, needs_scale
from ._jit import kernel

_balanced = kernel(balanced_split)
_declared = kernel(declared_pair)
_needs = kernel(needs_scale)

WIDE = np.float64(1.0)  # a factor that takes float32 to double, compiled or not
DONE, NEEDS_SCALE, NOT_FINITE, NOT_COVERED = 0, 1, 2, 3


@kernel
def adjoint(v, topo, first, absolute):
    """Reverse sweep of one block: ``v[parent] += d * v[node]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = first
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n - 1, -1, -1):
        w = v[k0 + k]
        if w == 0:
            continue
        ia = aid[k] if ga else a0 + sa * k
        p = d1[t1 * k]
        if two:
            ib = bid[k] if gb else b0 + sb * k
            q = d2[t2 * k]
            if ia == ib:
                p = p + q
            else:
                v[ib] += (abs(q) if absolute else q) * w
        v[ia] += (abs(p) if absolute else p) * w


@kernel
def tangent(s, topo, first, absolute):
    """Forward sweep of one block: ``s[node] = sum of d * s[parent]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = first
    ga = aid.size > 0
    gb = bid.size > 0
    zero = s.dtype.type(0)
    for k in range(n):
        ia = aid[k] if ga else a0 + sa * k
        p = d1[t1 * k]
        x = s[ia]
        t = zero
        if two:
            ib = bid[k] if gb else b0 + sb * k
            q = d2[t2 * k]
            if ia == ib:
                p = p + q
            else:
                y = s[ib]
                if y != 0 and q != 0:
                    t = (abs(q) if absolute else q) * y
        if x != 0 and p != 0:
            t = (abs(p) if absolute else p) * x + t
        s[k0 + k] = t


@kernel
def second(b, vbar, dot, topo, first, twice, curved, absolute):
    """Reverse second-order sweep: ``b[p_i] += d_i b[node] + vbar[node] C_ij dot[p_j]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = first
    c11, u11, c12, u12, c22, u22 = twice
    ga = aid.size > 0
    gb = bid.size > 0
    zero = b.dtype.type(0)
    for k in range(n - 1, -1, -1):
        w = b[k0 + k]
        av = vbar[k0 + k]
        if w == 0 and (av == 0 or not curved):
            continue
        ia = aid[k] if ga else a0 + sa * k
        ib = ia
        p = d1[t1 * k]
        q = zero
        if two:
            ib = bid[k] if gb else b0 + sb * k
            q = d2[t2 * k]
            if ia == ib:
                p = p + q
        if w != 0:
            b[ia] += (abs(p) if absolute else p) * w
            if ia != ib:
                b[ib] += (abs(q) if absolute else q) * w
        if av != 0 and curved:
            e11 = c11[u11 * k]
            e12 = c12[u12 * k]
            e22 = c22[u22 * k]
            x = dot[ia]
            if ia == ib:
                if two:
                    e11 = e11 + (e12 + e12) + e22
                if x != 0 and e11 != 0:
                    b[ia] += av * ((abs(e11) if absolute else e11) * x)
            else:
                y = dot[ib]
                if x != 0:
                    if e11 != 0:
                        b[ia] += av * ((abs(e11) if absolute else e11) * x)
                    if e12 != 0:
                        b[ib] += av * ((abs(e12) if absolute else e12) * x)
                if y != 0:
                    if e12 != 0:
                        b[ia] += av * ((abs(e12) if absolute else e12) * y)
                    if e22 != 0:
                        b[ib] += av * ((abs(e22) if absolute else e22) * y)


@kernel
def split(
    zero, aw, e11, e12, e22, z1, z2, live1, live2, have, s1, s2, ratio, check, limit
):
    """Local cover of one block; gives ``(rho1, rho2, status)``.

    Products of weight and entry may leave the normal range although their roots do not:
    a diagonal block takes the roots first, any other is scaled by a power of four.
    """
    if not live1:
        e11 = zero
        e12 = zero
    if not live2:
        e22 = zero
        e12 = zero
    if not (aw < math.inf and e11 < math.inf and e12 < math.inf and e22 < math.inf):
        return e11, e22, NOT_FINITE
    if e12 == 0:
        root = np.sqrt(aw)
        return root * np.sqrt(e11), root * np.sqrt(e22), DONE
    if e11 == 0 and e22 == 0 and z1 > ratio * z2 and z2 > ratio * z1:
        # A product of two usable values, far from all limits: what follows gives this.
        f12 = aw * WIDE * e12
        square = f12 * (z2 * WIDE / z1)
        if 1e-280 < f12 < 1e280 and 1e-280 < square < 1e280:
            r1 = np.sqrt(square)
            r2 = f12 / r1
            if r1 * limit > 2 and r2 * limit > 2 and r1 < limit / 2 and r2 < limit / 2:
                return r1, r2, DONE
    if _needs(ratio, e11, e12, e22, z1, z2):
        if not have:
            return e11, e22, NEEDS_SCALE
        z1, z2 = _declared(s1, s2)
    w = aw * WIDE
    f11 = w * e11
    f12 = w * e12
    f22 = w * e22
    half = 0
    low = min(f12, f11 if e11 != 0 else f12, f22 if e22 != 0 else f12)
    if not (low > 1e-290 and f11 < 1e290 and f12 < 1e290 and f22 < 1e290):
        w, k = math.frexp(w)
        half = k // 2
        w = math.ldexp(w, k - 2 * half)
        f11 = w * e11
        f12 = w * e12
        f22 = w * e22
    r1, r2 = _balanced(f11, f12, f22, z1, z2, limit)
    if check and not (r1 * r2 >= f12 * (1 - 1e-6) or f12 < 1e-290):
        return e11, e22, NOT_COVERED
    if half != 0:
        r1 = math.ldexp(r1, half)
        r2 = math.ldexp(r2, half)
    return r1, r2, DONE


@kernel
def cover(adj, g, last, topo, first, twice, curved, refs, options):
    """Joint reverse sweep of adjoints and the sum merge, from node ``last`` down.

    Returns ``(status, k)``: ``k`` nodes remain, the last of which is the cause.
    """
    k0, _, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = first
    c11, u11, c12, u12, c22, u22 = twice
    z1, w1, z2, w2 = refs
    live, sigma, ratio, check, limit = options
    ga = aid.size > 0
    gb = bid.size > 0
    watch = live.size > 0
    zero = g.dtype.type(0)
    have = sigma.size > 0
    for k in range(last - 1, -1, -1):
        w = adj[k0 + k]
        gk = g[k0 + k]
        if w == 0 and gk == 0:
            continue
        ia = aid[k] if ga else a0 + sa * k
        p = d1[t1 * k]
        if two:
            ib = bid[k] if gb else b0 + sb * k
            q = d2[t2 * k]
            if ia == ib:
                p = p + q
                if curved and w != 0:
                    e = abs(c11[u11 * k] + (c12[u12 * k] + c12[u12 * k]) + c22[u22 * k])
                    if e != 0:
                        if not (abs(w) < math.inf and e < math.inf):
                            return NOT_FINITE, k + 1
                        g[ia] += np.sqrt(abs(w)) * np.sqrt(e)
            else:
                e12 = abs(c12[u12 * k])
                if (
                    curved
                    and w != 0
                    and not (  # a linear node, whose split is zero
                        e12 == 0
                        and c11[u11 * k] == 0
                        and c22[u22 * k] == 0
                        and abs(w) < math.inf
                    )
                ):
                    if e12 == 0:
                        r1, r2, status = split(
                            zero,
                            abs(w),
                            abs(c11[u11 * k]),
                            e12,
                            abs(c22[u22 * k]),
                            0.0,
                            0.0,
                            True,
                            True,
                            have,
                            0.0,
                            0.0,
                            ratio,
                            check,
                            limit,
                        )
                    else:
                        la = True
                        lb = True
                        if watch:
                            la = live[ia] != 0
                            lb = live[ib] != 0
                        s1 = 0.0
                        s2 = 0.0
                        if have:
                            s1 = sigma[ia] * WIDE
                            s2 = sigma[ib] * WIDE
                        r1, r2, status = split(
                            zero,
                            abs(w),
                            abs(c11[u11 * k]),
                            e12,
                            abs(c22[u22 * k]),
                            abs(z1[ia if w1 == 2 else w1 * k]),
                            abs(z2[ib if w2 == 2 else w2 * k]),
                            la,
                            lb,
                            have,
                            s1,
                            s2,
                            ratio,
                            check,
                            limit,
                        )
                    if status != DONE:
                        return status, k + 1
                    g[ia] += r1
                    g[ib] += r2
                if w != 0:
                    adj[ib] += q * w
                if gk != 0:
                    g[ib] += abs(q) * gk
        elif curved and w != 0:
            e = abs(c11[u11 * k])
            if e != 0:
                if not (abs(w) < math.inf and e < math.inf):
                    return NOT_FINITE, k + 1
                g[ia] += np.sqrt(abs(w)) * np.sqrt(e)
        if w != 0:
            adj[ia] += p * w
        if gk != 0:
            g[ia] += abs(p) * gk
    return DONE, 0


@kernel
def weights(r1, r2, adj, topo, twice, refs, options):
    """Slot weights ``rho`` of every node; returns ``(status, k)`` as :func:`cover`."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    c11, u11, c12, u12, c22, u22 = twice
    z1, w1, z2, w2 = refs
    live, sigma, ratio, check, limit = options
    ga = aid.size > 0
    gb = bid.size > 0
    watch = live.size > 0
    zero = r1.dtype.type(0)
    have = sigma.size > 0
    for k in range(n):
        r1[k] = 0
        r2[k] = 0
        w = adj[k0 + k]
        if w == 0:
            continue
        ia = aid[k] if ga else a0 + sa * k
        ib = ia
        if two:
            ib = bid[k] if gb else b0 + sb * k
        if ia == ib:
            e = abs(c11[u11 * k] + (c12[u12 * k] + c12[u12 * k]) + c22[u22 * k])
            if e != 0:
                if not (abs(w) < math.inf and e < math.inf):
                    return NOT_FINITE, k + 1
                r1[k] = np.sqrt(abs(w)) * np.sqrt(e)
        else:
            la = True
            lb = True
            if watch:
                la = live[ia] != 0
                lb = live[ib] != 0
            s1 = 0.0
            s2 = 0.0
            if have:
                s1 = sigma[ia] * WIDE
                s2 = sigma[ib] * WIDE
            e12 = abs(c12[u12 * k])
            p, q, status = split(
                zero,
                abs(w),
                abs(c11[u11 * k]),
                e12,
                abs(c22[u22 * k]),
                abs(z1[ia if w1 == 2 else w1 * k]),
                abs(z2[ib if w2 == 2 else w2 * k]),
                la or e12 == 0,
                lb or e12 == 0,
                have,
                s1,
                s2,
                ratio,
                check,
                limit,
            )
            if status != DONE:
                return status, k + 1
            r1[k] = p
            r2[k] = q
    return DONE, 0


@kernel
def inject(g, topo, first, r1, r2, group, want):
    """Reverse sweep of one channel: ``g[p] += |d| g[node] + rho`` for one group."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = first
    ga = aid.size > 0
    gb = bid.size > 0
    curved = r1.size > 0
    for k in range(n - 1, -1, -1):
        w = g[k0 + k]
        mine = curved and group[k] == want
        if w == 0 and not mine:
            continue
        ia = aid[k] if ga else a0 + sa * k
        p = d1[t1 * k]
        if two:
            ib = bid[k] if gb else b0 + sb * k
            q = d2[t2 * k]
            if ia == ib:
                p = p + q
            else:
                if mine:
                    g[ib] += r2[k]
                if w != 0:
                    g[ib] += abs(q) * w
        if mine:
            g[ia] += r1[k]
        if w != 0:
            g[ia] += abs(p) * w


@kernel
def asks(topo, twice, refs, ratio):
    """Whether some node of the block would ask for declared scales."""
    _, n, _, aid, a0, sa, bid, b0, sb = topo
    c11, u11, c12, u12, c22, u22 = twice
    z1, w1, z2, w2 = refs
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n):
        e12 = abs(c12[u12 * k])
        if e12 == 0:
            continue
        ia = aid[k] if ga else a0 + sa * k
        ib = bid[k] if gb else b0 + sb * k
        if ia != ib and _needs(
            ratio,
            abs(c11[u11 * k]),
            e12,
            abs(c22[u22 * k]),
            abs(z1[ia if w1 == 2 else w1 * k]),
            abs(z2[ib if w2 == 2 else w2 * k]),
        ):
            return True
    return False


@kernel
def alive(live, topo, first):
    """Forward sweep of one byte a node: whether the gradient is not exactly zero."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = first
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n):
        ia = aid[k] if ga else a0 + sa * k
        p = d1[t1 * k]
        on = False
        if two:
            ib = bid[k] if gb else b0 + sb * k
            if ia == ib:
                p = p + d2[t2 * k]
            else:
                on = live[ib] != 0 and d2[t2 * k] != 0
        if live[ia] != 0 and p != 0:
            on = True
        live[k0 + k] = 1 if on else 0


@kernel
def reach(mark, topo, first, twice, mode):
    """Reverse sweep of one byte a node: whether the outputs depend on it.

    ``mode`` 0 follows nonzero first partials, 1 nonzero second partials too, 2 all.
    """
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = first
    c11, u11, c12, u12, c22, u22 = twice
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n - 1, -1, -1):
        if mark[k0 + k] == 0:
            continue
        cross = mode == 1 and c12[u12 * k] != 0
        if cross or mode == 2 or d1[t1 * k] != 0 or (mode == 1 and c11[u11 * k] != 0):
            mark[aid[k] if ga else a0 + sa * k] = 1
        if two and (
            cross or mode == 2 or d2[t2 * k] != 0 or (mode == 1 and c22[u22 * k] != 0)
        ):
            mark[bid[k] if gb else b0 + sb * k] = 1


@kernel
def all_nonzero(topo, first):
    """Whether no first partial is exactly zero, slots of one parent merged."""
    _, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = first
    ga = aid.size > 0
    gb = bid.size > 0
    for k in range(n):
        p = d1[t1 * k]
        if two:
            q = d2[t2 * k]
            if (aid[k] if ga else a0 + sa * k) == (bid[k] if gb else b0 + sb * k):
                p = p + q
            elif q == 0:
                return False
        if p == 0:
            return False
    return True


@kernel
def nonzero(d):
    """Whether no entry is exactly zero."""
    for k in range(d.size):  # noqa: SIM110
        if d[k] == 0:
            return False
    return True
