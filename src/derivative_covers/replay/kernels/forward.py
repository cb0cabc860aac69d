"""Kernels of forward covers of a program whose structure is known.

An *edge* ``e`` leads from node ``en[e]`` to its parent ``ep[e]``; its first partial stands
at ``d[es[e]]``, its slot weight (at weight 1) at ``rho[es[e]]``. Edges are in the order of
their nodes, and a node stands behind its parents. Rows of intermediate gradients are lists
of *entries*, the first of which are those of the inputs; ``col`` says for each the input.
"""

from __future__ import annotations

import math

import numpy as np

from ...sweeps.kernels._jit import kernel
from ...sweeps.kernels.pair import DONE, split
from ._invoke import invoke
from ._kinds import GATHER, KIND, OUT, F, N, X, Y


@kernel
def dependent(en, ep, found):
    """Mark what depends on something that is marked."""
    for e in range(en.size):
        if found[ep[e]]:
            found[en[e]] = True


@kernel
def ancestors(en, ep, found):
    """Mark what something that is marked depends on."""
    for e in range(en.size - 1, -1, -1):
        if found[en[e]]:
            found[ep[e]] = True


@kernel
def unions(
    owner, parent, slot, place, base, first, count, own, size, col, to, by, of, out
):  # fmt: skip
    """Entries of the owners of edges, each the union of those of the parents.

    Parent ``p`` has the ``count[p]`` entries of ``col`` from ``first[p]`` on. Owner ``k``
    gets the ``size[k]`` entries of ``out`` from ``own[k]`` on, the first of all at
    ``base``. Where owners are nodes, these arrays are the same. Term ``t`` says that the
    parent's entry ``of[t]``, times what stands at ``by[t]``, is added to entry ``to[t]``.
    ``place`` holds -1 for every input.

    Gives the number of entries and that of terms; -1 where there is no room.
    """
    mine, top, terms = base, base, 0
    for e in range(owner.size):
        k = owner[e]
        if e == 0 or owner[e - 1] != k:
            mine = top
        p = parent[e]
        for j in range(first[p], first[p] + count[p]):
            c = col[j]
            at = place[c]
            if at < mine:
                if top == out.size:
                    return -1, terms
                at = top
                place[c] = top
                out[top] = c
                top += 1
            if terms == to.size:
                return -1, terms
            to[terms] = at
            by[terms] = slot[e]
            of[terms] = j
            terms += 1
        own[k] = mine
        size[k] = top - mine
    return top, terms


@kernel
def partials(
    code, fl, fg, zl, zg, ids, source, fixed, outs, p, v, d, rho, options, dots
):  # fmt: skip
    """First partials and slot weights of all edges.

    Every operand of every node has a place of its own in ``v``, with the value that stands
    at ``source`` in ``p``. So a cover pass of weights 1 leaves ``d`` and ``rho`` there.
    ``dots`` are the pairs of inner products: both places (the second one -1 for a square),
    both positions in ``p``, and the node. ``fixed`` is what ``d`` holds before. Gives the
    number of nodes without an ordinary split, and of outputs that are not finite.
    """
    bad = 0
    for i in range(outs.size):
        if not abs(p[outs[i]]) < math.inf:
            bad += 1
    for i in range(source.size):
        v[i] = p[source[i]]
    for i in range(fixed.size):
        d[i] = fixed[i]
        rho[i] = 0.0
    av, ad = v.ctypes.data, d.ctypes.data
    ar, ao = rho.ctypes.data, options.ctypes.data
    ai = ids.ctypes.data
    for k in range(code.shape[0]):
        f, o, x, y, n = code[k, F], code[k, OUT], code[k, X], code[k, Y], code[k, N]
        gathered = code[k, KIND] == GATHER
        zero = zg[f] if gathered else zl[f]
        if zero != 0:
            bad += invoke(zero, av, ad, ao, ar, ai, o, x, y, n)
        one = fg[f] if gathered else fl[f]
        bad += invoke(one, av, ad, ao, ar, ai, o, x, y, n)
    ratio, limit, check = options[0], options[1], options[2] != 0
    flat = True
    for k in range(dots.shape[0]):
        a, b = dots[k, 0], dots[k, 1]
        x, y = p[dots[k, 2]], p[dots[k, 3]]
        if k == 0 or dots[k, 4] != dots[k - 1, 4]:
            flat = True  # no partial but zeros: splits elsewhere may ask for liveness
        flat = flat and x == 0 and y == 0
        if flat and (k + 1 == dots.shape[0] or dots[k, 4] != dots[k + 1, 4]):
            bad += 1
        if b < 0:
            d[a] = x + y
            rho[a] = np.sqrt(2.0)
            continue
        d[a] = y
        d[b] = x
        rho[a], rho[b], status = split(
            0.0, 1.0, 0.0, 1.0, 0.0, abs(x), abs(y), True, True,
            False, 0.0, 0.0, ratio, check, limit,
        )  # fmt: skip
        if status != DONE:
            bad += 1
    return bad


