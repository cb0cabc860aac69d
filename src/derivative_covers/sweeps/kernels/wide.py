"""Kernels of wide nodes: linear nodes and inner products.

Legend: ``shape`` is ``(k0, n0, n1, n2, nk)``: nodes run in C order over ``(n0, n1, n2)``
from ``k0``, their summands over ``nk``. A walk is ``(array, start, s0, s1, s2, sk)``:
summand ``m`` of node ``(i, j, h)`` sits at ``start + i*s0 + j*s1 + h*s2 + m*sk``, which is
its node, or the position of its node in the array of ids where that is not empty; for
coefficients, the position in the array of coefficients. ``held`` is ``(xv, xo, yv, yo)``:
the operands' values at position minus ``xo``, ``yo``. The zero rule holds as in the
entrywise kernels. Sums over summands are kept in double and rounded once.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from .pair import DONE, NOT_FINITE, WIDE, split


@kernel
def first(walk, shape, o):
    """Position of the first summand of node ``o``."""
    n1 = shape[2]
    n2 = shape[3]
    h = o % n2
    j = (o // n2) % n1
    i = o // (n2 * n1)
    return walk[1] + i * walk[2] + j * walk[3] + h * walk[4]


@kernel
def linear_adjoint(v, shape, x, coef, absolute):
    """Reverse sweep: ``v[parent] += coef * v[node]``."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    weights, ck = coef[0], coef[5]
    given = ids.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        w = v[k0 + o]
        if w == 0:
            continue
        p = first(x, shape, o)
        c = first(coef, shape, o)
        if ck == 0:
            t = (abs(weights[c]) if absolute else weights[c]) * w
            for m in range(nk):
                v[ids[p + m * sk] if given else p + m * sk] += t
        else:
            for m in range(nk):
                f = weights[c + m * ck]
                at = ids[p + m * sk] if given else p + m * sk
                v[at] += (abs(f) if absolute else f) * w


@kernel
def linear_tangent(s, shape, x, coef, absolute):
    """Forward sweep: ``s[node] = sum of coef * s[parent]``."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    weights, ck = coef[0], coef[5]
    given = ids.size > 0
    for o in range(n0 * n1 * n2):
        p = first(x, shape, o)
        c = first(coef, shape, o)
        t = s.dtype.type(0) * WIDE
        for m in range(nk):
            f = weights[c + m * ck]
            e = s[ids[p + m * sk] if given else p + m * sk]
            if e != 0:
                t += (abs(f) if absolute else f) * e
        s[k0 + o] = t


@kernel
def linear_alive(live, shape, x, coef):
    """Forward sweep of liveness."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    weights, ck = coef[0], coef[5]
    given = ids.size > 0
    for o in range(n0 * n1 * n2):
        p = first(x, shape, o)
        c = first(coef, shape, o)
        on = 0
        for m in range(nk):
            at = ids[p + m * sk] if given else p + m * sk
            if weights[c + m * ck] != 0 and live[at] != 0:
                on = 1
                break
        live[k0 + o] = on


@kernel
def linear_reach(mark, shape, x, coef, mode):
    """Reverse sweep of dependence: mode 2 follows zero coefficients too."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    weights, ck = coef[0], coef[5]
    given = ids.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        if mark[k0 + o] == 0:
            continue
        p = first(x, shape, o)
        c = first(coef, shape, o)
        for m in range(nk):
            if mode == 2 or weights[c + m * ck] != 0:
                mark[ids[p + m * sk] if given else p + m * sk] = 1


@kernel
def dot_adjoint(v, shape, x, y, held, absolute):
    """Reverse sweep: each operand receives the other one's value times the adjoint."""
    k0, n0, n1, n2, nk = shape
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        w = v[k0 + o]
        if w == 0:
            continue
        p = first(x, shape, o)
        q = first(y, shape, o)
        for m in range(nk):
            a = xv[p + m * sk - xo]
            b = yv[q + m * tk - yo]
            if absolute:
                a = abs(a)
                b = abs(b)
            v[xid[p + m * sk] if gx else p + m * sk] += b * w
            v[yid[q + m * tk] if gy else q + m * tk] += a * w


