"""Kernels of wide nodes: linear nodes and inner products.

Legend: nodes run in C order over ``(n0, n1, n2)`` from ``k0``; their summands over
``nk``. Summand ``(i, j, h, m)`` sits at ``x0 + i*s0 + j*s1 + h*s2 + m*sk``, which is its
node, or the position of its node in ``xid`` where that is not empty. Its coefficient
sits at ``i*c0 + j*c1 + h*c2 + m*ck`` of ``coef``. Inner products have a second operand
with strides ``t`` and the operands' values ``xv``, ``yv`` at position minus ``xo``,
``yo``. The zero rule holds as in the entrywise kernels.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from .pair import DONE, NOT_FINITE, split


@kernel
def linear_adjoint(
    v, k0, n0, n1, n2, nk, xid, x0, s0, s1, s2, sk, coef, c0, c1, c2, ck, absolute
):
    """Reverse sweep: ``v[parent] += coef * v[node]``."""
    gx = xid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        w = v[k0 + o]
        if w == 0:
            continue
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        c = i * c0 + j * c1 + h * c2
        if ck == 0:
            t = (abs(coef[c]) if absolute else coef[c]) * w
            for m in range(nk):
                v[xid[p + m * sk] if gx else p + m * sk] += t
        else:
            for m in range(nk):
                f = coef[c + m * ck]
                v[xid[p + m * sk] if gx else p + m * sk] += (
                    abs(f) if absolute else f
                ) * w


@kernel
def linear_tangent(
    s, k0, n0, n1, n2, nk, xid, x0, s0, s1, s2, sk, coef, c0, c1, c2, ck, absolute
):
    """Forward sweep: ``s[node] = sum of coef * s[parent]``."""
    gx = xid.size > 0
    for o in range(n0 * n1 * n2):
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        c = i * c0 + j * c1 + h * c2
        t = s[k0] * 0
        for m in range(nk):
            x = s[xid[p + m * sk] if gx else p + m * sk]
            f = coef[c + m * ck]
            t += (abs(f) if absolute else f) * x
        s[k0 + o] = t


@kernel
def linear_alive(
    live, k0, n0, n1, n2, nk, xid, x0, s0, s1, s2, sk, coef, c0, c1, c2, ck
):
    """Forward sweep of liveness."""
    gx = xid.size > 0
    for o in range(n0 * n1 * n2):
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        c = i * c0 + j * c1 + h * c2
        on = 0
        for m in range(nk):
            if (
                coef[c + m * ck] != 0
                and live[xid[p + m * sk] if gx else p + m * sk] != 0
            ):
                on = 1
                break
        live[k0 + o] = on


@kernel
def linear_reach(
    mark, k0, n0, n1, n2, nk, xid, x0, s0, s1, s2, sk, coef, c0, c1, c2, ck, structural
):
    """Reverse sweep of dependence."""
    gx = xid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        if mark[k0 + o] == 0:
            continue
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        c = i * c0 + j * c1 + h * c2
        for m in range(nk):
            if structural or coef[c + m * ck] != 0:
                mark[xid[p + m * sk] if gx else p + m * sk] = 1


@kernel
def dot_adjoint(
    v,
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
    absolute,
):
    """Reverse sweep: each operand receives the other one's value times the adjoint."""
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        w = v[k0 + o]
        if w == 0:
            continue
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
        for m in range(nk):
            a = xv[p + m * sk - xo]
            b = yv[q + m * tk - yo]
            if absolute:
                a = abs(a)
                b = abs(b)
            v[xid[p + m * sk] if gx else p + m * sk] += b * w
            v[yid[q + m * tk] if gy else q + m * tk] += a * w


@kernel
def dot_tangent(
    s,
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
    absolute,
):
    """Forward sweep."""
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2):
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
        t = s[k0] * 0
        for m in range(nk):
            a = xv[p + m * sk - xo]
            b = yv[q + m * tk - yo]
            if absolute:
                a = abs(a)
                b = abs(b)
            x = s[xid[p + m * sk] if gx else p + m * sk]
            y = s[yid[q + m * tk] if gy else q + m * tk]
            if x != 0:
                t += b * x
            if y != 0:
                t += a * y
        s[k0 + o] = t


@kernel
def dot_second(
    b,
    vbar,
    dot,
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
    absolute,
):
    """Reverse second-order sweep."""
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        w = b[k0 + o]
        av = vbar[k0 + o]
        if w == 0 and av == 0:
            continue
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            if w != 0:
                f = xv[p + m * sk - xo]
                e = yv[q + m * tk - yo]
                b[ix] += (abs(e) if absolute else e) * w
                b[iy] += (abs(f) if absolute else f) * w
            if av != 0:
                x = dot[ix]
                y = dot[iy]
                b[ix] += av * y
                b[iy] += av * x


