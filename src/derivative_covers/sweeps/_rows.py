"""Quadrature from sparse rows of exact intermediate gradients; hybrid groups.

Rows are kept for ancestors of curved slots only: a few entries plus a multiple of the
row of one *basis*, a node whose own row is dense (such as a sum or a mean). Atoms that
share their bases cost one reverse sweep a basis all together, since away from its few
entries the row of every one is a multiple of the basis. Where there are more sets of
bases than inputs, one forward sweep an input serves all atoms instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tape import Tape
from ._arithmetic import over_boxes
from ._atoms import (
    Allowance,
    Atoms,
    channel,
    explicit_atoms,
    needed,
    references,
    small_atoms,
    sum_merge,
)
from ._lower import Program
from ._passes import adjoints, tangents
from ._step import Step
from .kernels import rows as kernels

__all__ = ["Rows", "atom_groups", "hybrid_channels", "quadrature_of", "quadrature_rows"]

CAP = 48  # entries of a row without a basis, at most
BESIDE = 8  # entries beside a basis, at most: running sums have one basis after another

Array = NDArray[Any]
Basis = Callable[[int], Array]


class Rows:
    """Rows of the nodes that some atom needs: few entries and a multiple of a basis.

    ``cap`` is the most entries of a row without a basis (None: ``CAP``); with as many as
    there are inputs no row has one. Above ``limit`` entries in all it is given up.
    """

    def __init__(
        self,
        program: Program,
        tape: Tape,
        need: Array,
        cap: int | None = None,
        limit: int | None = None,
    ) -> None:
        self.cap = CAP if cap is None else cap
        n, m = tape.nnodes, tape.ninputs
        self.at = np.zeros(n, dtype=np.int64)
        self.count = np.zeros(n, dtype=np.int32)
        self.base = np.zeros(n, dtype=np.int64)
        self.coef = np.zeros(n, dtype=tape.dtype)
        self.cols = np.empty(max(4 * self.cap, 4 * m), dtype=np.int32)
        self.vals = np.empty(self.cols.size, dtype=tape.dtype)
        self.acc = np.zeros(m, dtype=tape.dtype)
        self.size = np.zeros(m, dtype=tape.magtype)  # scratch of magnitudes
        self.stamp = np.full(m, -1, dtype=np.int64)
        self.serial = -2  # stamps of atoms count down, those of nodes are their ids
        self.at[:m] = np.arange(m)
        self.count[:m] = 1
        self.cols[:m] = np.arange(m)
        self.vals[:m] = 1
        self.used = m
        self.limit = np.inf if limit is None else limit
        for step in program.steps:
            if need[step.start : step.stop].any() and self.used <= self.limit:
                self._fill(step, need)

    def _fill(self, step: Step, need: Array) -> None:
        for k0, ptr, ids, d in step.expanded():
            k, n = 0, ptr.size - 1
            while True:
                k, self.used = kernels.csr_rows(
                    k0, n, ptr, ids, d, need, self.at, self.count, self.cols, self.vals,
                    self.base, self.coef, self.used, self.cap, min(BESIDE, self.cap), self.acc,
                    self.stamp, k,
                )  # fmt: skip
                if self.used > self.limit:
                    return
                if k >= n:
                    break
                self._grow()

    def _grow(self) -> None:
        size = self.cols.size + max(self.cols.size // 2, self.cap)
        for name in ("cols", "vals"):
            old = getattr(self, name)
            new = np.empty(size, dtype=old.dtype)
            new[: self.used] = old[: self.used]
            setattr(self, name, new)

    def put(self, k: int, cols: Array, vals: Array) -> None:
        """Store the whole row of a node, in place of what it had."""
        while self.used + cols.size > self.cols.size:
            self._grow()
        where = slice(self.used, self.used + cols.size)
        self.cols[where], self.vals[where] = cols, vals
        self.at[k], self.count[k], self.base[k] = self.used, cols.size, 0
        self.used += cols.size

    def gradient(self, k: int, basis: Basis) -> Array:
        """The whole row of a node."""
        found = np.zeros_like(self.acc)
        if self.base[k] > 0:
            found += self.coef[k] * basis(int(self.base[k]))
        where = slice(self.at[k], self.at[k] + self.count[k])
        found[self.cols[where]] += self.vals[where]
        return found

    def atom(self, ids: Array, r: Array, basis: Basis) -> Array:
        """``sum_i r_i |row of ids_i|`` of one atom with many slots."""
        u = np.zeros_like(self.size)
        ids, r = ids[r != 0], r[r != 0]
        short = self.base[ids] == 0
        count = self.count[ids[short]]
        skipped = self.at[ids[short]] - (np.cumsum(count) - count)
        held = np.repeat(skipped, count) + np.arange(count.sum())
        weights = np.repeat(r[short], count)
        np.add.at(u, self.cols[held], weights * np.abs(self.vals[held]))
        for p, weight in zip(ids[~short].tolist(), r[~short], strict=True):
            u += weight * np.abs(self.gradient(p, basis))
        return u

    def short(self, a: Atoms, h2: Array, inverse: Array) -> Array:
        """Add the squares of the atoms without a basis; which others there are."""
        left = np.zeros(a.pa.size, dtype=np.uint8)
        self.serial = kernels.atom_rows(
            a.pa, a.pb, a.r1, a.r2, self.at, self.count, self.cols, self.vals,
            self.base, h2, inverse, self.size, self.stamp, left, self.serial,
        )  # fmt: skip
        return np.flatnonzero(left)

    def long(
        self, a: Atoms, rows: tuple[Array, Array], h2: Array, inverse: Array
    ) -> None:
        """Add the squares of atoms whose slots have the bases with the given rows.

        An atom without an entry at an input adds ``(k1 |d1| + k2 |d2|)**2`` there: three
        sums of products serve all inputs, less the part of the atoms with an entry. That
        may cancel only by half: at the few inputs where their part is larger, the others
        are added up one by one.
        """
        d1, d2 = rows
        k1, size1 = _scaled(a.r1, self.coef[a.pa])
        k2, size2 = _scaled(a.r2, self.coef[a.pb])
        held = np.zeros((h2.size, 3))
        self.serial = kernels.basis_atoms(
            a.pa, a.pb, a.r1, a.r2, k1, k2, self.at, self.count, self.cols, self.vals,
            self.coef, d1, d2, h2, inverse, held, self.size, self.stamp, self.serial,
        )  # fmt: skip
        total = np.array([np.sum(k1 * k1), np.sum(k1 * k2), np.sum(k2 * k2)])
        most = np.zeros(h2.size, dtype=np.uint8)
        kernels.basis_inputs(total, held, size1, size2, d1, d2, h2, inverse, most)
        inputs = np.flatnonzero(most)
        if inputs.size:
            self.serial = kernels.basis_rest(
                a.pa, a.pb, a.r1, a.r2, self.at, self.count, self.cols, self.coef,
                d1, d2, h2, inverse, inputs, self.stamp, self.serial,
            )  # fmt: skip


def _scaled(r: Array, coef: Array) -> tuple[Array, Any]:
    """``r |coef|`` over a power of two of the size of the largest, and that power."""
    k = r.astype(np.float64) * np.abs(coef)
    size = references(np.max(k, keepdims=True))[0]
    return k / size, size


@over_boxes
def quadrature_rows(
    program: Program,
    tape: Tape,
    rho: list[Any],
    out: int,
    allowed: Allowance | None = None,
) -> Array | None:
    """Quadrature merge of all atoms, over exact intermediate gradients.

    None if it takes more sweeps beside the rows than are ``allowed``.
    """
    with np.errstate(all="ignore"):
        reference = references(sum_merge(program, tape, rho, out))
        atoms = small_atoms(program, rho, out)
        extra = explicit_atoms(program, rho, out)
        return quadrature_of(program, tape, atoms, extra, reference, allowed)


def quadrature_of(
    program: Program,
    tape: Tape,
    atoms: list[Atoms],
    extra: list[tuple[int, Array, Array]],
    reference: Array,
    allowed: Allowance | None = None,
) -> Array | None:
    """Quadrature merge of given atoms; squares are taken over ``reference``.

    None if it takes more sweeps beside the rows than are ``allowed``.
    """
    inverse = 1 / reference
    store = Rows(program, tape, needed(program, tape, atoms, extra))
    h2 = np.zeros(tape.ninputs)
    left = Atoms.joined([a.pick(store.short(a, h2, inverse)) for a in atoms])
    left, bases, starts = _by_bases(store, left)
    if allowed is not None:
        dense = [ids for _, ids, _ in extra if store.base[ids].any()]
        sweeps = np.unique(bases).size + sum(ids.size for ids in dense)
        if not allowed.take(min(sweeps, tape.ninputs)):
            return None

    @lru_cache(maxsize=4)
    def basis(k: int) -> Array:
        return adjoints(program, tape, 1.0, k)[: tape.ninputs].copy()

    pending: list[tuple[Array, Array]] = []
    if starts.size <= tape.ninputs:
        for lo, hi in pairwise([*starts.tolist(), left.pa.size]):
            rows = basis(int(bases[0, lo])), basis(int(bases[1, lo]))
            store.long(left.pick(slice(lo, hi)), rows, h2, inverse)
    else:
        pending.append((np.array([left.pa, left.pb]).T, np.array([left.r1, left.r2]).T))
    if len(extra) <= tape.ninputs:
        for _, ids, r in extra:
            u = store.atom(ids, r, basis) * inverse
            h2 += u * u
    else:
        for width in {ids.size for _, ids, _ in extra}:
            alike = [(ids, r) for _, ids, r in extra if ids.size == width]
            pending.append(
                (np.array([a[0] for a in alike]), np.array([a[1] for a in alike]))
            )
    if pending:
        _by_inputs(program, tape, pending, h2, inverse)
    return np.sqrt(h2).astype(tape.magtype) * reference


def _by_bases(store: Rows, a: Atoms) -> tuple[Atoms, Array, Array]:
    """Atoms with a basis sorted by the bases of their slots; these; where each set starts.

    Slots are swapped where only the second has a basis, and merged where they agree. A
    slot without a basis counts as having that of the other.
    """
    same = a.pa == a.pb
    r1, r2 = a.r1 + np.where(same, a.r2, 0), np.where(same, 0, a.r2)
    b1 = np.where(r1 != 0, store.base[a.pa], 0)
    b2 = np.where(r2 != 0, store.base[a.pb], 0)
    swap = b1 == 0
    pa, pb = np.where(swap, a.pb, a.pa), np.where(swap, a.pa, a.pb)
    r1, r2 = np.where(swap, r2, r1), np.where(swap, r1, r2)
    b1 = np.where(swap, b2, b1)
    b2 = np.where(b2 == 0, b1, b2)
    order = np.lexsort((b2, b1))
    bases = np.array([b1[order], b2[order]])
    new = np.ones(order.size, dtype=bool)
    new[1:] = (bases[:, 1:] != bases[:, :-1]).any(axis=0)
    return Atoms(a.step, pa, pb, r1, r2).pick(order), bases, np.flatnonzero(new)


def _by_inputs(
    program: Program,
    tape: Tape,
    pending: list[tuple[Array, Array]],
    h2: Array,
    inverse: Array,
) -> None:
    """All atoms of the tables ``(slots, weights)``, one row an atom, input by input."""
    for c in range(tape.ninputs):
        e = np.zeros(tape.ninputs, dtype=tape.dtype)
        e[c] = 1
        s = np.abs(tangents(program, tape, e))
        for ids, r in pending:
            u = np.sum(np.where(r != 0, r * s[ids], 0), axis=1) * inverse[c]
            h2[c] += np.sum(u * u)


@over_boxes
def hybrid_channels(
    program: Program, tape: Tape, rho: list[Any], out: int, ngroups: int
) -> Array:
    """Hybrid merge: sum inside a group, quadrature across, one reverse sweep a group."""
    atoms = small_atoms(program, rho, out)
    extra = explicit_atoms(program, rho, out)
    with np.errstate(all="ignore"):
        groups, wide = atom_groups(program, tape, atoms, extra, ngroups)
        reference = references(sum_merge(program, tape, rho, out))
        inverse = 1 / reference
        h2 = np.zeros(tape.ninputs, dtype=tape.magtype)
        for want in range(ngroups):
            u = channel(program, tape, rho, out, {**groups, **wide}, want) * inverse
            h2 += u * u
        return np.sqrt(h2) * reference


def atom_groups(
    program: Program,
    tape: Tape,
    atoms: list[Atoms],
    extra: list[tuple[int, Array, Array]],
    ngroups: int,
) -> tuple[dict[int, Array], dict[int, Array]]:
    """A group for every atom: by spans, else by supports, else by a balanced deal."""
    every = Atoms.joined(atoms)
    pa, pb, r1, r2 = every.pa, every.pb, every.r1, every.r2
    group = np.zeros(pa.size, dtype=np.int32)
    missed = pa.size
    if ngroups > 1 and pa.size:
        missed = _by_spans(program, tape, (pa, pb, r1, r2), group, ngroups)
        if missed and tape.ninputs * ngroups <= 1 << 28:
            need = needed(program, tape, atoms, extra)
            store = Rows(program, tape, need)
            taken = np.zeros((tape.ninputs, ngroups), dtype=np.bool_)
            missed = kernels.colour_rows(
                pa, pb, r1, r2, store.at, store.count, store.cols, store.base,
                taken, group,
            )  # fmt: skip
    if missed:
        rest = np.flatnonzero(group < 0) if ngroups > 1 else np.arange(pa.size)
        group[rest] = _deal(rest.size, ngroups)
    found: dict[int, Array] = {}
    first = 0
    for a in atoms:
        found[a.step] = group[first : first + a.pa.size]
        first += a.pa.size
    deal = iter(_deal(len(extra), ngroups).tolist())
    wide: dict[int, list[int]] = {}
    for at, _, _ in extra:
        wide.setdefault(at, []).append(next(deal))
    return found, {at: np.array(g, dtype=np.int32) for at, g in wide.items()}


def _deal(count: int, ngroups: int) -> Array:
    """Contiguous shares of nearly equal size, in tape order."""
    return (np.arange(count, dtype=np.int64) * ngroups // max(count, 1)).astype(
        np.int32
    )


def _by_spans(
    program: Program, tape: Tape, atoms: tuple[Array, ...], group: Array, ngroups: int
) -> int:
    pa, pb, r1, r2 = atoms
    lo = np.full(tape.nnodes, tape.ninputs, dtype=np.int32)
    hi = np.full(tape.nnodes, -1, dtype=np.int32)
    lo[: tape.ninputs] = hi[: tape.ninputs] = np.arange(tape.ninputs)
    for step in program.steps:
        for k0, ptr, ids, _ in step.expanded():
            kernels.csr_spans(k0, ptr.size - 1, ptr, ids, lo, hi)
    first = np.empty(pa.size, dtype=np.int64)
    last = np.empty(pa.size, dtype=np.int64)
    kernels.atom_spans(pa, pb, r1, r2, lo, hi, first, last)
    order = np.argsort(first, kind="stable")
    ends = np.full(ngroups, -1, dtype=np.int64)
    return int(kernels.colour_spans(order, first, last, group, ends))
