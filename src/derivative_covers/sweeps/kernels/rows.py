"""Kernels of sparse intermediate gradients, and of supports.

Legend: the row of node ``k`` is ``cols[at[k] : at[k] + count[k]]`` with values in the
same places of ``vals``; a count of -1 says that the row went dense (more than ``cap``
entries) and is not stored. ``acc`` and ``stamp`` are a dense scratch row: an entry
counts where its stamp is the current one.
"""

from __future__ import annotations

from ._jit import kernel


@kernel
def csr_rows(k0, n, ptr, ids, d, need, at, count, cols, vals, used, cap, acc, stamp, k):
    """Rows of nodes ``k0 + k ..`` with parents ``ids[ptr[k] : ptr[k+1]]``.

    Returns ``(k, used)``: the first node not done (the store is full) and its fill.
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
        dense = False
        touched = cols[used : used + cap]
        for j in range(ptr[k], ptr[k + 1]):
            p = ids[j]
            f = d[j]
            if f == 0:
                continue
            if count[p] < 0:
                dense = True
                break
            first = at[p]
            for e in range(first, first + count[p]):
                c = cols[e]
                t = f * vals[e]
                if stamp[c] != node:
                    if m == cap:
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
        if dense:
            count[node] = -1
        else:
            count[node] = m
            for e in range(m):
                vals[used + e] = acc[touched[e]]
            used += m
        k += 1
    return k, used


@kernel
def atom_rows(
    pa, pb, r1, r2, at, count, cols, vals, h2, inverse, acc, stamp, dense, serial
):
    """Add the squares of the atoms ``inverse (r1 |row pa| + r2 |row pb|)`` to ``h2``.

    ``dense[k]`` is set for an atom that needs a row that is not stored.
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
        if (x != 0 and count[p] < 0) or (y != 0 and count[q] < 0):
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
def colour_rows(pa, pb, r1, r2, at, count, cols, taken, group):
    """Colour atoms by their supports, greedily in tape order.

    ``taken[c, g]`` says whether input ``c`` occurs in group ``g``. Returns the number of
    atoms that found no group or whose support is not stored.
    """
    missed = 0
    ngroups = taken.shape[1]
    for k in range(pa.size):
        p = pa[k]
        q = pb[k]
        on_p = r1[k] != 0
        on_q = r2[k] != 0
        group[k] = -1
        if (on_p and count[p] < 0) or (on_q and count[q] < 0):
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
