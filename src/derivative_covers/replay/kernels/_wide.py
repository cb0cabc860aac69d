"""Wide nodes at one point: sums with coefficients and inner products.

A row ``w`` of the table is ``(o, n0, n1, n2, nk, x, x0, x1, x2, xk, xid, y, y0, y1, y2,
yk, yid, flag, one)``: nodes run in C order over ``(n0, n1, n2)`` from ``o``, their summands
over ``nk``. A summand sits at ``x + i*x0 + j*x1 + h*x2 + m*xk``, which is its position in
memory, or the entry of ``ids`` from ``xid`` on where that is not negative. ``y`` is the
second operand, or the coefficients. ``flag`` says whether pairs of one node are squares;
of sums, where it is above 0, it divides them, as NumPy does for a mean, and a 1 stands at
``one``.
"""

from __future__ import annotations

import math

import numpy as np

from ...sweeps.kernels._jit import kernel
from ...sweeps.kernels.pair import DONE, split

BLOCK = 128  # summands that are added up in a row


@kernel
def at(w, base, o):
    """Position of the first summand of node ``o``, of the operand described at ``base``."""
    h = o % w[3]
    j = (o // w[3]) % w[2]
    i = o // (w[3] * w[2])
    return w[base] + i * w[base + 1] + j * w[base + 2] + h * w[base + 3]


@kernel
def part(p, ids, x, xk, xid, y, yk, yid, first, last):
    """``sum of p[x] p[y]`` over some summands, eight sums at a time."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    m = first
    if xid < 0 and yid < 0:
        while m + 8 <= last:
            i = x + m * xk
            j = y + m * yk
            a0 += p[i] * p[j]
            a1 += p[i + xk] * p[j + yk]
            a2 += p[i + 2 * xk] * p[j + 2 * yk]
            a3 += p[i + 3 * xk] * p[j + 3 * yk]
            a4 += p[i + 4 * xk] * p[j + 4 * yk]
            a5 += p[i + 5 * xk] * p[j + 5 * yk]
            a6 += p[i + 6 * xk] * p[j + 6 * yk]
            a7 += p[i + 7 * xk] * p[j + 7 * yk]
            m += 8
    t = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))
    for k in range(m, last):
        i = x + k * xk
        j = y + k * yk
        if xid >= 0:
            i = ids[xid + i]
        if yid >= 0:
            j = ids[yid + j]
        t += p[i] * p[j]
    return t


@kernel
def plain(p, x, first, last):
    """``sum of p[x]`` over consecutive summands."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    m = x + first
    end = x + last
    while m + 8 <= end:
        a0 += p[m]
        a1 += p[m + 1]
        a2 += p[m + 2]
        a3 += p[m + 3]
        a4 += p[m + 4]
        a5 += p[m + 5]
        a6 += p[m + 6]
        a7 += p[m + 7]
        m += 8
    t = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))
    for i in range(m, end):
        t += p[i]
    return t


@kernel
def total(p, ids, x, xk, xid, y, yk, yid, nk, scaled):
    """The whole sum, by pairs of blocks: the error grows with the logarithm of ``nk``."""
    if nk <= BLOCK:
        if scaled and xid < 0 and xk == 1:
            return p[y] * plain(p, x, 0, nk)
        return part(p, ids, x, xk, xid, y, yk, yid, 0, nk)
    sums = np.empty(64)
    sizes = np.empty(64, dtype=np.int64)
    top = 0
    first = 0
    while first < nk:
        last = min(first + BLOCK, nk)
        if scaled and xid < 0 and xk == 1:
            sums[top] = plain(p, x, first, last)
        else:
            sums[top] = part(p, ids, x, xk, xid, y, yk, yid, first, last)
        sizes[top] = 1
        top += 1
        while top > 1 and sizes[top - 1] == sizes[top - 2]:
            sums[top - 2] += sums[top - 1]
            sizes[top - 2] *= 2
            top -= 1
        first = last
    t = 0.0
    while top > 0:
        top -= 1
        t += sums[top]
    if scaled and xid < 0 and xk == 1:
        t *= p[y]
    return t


@kernel
def wide_value(p, ids, w):
    """Forward: ``p[node] = sum of p[x] p[y]``."""
    scaled = w[15] == 0 and w[16] < 0
    mean = w[18] > 0
    for o in range(w[1] * w[2] * w[3]):
        x = at(w, 5, o)
        y = w[18] if mean else at(w, 11, o)
        t = total(p, ids, x, w[9], w[10], y, w[15], w[16], w[4], scaled)
        p[w[0] + o] = t / w[17] if mean else t


