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
    for o in range(w[1] * w[2] * w[3]):
        x = at(w, 5, o)
        y = at(w, 11, o)
        here = (w[0] + o) * B
        for e in range(B):
            p[here + e] = 0.0
        for first in range(0, nk, BLOCK):
            for e in range(B):
                work[e] = 0.0
            for m in range(first, min(first + BLOCK, nk)):
                i = x + m * xk
                j = y + m * yk
                if xid >= 0:
                    i = ids[xid + i]
                if yid >= 0:
                    j = ids[yid + j]
                i = place(i, size, B)
                j = place(j, size, B)
                if is_dot:
                    for e in range(B):
                        work[e] += p[i + e] * p[j + e]
                else:
                    c = p[j]
                    for e in range(B):
                        work[e] += c * p[i + e]
            for e in range(B):
                p[here + e] += work[e]


@kernel
def linear_reverse(p, v, ids, w, size, B, absolute):
    """Reverse: ``v[x] += coefficient * v[node]``."""
    nk, xk, xid, yk = w[4], w[9], w[10], w[15]
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        x = at(w, 5, o)
        y = at(w, 11, o)
        here = (w[0] + o) * B
        for m in range(nk):
            i = x + m * xk
            if xid >= 0:
                i = ids[xid + i]
            i = place(i, size, B)
            c = p[place(y + m * yk, size, B)]
            if absolute:
                c = abs(c)
            for e in range(B):
                v[i + e] += c * v[here + e]


@kernel
def dot_reverse(p, q, s, ids, w, size, B, mode, options):
    """Reverse of inner products: adjoints, and the sum merge of a cover."""
    nk, xk, xid, yk, yid, merge = w[4], w[9], w[10], w[15], w[16], w[17]
    root2 = np.sqrt(2.0)
    bad = 0
    for o in range(w[1] * w[2] * w[3] - 1, -1, -1):
        x = at(w, 5, o)
        y = at(w, 11, o)
        here = (w[0] + o) * B
        for m in range(nk):
            i = x + m * xk
            j = y + m * yk
            if xid >= 0:
                i = ids[xid + i]
            if yid >= 0:
                j = ids[yid + j]
            i = place(i, size, B)
            j = place(j, size, B)
            if mode == COVER:
                for e in range(B):
                    size_ = abs(q[here + e])
                    g = s[here + e]
                    if not size_ < math.inf:
                        bad += 1
                    if merge and i == j:
                        s[i + e] += np.sqrt(size_) * root2
                        s[i + e] += abs(p[i + e] + p[j + e]) * g
                    else:
                        r1, r2, status = split(
                            0.0, size_, 0.0, 1.0, 0.0, abs(p[i + e]), abs(p[j + e]),
                            True, True, False, 0.0, 0.0, options[0], options[2] != 0,
                            options[1],
                        )  # fmt: skip
                        if status != DONE:
                            bad += 1
                        s[i + e] += r1
                        s[j + e] += r2
                        s[i + e] += abs(p[j + e]) * g
                        s[j + e] += abs(p[i + e]) * g
            for e in range(B):
                a = q[here + e]
                q[i + e] += p[j + e] * a
                q[j + e] += p[i + e] * a
    return bad


@kernel
def copied(v, ids, code, k, B):
    """Forward copy of operands."""
    x = code[k, X]
    for i in range(code[k, N]):
        source = ids[x + i] if code[k, KIND] == IDS else x + i * code[k, MORE]
        for e in range(B):
            v[(code[k, OUT] + i) * B + e] = v[source * B + e]


@kernel
def returned(v, ids, code, k, B):
    """Reverse of a copy."""
    x = code[k, X]
    for i in range(code[k, N] - 1, -1, -1):
        source = ids[x + i] if code[k, KIND] == IDS else x + i * code[k, MORE]
        for e in range(B):
            v[source * B + e] += v[(code[k, OUT] + i) * B + e]


