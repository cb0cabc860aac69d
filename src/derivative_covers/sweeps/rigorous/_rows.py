"""Quadrature and groups over a box, from exact rows of intermediate gradients.

An enclosure of a gradient keeps the cancellation along paths. Where slots depend on few
inputs, inputs that no slot has in common share a forward sweep. A slot that depends on
many takes a reverse sweep; where there are more of these than inputs, every input takes
a forward sweep instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...elements import Upward
from ...tape import Tape
from .._atoms import (
    Allowance,
    Atoms,
    explicit_atoms,
    needed,
    references,
    small_atoms,
)
from .._lower import Program
from .._rows import Rows, atom_groups
from .._step import Array
from ..kernels import upward
from ._lower import BoxProgram
from ._passes import adjoints, magnitudes, swept, tangents
from ._weights import scatter, whole

__all__ = ["hybrid_channels", "output_quadrature", "quadrature_rows"]


def quadrature_rows(
    program: BoxProgram,
    tape: Tape,
    rho: list[Any],
    out: int,
    allowed: Allowance | None = None,
) -> Array | None:
    """Quadrature merge of all atoms; None if it takes more sweeps than are ``allowed``."""
    total = _channel(program, tape, rho, out, {}, 0)
    atoms = small_atoms(program, rho, out)
    extra = explicit_atoms(program, rho, out)
    return _quadrature(program, tape, atoms, extra, total, allowed)


def output_quadrature(
    program: BoxProgram, tape: Tape, outs: Array, weights: Array, total: Array
) -> Array:
    """``sqrt(sum_k (weights_k d out_k / dx_a)**2)``, from exact rows."""
    zero = np.zeros(outs.size)
    atoms = [Atoms(-1, outs, outs, np.asarray(weights, dtype=np.float64), zero)]
    found = _quadrature(program, tape, atoms, [], total, None)
    assert found is not None  # there was no limit
    return found


def hybrid_channels(
    program: BoxProgram, tape: Tape, rho: list[Any], out: int, ngroups: int
) -> Array:
    """Hybrid merge: sum inside a group, quadrature across, one reverse sweep a group."""
    atoms = small_atoms(program, rho, out)
    extra = explicit_atoms(program, rho, out)
    with np.errstate(all="ignore"):
        groups, wide = atom_groups(program, tape, atoms, extra, ngroups)
    total = _channel(program, tape, rho, out, {}, 0)
    reference = references(total)
    h2 = Upward(np.zeros(tape.ninputs))
    for want in range(ngroups):
        g = _channel(program, tape, rho, out, {**groups, **wide}, want)
        u = np.ldexp(Upward(g), -_exponent(reference))
        h2 = h2 + u * u
    return _rooted(h2, reference, total)


def _channel(
    program: BoxProgram,
    tape: Tape,
    rho: list[Any],
    out: int,
    groups: dict[int, Array],
    want: int,
) -> Array:
    """Sum merge of the atoms of one group, or of all."""
    g = np.zeros(tape.nnodes)
    with np.errstate(all="ignore"):
        for at, step in enumerate(program.below(out)):
            if groups and rho[at] is not None and at in groups:
                scatter(g, whole(step), rho[at], groups[at], want)
            elif not groups:
                scatter(g, whole(step), rho[at])
    return swept(program, (g,), out, True)[0][: tape.ninputs]


def _rooted(h2: Any, reference: Array, total: Array) -> Array:
    """Roots of the squares, which exact ones do not bring above the sum merge."""
    root: Any = np.ldexp(np.sqrt(Upward(h2)), _exponent(reference))
    found: Array = np.minimum(np.asarray(root), total)
    return found


def _exponent(reference: Array) -> Array:
    """The exponents of powers of two; multiplied by the numbers, these would be raised."""
    found: Array = np.frexp(reference)[1] - 1
    return found


@dataclass(slots=True)
class _Slots:
    """Atoms as lists of slots: ``nodes[slots[ptr[a] : ptr[a + 1]]]``, with weights ``r``."""

    ptr: Array
    slots: Array
    r: Array
    nodes: Array

    @classmethod
    def of(cls, atoms: list[Atoms], extra: list[tuple[int, Array, Array]]) -> _Slots:
        """All atoms; slots without weight do not count."""
        every = Atoms.joined(atoms)
        ids = np.stack([every.pa, every.pb], axis=1).reshape(-1)
        r = np.stack([every.r1, every.r2], axis=1).reshape(-1).astype(np.float64)
        width = np.full(every.pa.size, 2)
        if extra:
            ids = np.concatenate([ids, *(e[1] for e in extra)])
            r = np.concatenate([r, *(e[2] for e in extra)])
            width = np.concatenate([width, [e[1].size for e in extra]])
        on = r != 0
        owner = np.repeat(np.arange(width.size), width)[on]
        nodes, slots = np.unique(ids[on], return_inverse=True)
        ptr = np.searchsorted(owner, np.arange(width.size + 1))
        return cls(ptr.astype(np.int64), slots.astype(np.int64), r[on], nodes)

    def split(self, on: Array) -> tuple[_Slots, _Slots]:
        """The atoms without, and those with one of the slots ``on``."""
        count = np.diff(self.ptr)
        hit = np.zeros(count.size, dtype=bool)
        hit[np.repeat(np.arange(count.size), count)[on[self.slots]]] = True
        return self._pick(~hit), self._pick(hit)

    def _pick(self, which: Array) -> _Slots:
        count = np.diff(self.ptr)
        kept = np.repeat(which, count)
        ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(count[which])])
        return _Slots(ptr, self.slots[kept], self.r[kept], self.nodes)


def _quadrature(
    program: BoxProgram,
    tape: Tape,
    atoms: list[Atoms],
    extra: list[tuple[int, Array, Array]],
    total: Array,
    allowed: Allowance | None,
) -> Array | None:
    n = tape.ninputs
    reference = references(total)
    inverse = 1 / reference
    every = _Slots.of(atoms, extra)
    h2 = np.zeros(n)
    if not every.slots.size:
        return h2
    shape = Program([_Shape(step) for step in program.steps], [])  # type: ignore[misc]
    with np.errstate(all="ignore"):
        store = Rows(shape, tape, needed(program, tape, atoms, extra))
        dense = store.base[every.nodes] > 0
        rows = _Supports.of(store, every.nodes, dense, n)
        few, many = every.split(dense)
        ndense = int(np.count_nonzero(dense))
        forward = ndense >= n
        sweeps = n if forward else rows.ngroups + ndense
        if allowed is not None and not allowed.take(sweeps):
            return None
        if forward:
            for a in range(n):
                size = magnitudes(tangents(program, tape, _unit(n, a)))[every.nodes]
                h2[a] = upward.squares_at(
                    every.ptr, every.slots, every.r, size, inverse[a]
                )
            return _rooted(h2, reference, total)
        rows.fill(program, tape, every.nodes)
        upward.squares(
            h2, few.ptr, few.slots, few.r, rows.ptr, rows.cols, rows.size, inverse,
            np.zeros(n),
        )  # fmt: skip
        if ndense:
            _dense(program, tape, many, dense, rows, inverse, h2)
    return _rooted(h2, reference, total)


def _dense(
    program: BoxProgram,
    tape: Tape,
    many: _Slots,
    dense: Array,
    rows: _Supports,
    inverse: Array,
    h2: Array,
) -> None:
    """Add the squares of atoms with a slot that takes a reverse sweep."""
    n = tape.ninputs
    order = np.argsort(
        [many.slots[lo:hi][dense[many.slots[lo:hi]]].min()
         for lo, hi in zip(many.ptr[:-1], many.ptr[1:], strict=True)], kind="stable",
    )  # fmt: skip
    kept: dict[int, Array] = {}

    def row(s: int) -> Array:
        if s not in kept:
            if len(kept) * n > 1 << 24:
                kept.clear()
            v = adjoints(program, tape, 1.0, int(many.nodes[s]))
            kept[s] = magnitudes(v[:n])
        return kept[s]

    for a in order.tolist():
        u: Any = Upward(np.zeros(n))
        for e in range(many.ptr[a], many.ptr[a + 1]):
            s, r = int(many.slots[e]), Upward(many.r[e])
            if dense[s]:
                u = u + r * row(s)
            else:
                at = slice(rows.ptr[s], rows.ptr[s + 1])
                cols = rows.cols[at]
                u[cols] = u[cols] + r * rows.size[at]
        u = np.ldexp(u, _exponent(inverse))
        h2[:] = np.asarray(Upward(h2) + u * u)


@dataclass(slots=True)
class _Supports:
    """Sparse rows of slots: the inputs they depend on, in groups that share a sweep."""

    ptr: Array
    cols: Array
    size: Array
    group: Array
    ngroups: int

    @classmethod
    def of(cls, store: Rows, nodes: Array, dense: Array, n: int) -> _Supports:
        """Supports of the slots that are not dense."""
        count = np.where(dense, 0, store.count[nodes]).astype(np.int64)
        ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
        first = np.repeat(store.at[nodes] - ptr[:-1], count)
        cols = store.cols[first + np.arange(first.size)].astype(np.int64)
        owner = np.repeat(np.arange(nodes.size), count)
        order = np.argsort(cols, kind="stable")
        starts = np.searchsorted(cols[order], np.arange(n + 1))
        group = np.zeros(n, dtype=np.int64)
        stamp = np.full(n + 1, -1, dtype=np.int64)
        ngroups = upward.colour(ptr, cols, starts, owner[order], group, stamp)
        return cls(
            ptr, cols, np.zeros(cols.size), group, int(ngroups) if cols.size else 0
        )

    def fill(self, program: BoxProgram, tape: Tape, nodes: Array) -> None:
        """Magnitudes of the gradients, a forward sweep a group."""
        owner = np.repeat(np.arange(nodes.size), np.diff(self.ptr))
        mine = self.group[self.cols]
        for g in range(self.ngroups):
            found = magnitudes(tangents(program, tape, (self.group == g) * 1.0))
            at = np.flatnonzero(mine == g)
            self.size[at] = found[nodes[owner[at]]]


class _Shape:
    """The nodes of a step with partials of zero and one, which no product loses."""

    def __init__(self, step: Any) -> None:
        self.start, self.stop, self._step = step.start, step.stop, step

    def expanded(self) -> Any:
        """As the step itself."""
        for k0, ptr, ids, d in self._step.expanded():
            yield k0, ptr, ids, (d != 0).astype(np.float64)


def _unit(n: int, a: int) -> Array:
    e = np.zeros(n)
    e[a] = 1
    return e
