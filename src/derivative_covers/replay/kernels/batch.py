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
from ._kinds import COVER, DOT, F, GATHER, IDS, KIND, LANES, LINE, LINEAR, MORE, N, O, X, Y
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
        for l in range(B):
            p[here + l] = 0.0
        for first in range(0, nk, BLOCK):
            for l in range(B):
                work[l] = 0.0
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
                    for l in range(B):
                        work[l] += p[i + l] * p[j + l]
                else:
                    c = p[j]
                    for l in range(B):
                        work[l] += c * p[i + l]
            for l in range(B):
                p[here + l] += work[l]


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
            for l in range(B):
                v[i + l] += c * v[here + l]


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
                for l in range(B):
                    size_ = abs(q[here + l])
                    g = s[here + l]
                    if not size_ < math.inf:
                        bad += 1
                    if merge and i == j:
                        s[i + l] += np.sqrt(size_) * root2
                        s[i + l] += abs(p[i + l] + p[j + l]) * g
                    else:
                        r1, r2, status = split(
                            0.0, size_, 0.0, 1.0, 0.0, abs(p[i + l]), abs(p[j + l]),
                            True, True, False, 0.0, 0.0, options[0], options[2] != 0,
                            options[1],
                        )  # fmt: skip
                        if status != DONE:
                            bad += 1
                        s[i + l] += r1
                        s[j + l] += r2
                        s[i + l] += abs(p[j + l]) * g
                        s[j + l] += abs(p[i + l]) * g
            for l in range(B):
                a = q[here + l]
                q[i + l] += p[j + l] * a
                q[j + l] += p[i + l] * a
    return bad


@kernel
def copied(v, ids, code, k, B):
    """Forward copy of operands."""
    x = code[k, X]
    for i in range(code[k, N]):
        source = ids[x + i] if code[k, KIND] == IDS else x + i * code[k, MORE]
        for l in range(B):
            v[(code[k, O] + i) * B + l] = v[source * B + l]


@kernel
def returned(v, ids, code, k, B):
    """Reverse of a copy."""
    x = code[k, X]
    for i in range(code[k, N] - 1, -1, -1):
        source = ids[x + i] if code[k, KIND] == IDS else x + i * code[k, MORE]
        for l in range(B):
            v[source * B + l] += v[(code[k, O] + i) * B + l]


@kernel
def values(code, count, fl, wide, ids, p, size, B, work):
    """Values; gives how many nodes left their domains or met kinks, over all points."""
    bad = 0
    ap = p.ctypes.data
    ai = ids.ctypes.data
    for k in range(count):
        kind = code[k, KIND]
        o, x, y, n = code[k, O], code[k, X], code[k, Y], code[k, N]
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
        elif kind == LINE or kind == IDS:
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
        f, o, x, y, n = code[k, F], code[k, O], code[k, X], code[k, Y], code[k, N]
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
        elif kind == LINE or kind == IDS:
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
        for l in range(B):
            if not related(guards[k, 0], p[x + xs * l], p[y + ys * l]):
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
            for l in range(B):
                p[i * B + l] = X_[start + min(l, lanes - 1), i]
        bad = values(code, count, vl, wide, ids, p, size, B, work)
        fine = bad == 0 and holds(guards, p, size, B)
        if fine:
            for k in range(outs.size):
                at_ = place(outs[k], size, B)
                step = 1 if outs[k] < size else 0
                for l in range(lanes):
                    Y_[start + l, k] = p[at_ + step * l]
                    if not abs(Y_[start + l, k]) < math.inf:
                        fine = False
        if fine and mode >= 0:
            q[: size * B] = 0.0
            if mode == COVER:
                s[: size * B] = 0.0
            out = outs[0] * B
            for l in range(B):
                q[out + l] = 1.0
            bad = reverse(
                code, count, fl, f2, wide, ids, p, q, s, options, size, B, mode
            )
            fine = bad == 0
            for i in range(n):
                for l in range(lanes):
                    G_[start + l, i] = q[i * B + l]
                    if not abs(q[i * B + l]) < math.inf:
                        fine = False
            if mode == COVER:
                for i in range(n):
                    for l in range(lanes):
                        H_[start + l, i] = s[i * B + l]
                        if not s[i * B + l] < math.inf:
                            fine = False
        if not fine:
            for l in range(lanes):
                failed[start + l] = 1