@kernel
def values(code, count, fl, wide, ids, p, size, B, work):
    """Values; gives how many nodes left their domains or met kinks, over all points."""
    bad = 0
    ap = p.ctypes.data
    ai = ids.ctypes.data
    for k in range(count):
        kind = code[k, KIND]
        o, x, y, n = code[k, OUT], code[k, X], code[k, Y], code[k, N]
        if kind == LANES:
            bad += invoke(
                fl[code[k, F]], ap, ap, ap, ap, ai,
                o * B, place(x, size, B), place(y, size, B), n * B,
            )  # fmt: skip
        elif kind == GATHER:
            for i in range(n):
                bad += invoke(
                    fl[code[k, F]], ap, ap, ap, ap, ai, (o + i) * B,
                    place(ids[x + i], size, B), place(ids[y + i], size, B), B,
                )  # fmt: skip
        elif kind in (LINE, IDS):
            copied(p, ids, code, k, B)
        else:
            wide_value(p, ids, wide[x], size, B, work, kind == DOT)
    return bad


@kernel
def reverse(code, count, fl, f2, wide, ids, p, q, s, options, size, B, mode):
    """A reverse pass; gives how many nodes had no ordinary split, over all points."""
    bad = 0
    ap = p.ctypes.data
    aq = q.ctypes.data
    as_ = s.ctypes.data
    ar = options.ctypes.data
    ai = ids.ctypes.data
    for k in range(count - 1, -1, -1):
        kind = code[k, KIND]
        f, o, x, y, n = code[k, F], code[k, OUT], code[k, X], code[k, Y], code[k, N]
        if kind == LANES:
            xl, yl = place(x, size, B), place(y, size, B)
            if mode == COVER and f2[f] != 0:
                bad += invoke(f2[f], ap, aq, ar, as_, ai, o * B, xl, yl, n * B)
            bad += invoke(fl[f], ap, aq, ar, as_, ai, o * B, xl, yl, n * B)
        elif kind == GATHER:
            for i in range(n - 1, -1, -1):
                h = (o + i) * B
                xl = place(ids[x + i], size, B)
                yl = place(ids[y + i], size, B)
                if mode == COVER and f2[f] != 0:
                    bad += invoke(f2[f], ap, aq, ar, as_, ai, h, xl, yl, B)
                bad += invoke(fl[f], ap, aq, ar, as_, ai, h, xl, yl, B)
        elif kind in (LINE, IDS):
            returned(q, ids, code, k, B)
            if mode == COVER:
                returned(s, ids, code, k, B)
        elif kind == LINEAR:
            linear_reverse(p, q, ids, wide[x], size, B, False)
            if mode == COVER:
                linear_reverse(p, s, ids, wide[x], size, B, True)
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
def sweep(
    code, count, vl, fl, f2, wide, ids, guards, outs, p, q, s, options, size, B, work,
    mode, X_, first, last, Y_, G_, H_, failed,
):  # fmt: skip
    """Values, gradients and covers of the points ``first .. last-1``, ``B`` at a time.

    ``mode`` below 0 asks for values alone. ``failed`` marks the points of a tile that was
    not computed as a whole.
    """
    n = X_.shape[1]
    for start in range(first, last, B):
        lanes = min(B, last - start)
        for i in range(n):
            for e in range(B):
                p[i * B + e] = X_[start + min(e, lanes - 1), i]
        bad = values(code, count, vl, wide, ids, p, size, B, work)
        fine = bad == 0 and holds(guards, p, size, B)
        if fine:
            for k in range(outs.size):
                at_ = place(outs[k], size, B)
                step = 1 if outs[k] < size else 0
                for e in range(lanes):
                    Y_[start + e, k] = p[at_ + step * e]
                    if not abs(Y_[start + e, k]) < math.inf:
                        fine = False
        if fine and mode >= 0:
            q[: size * B] = 0.0
            if mode == COVER:
                s[: size * B] = 0.0
            out = outs[0] * B
            for e in range(B):
                q[out + e] = 1.0
            bad = reverse(
                code, count, fl, f2, wide, ids, p, q, s, options, size, B, mode
            )
            fine = bad == 0
            for i in range(n):
                for e in range(lanes):
                    G_[start + e, i] = q[i * B + e]
                    if not abs(q[i * B + e]) < math.inf:
                        fine = False
            if mode == COVER:
                for i in range(n):
                    for e in range(lanes):
                        H_[start + e, i] = s[i * B + e]
                        if not s[i * B + e] < math.inf:
                            fine = False
        if not fine:
            for e in range(lanes):
                failed[start + e] = 1
