"""Reverse sweeps of entrywise blocks whose parents are all listed, as scalar programs have.

What a node needs is decided once (:func:`kinds`), so that a sweep looks at one byte where
it would compare parents and second partials. Node ``k`` has the parents ``aid[k]`` and, in
a block of two slots, ``bid[k]``. Ids are unsigned: compiled code need not ask whether they
count from the end. Partials are columns of one entry a node. The terms of an entry are
added in the order of the kernels of :mod:`.pair`, whose bits these are.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from .pair import DONE, NOT_FINITE, WIDE, split

FLAT, BENT, PAIR, OTHER = 0, 1, 2, 3  # one parent; with a second partial; two parents


@kernel
def kinds(kind, two, aid, bid, first, twice, curved):
    """What the sweep has to do at every node: as little as gives the same bits.

    A second slot of the same parent that adds nothing is left out.
    """
    d1, _, d2, _ = first
    c11, u11, c12, u12, c22, u22 = twice
    for k in range(kind.size):
        e11 = c11[u11 * k]
        rest = two and (c12[u12 * k] != 0 or c22[u22 * k] != 0)
        if not two or (aid[k] == bid[k] and d2[k] == 0 and d1[k] != 0):
            found = BENT if curved and e11 != 0 else FLAT
        elif aid[k] == bid[k] or (curved and e11 != 0):
            found = OTHER
        else:
            found = PAIR
        kind[k] = OTHER if curved and rest else found


@kernel
def adjoint(v, k0, two, aid, bid, first):
    """Reverse sweep of one block: ``v[parent] += d * v[node]``."""
    d1, _, d2, _ = first
    n = aid.size
    mine = v[k0 : k0 + n]
    if two:
        for k in range(n - 1, -1, -1):
            w = mine[k]
            if w == 0:
                continue
            ia = aid[k]
            ib = bid[k]
            p = d1[k]
            q = d2[k]
            if ia == ib:
                p = p + q
            else:
                v[ib] += q * w
            v[ia] += p * w
    else:
        for k in range(n - 1, -1, -1):
            w = mine[k]
            if w != 0:
                v[aid[k]] += d1[k] * w


@kernel
def cover(adj, g, last, k0, aid, bid, kind, first, twice, curved, refs, options):
    """Joint reverse sweep of adjoints and the sum merge, from node ``last`` down.

    Returns ``(status, k)``: ``k`` nodes remain, the last of which is the cause.
    """
    d1, _, d2, _ = first
    c11, u11, c12, u12, c22, u22 = twice
    z1, w1, z2, w2 = refs
    live, sigma, ratio, check, limit = options
    watch = live.size > 0
    have = sigma.size > 0
    zero = g.dtype.type(0)
    size = zero  # of which the last root was taken: few programs have many constants
    root = zero
    mine = adj[k0 : k0 + last]
    above = g[k0 : k0 + last]
    for k in range(last - 1, -1, -1):
        w = mine[k]
        gk = above[k]
        if w == 0 and gk == 0:
            continue
        what = kind[k]
        ia = aid[k]
        p = d1[k]
        if what < PAIR:
            s = g[ia]
            if w != 0:
                if what == BENT:
                    e = abs(c11[u11 * k])
                    if e != size:
                        if not e < math.inf:
                            return NOT_FINITE, k + 1
                        size = e
                        root = np.sqrt(e)
                    if not abs(w) < math.inf:
                        return NOT_FINITE, k + 1
                    s += np.sqrt(abs(w)) * root
                adj[ia] += p * w
            if gk != 0:
                s += abs(p) * gk
            g[ia] = s
            continue
        ib = bid[k]
        q = d2[k]
        if what == PAIR:
            if w != 0:
                if curved and not abs(w) < math.inf:
                    return NOT_FINITE, k + 1
                adj[ib] += q * w
                adj[ia] += p * w
            if gk != 0:
                g[ib] += abs(q) * gk
                g[ia] += abs(p) * gk
            continue
        e12 = c12[u12 * k]
        e11 = abs(c11[u11 * k])
        e22 = abs(c22[u22 * k])
        if ia == ib:
            p = p + q
            if curved and w != 0:
                e = abs(c11[u11 * k] + (e12 + e12) + c22[u22 * k])
                if e != 0:
                    if not (abs(w) < math.inf and e < math.inf):
                        return NOT_FINITE, k + 1
                    g[ia] += np.sqrt(abs(w)) * np.sqrt(e)
        else:
            if w != 0:
                e12 = abs(e12)
                la = True
                lb = True
                s1 = 0.0
                s2 = 0.0
                if e12 != 0:
                    if watch:
                        la = live[ia] != 0
                        lb = live[ib] != 0
                    if have:
                        s1 = sigma[ia] * WIDE
                        s2 = sigma[ib] * WIDE
                r1, r2, status = split(
                    zero,
                    abs(w),
                    e11,
                    e12,
                    e22,
                    abs(z1[np.int64(ia) if w1 == 2 else w1 * k]),
                    abs(z2[np.int64(ib) if w2 == 2 else w2 * k]),
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
                adj[ib] += q * w
            if gk != 0:
                g[ib] += abs(q) * gk
        if w != 0:
            adj[ia] += p * w
        if gk != 0:
            g[ia] += abs(p) * gk
    return DONE, 0
