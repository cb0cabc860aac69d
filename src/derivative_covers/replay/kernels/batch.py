"""The interpreter at many points at once: a lane a point.

Entry ``k`` of memory is ``B`` consecutive numbers here, one for each point; constants,
which stand behind ``size`` entries, are single. ``LANES`` instructions go over all nodes
and points in one call, ``GATHER`` ones over the points of one node after the other.
"""

from __future__ import annotations

import math

import numpy as np

from ...sweeps.kernels._jit import kernel
from ...sweeps.kernels.pair import DONE, split
from ._invoke import invoke
from ._kinds import (
    COVER,
    DOT,
    GATHER,
    IDS,
    KIND,
    LANES,
    LINE,
    LINEAR,
    MORE,
    OUT,
    F,
    N,
    X,
    Y,
)
from ._transpose import SIDE, transpose
from ._wide import at
from .single import related

BLOCK = 64  # summands that are added up in a row


@kernel
def place(k, size, B):
    """Where the numbers of an entry begin."""
    return k * B if k < size else size * B + (k - size)


@kernel
def wide_value(p, ids, w, size, B, work, is_dot):
    """Values of linear nodes and inner products; ``work`` is room for a sum."""
    nk, xk, xid, yk, yid = w[4], w[9], w[10], w[15], w[16]
    mean = w[18] > 0
    for o in range(w[1] * w[2] * w[3]):
        x = at(w, 5, o)
        y = w[18] if mean else at(w, 11, o)
        node = p[(w[0] + o) * B : (w[0] + o + 1) * B]
        node[:] = 0.0
        for first in range(0, nk, BLOCK):
            work[:] = 0.0
            for m in range(first, min(first + BLOCK, nk)):
                i = x + m * xk
                j = y + m * yk
                if xid >= 0:
                    i = ids[xid + i]
                if yid >= 0:
                    j = ids[yid + j]
                j = place(j, size, B)
                one = p[i * B : i * B + B]
                if is_dot:
                    other = p[j : j + B]
                    for e in range(B):
                        work[e] += one[e] * other[e]
                else:
                    c = p[j]
                    for e in range(B):
                        work[e] += c * one[e]
            for e in range(B):
                node[e] += work[e]
        if mean:
            for e in range(B):
                node[e] /= w[17]


@kernel
def linear_reverse(p, v, ids, w, size, B, absolute, fresh):
    """Reverse: ``v[x] += coefficient * v[node]``; ``fresh``: ``v[x]`` counts as zero."""
    nk, xk, xid, yk = w[4], w[9], w[10], w[15]
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        x = at(w, 5, o)
        y = at(w, 11, o)
        node = v[(w[0] + o) * B : (w[0] + o + 1) * B]
        for m in range(nk):
            i = x + m * xk
            if xid >= 0:
                i = ids[xid + i]
            one = v[i * B : i * B + B]
            c = p[place(y + m * yk, size, B)]
            if absolute:
                c = abs(c)
            if fresh:
                for e in range(B):
                    one[e] = 0.0 + c * node[e]
            else:
                for e in range(B):
                    one[e] += c * node[e]


@kernel
def pair_cover(u, v, su, sv, a, g, same, options):
    """Sum merge of one product at all points; gives how many had no ordinary split."""
    root2 = np.sqrt(2.0)
    bad = 0
    for e in range(a.size):
        weight = abs(a[e])
        if not weight < math.inf:
            bad += 1
        if same:
            su[e] += np.sqrt(weight) * root2
            su[e] += abs(u[e] + v[e]) * g[e]
        else:
            r1, r2, status = split(
                0.0, weight, 0.0, 1.0, 0.0, abs(u[e]), abs(v[e]), True, True, False,
                0.0, 0.0, options[0], options[2] != 0, options[1],
            )  # fmt: skip
            if status != DONE:
                bad += 1
            su[e] += r1
            sv[e] += r2
            su[e] += abs(v[e]) * g[e]
            sv[e] += abs(u[e]) * g[e]
    return bad


@kernel
def flat_dots(p, ids, w, x, y, B):
    """At how many points an inner product has no first partial but zeros."""
    nk, xk, xid, yk, yid = w[4], w[9], w[10], w[15], w[16]
    found = 0
    for e in range(B):
        flat = True
        for m in range(nk):
            i = x + m * xk
            j = y + m * yk
            if xid >= 0:
                i = ids[xid + i]
            if yid >= 0:
                j = ids[yid + j]
            if p[i * B + e] != 0 or p[j * B + e] != 0:
                flat = False
                break
        if flat:
            found += 1
    return found