@kernel
def dot_tangent(s, shape, x, y, held, absolute):
    """Forward sweep."""
    k0, n0, n1, n2, nk = shape
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2):
        p = first(x, shape, o)
        q = first(y, shape, o)
        t = s.dtype.type(0) * WIDE
        for m in range(nk):
            a = xv[p + m * sk - xo]
            b = yv[q + m * tk - yo]
            if absolute:
                a = abs(a)
                b = abs(b)
            e = s[xid[p + m * sk] if gx else p + m * sk]
            f = s[yid[q + m * tk] if gy else q + m * tk]
            if e != 0:
                t += b * e
            if f != 0:
                t += a * f
        s[k0 + o] = t


@kernel
def dot_second(b, vbar, dot, shape, x, y, held, centred, absolute):
    """Reverse second-order sweep; first partials of centred nodes are zero."""
    k0, n0, n1, n2, nk = shape
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        w = b[k0 + o]
        av = vbar[k0 + o]
        if w == 0 and av == 0:
            continue
        p = first(x, shape, o)
        q = first(y, shape, o)
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            if w != 0 and not centred:
                f = xv[p + m * sk - xo]
                e = yv[q + m * tk - yo]
                b[ix] += (abs(e) if absolute else e) * w
                b[iy] += (abs(f) if absolute else f) * w
            if av != 0:
                r = dot[ix]
                t = dot[iy]
                b[ix] += av * t
                b[iy] += av * r


@kernel
def pair_split(zero, one, aw, a, b, ix, iy, options):
    """Local cover of one pair, whose second partial is 1."""
    live, sigma, ratio, check, limit = options
    la = True
    lb = True
    if live.size > 0:
        la = live[ix] != 0
        lb = live[iy] != 0
    have = sigma.size > 0
    s1 = 0.0
    s2 = 0.0
    if have:
        s1 = sigma[ix] * WIDE
        s2 = sigma[iy] * WIDE
    return split(
        zero,
        aw,
        zero,
        one,
        zero,
        abs(a),
        abs(b),
        la,
        lb,
        have,
        s1,
        s2,
        ratio,
        check,
        limit,
    )


@kernel
def dot_cover(adj, g, last, shape, x, y, held, merge, centred, options):
    """Joint reverse sweep of adjoints and the sum merge, from node ``last`` down.

    Returns ``(status, k)``: ``k`` nodes remain, the last of which is the cause.
    """
    k0, nk = shape[0], shape[4]
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    have = options[1].size > 0
    zero = g.dtype.type(0)
    one = g.dtype.type(1)
    root2 = np.sqrt(one + one)
    for o in range(last - 1, -1, -1):
        w = adj[k0 + o]
        gk = g[k0 + o]
        if w == 0 and gk == 0:
            continue
        aw = abs(w)
        if not aw < math.inf:
            return NOT_FINITE, o + 1
        p = first(x, shape, o)
        q = first(y, shape, o)
        if w != 0 and not have:
            # A node is all or nothing, so that it can be taken up again.
            for m in range(nk):
                ix = xid[p + m * sk] if gx else p + m * sk
                iy = yid[q + m * tk] if gy else q + m * tk
                if merge and ix == iy:
                    continue
                a = xv[p + m * sk - xo]
                b = yv[q + m * tk - yo]
                _, _, status = pair_split(zero, one, aw, a, b, ix, iy, options)
                if status != DONE:
                    return status, o + 1
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            a = xv[p + m * sk - xo]
            b = yv[q + m * tk - yo]
            same = merge and ix == iy
            if w != 0:
                if same:
                    g[ix] += np.sqrt(aw) * root2
                else:
                    r1, r2, status = pair_split(zero, one, aw, a, b, ix, iy, options)
                    if status != DONE:
                        return status, o + 1
                    g[ix] += r1
                    g[iy] += r2
                if not centred:
                    adj[ix] += b * w
                    adj[iy] += a * w
            if gk != 0 and not centred:
                if same:
                    g[ix] += abs(a + b) * gk
                else:
                    g[ix] += abs(b) * gk
                    g[iy] += abs(a) * gk
    return DONE, 0