@kernel
def dot_cover(
    adj,
    g,
    last,
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
    merge,
    live,
    sigma,
    ratio,
    check,
    limit,
):
    """Joint reverse sweep of adjoints and the sum merge, from node ``last`` down.

    Returns ``(status, k)``: ``k`` nodes remain, the last of which is the cause.
    """
    gx = xid.size > 0
    gy = yid.size > 0
    watch = live.size > 0
    have = sigma.size > 0
    for o in range(last - 1, -1, -1):
        w = adj[k0 + o]
        gk = g[k0 + o]
        if w == 0 and gk == 0:
            continue
        aw = abs(w)
        if not aw < math.inf:
            return NOT_FINITE, o + 1
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
        if w != 0 and not have:
            # A node is all or nothing, so that it can be taken up again.
            for m in range(nk):
                ix = xid[p + m * sk] if gx else p + m * sk
                iy = yid[q + m * tk] if gy else q + m * tk
                if merge and ix == iy:
                    continue
                la = not watch or live[ix] != 0
                lb = not watch or live[iy] != 0
                r1, r2, status = split(
                    aw,
                    aw * 0,
                    aw * 0 + 1,
                    aw * 0,
                    abs(xv[p + m * sk - xo]),
                    abs(yv[q + m * tk - yo]),
                    la,
                    lb,
                    False,
                    0.0,
                    0.0,
                    ratio,
                    check,
                    limit,
                )
                if status != DONE:
                    return status, o + 1
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            a = xv[p + m * sk - xo]
            b = yv[q + m * tk - yo]
            if w != 0:
                if merge and ix == iy:
                    g[ix] += np.sqrt(2 * aw)
                else:
                    la = not watch or live[ix] != 0
                    lb = not watch or live[iy] != 0
                    d1 = 0.0
                    d2 = 0.0
                    if have:
                        d1 = sigma[ix] * 1.0
                        d2 = sigma[iy] * 1.0
                    r1, r2, status = split(
                        aw,
                        aw * 0,
                        aw * 0 + 1,
                        aw * 0,
                        abs(a),
                        abs(b),
                        la,
                        lb,
                        have,
                        d1,
                        d2,
                        ratio,
                        check,
                        limit,
                    )
                    if status != DONE:
                        return status, o + 1
                    g[ix] += r1
                    g[iy] += r2
                adj[ix] += b * w
                adj[iy] += a * w
            if gk != 0:
                if merge and ix == iy:
                    g[ix] += abs(a + b) * gk
                else:
                    g[ix] += abs(b) * gk
                    g[iy] += abs(a) * gk
    return DONE, 0


@kernel
def dot_weights(
    r1,
    r2,
    adj,
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
    merge,
    live,
    sigma,
    ratio,
    check,
    limit,
):
    """Slot weights of every pair, in C order over nodes and summands."""
    gx = xid.size > 0
    gy = yid.size > 0
    watch = live.size > 0
    have = sigma.size > 0
    for o in range(n0 * n1 * n2):
        w = adj[k0 + o]
        aw = abs(w)
        if not aw < math.inf:
            return NOT_FINITE, o + 1
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
        for m in range(nk):
            at = o * nk + m
            r1[at] = 0
            r2[at] = 0
            if w == 0:
                continue
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            if merge and ix == iy:
                r1[at] = np.sqrt(2 * aw)
                continue
            la = not watch or live[ix] != 0
            lb = not watch or live[iy] != 0
            d1 = 0.0
            d2 = 0.0
            if have:
                d1 = sigma[ix] * 1.0
                d2 = sigma[iy] * 1.0
            f, e, status = split(
                aw,
                aw * 0,
                aw * 0 + 1,
                aw * 0,
                abs(xv[p + m * sk - xo]),
                abs(yv[q + m * tk - yo]),
                la,
                lb,
                have,
                d1,
                d2,
                ratio,
                check,
                limit,
            )
            if status != DONE:
                return status, o + 1
            r1[at] = f
            r2[at] = e
    return DONE, 0


@kernel
def dot_inject(
    g,
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
    merge,
    r1,
    r2,
    group,
    want,
):
    """Reverse sweep of one channel; a group a pair."""
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        w = g[k0 + o]
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            if group[o * nk + m] == want:
                g[ix] += r1[o * nk + m]
                g[iy] += r2[o * nk + m]
            if w != 0:
                a = xv[p + m * sk - xo]
                b = yv[q + m * tk - yo]
                if merge and ix == iy:
                    g[ix] += abs(a + b) * w
                else:
                    g[ix] += abs(b) * w
                    g[iy] += abs(a) * w


@kernel
def dot_asks(
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
    merge,
    ratio,
):
    """Whether some pair would ask for declared scales."""
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2):
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
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
def dot_alive(
    live,
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
):
    """Forward sweep of liveness."""
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2):
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
        on = 0
        for m in range(nk):
            ix = xid[p + m * sk] if gx else p + m * sk
            iy = yid[q + m * tk] if gy else q + m * tk
            if (live[ix] != 0 and yv[q + m * tk - yo] != 0) or (
                live[iy] != 0 and xv[p + m * sk - xo] != 0
            ):
                on = 1
                break
        live[k0 + o] = on


@kernel
def dot_reach(
    mark,
    k0,
    n0,
    n1,
    n2,
    nk,
    xid,
    x0,
    s0,
    s1,
    s2,
    sk,
    yid,
    y0,
    t0,
    t1,
    t2,
    tk,
    xv,
    xo,
    yv,
    yo,
    structural,
):
    """Reverse sweep of dependence."""
    gx = xid.size > 0
    gy = yid.size > 0
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        if mark[k0 + o] == 0:
            continue
        h = o % n2
        j = (o // n2) % n1
        i = o // (n2 * n1)
        p = x0 + i * s0 + j * s1 + h * s2
        q = y0 + i * t0 + j * t1 + h * t2
        for m in range(nk):
            if structural or yv[q + m * tk - yo] != 0:
                mark[xid[p + m * sk] if gx else p + m * sk] = 1
            if structural or xv[p + m * sk - xo] != 0:
                mark[yid[q + m * tk] if gy else q + m * tk] = 1
