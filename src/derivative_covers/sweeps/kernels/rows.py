"""Kernels of sparse intermediate gradients, and of supports.

Legend: the row of node ``k`` is ``cols[at[k] : at[k] + count[k]]`` with values in the
same places of ``vals``, plus ``coef[k]`` times the row of node ``base[k]``, the basis of
the row (0, which is an input: none, and ``coef`` is 0). A basis is a node whose own row is not stored.
``acc`` and ``stamp`` are a dense scratch row: an entry counts where its stamp is the
current one.
"""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def csr_rows(
    k0, n, ptr, ids, d, need, at, count, cols, vals, base, coef, used, cap, beside,
    acc, stamp, k,
):  # fmt: skip
    """Rows of nodes ``k0 + k ..`` with parents ``ids[ptr[k] : ptr[k+1]]``.

    A row has at most ``cap`` entries, or ``beside`` ones and a basis; any other node is
    its own basis. Returns ``(k, used)``: the first node not done (the store is full)
    and its fill.
    """
    touched = cols[:0]
    while k < n:
        node = k0 + k
        if need[node] == 0:
            k += 1
            continue
        if used + cap > cols.size:
            return k, used
        m = 0
        most = cap
        basis = 0
        w = coef.dtype.type(0)
        dense = False
        touched = cols[used : used + cap]
        for j in range(ptr[k], ptr[k + 1]):
            p = ids[j]
            f = d[j]
            if f == 0:
                continue
            if base[p] > 0:
                dense = basis > 0 and base[p] != basis
                basis = base[p]
                most = beside
                w += f * coef[p]
            dense = dense or m > most
            if dense:
                break
            first = at[p]
            for e in range(first, first + count[p]):
                c = cols[e]
                t = f * vals[e]
                if stamp[c] != node:
                    if m == most:
                        dense = True
                        break
                    stamp[c] = node
                    acc[c] = t
                    touched[m] = c
                    m += 1
                else:
                    acc[c] += t
            if dense:
                break
        at[node] = used
        if dense or w - w != 0:
            base[node] = node
            coef[node] = 1
        else:
            if w != 0:
                base[node] = basis
                coef[node] = w
            count[node] = m
            for e in range(m):
                vals[used + e] = acc[touched[e]]
            used += m
        k += 1
    return k, used


@kernel
def atom_rows(
    pa, pb, r1, r2, at, count, cols, vals, base, h2, inverse, acc, stamp, dense, serial
):
    """Add the squares of the atoms ``inverse (r1 |row pa| + r2 |row pb|)`` to ``h2``.

    ``dense[k]`` is set for an atom that needs a row with a basis, which is left out.
    """
    zero = r1.dtype.type(0)
    for k in range(pa.size):
        x = r1[k]
        y = r2[k]
        p = pa[k]
        q = pb[k]
        if p == q:
            x = x + y
            y = zero
        if (x != 0 and base[p] > 0) or (y != 0 and base[q] > 0):
            dense[k] = 1
            continue
        if y == 0:
            if x != 0:
                for e in range(at[p], at[p] + count[p]):
                    u = x * abs(vals[e]) * inverse[cols[e]]
                    h2[cols[e]] += u * u
            continue
        if x == 0:
            for e in range(at[q], at[q] + count[q]):
                u = y * abs(vals[e]) * inverse[cols[e]]
                h2[cols[e]] += u * u
            continue
        serial -= 1
        for e in range(at[p], at[p] + count[p]):
            c = cols[e]
            stamp[c] = serial
            acc[c] = x * abs(vals[e]) * inverse[c]
        for e in range(at[q], at[q] + count[q]):
            c = cols[e]
            u = y * abs(vals[e]) * inverse[c]
            if stamp[c] == serial:
                u = u + acc[c]
                stamp[c] = -1
            h2[c] += u * u
        for e in range(at[p], at[p] + count[p]):
            c = cols[e]
            if stamp[c] == serial:
                h2[c] += acc[c] * acc[c]
    return serial


@kernel
def _count_in(c, u, k1, k2, h2, held):
    h2[c] += u * u
    held[c, 0] += k1 * k1
    held[c, 1] += k1 * k2
    held[c, 2] += k2 * k2


@kernel
def basis_atoms(
    pa, pb, r1, r2, k1, k2, at, count, cols, vals, coef, d1, d2, h2, inverse, held,
    acc, stamp, serial,
):  # fmt: skip
    """Like ``atom_rows`` on the stored entries of atoms that share their bases.

    The slots' bases have the rows ``d1`` and ``d2``. ``held`` adds up, an input, the
    products of ``k1`` and ``k2`` of the atoms with a stored entry there.
    """
    for j in range(pa.size):
        p = pa[j]
        q = pb[j]
        x = r1[j]
        y = r2[j]
        serial -= 1
        for e in range(at[p], at[p] + count[p]):
            c = cols[e]
            stamp[c] = serial
            acc[c] = x * abs(vals[e] + coef[p] * d1[c])
        if y != 0:
            for e in range(at[q], at[q] + count[q]):
                c = cols[e]
                u = y * abs(vals[e] + coef[q] * d2[c])
                if stamp[c] == serial:
                    u = u + acc[c]
                    stamp[c] = -1
                else:
                    u = u + x * abs(coef[p] * d1[c])
                _count_in(c, u * inverse[c], k1[j], k2[j], h2, held)
        for e in range(at[p], at[p] + count[p]):
            c = cols[e]
            if stamp[c] == serial:
                u = acc[c]
                if y != 0:
                    u = u + y * abs(coef[q] * d2[c])
                _count_in(c, u * inverse[c], k1[j], k2[j], h2, held)
    return serial


