"""Second derivatives entry by entry, from sparse rows of intermediate gradients.

``H`` is a sum of terms ``w (g_p g_q' + g_q g_p')`` over pairs of slots, with the gradients
``g`` of nodes. Where these are sparse, so are the terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tape import Tape
from ._arithmetic import over_boxes
from ._atoms import Allowance, Atoms, needed
from ._entrywise import Pair
from ._explicit import Explicit
from ._lower import Program
from ._passes import adjoints
from ._rows import Rows
from ._wide import Dot
from .kernels import rows as kernels

__all__ = ["Entries", "hessian_entries", "tightened", "tightened_to_rounding"]

Array = NDArray[Any]
CHUNK = 1 << 22  # products that are added up at a time
FEW, MANY = 8, 1000  # dense rows that reverse sweeps find: at once; as a last resort
MOST = 1 << 25  # nonzero entries: some gigabytes while they are added up
ROUNDS = 24


class Entries(NamedTuple):
    """The entries that may be nonzero, in order of rows; both triangles."""

    i: Array
    j: Array
    value: Array


@over_boxes
def hessian_entries(
    program: Program,
    tape: Tape,
    vbar: Array,
    out: int,
    allowed: Allowance | None = None,
) -> Entries | None:
    """The Hessian of an output whose adjoints are given.

    An entry whose parts cancel is there, with the value zero. Forms that declare a bound
    instead of second partials count with one for every pair of slots. None if more
    products have to be formed, or entries of gradients kept, than are ``allowed``; or if
    there are too many nonzero entries to hold, ``MOST``.
    """
    n = tape.ninputs
    parts = list(_terms(program, vbar, out))
    p, q, w = (
        np.concatenate([part[k] for part in parts]) if parts else np.empty(0, kind)
        for k, kind in enumerate((np.int64, np.int64, tape.dtype))
    )
    ones = np.ones(p.size, dtype=tape.magtype)
    need = needed(program, tape, [Atoms(-1, p, q, ones, ones)], [])
    store = (
        Rows(program, tape, need, cap=n, limit=allowed.left)
        if allowed is not None
        else _all_rows(program, tape, need, np.append(p, q))
    )
    if store is None or store.used > store.limit:
        return None
    sizes = store.count[p].astype(np.int64) * store.count[q]
    if sizes.size and sizes.max() > MOST:
        return None
    if allowed is not None and not allowed.take(int(sizes.sum())):
        return None
    found = Entries(*(np.empty(0, a) for a in (np.int64, np.int64, tape.dtype)))
    ends = np.cumsum(sizes)
    first = 0
    while first < p.size:
        done = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, done + CHUNK, side="right")), first + 1)
        these = slice(first, last)
        total = int(ends[last - 1] - done)
        i, j = np.empty((2, total), dtype=np.int64)
        value = np.empty(total, dtype=tape.dtype)
        kernels.outer_products(
            p[these], q[these], w[these], store.at, store.count, store.cols, store.vals,
            i, j, value,
        )  # fmt: skip
        found = _added(
            n, *(np.concatenate(a) for a in zip(found, (i, j, value), strict=True))
        )
        first = last
        if 2 * found.i.size > MOST:
            return None
    i, j, value = found
    return _added(n, *(np.concatenate(a) for a in ((i, j), (j, i), (value, value))))


def _all_rows(program: Program, tape: Tape, need: Array, slots: Array) -> Rows | None:
    """Whole rows of the slots; None if they are too many to hold.

    Where few slots are dense, two reverse sweeps find each, which spares the rows of what
    lies before it, such as a running sum. Otherwise all rows are formed, if they fit.
    """
    store = Rows(program, tape, need)
    dense = np.unique(slots[store.base[slots] > 0])
    if dense.size > FEW:
        full = Rows(program, tape, need, cap=tape.ninputs, limit=4 * MOST)
        if full.used <= full.limit:
            return full
        if dense.size > MANY:
            return None
    if dense.size * tape.ninputs > MOST:
        return None
    for k in dense.tolist():
        paths = adjoints(program, tape, 1.0, k, absolute=True)[: tape.ninputs]
        cols = np.flatnonzero(paths)
        store.put(k, cols, adjoints(program, tape, 1.0, k)[cols])
    return store


def _added(n: int, i: Array, j: Array, value: Array) -> Entries:
    """Entries at one place added up."""
    if not i.size:
        return Entries(i, j, value)
    key = i * n + j
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.ones(key.size, dtype=bool)
    new[1:] = key[1:] != key[:-1]
    starts = np.flatnonzero(new)
    place = key[starts]
    return Entries(place // n, place % n, np.add.reduceat(value[order], starts))


def _terms(program: Program, vbar: Array, out: int) -> Iterator[tuple[Array, ...]]:
    """``(p, q, w)`` of all pairs of slots with a second partial."""
    for step in program.below(out):
        if not step.curved:
            continue
        mine = vbar[step.start : step.stop]
        if isinstance(step, Explicit):
            if mine[0] != 0:
                yield _explicit(step, mine[0])
        elif isinstance(step, Pair):
            a, b = step.slot_ids()
            c11, _, c12, _, c22, _ = step.twice
            for p, q, c in ((a, a, c11 / 2), (a, b, c12), (b, b, c22 / 2)):
                on = np.flatnonzero((mine != 0) & (c != 0))
                yield p[on], q[on], (mine * c)[on]
        elif isinstance(step, Dot):
            p, q = step.slot_ids()
            w = np.repeat(mine, step.args[0][4])
            on = np.flatnonzero(w)
            yield p[on], q[on], w[on]


def _explicit(step: Explicit, av: Any) -> tuple[Array, ...]:
    """Terms of one node, whose form shows its entries or applies itself to vectors."""
    m = step.parents.size
    C = np.ones((m, m), dtype=step.d.dtype)
    if step.curvature.has_exact_partials:
        C = np.zeros((m, m), dtype=step.d.dtype)
        ids = np.arange(m)
        for k in range(m):
            e = np.zeros(m, dtype=step.d.dtype)
            e[k] = 1
            step.curvature.curvature_apply(C[k], ids, step.d.dtype.type(1), e)
    i, j = np.nonzero(np.triu(C))
    w = av * np.where(i == j, C[i, j] / 2, C[i, j])
    return step.parents[i], step.parents[j], w


@over_boxes
def tightened(tape: Tape, h: Array, entries: Entries) -> Array:
    """A cover of the entries that is nowhere above the cover ``h``."""
    return tightened_to_rounding(h, entries)


def tightened_to_rounding(h: Array, entries: Entries) -> Array:
    """The same, to rounding, whatever the entries are."""
    ptr = np.searchsorted(entries.i, np.arange(h.size + 1))
    found, size = h.copy(), np.abs(entries.value)
    empty = np.ones(h.size, dtype=bool)
    empty[entries.i[size != 0]] = False
    found[empty] = 0
    with np.errstate(all="ignore"):
        kernels.tighten(ptr, entries.j, size, found, np.empty_like(found), ROUNDS)
    return found
