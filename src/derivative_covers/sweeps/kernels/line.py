"""Kernels of one slot of an entrywise block whose nodes and parents are consecutive.

Free of branches, so that they are compiled to vector instructions. ``v`` and ``p`` are the
slices of the nodes and of the parents; the partial is ``m * d``, read with stride ``t`` (0
for one entry that serves all nodes). The zero rule holds by selection. They add in the
order of the general kernels, so that the bits do not depend on which of them runs. The
``first`` one to write into the parents does not read what they hold: it adds to zero.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from .pair import WIDE


@kernel
def line(v, p, d, t, m, absolute, first):
    """Reverse sweep: ``p += m * d * v``, or where this comes ``first``, ``p = 0 + ...``."""
    zero = v.dtype.type(0)
    if t == 0:
        f = m * d[0]
        if absolute:
            f = abs(f)
        for k in range(v.size):
            w = v[k]
            p[k] = (zero if first else p[k]) + (f * w if w != 0 else zero)
    elif absolute:
        for k in range(v.size):
            w = v[k]
            p[k] = (zero if first else p[k]) + (abs(m * d[k]) * w if w != 0 else zero)
    else:
        for k in range(v.size):
            w = v[k]
            p[k] = (zero if first else p[k]) + ((m * d[k]) * w if w != 0 else zero)


@kernel
def line_pair(v, vg, p, pg, d, t, m, first):
    """Joint reverse sweep of one slot as in :func:`line`, without second partials."""
    zero = v.dtype.type(0)
    none = vg.dtype.type(0)
    if t == 0:
        f = m * d[0]
        e = abs(f)
        for k in range(v.size):
            w = v[k]
            gk = vg[k]
            p[k] = (zero if first else p[k]) + (f * w if w != 0 else zero)
            pg[k] = (none if first else pg[k]) + (e * gk if gk != 0 else none)
    else:
        for k in range(v.size):
            w = v[k]
            gk = vg[k]
            f = m * d[k]
            p[k] = (zero if first else p[k]) + (f * w if w != 0 else zero)
            pg[k] = (none if first else pg[k]) + (abs(f) * gk if gk != 0 else none)


@kernel
def line_cover(v, vg, p, pg, d, t, m, c, u, first):
    """Joint reverse sweep of one slot as in :func:`line`, with second partials ``c``.

    Returns whether every weight is finite; nothing is to be used otherwise.
    """
    zero = v.dtype.type(0)
    none = vg.dtype.type(0)
    unbounded = False
    if t == 1 and u == 0:
        e = abs(c[0])
        root = np.sqrt(e)
        for k in range(v.size):
            w = v[k]
            gk = vg[k]
            f = m * d[k]
            aw = abs(w)
            unbounded |= not (aw < math.inf)
            p[k] = (zero if first else p[k]) + (f * w if w != 0 else zero)
            s = (none if first else pg[k]) + np.sqrt(aw) * root
            pg[k] = s + (abs(f) * gk if gk != 0 else none)
        return not unbounded and e < math.inf
    for k in range(v.size):
        w = v[k]
        gk = vg[k]
        f = m * d[t * k]
        aw = abs(w)
        e = abs(c[u * k]) if w != 0 else none
        unbounded |= not (aw < math.inf and e < math.inf)
        p[k] = (zero if first else p[k]) + (f * w if w != 0 else zero)
        s = (none if first else pg[k]) + np.sqrt(aw) * np.sqrt(e)
        pg[k] = s + (abs(f) * gk if gk != 0 else none)
    return not unbounded


@kernel
def splits_by_values(v, z1, z2, e, ratio, bound):
    """Whether every product of a block is split by its two values, far from all limits.

    ``v`` is the nodes' adjoint, ``z1`` and ``z2`` their operands' values, ``e`` the mixed
    second partial; weights and splits must lie within ``1 / bound`` and ``bound``.
    """
    low = 1 / bound
    ok = True
    for k in range(v.size):
        w = v[k]
        a = abs(z1[k])
        b = abs(z2[k])
        f = abs(w) * WIDE * e
        square = f * (b * WIDE / a)
        fine = low < f and f < bound and low < square and square < bound
        ok &= w == 0 or (fine and a > ratio * b and b > ratio * a)
    return ok


@kernel
def product_cover(v, vg, p, pg, d, z1, z2, e, second, first):
    """Joint reverse sweep of one slot of a block that :func:`splits_by_values` accepts."""
    zero = v.dtype.type(0)
    null = vg.dtype.type(0)
    none = null * WIDE
    for k in range(v.size):
        w = v[k]
        gk = vg[k]
        f = d[k]
        weight = abs(w) * WIDE * e
        r = np.sqrt(weight * (abs(z2[k]) * WIDE / abs(z1[k])))
        if second:
            r = weight / r
        p[k] = (zero if first else p[k]) + (f * w if w != 0 else zero)
        pg[k] = (null if first else pg[k]) + (r if w != 0 else none)
        pg[k] += abs(f) * gk if gk != 0 else null