@kernel
def basis_inputs(total, held, size1, size2, d1, d2, h2, inverse, most):
    """What ``basis_atoms`` leaves out, from the sums of all its atoms less ``held``.

    Sets ``most`` instead at inputs where ``held`` is more than half of the sums.
    """
    for c in range(h2.size):
        if held[c, 0] > total[0] / 2 or held[c, 2] > total[2] / 2:
            most[c] = 1
            continue
        u = size1 * abs(d1[c]) * inverse[c]
        v = size2 * abs(d2[c]) * inverse[c]
        mixed = max(total[1] - held[c, 1], 0.0)
        h2[c] += (
            u * u * (total[0] - held[c, 0])
            + 2 * (u * v * mixed)
            + v * v * (total[2] - held[c, 2])
        )


@kernel
def basis_rest(
    pa, pb, r1, r2, at, count, cols, coef, d1, d2, h2, inverse, inputs, stamp, serial
):
    """What ``basis_atoms`` leaves out at the given inputs, atom by atom."""
    for j in range(pa.size):
        p = pa[j]
        q = pb[j]
        x = r1[j]
        y = r2[j]
        serial -= 1
        for e in range(at[p], at[p] + count[p]):
            stamp[cols[e]] = serial
        if y != 0:
            for e in range(at[q], at[q] + count[q]):
                stamp[cols[e]] = serial
        for c in inputs:
            if stamp[c] != serial:
                u = x * abs(coef[p] * d1[c])
                if y != 0:
                    u = u + y * abs(coef[q] * d2[c])
                u = u * inverse[c]
                h2[c] += u * u
    return serial


@kernel
def csr_spans(k0, n, ptr, ids, lo, hi):
    """Smallest and largest input index that each node depends on (none: lo > hi)."""
    for k in range(n):
        a = lo[k0 + k]
        b = hi[k0 + k]
        for j in range(ptr[k], ptr[k + 1]):
            p = ids[j]
            a = min(a, lo[p])
            b = max(b, hi[p])
        lo[k0 + k] = a
        hi[k0 + k] = b


@kernel
def atom_spans(pa, pb, r1, r2, lo, hi, first, last):
    """Span of each atom: of its slots with weight."""
    for k in range(pa.size):
        a = lo.size
        b = -1
        if r1[k] != 0:
            a = min(a, lo[pa[k]])
            b = max(b, hi[pa[k]])
        if r2[k] != 0:
            a = min(a, lo[pb[k]])
            b = max(b, hi[pb[k]])
        first[k] = a
        last[k] = b


@kernel
def colour_spans(order, first, last, group, ends):
    """Colour spans, in order of their first index, so that those of a group are disjoint.

    Returns the number of atoms that found no group (their group is -1).
    """
    missed = 0
    for k in order:
        if last[k] < first[k]:
            group[k] = 0
            continue
        best = -1
        for g in range(ends.size):
            if ends[g] < first[k] and (best < 0 or ends[g] > ends[best]):
                best = g
        group[k] = best
        if best < 0:
            missed += 1
        else:
            ends[best] = last[k]
    return missed


@kernel
def colour_rows(pa, pb, r1, r2, at, count, cols, base, taken, group):
    """Colour atoms by their supports, greedily in tape order.

    ``taken[c, g]`` says whether input ``c`` occurs in group ``g``. Returns the number of
    atoms that found no group or that have a basis.
    """
    missed = 0
    ngroups = taken.shape[1]
    for k in range(pa.size):
        p = pa[k]
        q = pb[k]
        on_p = r1[k] != 0
        on_q = r2[k] != 0
        group[k] = -1
        if (on_p and base[p] > 0) or (on_q and base[q] > 0):
            missed += 1
            continue
        for g in range(ngroups):
            free = True
            if on_p:
                for e in range(at[p], at[p] + count[p]):
                    if taken[cols[e], g]:
                        free = False
                        break
            if free and on_q:
                for e in range(at[q], at[q] + count[q]):
                    if taken[cols[e], g]:
                        free = False
                        break
            if free:
                group[k] = g
                if on_p:
                    for e in range(at[p], at[p] + count[p]):
                        taken[cols[e], g] = True
                if on_q:
                    for e in range(at[q], at[q] + count[q]):
                        taken[cols[e], g] = True
                break
        if group[k] < 0:
            missed += 1
    return missed


@kernel
def outer_products(p, q, w, at, count, cols, vals, i, j, value):
    """All products ``w`` row ``p`` row ``q``, as ``value`` at ``(i, j)``."""
    n = 0
    for k in range(p.size):
        a = at[p[k]]
        b = at[q[k]]
        for e in range(a, a + count[p[k]]):
            t = w[k] * vals[e]
            for f in range(b, b + count[q[k]]):
                i[n] = cols[e]
                j[n] = cols[f]
                value[n] = t * vals[f]
                n += 1


@kernel
def tighten(ptr, j, size, h, fresh, rounds):
    """Lower a cover ``h`` of the entries ``size`` at ``(row, j)``, all rows at a time.

    Each round replaces ``h_i`` by the geometric mean of itself and the least that the
    others permit, which keeps all products at or above their entries.
    """
    for _ in range(rounds):
        for i in range(h.size):
            least = h.dtype.type(0)
            for e in range(ptr[i], ptr[i + 1]):
                x = size[e]
                if x != 0:
                    least = max(least, x / h[j[e]])
            fresh[i] = h[i]
            if least < h[i]:
                fresh[i] = h[i] * np.sqrt(least / h[i])
        h[:] = fresh