@kernel
def atoms(ninputs, d, rho, to, by, of, g, uto, uby, uof, u, tiny):
    """Rows ``g`` of intermediate gradients, and squares ``u`` of those of atoms."""
    for i in range(g.size):
        g[i] = 1.0 if i < ninputs else 0.0
    for t in range(to.size):
        f = d[by[t]]
        x = g[of[t]]
        if f != 0 and x != 0:
            g[to[t]] += f * x
    for i in range(u.size):
        u[i] = 0.0
    for t in range(uto.size):
        r = rho[uby[t]]
        x = abs(g[uof[t]])
        if r != 0 and x != 0:
            x = r * x
            u[uto[t]] += tiny if x < tiny else x
    for i in range(u.size):
        x = u[i]
        if x != 0:
            x = x * x
            u[i] = tiny if x < tiny else x


@kernel
def output(out, en, ep, es, d, u, node, col, a, w, gradient, h, tiny):
    """Gradient and cover of the output at ``out``; ``a`` and ``w`` are work arrays.

    The recursion ``q_k = sum |d_i| q_i + sum of u u`` is linear in its atoms, so that an
    atom counts as often as absolute partials lead to it from the output.
    """
    for i in range(a.size):
        a[i] = 0.0
        w[i] = 0.0
    a[out] = 1.0
    w[out] = 1.0
    for e in range(en.size - 1, -1, -1):
        x = w[en[e]]
        if x == 0:
            continue
        f = d[es[e]]
        if f == 0:
            continue
        p = ep[e]
        x = abs(f) * x
        w[p] += tiny if x < tiny else x
        x = a[en[e]]
        if x != 0:
            a[p] += f * x
    for i in range(h.size):
        gradient[i] = a[i]
        h[i] = 0.0
    for i in range(u.size):
        x = w[node[i]]
        if x != 0 and u[i] != 0:
            x = x * u[i]
            h[col[i]] += tiny if x < tiny else x
    finite = True
    for i in range(h.size):
        h[i] = math.sqrt(h[i])
        finite = finite and h[i] < math.inf and abs(gradient[i]) < math.inf
    return finite


@kernel
def columns(en, ep, es, d, first, T):
    """Tangents ``T[node, c]`` of all nodes along the inputs from ``first`` on."""
    for i in range(T.shape[0]):
        for c in range(T.shape[1]):
            T[i, c] = 0.0
    for c in range(T.shape[1]):
        T[first + c, c] = 1.0
    for e in range(en.size):
        f = d[es[e]]
        if f != 0:
            k, p = en[e], ep[e]
            for c in range(T.shape[1]):
                T[k, c] += f * T[p, c]


@kernel
def row(out, en, ep, es, d, a):
    """Adjoints ``a`` of all nodes for the output at ``out``."""
    for i in range(a.size):
        a[i] = 0.0
    a[out] = 1.0
    for e in range(en.size - 1, -1, -1):
        x = a[en[e]]
        f = d[es[e]]
        if x != 0 and f != 0:
            a[ep[e]] += f * x
