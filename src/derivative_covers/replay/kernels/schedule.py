"""The order in which a run of scalar operations is replayed."""

from __future__ import annotations

import numpy as np

from ...sweeps.kernels._jit import kernel


@kernel
def scheduled(kinds, nkinds, a, b, start):
    """Rows in an order that keeps parents before children and equal kinds together.

    ``a`` and ``b`` are the parents' ids (-1: none), of which those from ``start`` on are
    rows of the run. Gives the order, and the ends of stretches of one kind. Takes the
    kind with most rows that are ready, and goes on with it while one is.
    """
    n = kinds.size
    missing = np.zeros(n, dtype=np.int32)
    degree = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        if a[i] >= start:
            missing[i] += 1
            degree[a[i] - start + 1] += 1
        if b[i] >= start:
            missing[i] += 1
            degree[b[i] - start + 1] += 1
    for i in range(n):
        degree[i + 1] += degree[i]
    children = np.empty(degree[n], dtype=np.int64)
    place = degree[:n].copy()
    for i in range(n):
        if a[i] >= start:
            children[place[a[i] - start]] = i
            place[a[i] - start] += 1
        if b[i] >= start:
            children[place[b[i] - start]] = i
            place[b[i] - start] += 1
    head = np.full(nkinds, -1, dtype=np.int64)
    tail = np.full(nkinds, -1, dtype=np.int64)
    ready = np.zeros(nkinds, dtype=np.int64)
    after = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        if missing[i] == 0:
            c = kinds[i]
            if head[c] < 0:
                head[c] = i
            else:
                after[tail[c]] = i
            tail[c] = i
            ready[c] += 1
    order = np.empty(n, dtype=np.int64)
    ends = np.empty(n, dtype=np.int64)
    done = 0
    nends = 0
    while done < n:
        c = 0
        for k in range(1, nkinds):
            if ready[k] > ready[c]:
                c = k
        while head[c] >= 0:
            i = head[c]
            head[c] = after[i]
            ready[c] -= 1
            order[done] = i
            done += 1
            for m in range(degree[i], degree[i + 1]):
                j = children[m]
                missing[j] -= 1
                if missing[j] == 0:
                    e = kinds[j]
                    if head[e] < 0:
                        head[e] = j
                    else:
                        after[tail[e]] = j
                    tail[e] = j
                    ready[e] += 1
        ends[nends] = done
        nends += 1
    return order, ends[:nends]