@kernel
def linear_reverse(p, q, ids, w):
    """Reverse: ``q[x] += coefficient * q[node]``."""
    nk, xk, xid, yk = w[4], w[9], w[10], w[15]
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        a = q[w[0] + o]
        if a == 0:
            continue
        x = at(w, 5, o)
        y = at(w, 11, o)
        if yk == 0:
            t = p[y] * a
            if xid < 0 and xk == 1:
                line = q[x : x + nk]
                for m in range(nk):
                    line[m] += t
            else:
                for m in range(nk):
                    i = x + m * xk
                    q[ids[xid + i] if xid >= 0 else i] += t
        elif xid < 0 and xk == 1 and yk == 1:
            line, row = q[x : x + nk], p[y : y + nk]
            for m in range(nk):
                line[m] += row[m] * a
        else:
            for m in range(nk):
                i = x + m * xk
                q[ids[xid + i] if xid >= 0 else i] += p[y + m * yk] * a


@kernel
def linear_sizes(p, s, ids, w):
    """Reverse: ``s[x] += |coefficient| * s[node]``."""
    nk, xk, xid, yk = w[4], w[9], w[10], w[15]
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        a = s[w[0] + o]
        if a == 0:
            continue
        x = at(w, 5, o)
        y = at(w, 11, o)
        for m in range(nk):
            i = x + m * xk
            s[ids[xid + i] if xid >= 0 else i] += abs(p[y + m * yk]) * a


@kernel
def linear_tangent(p, r, ids, w):
    """Forward: ``r[node] = sum of coefficient * r[x]``."""
    nk, xk, xid, yk = w[4], w[9], w[10], w[15]
    for o in range(w[1] * w[2] * w[3]):
        x = at(w, 5, o)
        y = at(w, 11, o)
        t = 0.0
        for m in range(nk):
            i = x + m * xk
            t += p[y + m * yk] * r[ids[xid + i] if xid >= 0 else i]
        r[w[0] + o] = t


@kernel
def dot_reverse(p, q, ids, w):
    """Reverse: each operand receives the other one's value times the adjoint."""
    nk, xk, xid, yk, yid = w[4], w[9], w[10], w[15], w[16]
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        a = q[w[0] + o]
        if a == 0:
            continue
        x = at(w, 5, o)
        y = at(w, 11, o)
        for m in range(nk):
            i = x + m * xk
            j = y + m * yk
            if xid >= 0:
                i = ids[xid + i]
            if yid >= 0:
                j = ids[yid + j]
            q[i] += p[j] * a
            q[j] += p[i] * a


@kernel
def dot_tangent(p, r, ids, w):
    """Forward tangents of inner products."""
    nk, xk, xid, yk, yid = w[4], w[9], w[10], w[15], w[16]
    for o in range(w[1] * w[2] * w[3]):
        x = at(w, 5, o)
        y = at(w, 11, o)
        t = 0.0
        for m in range(nk):
            i = x + m * xk
            j = y + m * yk
            if xid >= 0:
                i = ids[xid + i]
            if yid >= 0:
                j = ids[yid + j]
            t += p[j] * r[i]
            t += p[i] * r[j]
        r[w[0] + o] = t


@kernel
def dot_second(p, q, r, s, ids, w):
    """Reverse: adjoints ``q`` and second-order adjoints ``s``."""
    nk, xk, xid, yk, yid = w[4], w[9], w[10], w[15], w[16]
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        a = q[w[0] + o]
        b = s[w[0] + o]
        x = at(w, 5, o)
        y = at(w, 11, o)
        for m in range(nk):
            i = x + m * xk
            j = y + m * yk
            if xid >= 0:
                i = ids[xid + i]
            if yid >= 0:
                j = ids[yid + j]
            s[i] += p[j] * b + a * r[j]
            s[j] += p[i] * b + a * r[i]
            q[i] += p[j] * a
            q[j] += p[i] * a


@kernel
def dot_cover(p, q, s, ids, options, w):
    """Reverse: adjoints and the sum merge; gives the number of pairs with no split."""
    nk, xk, xid, yk, yid, merge = w[4], w[9], w[10], w[15], w[16], w[17]
    ratio, limit, check = options[0], options[1], options[2] != 0
    root2 = np.sqrt(2.0)
    bad = 0
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        a = q[w[0] + o]
        g = s[w[0] + o]
        if a == 0 and g == 0:
            continue
        size = abs(a)
        if not size < math.inf:
            bad += 1
        flat = True  # no partial but zeros: splits above may ask for liveness
        x = at(w, 5, o)
        y = at(w, 11, o)
        for m in range(nk):
            i = x + m * xk
            j = y + m * yk
            if xid >= 0:
                i = ids[xid + i]
            if yid >= 0:
                j = ids[yid + j]
            u = p[i]
            v = p[j]
            flat = flat and u == 0 and v == 0
            if merge and i == j:
                s[i] += np.sqrt(size) * root2
                s[i] += abs(u + v) * g
            else:
                r1, r2, status = split(
                    0.0, size, 0.0, 1.0, 0.0, abs(u), abs(v), True, True,
                    False, 0.0, 0.0, ratio, check, limit,
                )  # fmt: skip
                if status != DONE:
                    bad += 1
                s[i] += r1
                s[j] += r2
                s[i] += abs(v) * g
                s[j] += abs(u) * g
            q[i] += v * a
            q[j] += u * a
        if flat:
            bad += 1
    return bad
