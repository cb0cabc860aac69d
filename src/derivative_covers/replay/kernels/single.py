"""The interpreter at one point: values, tangents and reverse passes of a program.

Instructions are rows of ``code`` (columns and kinds in ``_kinds``), the first ``count`` of
which are the program, the others the bodies of its groups:

- ``LANES``, ``GATHER``: an elemental of ``n`` nodes, by the address in ``fl`` and ``fg``
  (``more``: some of them are operands of others);
- ``LINE``, ``IDS``: a copy of entries ``x + i*more``, or of those that ``ids`` names;
- ``GROUP``: the rows ``x .. x+y`` over ``n`` entries, a tile at a time. What no one else
  reads has scratch memory alone (``more`` of it from ``o`` on), so that it stays in cache;
  reverse passes compute it anew;
- ``LINEAR``, ``DOT``: wide nodes, described in row ``x`` of ``wide``;
- ``RUNNING``: running sums, the first of entry ``x`` and the first of the entries that
  ``ids`` lists from ``y`` on;
- ``SCALED``: sums of entries from ``x`` on and products of those from ``y`` on with the
  constant at ``more``;
- ``OUTSIDE``: an elemental that is not compiled. The pass stops there, for its caller.

``p`` holds values, ``q`` adjoints, ``r`` tangents (options in a cover), ``s`` second-order
adjoints, or the magnitudes ``g`` of a cover.
"""

from __future__ import annotations

from ...sweeps.kernels._jit import kernel
from ._invoke import invoke
from ._kinds import (
    COVER,
    DOT,
    GATHER,
    GRADIENT,
    GROUP,
    IDS,
    KIND,
    LANES,
    LINE,
    LINEAR,
    MORE,
    OS,
    OUT,
    OUTSIDE,
    RUNNING,
    SCALED,
    SECOND,
    TILE,
    XS,
    YS,
    F,
    N,
    X,
    Y,
)
from ._wide import (
    dot_cover,
    dot_reverse,
    dot_second,
    dot_tangent,
    linear_reverse,
    linear_sizes,
    linear_tangent,
    wide_value,
)


@kernel
def copied(v, ids, kind, o, x, n, step):
    """Forward copy of operands."""
    if kind == IDS:
        for i in range(n):
            v[o + i] = v[ids[x + i]]
    elif step == 1:
        target, source = v[o : o + n], v[x : x + n]  # vectors, unlike sums of indices
        for i in range(n):
            target[i] = source[i]
    else:
        for i in range(n):
            v[o + i] = v[x + i * step]


@kernel
def returned(v, ids, kind, o, x, n, step):
    """Reverse of a copy."""
    if kind == IDS:
        for i in range(n - 1, -1, -1):
            v[ids[x + i]] += v[o + i]
    elif step == 1:
        target, source = v[o : o + n], v[x : x + n]
        for i in range(n):
            source[i] += target[i]
    else:
        for i in range(n - 1, -1, -1):
            v[x + i * step] += v[o + i]


@kernel
def summed(v, ids, o, x, y, n):
    """Running sums."""
    t = v[x]
    for i in range(n):
        t += v[ids[y + i]]
        v[o + i] = t


@kernel
def summed_reverse(v, ids, o, x, y, n):
    """Reverse of running sums."""
    t = 0.0
    for i in range(n - 1, -1, -1):
        t += v[o + i]
        v[ids[y + i]] += t
    v[x] += t


@kernel
def scaled(v, c, o, x, y, n):
    """Sums of entries and multiples of others."""
    node, one, other = v[o : o + n], v[x : x + n], v[y : y + n]
    for i in range(n):
        node[i] = one[i] + c * other[i]


@kernel
def scaled_reverse(v, c, o, x, y, n):
    """Reverse of such sums."""
    node, one, other = v[o : o + n], v[x : x + n], v[y : y + n]
    for i in range(n):
        one[i] += node[i]
    for i in range(n):
        other[i] += c * node[i]


@kernel
def group_forward(code, fl, ids, g, p, r, first, last, tangents):
    """Values, or tangents, of one tile of a group."""
    bad = 0
    v = r if tangents else p
    ap = p.ctypes.data
    ar = r.ctypes.data
    ai = ids.ctypes.data
    n = last - first
    for k in range(code[g, X], code[g, X] + code[g, Y]):
        kind = code[k, KIND]
        o = code[k, OUT] + code[k, OS] * first
        x = code[k, X] + code[k, XS] * first
        if kind == LANES:
            y = code[k, Y] + code[k, YS] * first
            bad += invoke(fl[code[k, F]], ap, ap, ar, ar, ai, o, x, y, n)
        else:
            copied(v, ids, kind, o, x, n, code[k, MORE])
    return bad


