"""Kernels that propagate gradients and squared covers forward, node by node.

Legend: a chunk of nodes ``k0 + k`` has the parents ``ids[ptr[k] : ptr[k+1]]`` with first
partials ``d``, and the atoms ``aptr[k] .. aptr[k+1]``; atom ``a`` has the slots ``sid`` with
weights ``rho`` at ``sptr[a] .. sptr[a+1]``. ``last[k]`` is the last node that reads node
``k`` (-1: none). Of a dense row, ``at[k]`` is the place in the store, -1 where all is zero,
and ``-2 - c`` where the gradient is the ``c``-th unit vector and the square zero. Of a sparse
one ``at[k]`` is the first of its ``count[k]`` entries, and with ``count[k] == -1`` the
position of the one of a unit vector. A bound that underflows is rounded up to ``tiny``.
"""

from __future__ import annotations

import math

from ._jit import kernel


@kernel
def last_uses(k0, ptr, ids, aptr, sptr, sid, last):
    """Note the nodes of a chunk as the last ones that read their parents."""
    for k in range(ptr.size - 1):
        for j in range(ptr[k], ptr[k + 1]):
            last[ids[j]] = k0 + k
        for j in range(sptr[aptr[k]], sptr[aptr[k + 1]]):
            last[sid[j]] = k0 + k


@kernel
def inherit(k0, ptr, ids, d, aptr, sptr, sid, rho, fault):
    """Pass faults on to the nodes that depend on faulty ones, before their own."""
    for k in range(ptr.size - 1):
        found = -1
        for j in range(ptr[k], ptr[k + 1]):
            if found < 0 and d[j] != 0:
                found = fault[ids[j]]
        for j in range(sptr[aptr[k]], sptr[aptr[k + 1]]):
            if found < 0 and rho[j] != 0:
                found = fault[sid[j]]
        if found >= 0:
            fault[k0 + k] = found


# Selections instead of branches, so that the loops become vector instructions.


@kernel
def _add_row(g, q, f, tiny, x, y):
    """``g += f x`` and ``q += |f| y``."""
    s = abs(f)
    zero = tiny - tiny
    if s < math.inf:
        for c in range(g.size):
            g[c] += f * x[c]
    else:
        for c in range(g.size):
            g[c] += f * x[c] if x[c] != 0 else zero
    for c in range(g.size):
        b = y[c]
        t = s * b
        t = tiny if t < tiny else t
        q[c] += zero if b == 0 else t


@kernel
def _set_row(g, q, f, tiny, x, y):
    """``g = f x`` and ``q = |f| y``."""
    s = abs(f)
    zero = tiny - tiny
    if s < math.inf:
        for c in range(g.size):
            g[c] = f * x[c]
    else:
        for c in range(g.size):
            g[c] = f * x[c] if x[c] != 0 else zero
    for c in range(g.size):
        b = y[c]
        t = s * b
        t = tiny if t < tiny else t
        q[c] = zero if b == 0 else t


@kernel
def _clear(g, q, zero):
    for c in range(g.size):
        g[c] = zero
        q[c] = zero


@kernel
def _add_single(q, r, tiny, x):
    """``q += (r x)**2``."""
    zero = tiny - tiny
    for c in range(q.size):
        a = abs(x[c])
        t = r * a
        t = tiny if t < tiny else t
        t = t * t
        t = tiny if t < tiny else t
        q[c] += zero if a == 0 else t


@kernel
def _add_pair(q, r, s, tiny, x, y):
    """``q += (r |x| + s |y|)**2``."""
    zero = tiny - tiny
    for c in range(q.size):
        a = abs(x[c])
        b = abs(y[c])
        t = r * a
        t = tiny if t < tiny else t
        t = zero if a == 0 else t
        v = s * b
        v = tiny if v < tiny else v
        t = t + (zero if b == 0 else v)
        v = t * t
        v = tiny if v < tiny else v
        q[c] += zero if t == 0 else v


