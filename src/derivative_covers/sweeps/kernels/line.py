"""Kernels of one slot of an entrywise block whose nodes and parents are consecutive.

Free of branches, so that they are compiled to vector instructions. ``v`` and ``p`` are the
slices of the nodes and of the parents; the partial is ``m * d``, read with stride ``t`` (0
for one entry that serves all nodes). The zero rule holds by selection.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel


@kernel
def line(v, p, d, t, m, absolute):
    """Reverse sweep: ``p += m * d * v``."""
    zero = v.dtype.type(0)
    if t == 0:
        f = m * d[0]
        if absolute:
            f = abs(f)
        for k in range(v.size):
            w = v[k]
            p[k] += f * w if w != 0 else zero
    elif absolute:
        for k in range(v.size):
            w = v[k]
            p[k] += abs(m * d[k]) * w if w != 0 else zero
    else:
        for k in range(v.size):
            w = v[k]
            p[k] += (m * d[k]) * w if w != 0 else zero


@kernel
def line_cover(v, vg, p, pg, d, t, m, c, u):
    """Joint reverse sweep of one slot as in :func:`line`, with second partials ``c``.

    Returns whether every weight is finite; nothing is to be used otherwise.
    """
    zero = v.dtype.type(0)
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
            p[k] += f * w if w != 0 else zero
            pg[k] += (abs(f) * gk if gk != 0 else zero) + np.sqrt(aw) * root
        return not unbounded and e < math.inf
    for k in range(v.size):
        w = v[k]
        gk = vg[k]
        f = m * d[t * k]
        aw = abs(w)
        e = abs(c[u * k]) if w != 0 else zero
        unbounded |= not (aw < math.inf and e < math.inf)
        p[k] += f * w if w != 0 else zero
        pg[k] += (abs(f) * gk if gk != 0 else zero) + np.sqrt(aw) * np.sqrt(e)
    return not unbounded