@kernel
def dot_reverse(p, q, s, ids, w, size, B, mode, options):
    """Reverse of inner products: adjoints, and the sum merge of a cover."""
    nk, xk, xid, yk, yid, merge = w[4], w[9], w[10], w[15], w[16], w[17]
    bad = 0
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        x = at(w, 5, o)
        y = at(w, 11, o)
        here = (w[0] + o) * B
        a = q[here : here + B]
        if mode == COVER:
            bad += flat_dots(p, ids, w, x, y, B)
        for m in range(nk):
            i = x + m * xk
            j = y + m * yk
            if xid >= 0:
                i = ids[xid + i]
            if yid >= 0:
                j = ids[yid + j]
            same = merge != 0 and i == j
            i, j = i * B, j * B
            u, v = p[i : i + B], p[j : j + B]
            if mode == COVER:
                bad += pair_cover(
                    u, v, s[i : i + B], s[j : j + B], a, s[here : here + B], same,
                    options,
                )  # fmt: skip
            one, other = q[i : i + B], q[j : j + B]
            for e in range(B):
                one[e] += v[e] * a[e]
            for e in range(B):
                other[e] += u[e] * a[e]
    return bad


@kernel
def copied(v, ids, code, k, B):
    """Forward copy of operands."""
    x, o, n = code[k, X], code[k, OUT], code[k, N]
    if code[k, KIND] == LINE and code[k, MORE] == 1:
        v[o * B : (o + n) * B] = v[x * B : (x + n) * B]
        return
    for i in range(n):
        at_ = ids[x + i] if code[k, KIND] == IDS else x + i * code[k, MORE]
        v[(o + i) * B : (o + i + 1) * B] = v[at_ * B : (at_ + 1) * B]


@kernel
def returned(v, ids, code, k, B, fresh):
    """Reverse of a copy; ``fresh``: what it adds to counts as zero."""
    x, o = code[k, X], code[k, OUT]
    for i in range(code[k, N] - 1, -1, -1):
        at_ = ids[x + i] if code[k, KIND] == IDS else x + i * code[k, MORE]
        source, node = v[at_ * B : at_ * B + B], v[(o + i) * B : (o + i) * B + B]
        if fresh:
            for e in range(B):
                source[e] = 0.0 + node[e]
        else:
            for e in range(B):
                source[e] += node[e]


@kernel
def values(code, count, fl, wide, ids, p, size, B, work):
    """Values; gives how many nodes left their domains or met kinks, over all points."""
    bad = 0
    ap = p.ctypes.data
    pool = ap + 8 * size * B
    ai = ids.ctypes.data
    for k in range(count):
        kind = code[k, KIND]
        o, x, y, n = code[k, OUT], code[k, X], code[k, Y], code[k, N]
        if kind == LANES:
            bad += invoke(
                fl[code[k, F]], ap, ap, ap, pool, ai,
                o * B, place(x, size, B), place(y, size, B), n * B,
            )  # fmt: skip
        elif kind == GATHER:
            for i in range(n):
                bad += invoke(
                    fl[code[k, F]], ap, ap, ap, pool, ai, (o + i) * B,
                    place(ids[x + i], size, B), place(ids[y + i], size, B), B,
                )  # fmt: skip
        elif kind in (LINE, IDS):
            copied(p, ids, code, k, B)
        else:
            wide_value(p, ids, wide[x], size, B, work, kind == DOT)
    return bad


@kernel
def reverse(code, count, fl, f2, fresh, wide, ids, p, q, s, options, size, B, mode):
    """A reverse pass; gives how many nodes had no ordinary split, over all points.

    ``fresh`` marks instructions that are the first to add to all of their operands. Where
    ``mode`` is GRADIENT, ``f2`` are their passes, and ``q`` need not be zero there; what
    was fused reads constants then, where a cover has its ``s``.
    """
    bad = 0
    ap = p.ctypes.data
    aq = q.ctypes.data
    as_ = s.ctypes.data if mode == COVER else ap + 8 * size * B
    ar = options.ctypes.data
    ai = ids.ctypes.data
    for k in range(count - 1, -1, -1):
        kind = code[k, KIND]
        f, o, x, y, n = code[k, F], code[k, OUT], code[k, X], code[k, Y], code[k, N]
        if kind == LANES:
            xl, yl = place(x, size, B), place(y, size, B)
            if mode == COVER and f2[f] != 0:
                bad += invoke(f2[f], ap, aq, ar, as_, ai, o * B, xl, yl, n * B)
            g = f2[f] if fresh[k] else fl[f]
            bad += invoke(g, ap, aq, ar, as_, ai, o * B, xl, yl, n * B)
        elif kind == GATHER:
            for i in range(n - 1, -1, -1):
                h = (o + i) * B
                xl = place(ids[x + i], size, B)
                yl = place(ids[y + i], size, B)
                if mode == COVER and f2[f] != 0:
                    bad += invoke(f2[f], ap, aq, ar, as_, ai, h, xl, yl, B)
                g = f2[f] if fresh[k] else fl[f]
                bad += invoke(g, ap, aq, ar, as_, ai, h, xl, yl, B)
        elif kind in (LINE, IDS):
            returned(q, ids, code, k, B, fresh[k])
            if mode == COVER:
                returned(s, ids, code, k, B, False)
        elif kind == LINEAR:
            linear_reverse(p, q, ids, wide[x], size, B, False, fresh[k])
            if mode == COVER:
                linear_reverse(p, s, ids, wide[x], size, B, True, False)
        else:
            bad += dot_reverse(p, q, s, ids, wide[x], size, B, mode, options)
    return bad