@kernel
def _add_size(u, r, tiny, x):
    """``u += r |x|``."""
    zero = tiny - tiny
    for c in range(u.size):
        a = abs(x[c])
        t = r * a
        t = tiny if t < tiny else t
        u[c] += zero if a == 0 else t


@kernel
def _add_square(q, u, tiny):
    """``q += u**2``."""
    zero = tiny - tiny
    for c in range(q.size):
        a = u[c]
        t = a * a
        t = tiny if t < tiny else t
        q[c] += zero if a == 0 else t


@kernel
def _add_atom(q, u, first, stop, sid, rho, at, G, tiny):
    """``q += (sum of rho |gradient|)**2`` over the slots of an atom."""
    zero = u.dtype.type(0)
    one = -1
    other = -1
    units = True
    rows = True
    several = False
    for j in range(first, stop):
        a = at[sid[j]]
        if rho[j] != 0 and a != -1:
            several = other >= 0
            other = one
            one = j
            units = units and a < 0
            rows = rows and a >= 0
    if one < 0:
        return
    if units and not several:
        r = rho[one]
        c = -2 - at[sid[one]]
        if other >= 0:
            s = rho[other]
            e = -2 - at[sid[other]]
            if c == e:
                r = r + s
            else:
                q[e] += max(s * s, tiny)
        q[c] += max(r * r, tiny)
        return
    if rows and not several:
        x = G[at[sid[one]]]
        if other < 0:
            _add_single(q, rho[one], tiny, x)
        else:
            _add_pair(q, rho[other], rho[one], tiny, G[at[sid[other]]], x)
        return
    for c in range(u.size):
        u[c] = zero
    for j in range(first, stop):
        r = rho[j]
        a = at[sid[j]]
        if r == 0 or a == -1:
            continue
        if a < 0:
            u[-2 - a] += r
        else:
            _add_size(u, r, tiny, G[a])
    _add_square(q, u, tiny)


@kernel
def dense_rows(
    k0, ptr, ids, d, aptr, sptr, sid, rho, last, at, free, nfree, G, Q, u, tiny, k
):
    """Rows of the nodes of a chunk, from ``k`` on, each a row of ``G`` and ``Q``.

    Returns ``(k, nfree)``: the first node not done, for lack of a free row, and how many
    rows are free.
    """
    zero = u.dtype.type(0)
    while k < ptr.size - 1:
        node = k0 + k
        lo = ptr[k]
        hi = ptr[k + 1]
        if last[node] >= 0:
            if nfree == 0:
                return k, nfree
            nfree -= 1
            place = free[nfree]
            g = G[place]
            q = Q[place]
            fresh = True
            same = hi - lo == 2 and ids[lo] == ids[lo + 1]
            for j in range(lo, hi):
                f = d[j]
                if same:
                    if j > lo:
                        break
                    f = f + d[lo + 1]
                a = at[ids[j]]
                if f == 0 or a == -1:
                    continue
                if a < 0:
                    if fresh:
                        _clear(g, q, zero)
                    g[-2 - a] += f
                elif fresh:
                    _set_row(g, q, f, tiny, G[a], Q[a])
                else:
                    _add_row(g, q, f, tiny, G[a], Q[a])
                fresh = False
            if fresh:
                _clear(g, q, zero)
            for a in range(aptr[k], aptr[k + 1]):
                _add_atom(q, u, sptr[a], sptr[a + 1], sid, rho, at, G, tiny)
            at[node] = place
        for j in range(lo, hi):
            p = ids[j]
            if last[p] == node and at[p] >= 0:
                free[nfree] = at[p]
                nfree += 1
                at[p] = -1
        for j in range(sptr[aptr[k]], sptr[aptr[k + 1]]):
            p = sid[j]
            if last[p] == node and at[p] >= 0:
                free[nfree] = at[p]
                nfree += 1
                at[p] = -1
        k += 1
    return k, nfree


