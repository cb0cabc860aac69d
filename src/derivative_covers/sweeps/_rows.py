"""Quadrature from sparse rows of exact intermediate gradients; hybrid groups.

Rows are kept for ancestors of curved slots only, and only while they have few entries.
An atom that needs a row which went dense takes one reverse sweep instead, or, where
there are more such atoms than inputs, all of them share one forward sweep an input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tape import Tape
from ._explicit import Explicit
from ._load import rows as kernels
from ._lower import Program
from ._passes import adjoints, tangents
from ._step import Step

__all__ = ["hybrid_channels", "quadrature_rows"]

CAP = 48  # entries of a row before it counts as dense

Array = NDArray[Any]


@dataclass(slots=True)
class _Atoms:
    """Atoms of up to two slots, in tape order; a slot without weight counts nothing."""

    step: int
    pa: Array
    pb: Array
    r1: Array
    r2: Array


def _atoms(program: Program, rho: list[Any], out: int) -> list[_Atoms]:
    found = []
    for at in range(len(program.below(out))):
        step = program.steps[at]
        if rho[at] is None or isinstance(step, Explicit):
            continue
        r1, r2 = rho[at]
        pa, pb = step.slot_ids()
        found.append(_Atoms(at, pa, pb, r1, r2))
    return found


def _explicit(
    program: Program, rho: list[Any], out: int
) -> list[tuple[int, Array, Array]]:
    """Atoms of explicit nodes: ``(step, slot ids, weights)``."""
    found = []
    for at in range(len(program.below(out))):
        step = program.steps[at]
        if isinstance(step, Explicit) and rho[at] is not None:
            for slots in step.atoms():
                pick = np.array(slots, dtype=np.int64)
                found.append((at, step.parents[pick], rho[at][pick]))
    return found


class _Rows:
    """Sparse rows of the nodes that some atom needs."""

    def __init__(self, program: Program, tape: Tape, need: Array) -> None:
        n = tape.nnodes
        self.at = np.zeros(n, dtype=np.int64)
        self.count = np.zeros(n, dtype=np.int32)
        self.cols = np.empty(max(4 * CAP, 2 * tape.ninputs), dtype=np.int32)
        self.vals = np.empty(self.cols.size, dtype=tape.dtype)
        self.acc = np.zeros(tape.ninputs, dtype=tape.dtype)
        self.stamp = np.full(tape.ninputs, -1, dtype=np.int64)
        m = tape.ninputs
        self.at[:m] = np.arange(m)
        self.count[:m] = 1
        self.cols[:m] = np.arange(m)
        self.vals[:m] = 1
        self.used = m
        for step in program.steps:
            if need[step.start : step.stop].any():
                self._fill(step, need)

    def _fill(self, step: Step, need: Array) -> None:
        for k0, ptr, ids, d in step.expanded():
            k, n = 0, ptr.size - 1
            while True:
                k, self.used = kernels().csr_rows(
                    k0, n, ptr, ids, d, need, self.at, self.count, self.cols, self.vals,
                    self.used, CAP, self.acc, self.stamp, k,
                )  # fmt: skip
                if k >= n:
                    break
                self._grow()

    def _grow(self) -> None:
        size = self.cols.size + max(self.cols.size // 2, CAP)
        for name in ("cols", "vals"):
            old = getattr(self, name)
            new = np.empty(size, dtype=old.dtype)
            new[: self.used] = old[: self.used]
            setattr(self, name, new)

    def row(self, k: int) -> tuple[Array, Array] | None:
        """Columns and values of a stored row."""
        if self.count[k] < 0:
            return None
        where = slice(self.at[k], self.at[k] + self.count[k])
        return self.cols[where], self.vals[where]


def _needed(
    program: Program,
    tape: Tape,
    atoms: list[_Atoms],
    extra: list[tuple[int, Array, Array]],
) -> Array:
    """One byte a node: whether a curved slot depends on it."""
    need = np.zeros(tape.nnodes, dtype=np.uint8)
    for a in atoms:
        need[a.pa[a.r1 != 0]] = 1
        need[a.pb[a.r2 != 0]] = 1
    for _, ids, r in extra:
        need[ids[r != 0]] = 1
    for step in reversed(program.steps):
        step.reach(need, False)
    return need


def _channel(
    program: Program,
    tape: Tape,
    rho: list[Any],
    out: int,
    groups: dict[int, Array],
    want: int,
) -> Array:
    """Sum merge of the atoms of one group: one reverse sweep."""
    g = np.zeros(tape.nnodes, dtype=tape.dtype)
    none = np.empty(0, dtype=np.int32)
    steps = program.below(out)
    for at in range(len(steps) - 1, -1, -1):
        steps[at].inject(g, rho[at], groups.get(at, none), want)
    return g[: tape.ninputs]


def _references(total: Array) -> Array:
    """A power of two of the size of each entry (1 for zero): squares are taken over it.

    A cover may be as large as the square root of the largest number, or larger where the
    other factor is small; its square need not be representable.
    """
    size = np.where((total > 0) & np.isfinite(total), total, 1)
    exponent = np.clip(np.frexp(size)[1], -1000, 1000)
    found: Array = np.ldexp(np.ones_like(total), exponent)
    return found


def _sum_merge(program: Program, tape: Tape, rho: list[Any], out: int) -> Array:
    """Sum merge of all atoms from their slot weights."""
    everything = {}
    for at, step in enumerate(program.below(out)):
        if isinstance(step, Explicit):
            everything[at] = np.zeros(len(step.atoms()), dtype=np.int32)
        elif rho[at] is not None:
            everything[at] = np.zeros(rho[at][0].size, dtype=np.int32)
    return _channel(program, tape, rho, out, everything, 0)


def quadrature_rows(program: Program, tape: Tape, rho: list[Any], out: int) -> Array:
    """Quadrature merge of all atoms, over exact intermediate gradients."""
    with np.errstate(all="ignore"):
        return _quadrature(program, tape, rho, out)


def _quadrature(program: Program, tape: Tape, rho: list[Any], out: int) -> Array:
    reference = _references(_sum_merge(program, tape, rho, out))
    inverse = 1 / reference
    atoms = _atoms(program, rho, out)
    extra = _explicit(program, rho, out)
    need = _needed(program, tape, atoms, extra)
    store = _Rows(program, tape, need)
    h2 = np.zeros(tape.ninputs, dtype=tape.dtype)
    pending: list[tuple[Array, Array]] = []
    serial = -2
    for a in atoms:
        dense = np.zeros(a.pa.size, dtype=np.uint8)
        serial = kernels().atom_rows(
            a.pa, a.pb, a.r1, a.r2, store.at, store.count, store.cols, store.vals,
            h2, inverse, store.acc, store.stamp, dense, serial,
        )  # fmt: skip
        for k in np.flatnonzero(dense):
            slots = np.array([a.pa[k], a.pb[k]])
            pending.append((slots, np.array([a.r1[k], a.r2[k]])))
    for _, ids, r in extra:
        pending.append((ids, r))
    if len(pending) <= tape.ninputs:
        for ids, r in pending:
            u = np.zeros(tape.ninputs, dtype=tape.dtype)
            for p, weight in zip(ids, r, strict=True):
                if weight != 0:
                    u += weight * np.abs(_gradient_of(program, tape, store, int(p)))
            u *= inverse
            h2 += u * u
    else:
        _by_inputs(program, tape, pending, h2, inverse)
    return np.sqrt(h2) * reference


def _gradient_of(program: Program, tape: Tape, store: _Rows, p: int) -> Array:
    row = store.row(p)
    if row is None:
        return adjoints(program, tape, 1.0, p)[: tape.ninputs]
    found = np.zeros(tape.ninputs, dtype=tape.dtype)
    found[row[0]] = row[1]
    return found


def _by_inputs(
    program: Program,
    tape: Tape,
    pending: list[tuple[Array, Array]],
    h2: Array,
    inverse: Array,
) -> None:
    ptr = np.cumsum([0] + [ids.size for ids, _ in pending])[:-1]
    ids = np.concatenate([ids for ids, _ in pending])
    r = np.concatenate([r for _, r in pending])
    for a in range(tape.ninputs):
        e = np.zeros(tape.ninputs, dtype=tape.dtype)
        e[a] = 1
        s = tangents(program, tape, e)[ids]
        u = np.add.reduceat(np.where(r != 0, r * np.abs(s), 0), ptr) * inverse[a]
        h2[a] += np.sum(u * u)


def hybrid_channels(
    program: Program, tape: Tape, rho: list[Any], out: int, ngroups: int
) -> Array:
    """Hybrid merge: sum inside a group, quadrature across, one reverse sweep a group."""
    atoms = _atoms(program, rho, out)
    extra = _explicit(program, rho, out)
    groups, wide = _groups(program, tape, atoms, extra, ngroups)
    with np.errstate(all="ignore"):
        reference = _references(_sum_merge(program, tape, rho, out))
        inverse = 1 / reference
        h2 = np.zeros(tape.ninputs, dtype=tape.dtype)
        for want in range(ngroups):
            u = _channel(program, tape, rho, out, {**groups, **wide}, want) * inverse
            h2 += u * u
        return np.sqrt(h2) * reference


def _groups(
    program: Program,
    tape: Tape,
    atoms: list[_Atoms],
    extra: list[tuple[int, Array, Array]],
    ngroups: int,
) -> tuple[dict[int, Array], dict[int, Array]]:
    """A group for every atom: by spans, else by supports, else by a balanced deal."""
    pa, pb, r1, r2 = (
        np.concatenate([getattr(a, name) for a in atoms]) if atoms else np.empty(0)
        for name in ("pa", "pb", "r1", "r2")
    )
    pa, pb = pa.astype(np.int64), pb.astype(np.int64)
    group = np.zeros(pa.size, dtype=np.int32)
    missed = pa.size
    if ngroups > 1 and pa.size:
        missed = _by_spans(program, tape, (pa, pb, r1, r2), group, ngroups)
        if missed and tape.ninputs * ngroups <= 1 << 28:
            need = _needed(program, tape, atoms, extra)
            store = _Rows(program, tape, need)
            taken = np.zeros((tape.ninputs, ngroups), dtype=np.bool_)
            missed = kernels().colour_rows(
                pa, pb, r1, r2, store.at, store.count, store.cols, taken, group
            )
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
            kernels().csr_spans(k0, ptr.size - 1, ptr, ids, lo, hi)
    first = np.empty(pa.size, dtype=np.int64)
    last = np.empty(pa.size, dtype=np.int64)
    kernels().atom_spans(pa, pb, r1, r2, lo, hi, first, last)
    order = np.argsort(first, kind="stable")
    ends = np.full(ngroups, -1, dtype=np.int64)
    return int(kernels().colour_spans(order, first, last, group, ends))
