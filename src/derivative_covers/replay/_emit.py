"""Instructions of entrywise nodes: contiguous where they can be, else by positions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..elementals import Elemental
from ._tables import Outside, Whole
from .elementals import functions, literal
from .kernels._kinds import COLUMNS, GATHER, IDS, LANES, LINE, OUTSIDE, RUNNING

__all__ = ["POOL", "SCRATCH", "Emitter"]

POOL = 1 << 40  # positions from here on are those of constants
SCRATCH = 1 << 41  # and of scratch memory
# Elementals of two operands without a mixed second partial.
FLAT = frozenset(
    ("add", "subtract", "maximum", "minimum", "fmax", "fmin", "copysign", "mod", "fmod",
     "heaviside")
)  # fmt: skip
PIECES = 4  # stretches of neighbours that are copied one by one
LONG = 256  # nodes that are taken apart rather than copied together
FEW = 8  # nodes that are not worth a copy of their operands


class Emitter:
    """Collects instructions, positions and constants.

    Args:
        batch: Whether a node has many points: constants are read one by one then.

    Attributes:
        code: Instructions so far.
        ids: Arrays of positions so far, and their length.
        top: First position that is free.
    """

    def __init__(self, batch: bool = False) -> None:
        self.batch = batch
        self.code: list[list[int]] = []
        self.top = 0
        self.nids = 0
        self.ids: list[Whole] = []
        self.npool = 0
        self.pool: list[Any] = []
        self.functions: list[Any] = []
        self.outside: list[Outside] = []
        self.crosses = False
        self._numbers: dict[Any, int | None] = {}
        self._constants: dict[bytes, int] = {}
        self._arrays: dict[int, tuple[Any, int]] = {}

    # -- constants and lists -----------------------------------------------------------

    def constant(self, value: float) -> int:
        """Position of a constant."""
        key = np.float64(value).tobytes()
        if key not in self._constants:
            self._constants[key] = self.constants(np.array([value], dtype=np.float64))
        return self._constants[key]

    def constants(self, values: Any) -> int:
        """Position of the first of several constants, as they stand."""
        found = self._arrays.get(id(values))
        if found is None:
            at = POOL + self.npool
            self.pool.append(np.ravel(values))
            self.npool += values.size
            found = self._arrays[id(values)] = (values, at)  # keeps the id in use
        return found[1]

    def listed(self, positions: Whole) -> int:
        """Place of a list of positions."""
        at = self.nids
        self.ids.append(positions)
        self.nids += positions.size
        return at

    def take(self, n: int) -> int:
        """Memory of ``n`` entries."""
        at = self.top
        self.top += n
        return at

    # -- elementals --------------------------------------------------------------------

    def number(self, op: Elemental, pattern: int, const: float | None) -> int | None:
        """Number of a compiled elemental; None where it is not compiled."""
        key = (op.name, pattern, None if const is None else np.float64(const).tobytes())
        if key not in self._numbers:
            made = functions(op, pattern, const)
            self._numbers[key] = None if made is None else len(self.functions)
            if made is not None:
                self.functions.append(made)
        return self._numbers[key]

    def row(self, kind: int, f: int, o: int, x: int, y: int, n: int,
            steps: tuple[int, int, int] = (0, 0, 0), more: int = 0) -> list[int]:  # fmt: skip
        """An instruction."""
        made = [kind, f, o, x, y, n, *steps, more]
        assert len(made) == COLUMNS
        return made

    def copy(self, positions: Whole, o: int) -> list[int]:
        """The instruction that copies entries to memory at ``o``."""
        step = constant_step(positions)
        n = positions.size
        if step is not None:
            return self.row(LINE, 0, o, int(positions[0]), 0, n, more=step)
        return self.row(IDS, 0, o, self.listed(positions), 0, n, more=1)

    def copies(self, positions: Whole, o: int) -> list[list[int]]:
        """The same, by a few stretches of neighbours where these make up the list."""
        cuts = np.flatnonzero(np.diff(positions) != 1) + 1
        if cuts.size > PIECES or cuts.size * FEW > positions.size:
            return [self.copy(positions, o)]
        bounds = [0, *cuts.tolist(), positions.size]
        return [self.copy(positions[a:b], o + a) for a, b in pairwise(bounds)]

    def entrywise(
        self,
        op: Elemental,
        pattern: int,
        o: int,
        x: Any,
        y: Any,
        *,
        chained: bool = False,
    ) -> None:
        """Nodes at ``o`` on with operands at positions ``x`` and ``y``.

        Constants have positions, too. Nothing mixes in a call: ``pattern`` holds for all
        nodes. ``chained`` says that some are operands of others.
        """
        n = (x if x is not None else y).size
        const = None
        if pattern in (2, 3):
            held = y if pattern == 2 else x
            const = self._single(held)
            if const is not None and literal(op, const):
                self._put(op, pattern, o, x, y, n, chained, const)
                return
        self._put(op, pattern, o, x, y, n, chained, None)

    def _single(self, positions: Whole) -> float | None:
        """The value of constants that are all the same entry of the pool."""
        if (positions == positions[0]).all():
            return self.value_of(int(positions[0]))
        return None

    def value_of(self, position: int) -> float:
        """A constant by its position."""
        at = position - POOL
        for part in self.pool:
            if at < part.size:
                return float(part[at])
            at -= part.size
        raise IndexError(position)

    def _put(self, op: Any, pattern: int, o: int, x: Any, y: Any, n: int,
             chained: bool, const: float | None) -> None:  # fmt: skip
        wide = pattern
        if pattern in (2, 3) and const is None:
            held = y if pattern == 2 else x
            if self._single(held) is None:
                wide = pattern + 2
        self.crosses |= pattern == 1 and op.name not in FLAT
        f = self.number(op, pattern, const)
        if f is None:
            second = {0: None, 6: x}.get(pattern, y)
            plain = 1 if pattern == 6 else pattern
            self.outside.append(Outside(op, plain, o, x, second))
            row = self.row(OUTSIDE, 0, o, len(self.outside) - 1, 0, n)
        elif n < FEW or chained or (self.batch and wide > 3 and wide != 6):
            xs = self.listed(x)
            ys = xs if y is None else self.listed(y)
            row = self.row(GATHER, f, o, xs, ys, n, more=int(chained))
        else:
            number = self.number(op, wide, const)
            assert number is not None
            second = None if wide in (0, 6) else y
            for a, b in self._stretches(wide, x, second, n):
                xs = self._line(x[a:b], wide, 0)
                ys = 0 if second is None else self._line(second[a:b], wide, 1)
                self.code.append(self.row(LANES, number, o + a, xs, ys, b - a))
            return
        self.code.append(row)

    def _stretches(self, pattern: int, x: Any, y: Any, n: int) -> list[tuple[int, int]]:
        """Parts in which all operands are neighbours, where these are few and long."""
        if n < LONG:
            return [(0, n)]
        cut = np.zeros(n - 1, dtype=bool)
        if pattern != 3:
            cut |= np.diff(x) != 1
        if y is not None and pattern != 2:
            cut |= np.diff(y) != 1
        at = np.flatnonzero(cut) + 1
        if at.size > PIECES:
            return [(0, n)]
        bounds = [0, *at.tolist(), n]
        return list(pairwise(bounds))

    def _line(self, positions: Any, pattern: int, slot: int) -> int:
        """Where an operand stands contiguously; one entry where that is a constant."""
        if (pattern, slot) in ((2, 1), (3, 0)):
            return int(positions[0])
        return self.line(positions)

    def line(self, positions: Any) -> int:
        """Where entries stand contiguously; copied there where they do not."""
        first = int(positions[0])
        if constant_step(positions) == 1:
            return first
        if first >= POOL:
            return self.constants(self._values(positions))
        o = self.take(positions.size)
        self.code += self.copies(positions, o)
        return o

    def _values(self, positions: Whole) -> Any:
        pool = np.concatenate(self.pool)
        return pool[positions - POOL]

    # -- runs of scalars ---------------------------------------------------------------

    def rows(self, kinds: Any, facts: Any, x: Whole, y: Whole, order: Whole,
             ends: Whole, o: int) -> None:  # fmt: skip
        """Scalar operations whose nodes stand at ``o`` on in the order of ``order``.

        ``facts`` says for every kind what it is, ``x`` and ``y`` are the positions of the
        rows' operands.
        """
        px, py = x[order], y[order]
        listed = self.listed(px), self.listed(py)
        first = 0
        for last in ends.tolist():
            op, pattern, const = facts[kinds[order[first]]]
            n = last - first
            here = o + first
            a, b = px[first:last], py[first:last]
            chained = n > 1 and (_meets(a, here) or _meets(b, here))
            if n >= FEW and not chained:
                self._put(op, pattern, here, a, b, n, False, const)
            elif pattern == 1 and chained and not self.batch and _sums(op, a, b, here):
                one, slot = (a, 1) if a[1] == here else (b, 0)  # the sum so far
                others = listed[slot] + first
                self.code.append(self.row(RUNNING, 0, here, int(one[0]), others, n))
            else:
                self.crosses |= pattern == 1 and op.name not in FLAT
                f = self.number(op, pattern, const)
                if f is None:
                    for k in range(n):  # one after the other: they may be chained
                        one, other = a[k : k + 1], b[k : k + 1]
                        self._put(op, pattern, here + k, one, other, 1, False, const)
                else:
                    xs, ys = (at + first for at in listed)
                    self.code.append(
                        self.row(GATHER, f, here, xs, ys, n, more=int(chained))
                    )
            first = last


def _sums(op: Elemental, a: Whole, b: Whole, o: int) -> bool:
    """Whether rows add up: each has the one before it as its first or second operand."""
    before = np.arange(o, o + a.size - 1)
    one, other = (a, b) if a[1] == o else (b, a)
    return op.name == "add" and bool((one[1:] == before).all()) and not _meets(other, o)


def _meets(positions: Whole, o: int) -> bool:
    n = positions.size
    return bool(((positions >= o) & (positions < o + n)).any())


def constant_step(positions: Whole) -> int | None:
    """The distance of neighbours, where it is always the same."""
    if positions.size == 1:
        return 1
    step = int(positions[1] - positions[0])
    same = (np.diff(positions) == step).all()
    return step if same else None
