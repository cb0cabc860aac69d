"""The atoms of a program, for the merges that tell them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tape import Tape
from ._explicit import Explicit
from ._lower import Program

__all__ = [
    "Allowance",
    "Atoms",
    "channel",
    "explicit_atoms",
    "needed",
    "references",
    "small_atoms",
    "sum_merge",
]

Array = NDArray[Any]


@dataclass(slots=True)
class Allowance:
    """Sweeps, or products, that a merge may still take."""

    left: int

    def take(self, count: int) -> bool:
        """Take so many off, if there are as many."""
        if count > self.left:
            return False
        self.left -= count
        return True


@dataclass(slots=True)
class Atoms:
    """Atoms of up to two slots, in tape order; a slot without weight counts nothing."""

    step: int
    pa: Array
    pb: Array
    r1: Array
    r2: Array

    def pick(self, which: Array | slice) -> Atoms:
        """Some of them."""
        return Atoms(
            self.step, self.pa[which], self.pb[which], self.r1[which], self.r2[which]
        )

    @staticmethod
    def joined(several: list[Atoms]) -> Atoms:
        """All of them, as if of one step."""
        none = np.empty(0, dtype=np.int64)
        pa, pb, r1, r2 = (
            np.concatenate([getattr(a, name) for a in several]) if several else none
            for name in ("pa", "pb", "r1", "r2")
        )
        return Atoms(-1, pa, pb, r1, r2)


def small_atoms(program: Program, rho: list[Any], out: int) -> list[Atoms]:
    """Atoms of up to two slots, a step each."""
    found = []
    for at in range(len(program.below(out))):
        step = program.steps[at]
        if rho[at] is None or isinstance(step, Explicit):
            continue
        r1, r2 = rho[at]
        pa, pb = step.slot_ids()
        found.append(Atoms(at, pa, pb, r1, r2))
    return found


def explicit_atoms(
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


def needed(
    program: Program,
    tape: Tape,
    atoms: list[Atoms],
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


def channel(
    program: Program,
    tape: Tape,
    rho: list[Any],
    out: int,
    groups: dict[int, Array],
    want: int,
) -> Array:
    """Sum merge of the atoms of one group: one reverse sweep."""
    g = np.zeros(tape.nnodes, dtype=tape.magtype)
    none = np.empty(0, dtype=np.int32)
    steps = program.below(out)
    for at in range(len(steps) - 1, -1, -1):
        steps[at].inject(g, rho[at], groups.get(at, none), want)
    return g[: tape.ninputs]


def references(total: Array) -> Array:
    """A power of two of the size of each entry (1 for zero): squares are taken over it.

    A cover may be as large as the square root of the largest number, or larger where the
    other factor is small; its square need not be representable.
    """
    size = np.where((total > 0) & np.isfinite(total), total, 1)
    exponent = np.clip(np.frexp(size)[1], -1000, 1000)
    found: Array = np.ldexp(np.ones_like(total), exponent)
    return found


def sum_merge(program: Program, tape: Tape, rho: list[Any], out: int) -> Array:
    """Sum merge of all atoms from their slot weights."""
    everything = {}
    for at, step in enumerate(program.below(out)):
        if isinstance(step, Explicit):
            everything[at] = np.zeros(len(step.atoms()), dtype=np.int32)
        elif rho[at] is not None:
            everything[at] = np.zeros(rho[at][0].size, dtype=np.int32)
    return channel(program, tape, rho, out, everything, 0)
