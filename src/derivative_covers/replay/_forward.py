"""Forward covers and Jacobians of a replayed program; its structure is worked out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ReplayError
from ..tape import Tape
from ._machine import Machine, addresses, cover_options
from ._slots import LIMIT, slots
from ._tables import Whole
from .kernels import forward as kernels
from .kernels._kinds import GATHER, GROUP, KIND, LANES

__all__ = ["Forward"]

Array = NDArray[np.float64]
Terms = tuple[Any, ...]
Covers = tuple[Array, Array, Array]
_WIDTH = 8  # columns of a Jacobian at once
_TINY = float(np.finfo(np.float64).tiny)


class Forward:
    """Values, gradients and forward covers of all outputs of one recorded program.

    Its rows of intermediate gradients are those that atoms ask for; what atoms give goes
    to the outputs with weights that a reverse pass adds up.

    Args:
        machine: The compiled program.
        tape: Its tape.
        outs: Nodes that are the outputs.

    Raises:
        ReplayError: If its rows cannot be had, or would take too much memory.
    """

    def __init__(self, machine: Machine, tape: Tape, outs: Any) -> None:
        if (machine.tables.code[:, KIND] == GROUP).any():
            machine = Machine(tape, outs, tiles=False)
        self.machine = machine
        t = machine.tables
        self.slots = s = slots(t)
        self.rows: Terms
        self.squares: Terms
        self.inputs: Any
        self.nodes: Any
        self.size = t.size
        self.outs = t.outs
        self._prune()
        self._rows()
        # Half the memory, so that more of it stays in the cache.
        s.node, s.parent, s.slot, s.source = map(
            _short, (s.node, s.parent, s.slot, s.source)
        )
        self.rows = tuple(map(_short, self.rows))
        self.squares = tuple(map(_short, self.squares))
        self.inputs, self.nodes = _short(self.inputs), _short(self.nodes)
        self._free: list[tuple[Array, ...]] = []
        self._ids = np.arange(s.source.size)
        self._cover = [addresses(t, "cover", kind) for kind in (LANES, GATHER)]
        self._never = [np.zeros_like(a) for a in self._cover]
        if t.crosses:
            self._zeros = [addresses(t, "zeros", kind) for kind in (LANES, GATHER)]
        else:
            self._zeros = self._never

    def _rows(self) -> None:
        """Entries of the rows of gradients, and of those of atoms."""
        s, t = self.slots, self.machine.tables
        needed = np.zeros(t.size, dtype=np.bool_)
        needed[s.parent[s.atom >= 0]] = True
        kernels.ancestors.compiled()(s.node, s.parent, needed)
        n = t.ninputs
        first = np.zeros(t.size, dtype=np.int64)
        count = np.zeros(t.size, dtype=np.int64)
        first[:n], count[:n] = np.arange(n), 1
        mine = needed[s.node]
        self.cols, self.rows = _union(
            s.node[mine], s.parent[mine], s.slot[mine], n, n, first, count, first, count,
            None,
        )  # fmt: skip
        curved = np.flatnonzero(s.atom >= 0)
        curved = curved[np.argsort(s.atom[curved], kind="stable")]
        atoms, owner = np.unique(s.atom[curved], return_inverse=True)
        own, size = np.zeros((2, atoms.size), dtype=np.int64)
        self.inputs, self.squares = _union(
            owner.ravel(), s.parent[curved], s.slot[curved], n, 0, first, count, own,
            size, self.cols,
        )  # fmt: skip
        nodes = np.zeros(atoms.size, dtype=np.int64)
        nodes[owner.ravel()] = s.node[curved]
        self.nodes = np.repeat(nodes, size)

    def _prune(self) -> None:
        """Leave the edges from what outputs depend on to what depends on inputs."""
        s, t = self.slots, self.machine.tables
        below = np.zeros(t.size, dtype=np.bool_)
        below[t.outs[t.outs < t.size]] = True
        kernels.ancestors.compiled()(s.node, s.parent, below)
        above = np.zeros(t.size, dtype=np.bool_)
        above[: t.ninputs] = True
        kernels.dependent.compiled()(s.node, s.parent, above)
        kept = below[s.node] & above[s.parent]
        s.node, s.parent, s.slot, s.atom = (
            a[kept] for a in (s.node, s.parent, s.slot, s.atom)
        )

    def cover(self, x: Any, ratio: float) -> Covers | None:
        """Values, gradients and covers, a row an output.

        None where the program has to be looked at more closely, as a machine says.
        """
        found: Covers | None = self._run(x, ratio, self._swept)
        return found

    def jacobian(self, x: Any) -> Array | None:
        """The Jacobian, a row an output; None as for :meth:`cover`."""
        found: Array | None = self._run(x, None, self._jacobian)
        return found

    def _run(self, x: Any, ratio: float | None, then: Callable[..., Any]) -> Any:
        machine, s = self.machine, self.slots
        t = machine.tables
        if t.dead:
            return None
        try:
            work = self._free.pop()
        except IndexError:
            sizes = (
                s.source.size, s.fixed.size, s.fixed.size, self.cols.size,
                self.inputs.size, t.size, t.size,
            )  # fmt: skip
            work = tuple(np.empty(k) for k in sizes)
        try:
            with machine.buffers() as (p, *_):
                if not machine.evaluate(p, x):
                    return None
                if self._partials(p, work, ratio):
                    return None
                values = p[self.outs]
            return then(values, work)
        finally:
            self._free.append(work)

    def _partials(self, p: Array, work: tuple[Array, ...], ratio: float | None) -> bool:
        s = self.slots
        v, d, rho, *_ = work
        # First partials alone need no split: every ratio is one, and zeros are.
        zeros = self._never if ratio is None else self._zeros
        bad = kernels.partials.compiled()(
            s.code, *self._cover, *zeros, self._ids, s.source, s.fixed,
            self.outs, p, v, d, rho, cover_options(ratio or 0.0), s.dots,
        )  # fmt: skip
        return bool(bad)

    def _swept(self, values: Array, work: tuple[Array, ...]) -> Covers | None:
        s, n = self.slots, self.machine.ninputs
        _, d, rho, g, u, a, w = work
        kernels.atoms.compiled()(n, d, rho, *self.rows, g, *self.squares, u, _TINY)
        gradient = np.zeros((values.size, n))
        h = np.zeros((values.size, n))
        run = kernels.output.compiled()
        for k, out in enumerate(self.outs.tolist()):
            if out < self.size and not run(
                out, s.node, s.parent, s.slot, d, u, self.nodes, self.inputs, a, w,
                gradient[k], h[k], _TINY,
            ):  # fmt: skip
                return None
        return values, gradient, h

    def _jacobian(self, values: Array, work: tuple[Array, ...]) -> Array | None:
        s, n, outs = self.slots, self.machine.ninputs, self.outs
        d, a = work[1], work[5]
        found = np.zeros((outs.size, n))
        kept = np.flatnonzero(outs < self.size)
        if n < outs.size:
            run = kernels.columns.compiled()
            for first in range(0, n, _WIDTH):
                T = np.empty((self.size, min(_WIDTH, n - first)))
                run(s.node, s.parent, s.slot, d, first, T)
                found[kept, first : first + _WIDTH] = T[outs[kept]]
        else:
            run = kernels.row.compiled()
            for k in kept.tolist():
                run(outs[k], s.node, s.parent, s.slot, d, a)
                found[k] = a[:n]
        return found if np.isfinite(found).all() else None


def _short(a: Any) -> Any:
    return a.astype(np.int32)


def _union(
    owner: Whole, parent: Whole, slot: Whole, ninputs: int, base: int,
    first: Whole, count: Whole, own: Whole, size: Whole, cols: Whole | None,
) -> tuple[Whole, Terms]:  # fmt: skip
    """Rows of owners as unions of rows, with the terms that make them."""
    room = min(max(4 * owner.size, 64), LIMIT)
    run = kernels.unions.compiled()
    while True:
        out = np.arange(base + room)
        to, by, of = (np.empty(room, dtype=np.int64) for _ in range(3))
        place = np.full(ninputs, -1)
        read = out if cols is None else cols
        top, terms = run(
            owner, parent, slot, place, base, first, count, own, size, read, to, by, of,
            out,
        )  # fmt: skip
        if top >= 0:
            return out[:top].copy(), tuple(a[:terms].copy() for a in (to, by, of))
        if room == LIMIT:
            msg = "rows of intermediate gradients would take too much memory."
            raise ReplayError(msg)
        room = min(4 * room, LIMIT)