@kernel
def values(code, count, fl, fg, wide, ids, p, first):
    """Values of all nodes from instruction ``first`` on.

    Gives ``(k, bad)``: the instruction where it stopped, and how many nodes left their
    domains or met kinks.
    """
    bad = 0
    ap = p.ctypes.data
    ai = ids.ctypes.data
    for k in range(first, count):
        kind = code[k, KIND]
        if kind == LANES:
            bad += invoke(
                fl[code[k, F]], ap, ap, ap, ap, ai,
                code[k, OUT], code[k, X], code[k, Y], code[k, N],
            )  # fmt: skip
        elif kind == GATHER:
            bad += invoke(
                fg[code[k, F]], ap, ap, ap, ap, ai,
                code[k, OUT], code[k, X], code[k, Y], code[k, N],
            )  # fmt: skip
        elif kind in (LINE, IDS):
            copied(p, ids, kind, code[k, OUT], code[k, X], code[k, N], code[k, MORE])
        elif kind == GROUP:
            n = code[k, N]
            for t in range(0, n, TILE):
                bad += group_forward(code, fl, ids, k, p, p, t, min(t + TILE, n), False)
        elif kind == OUTSIDE:
            return k, bad
        elif kind == RUNNING:
            summed(p, ids, code[k, OUT], code[k, X], code[k, Y], code[k, N])
        elif kind == SCALED:
            c = p[code[k, MORE]]
            scaled(p, c, code[k, OUT], code[k, X], code[k, Y], code[k, N])
        else:
            wide_value(p, ids, wide[code[k, X]])
    return count, bad


@kernel
def tangents(code, count, vl, tl, tg, wide, ids, p, r, first):
    """Tangents of all nodes that have memory of their own, from ``first`` on."""
    ap = p.ctypes.data
    ar = r.ctypes.data
    ai = ids.ctypes.data
    for k in range(first, count):
        kind = code[k, KIND]
        if kind == LANES:
            invoke(
                tl[code[k, F]], ap, ap, ar, ar, ai,
                code[k, OUT], code[k, X], code[k, Y], code[k, N],
            )  # fmt: skip
        elif kind == GATHER:
            invoke(
                tg[code[k, F]], ap, ap, ar, ar, ai,
                code[k, OUT], code[k, X], code[k, Y], code[k, N],
            )  # fmt: skip
        elif kind in (LINE, IDS):
            copied(r, ids, kind, code[k, OUT], code[k, X], code[k, N], code[k, MORE])
        elif kind == RUNNING:
            summed(r, ids, code[k, OUT], code[k, X], code[k, Y], code[k, N])
        elif kind == SCALED:
            c = p[code[k, MORE]]
            scaled(r, c, code[k, OUT], code[k, X], code[k, Y], code[k, N])
        elif kind == LINEAR:
            linear_tangent(p, r, ids, wide[code[k, X]])
        elif kind == DOT:
            dot_tangent(p, r, ids, wide[code[k, X]])
        elif kind == GROUP:
            n = code[k, N]
            for t in range(0, n, TILE):
                last = min(t + TILE, n)
                group_forward(code, vl, ids, k, p, p, t, last, False)
                group_forward(code, tl, ids, k, p, r, t, last, True)
        else:
            return k
    return count


@kernel
def lanes_reverse(fl, f2, f, ap, aq, ar, as_, ai, o, x, y, n, mode):
    """One elemental of a reverse pass; counts what keeps a cover from its ordinary way.

    ``f2`` is its second-order pass; in a cover, the one that counts zero partials, and 0
    where there can be none.
    """
    found = 0
    if mode == SECOND or (mode == COVER and f2[f] != 0):
        found = invoke(f2[f], ap, aq, ar, as_, ai, o, x, y, n)
    return found + invoke(fl[f], ap, aq, ar, as_, ai, o, x, y, n)


