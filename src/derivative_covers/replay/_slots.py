"""The edges of a program, from the tables of its interpreter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ReplayError
from ._tables import Tables, Whole
from .kernels._kinds import (
    DOT,
    GATHER,
    IDS,
    KIND,
    LANES,
    LINE,
    LINEAR,
    MORE,
    OUT,
    RUNNING,
    SCALED,
    F,
    N,
    X,
    Y,
)

__all__ = ["LIMIT", "Slots", "slots"]

Array = NDArray[np.float64]
LIMIT = 1 << 22  # edges of a program, and terms of rows, that are worth their memory

# Which operands of a pattern are slots; others are constants.
_SLOTS = {0: "x", 1: "xy", 2: "x", 3: "y", 4: "x", 5: "y", 6: "x"}
_ONE = {(2, "y"), (3, "x")}  # one constant for all nodes


@dataclass(slots=True)
class Slots:
    """All edges of a program; the legend is that of ``kernels/forward``.

    Attributes:
        node: The node of every edge, in ascending order.
        parent: Its parent.
        slot: Where its partial and its slot weight stand.
        atom: Number of the atom that it is part of, or -1.
        code: Instructions that compute them, at places of their own.
        source: What stands at these places, as positions of the program.
        fixed: Partials that are known, and zeros and ones where passes begin.
        dots: Pairs of inner products.
    """

    node: Whole
    parent: Whole
    slot: Whole
    atom: Whole
    code: Whole
    source: Whole
    fixed: Array
    dots: Whole


def slots(t: Tables) -> Slots:
    """The edges of a program without groups.

    Raises:
        ReplayError: If the program has nodes that are not compiled, or is too large.
    """
    return _Edges(t).found()


class _Edges:
    def __init__(self, t: Tables) -> None:
        self.t = t
        self.values = t.template()
        # Where a copy of an operand comes from.
        self.root: Whole = np.arange(t.size + t.pool.size)
        self.edges: list[tuple[Any, Any, Any, Any]] = []
        self.nedges = 0
        self.natoms = 0
        self.code: list[list[int]] = []
        self.source: list[Whole] = []
        self.nsource = 0
        self.wide: list[Array] = []  # partials behind those of instructions
        self.nwide = 0
        self.ones: list[Whole] = []
        self.dots: list[Whole] = []

    def found(self) -> Slots:
        t = self.t
        wide = []
        for row in t.code[: t.count].tolist():
            kind, o, x, n = row[KIND], row[OUT], row[X], row[N]
            if kind == LINE:
                self.root[o : o + n] = self.root[x + np.arange(n) * row[MORE]]
            elif kind == IDS:
                self.root[o : o + n] = self.root[t.ids[x : x + n]]
            elif kind in (LANES, GATHER):
                self._entrywise(row)
            elif kind in (LINEAR, DOT, RUNNING, SCALED):
                wide.append(row)
            else:
                msg = "the program has nodes whose edges are not known."
                raise ReplayError(msg)
        for row in wide:
            if row[KIND] == RUNNING:
                self._running(row)
            elif row[KIND] == SCALED:
                self._scaled(row)
            else:
                self._wide(t.wide[row[X]].tolist(), dot=row[KIND] == DOT)
        return self._sorted()

    def _sorted(self) -> Slots:
        none = np.empty(0, dtype=np.int64)
        node, parent, slot, atom = (
            np.concatenate([none, *parts])
            for parts in (zip(*self.edges, strict=True) if self.edges else [()] * 4)
        )
        order = np.argsort(node, kind="stable")
        source = np.concatenate([none, *self.source])
        fixed = np.concatenate([np.zeros(source.size), *self.wide])
        for nodes in self.ones:
            fixed[nodes] = 1.0
        code = np.array(self.code, dtype=np.int64).reshape(-1, self.t.code.shape[1])
        dots = np.concatenate([np.empty((0, 5), dtype=np.int64), *self.dots])
        node, parent, slot, atom = (a[order] for a in (node, parent, slot, atom))
        return Slots(node, parent, slot, atom, code, source, fixed, dots)

    def _add(self, node: Any, parent: Any, slot: Any, atom: Any) -> None:
        self.nedges += node.size
        if self.nedges > LIMIT:
            msg = "the program has too many edges to be kept."
            raise ReplayError(msg)
        self.edges.append((node, parent, slot, atom))

    def _place(self, positions: Whole) -> int:
        at = self.nsource
        self.source.append(positions)
        self.nsource += positions.size
        return at

    def _partials(self, values: Array) -> int:
        # Asked for only once all instructions have their places.
        at = self.nsource + self.nwide
        self.wide.append(values)
        self.nwide += values.size
        return at

    def _entrywise(self, row: list[int]) -> None:
        made = self.t.functions[row[F]]
        pattern, n = made.pattern, row[N]
        node = np.arange(row[OUT], row[OUT] + n)
        new = [*row]
        new[OUT] = self._place(node)
        self.ones.append(np.arange(new[OUT], new[OUT] + n))
        atom = np.full(n, -1)
        if not made.flat:
            atom = self.natoms + np.arange(n)
            self.natoms += n
        for k, column in (("x", X), ("y", Y)):
            if k == "y" and pattern in (0, 6):
                new[Y] = new[X]
                continue
            positions = self._operand(row, column, (pattern, k) in _ONE)
            new[column] = self._place(positions)
            if k in _SLOTS[pattern]:
                self._add(node, positions, new[column] + np.arange(n), atom)
        self.code.append(new)

    def _operand(self, row: list[int], column: int, one: bool) -> Whole:
        at, n = row[column], row[N]
        if row[KIND] == GATHER:
            return self.root[self.t.ids[at : at + n]]
        return self.root[at : at + (1 if one else n)]

    def _running(self, row: list[int]) -> None:
        o, n = row[OUT], row[N]
        node = np.arange(o, o + n)
        before = node - 1
        before[0] = self.root[row[X]]
        added = self.root[self.t.ids[row[Y] : row[Y] + n]]
        unit = np.full(n, self._partials(np.ones(1)))
        for parent in (before, added):
            self._add(node, parent, unit, np.full(n, -1))

    def _scaled(self, row: list[int]) -> None:
        n = row[N]
        node = np.arange(row[OUT], row[OUT] + n)
        coefficients = np.array([1.0, self.values[row[MORE]]])
        at = self._partials(coefficients)
        for k, column in enumerate((X, Y)):
            parent = self.root[row[column] : row[column] + n]
            self._add(node, parent, np.full(n, at + k), np.full(n, -1))

    def _wide(self, w: list[int], *, dot: bool) -> None:
        shape = w[1:5]
        total = int(np.prod(shape))
        if self.nedges + total > LIMIT:
            msg = "the program has too many edges to be kept."
            raise ReplayError(msg)
        node = np.repeat(w[0] + np.arange(int(np.prod(shape[:3]))), shape[3])
        x = self._walk(w[5:11], shape)
        y = self._walk(w[11:17], shape)
        if not dot:
            if not any(w[12:16]):
                at = np.full(total, self._partials(self.values[y[:1]]))
            else:
                at = self._partials(self.values[y]) + np.arange(total)
            self._add(node, x, at, np.full(total, -1))
            return
        atom = self.natoms + np.arange(total)
        self.natoms += total
        first = self._partials(np.zeros(2 * total)) + np.arange(total)
        second = first + total
        square = (x == y) if w[17] else np.zeros(total, dtype=bool)
        other = np.where(square, -1, second)
        self.dots.append(np.stack([first, other, x, y, node], axis=1))
        self._add(node, x, first, atom)
        two = ~square
        self._add(node[two], y[two], second[two], atom[two])

    def _walk(self, w: list[int], shape: list[int]) -> Whole:
        """Positions of all summands, from their first one, four strides and a list."""
        at: Any = w[0]
        for k, (step, n) in enumerate(zip(w[1:5], shape, strict=True)):
            steps = [1] * 4
            steps[k] = n
            at = at + step * np.arange(n).reshape(steps)
        at = np.broadcast_to(at, shape).ravel()
        found: Whole = self.root[at if w[5] < 0 else self.t.ids[w[5] + at]]
        return found