@kernel
def dot_weights(r1, r2, adj, shape, x, y, held, merge, options):
    """Slot weights of every pair, in C order over nodes and summands."""
    k0, n0, n1, n2, nk = shape
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    zero = r1.dtype.type(0)
    one = r1.dtype.type(1)
    root2 = np.sqrt(one + one)
    for o in range(n0 * n1 * n2):
        w = adj[k0 + o]
        aw = abs(w)
        if not aw < math.inf:
            return NOT_FINITE, o + 1
        p = first(x, shape, o)
        q = first(y, shape, o)
        for m in range(nk):
            at = o * nk + m
            r1[at] = 0
            r2[at] = 0
            if w == 0:
                continue
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            if merge and ix == iy:
                r1[at] = np.sqrt(aw) * root2
                continue
            a = xv[p + m * sk - xo]
            b = yv[q + m * tk - yo]
            f, e, status = pair_split(zero, one, aw, a, b, ix, iy, options)
            if status != DONE:
                return status, o + 1
            r1[at] = f
            r2[at] = e
    return DONE, 0


@kernel
def dot_inject(g, shape, x, y, held, merge, centred, r1, r2, group, want):
    """Reverse sweep of one channel; a group a pair."""
    k0, n0, n1, n2, nk = shape
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        w = g[k0 + o]
        p = first(x, shape, o)
        q = first(y, shape, o)
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            if group[o * nk + m] == want:
                g[ix] += r1[o * nk + m]
                g[iy] += r2[o * nk + m]
            if w != 0 and not centred:
                a = xv[p + m * sk - xo]
                b = yv[q + m * tk - yo]
                if merge and ix == iy:
                    g[ix] += abs(a + b) * w
                else:
                    g[ix] += abs(b) * w
                    g[iy] += abs(a) * w


@kernel
def dot_asks(shape, x, y, held, merge, ratio):
    """Whether some pair would ask for declared scales."""
    _, n0, n1, n2, nk = shape
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2):
        p = first(x, shape, o)
        q = first(y, shape, o)
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            if merge and ix == iy:
                continue
            a = abs(xv[p + m * sk - xo])
            b = abs(yv[q + m * tk - yo])
            if not (a > ratio * b and b > ratio * a):
                return True
    return False


@kernel
def dot_alive(live, shape, x, y, held):
    """Forward sweep of liveness."""
    k0, n0, n1, n2, nk = shape
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2):
        p = first(x, shape, o)
        q = first(y, shape, o)
        on = 0
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            a = xv[p + m * sk - xo]
            b = yv[q + m * tk - yo]
            if (live[ix] != 0 and b != 0) or (live[iy] != 0 and a != 0):
                on = 1
                break
        live[k0 + o] = on


@kernel
def dot_reach(mark, shape, x, y, held, mode):
    """Reverse sweep of dependence: a product has second partials to every slot."""
    k0, n0, n1, n2, nk = shape
    xid, sk = x[0], x[5]
    yid, tk = y[0], y[5]
    xv, xo, yv, yo = held
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        if mark[k0 + o] == 0:
            continue
        p = first(x, shape, o)
        q = first(y, shape, o)
        for m in range(nk):
            if mode > 0 or yv[q + m * tk - yo] != 0:
                mark[xid[p + m * sk] if gx else p + m * sk] = 1
            if mode > 0 or xv[p + m * sk - xo] != 0:
                mark[yid[q + m * tk] if gy else q + m * tk] = 1