@kernel
def group_reverse(code, vl, tl, fl, f2, ids, g, p, q, r, s, mode, first, last):
    """Reverse pass over one tile of a group."""
    ap = p.ctypes.data
    aq = q.ctypes.data
    ar = r.ctypes.data
    as_ = s.ctypes.data
    ai = ids.ctypes.data
    bad = 0
    group_forward(code, vl, ids, g, p, p, first, last, False)
    if mode == SECOND:
        group_forward(code, tl, ids, g, p, r, first, last, True)
    scratch = code[g, OUT]
    for i in range(scratch, scratch + code[g, MORE]):
        q[i] = 0.0
    if mode != GRADIENT:
        for i in range(scratch, scratch + code[g, MORE]):
            s[i] = 0.0
    n = last - first
    for k in range(code[g, X] + code[g, Y] - 1, code[g, X] - 1, -1):
        kind = code[k, KIND]
        o = code[k, OUT] + code[k, OS] * first
        x = code[k, X] + code[k, XS] * first
        if kind == LANES:
            y = code[k, Y] + code[k, YS] * first
            bad += lanes_reverse(
                fl, f2, code[k, F], ap, aq, ar, as_, ai, o, x, y, n, mode
            )
        else:
            returned(q, ids, kind, o, x, n, code[k, MORE])
            if mode != GRADIENT:
                returned(s, ids, kind, o, x, n, code[k, MORE])
    return bad


@kernel
def reverse(
    code, vl, tl, fl, fg, f2l, f2g, wide, ids, p, q, r, s, mode, first
):  # fmt: skip
    """A reverse pass from instruction ``first`` down.

    Gives ``(k, bad)``: the instruction where it stopped (-1: it is through), and how many
    nodes had no ordinary split.
    """
    bad = 0
    ap = p.ctypes.data
    aq = q.ctypes.data
    ar = r.ctypes.data
    as_ = s.ctypes.data
    ai = ids.ctypes.data
    for k in range(first, -1, -1):
        kind = code[k, KIND]
        if kind == LANES:
            bad += lanes_reverse(
                fl, f2l, code[k, F], ap, aq, ar, as_, ai,
                code[k, OUT], code[k, X], code[k, Y], code[k, N], mode,
            )  # fmt: skip
        elif kind == GATHER:
            if mode == SECOND and code[k, MORE] != 0:
                # Node by node: what later nodes of the row give has to be there.
                for i in range(code[k, N] - 1, -1, -1):
                    lanes_reverse(
                        fg, f2g, code[k, F], ap, aq, ar, as_, ai,
                        code[k, OUT] + i, code[k, X] + i, code[k, Y] + i, 1, mode,
                    )  # fmt: skip
            else:
                bad += lanes_reverse(
                    fg, f2g, code[k, F], ap, aq, ar, as_, ai,
                    code[k, OUT], code[k, X], code[k, Y], code[k, N], mode,
                )  # fmt: skip
        elif kind in (LINE, IDS):
            returned(q, ids, kind, code[k, OUT], code[k, X], code[k, N], code[k, MORE])
            if mode != GRADIENT:
                returned(
                    s, ids, kind, code[k, OUT], code[k, X], code[k, N], code[k, MORE]
                )
        elif kind == GROUP:
            n = code[k, N]
            for t in range(0, n, TILE):
                bad += group_reverse(
                    code, vl, tl, fl, f2l, ids, k, p, q, r, s, mode, t,
                    min(t + TILE, n),
                )  # fmt: skip
        elif kind == RUNNING:
            o, x, y, n = code[k, OUT], code[k, X], code[k, Y], code[k, N]
            summed_reverse(q, ids, o, x, y, n)
            if mode != GRADIENT:
                summed_reverse(s, ids, o, x, y, n)
        elif kind == SCALED:
            o, x, y, n = code[k, OUT], code[k, X], code[k, Y], code[k, N]
            c = p[code[k, MORE]]
            scaled_reverse(q, c, o, x, y, n)
            if mode != GRADIENT:
                scaled_reverse(s, abs(c) if mode == COVER else c, o, x, y, n)
        elif kind == LINEAR:
            w = wide[code[k, X]]
            linear_reverse(p, q, ids, w)
            if mode == SECOND:
                linear_reverse(p, s, ids, w)
            elif mode == COVER:
                linear_sizes(p, s, ids, w)
        elif kind == DOT:
            w = wide[code[k, X]]
            if mode == SECOND:
                dot_second(p, q, r, s, ids, w)
            elif mode == COVER:
                bad += dot_cover(p, q, s, ids, r, w)
            else:
                dot_reverse(p, q, ids, w)
        else:
            return k, bad
    return -1, bad


@kernel
def related(relation, x, y):
    """Whether two numbers stand to each other as they did when they were recorded.

    Relations count from 0: one is NaN, less, greater, equal, not equal.
    """
    if relation == 1:
        return x < y
    if relation == 2:
        return x > y
    if relation == 3:
        return x == y
    if relation == 4:
        return x < y or x > y
    return x != x or y != y


@kernel
def changed(guards, p):
    """The first guard ``(relation, x, y)`` that no longer holds; -1 if all do."""
    for k in range(guards.shape[0]):
        if not related(guards[k, 0], p[guards[k, 1]], p[guards[k, 2]]):
            return k
    return -1
