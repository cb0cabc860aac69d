"""Groups of entrywise blocks of a large program, which are computed tile by tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tape as tp
from ._emit import FLAT, SCRATCH, constant_step
from ._references import meetings
from .elementals import functions, literal
from .kernels._kinds import GROUP, KIND, LANES, LINE, MORE, TILE, XS

if TYPE_CHECKING:
    from ._lower import Lowering

__all__ = ["emit_group", "is_compiled"]


def is_compiled(block: Any) -> bool:
    """Whether an entrywise block can be a member of a group."""
    pattern = 0
    if isinstance(block, tp.Binary):
        pattern = 6 if meetings(block)[1] else 1
    elif isinstance(block, tp.Fixed):
        pattern = 2 + block.slot
        if block.const.size > 1:
            pattern += 2
    return functions(block.op, pattern) is not None


def emit_group(lowering: Lowering, k: int) -> int:
    """Emit the group that begins with block ``k``; gives the first block behind it."""
    blocks, refs = lowering.tape.blocks, lowering.refs
    number = refs.group[k]
    n = blocks[k].size
    first = len(lowering.bodies)
    group = _Group(lowering, n, blocks[k].start)
    while k < len(blocks) and (
        refs.group[k] == number or not (refs.needed[k] and blocks[k].size)
    ):
        if refs.group[k] == number:
            group.add(blocks[k], refs.kept[k])
        k += 1
    count = len(lowering.bodies) - first
    out = lowering.out
    out.code.append(out.row(GROUP, 0, SCRATCH, first, count, n, more=group.scratch))
    lowering.scratch = max(lowering.scratch, group.scratch)
    return k


class _Group:
    """A group of ``n`` entries: where its members stand, and how they move on.

    What only members read stands in scratch of a tile's length, where every tile begins
    anew.
    """

    def __init__(self, lowering: Lowering, n: int, start: int) -> None:
        self.lowering, self.n, self.start = lowering, n, start
        self.places: dict[int, tuple[int, int]] = {}
        self.scratch = 0

    def add(self, block: Any, kept: Any) -> None:
        """Emit a member; ``kept`` ones are read from outside of the group."""
        lowering, n = self.lowering, self.n
        out = lowering.out
        op, pattern, const = block.op, 0, None
        x = self._operand(block.x)
        y = (0, 0)
        if isinstance(block, tp.Binary):
            if meetings(block)[1]:
                pattern = 6  # copies of one node would count as two
            else:
                pattern = 1
                y = self._operand(block.y)
                out.crosses |= op.name not in FLAT
        elif isinstance(block, tp.Fixed):
            pattern = 2 + block.slot
            held = np.asarray(block.const, dtype=np.float64)
            if held.size == 1:
                c = (out.constant(held.item()), 0)
                const = held.item() if literal(op, held.item()) else None
            else:
                c = (out.constants(held), 1)
                pattern += 2
            x, y = (x, c) if block.slot == 0 else (c, x)
        if kept:
            at = out.take(n)
            place = (at, 1)
            lowering.pos[block.start : block.stop] = np.arange(at, at + n)
        else:
            place = self._take()
        self.places[block.start] = place
        f = out.number(op, pattern, const)
        assert f is not None
        row = [LANES, f, place[0], x[0], y[0], n, place[1], x[1], y[1], 0]
        lowering.bodies.append(row)

    def _operand(self, x: tp.Operand) -> tuple[int, int]:
        """Where an operand's entries of the first tile stand, and how they move on."""
        if x.ids is None and x.start >= self.start:
            return self.places[x.start]
        lowering = self.lowering
        found = lowering.straight(x, self.n)
        if found is not None:
            return found, 1
        positions = lowering.positions(x.flat((self.n,)))
        if constant_step(positions) == 1:
            return int(positions[0]), 1
        place, _ = self._take()
        row = lowering.out.copy(positions, place)
        row[XS] = row[MORE] if row[KIND] == LINE else 1
        lowering.bodies.append(row)
        return place, 0

    def _take(self) -> tuple[int, int]:
        at = SCRATCH + self.scratch
        self.scratch += TILE
        return at, 0