@kernel
def sparse_rows(
    k0, ptr, ids, d, aptr, sptr, sid, rho, last, at, count, cols, G, Q, g, q, u,
    stamp, mark, used, serial, tiny, k,
):  # fmt: skip
    """Rows of the nodes of a chunk, from ``k`` on, in ``cols``, ``G`` and ``Q``.

    ``g``, ``q``, ``u``, ``stamp`` and ``mark`` are dense scratch rows. Returns
    ``(k, used, serial)``: the first node not done, for lack of room, and the fill.
    """
    zero = u.dtype.type(0)
    while k < ptr.size - 1:
        node = k0 + k
        if last[node] < 0:
            k += 1
            continue
        lo = ptr[k]
        hi = ptr[k + 1]
        room = 0
        for j in range(lo, hi):
            room += abs(count[ids[j]])
        for j in range(sptr[aptr[k]], sptr[aptr[k + 1]]):
            room += abs(count[sid[j]])
        if used + min(room, g.size) > cols.size:
            return k, used, serial
        serial += 1
        mine = serial
        m = used
        same = hi - lo == 2 and ids[lo] == ids[lo + 1]
        for j in range(lo, hi):
            f = d[j]
            if same:
                if j > lo:
                    break
                f = f + d[lo + 1]
            if f == 0:
                continue
            p = ids[j]
            n = count[p]
            if n < 0:
                c = at[p]
                if stamp[c] != mine:
                    stamp[c] = mine
                    g[c] = f
                    q[c] = zero
                    cols[m] = c
                    m += 1
                else:
                    g[c] += f
                continue
            s = abs(f)
            for e in range(at[p], at[p] + n):
                c = cols[e]
                x = G[e]
                y = Q[e]
                if x != 0:
                    x = f * x
                if y != 0:
                    y = max(s * y, tiny)
                if stamp[c] != mine:
                    stamp[c] = mine
                    g[c] = x
                    q[c] = y
                    cols[m] = c
                    m += 1
                else:
                    g[c] += x
                    q[c] += y
        for a in range(aptr[k], aptr[k + 1]):
            serial += 1
            for j in range(sptr[a], sptr[a + 1]):
                r = rho[j]
                p = sid[j]
                n = count[p]
                if r == 0 or n == 0:
                    continue
                for e in range(at[p], at[p] + abs(n)):
                    c = e if n < 0 else cols[e]
                    x = r if n < 0 else abs(G[e])
                    if n > 0 and x != 0:
                        x = max(r * x, tiny)
                    if mark[c] != serial:
                        mark[c] = serial
                        u[c] = x
                    else:
                        u[c] += x
            for j in range(sptr[a], sptr[a + 1]):
                p = sid[j]
                n = count[p]
                if rho[j] == 0 or n == 0:
                    continue
                for e in range(at[p], at[p] + abs(n)):
                    c = e if n < 0 else cols[e]
                    if mark[c] != serial:
                        continue
                    mark[c] = 0
                    x = u[c]
                    if x == 0:
                        continue
                    if stamp[c] != mine:
                        stamp[c] = mine
                        g[c] = zero
                        q[c] = zero
                        cols[m] = c
                        m += 1
                    q[c] += max(x * x, tiny)
        at[node] = used
        count[node] = m - used
        for e in range(used, m):
            G[e] = g[cols[e]]
            Q[e] = q[cols[e]]
        used = m
        k += 1
    return k, used, serial


@kernel
def compact(node, last, at, count, cols, G, Q):
    """Move the rows that ``node`` or a later one reads to the front; gives the fill."""
    used = 0
    for p in range(node):
        n = count[p]
        if n <= 0:
            continue
        if last[p] < node:
            count[p] = 0
            continue
        first = at[p]
        at[p] = used
        for e in range(n):
            cols[used + e] = cols[first + e]
            G[used + e] = G[first + e]
            Q[used + e] = Q[first + e]
        used += n
    return used