@kernel
def holds(guards, p, size, B):
    """Whether all guards hold at all points."""
    for k in range(guards.shape[0]):
        x, y = place(guards[k, 1], size, B), place(guards[k, 2], size, B)
        xs = 1 if guards[k, 1] < size else 0
        ys = 1 if guards[k, 2] < size else 0
        for e in range(B):
            if not related(guards[k, 0], p[x + xs * e], p[y + ys * e]):
                return False
    return True


@kernel
def endless(v):
    """How many numbers are not finite."""
    found = 0
    for k in range(v.size):
        t = v[k] * 0.0
        found += t != t
    return found


@kernel
def flipped(source, rows, columns, wide, target, broad):
    """``target[column * broad + row] = source[row * wide + column]``."""
    whole, most = rows // SIDE * SIDE, columns // SIDE * SIDE
    here, there = source.ctypes.data, target.ctypes.data
    for c in range(0, most, SIDE):
        for r in range(0, whole, SIDE):
            transpose(
                here + 8 * (r * wide + c), wide, there + 8 * (c * broad + r), broad
            )
    for c in range(columns):
        for r in range(whole if c < most else 0, rows):
            target[c * broad + r] = source[r * wide + c]


@kernel
def spread(p, rows, B):
    """Points to lanes of the inputs; gives how many numbers are not finite.

    Lanes without a point repeat the last one.
    """
    lanes, n = rows.shape
    flipped(rows.reshape(rows.size), lanes, n, n, p, B)
    for i in range(n):
        for e in range(lanes, B):
            p[i * B + e] = rows[lanes - 1, i]
    return endless(p[: n * B])


@kernel
def collected(v, rows, B):
    """Lanes of the inputs to points; gives how many numbers are not finite."""
    lanes, n = rows.shape
    flipped(v, n, lanes, B, rows.reshape(rows.size), n)
    return endless(v[: n * B])


@kernel
def cleared(v, ranges, B):
    """Zeros in ranges of entries."""
    for r in range(ranges.shape[0]):
        part = v[ranges[r, 0] * B : ranges[r, 1] * B]
        for k in range(part.size):
            part[k] = 0.0


@kernel
def sweep(
    code, count, vl, fl, f2, fresh, zeroed, wide, ids, guards, outs, p, q, s, options,
    size, B, work, mode, X_, first, last, Y_, G_, H_, failed,
):  # fmt: skip
    """Values, gradients and covers of the points ``first .. last-1``, ``B`` at a time.

    ``mode`` below 0 asks for values alone. ``failed`` marks the points of a tile that was
    not computed as a whole.
    """
    for start in range(first, last, B):
        lanes = min(B, last - start)
        bad = spread(p, X_[start : start + lanes], B)
        bad += values(code, count, vl, wide, ids, p, size, B, work)
        fine = bad == 0 and holds(guards, p, size, B)
        if fine:
            off = 0.0
            for k in range(outs.size):
                at_ = place(outs[k], size, B)
                step = 1 if outs[k] < size else 0
                for e in range(lanes):
                    y = p[at_ + step * e]
                    Y_[start + e, k] = y
                    off += y * 0.0
            fine = off == 0.0  # NaN where something is not finite
        if fine and mode >= 0:
            cleared(q, zeroed, B)
            if mode == COVER:
                cleared(s, zeroed, B)
            out = outs[0] * B
            for e in range(B):
                q[out + e] = 1.0
            bad = reverse(
                code, count, fl, f2, fresh, wide, ids, p, q, s, options, size, B, mode
            )
            off = collected(q, G_[start : start + lanes], B)
            if mode == COVER:
                off += collected(s, H_[start : start + lanes], B)
            fine = bad == 0 and off == 0
        if not fine:
            for e in range(lanes):
                failed[start + e] = 1
