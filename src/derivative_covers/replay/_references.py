"""Which blocks of a tape need which others, and which of them go together in a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tape as tp
from ..errors import ReplayError
from ..tape import Tape

__all__ = ["References", "meetings", "operands", "shape_of"]

GROUPED = 4096  # entries of a block that is computed by tiles
ENTRYWISE = (tp.Unary, tp.Fixed, tp.Binary)


def operands(block: tp.Block) -> list[tp.Operand]:
    """The recorded operands of a block.

    Raises:
        ReplayError: If the block cannot be replayed.
    """
    if isinstance(block, (tp.Inputs, tp.Constants)):
        return []
    if isinstance(block, tp.Binary):
        return [block.x, block.y]
    if isinstance(block, tp.Dot) and not block.centred:
        return [block.x, block.y]
    if isinstance(block, (tp.Unary, tp.Fixed, tp.Linear)):
        return [block.x]
    if isinstance(block, tp.Run):
        two = (block.code & 3) == 1
        ids = np.concatenate([block.a, block.other.real[two].astype(np.int64)])
        return [tp.Operand(0, (1,), ids)]
    msg = (
        f"nodes {block.start} .. {block.stop - 1} were given explicitly or belong to the "
        "recorded point alone."
    )
    raise ReplayError(msg)


def shape_of(block: Any) -> tuple[int, ...]:
    """Shape over which the operands of a block run."""
    if isinstance(block, (tp.Linear, tp.Dot)):
        return block.shape
    if isinstance(block, tp.Run):
        return (block.a.size + int(np.count_nonzero((block.code & 3) == 1)),)
    return (block.size,)


def meetings(block: Any) -> tuple[bool, bool]:
    """Whether both operands of a block are one node in some entries, and in all."""
    if not isinstance(block, tp.Binary):
        return False, False
    x, y, n = block.x, block.y, block.size
    if x.ids is None and y.ids is None:
        apart, step = y.start - x.start, x.strides[0] - y.strides[0]
        if step == 0 or n == 1:
            return apart == 0, apart == 0
        return apart % step == 0 and 0 <= apart // step < n, False
    same = x.flat((n,)) == y.flat((n,))
    return bool(same.any()), bool(same.all())


def _is_mixed(block: Any) -> bool:
    some, every = meetings(block)
    return some and not every


class References:
    """What blocks refer to each other.

    Args:
        tape: A finished tape at a point.
        wanted: Nodes whose values are asked for.
        tiled: Whether large blocks are computed by tiles.

    Attributes:
        needed: Whether something that is asked for depends on a block.
        group: The group of each block; -1 for none.
        kept: Whether a block is needed outside of its group.
        uses: How many operands of blocks a block serves; at least 2 where its values
            are asked for.

    Raises:
        ReplayError: If a block that is needed cannot be replayed.
    """

    def __init__(self, tape: Tape, wanted: Any, tiled: bool, compiled: Any) -> None:
        self.tape = tape
        self._starts = np.array(tape.starts)
        n = len(tape.blocks)
        self.needed = np.zeros(n, dtype=bool)
        self.kept = np.zeros(n, dtype=bool)
        self.group = np.full(n, -1)
        asked = self._blocks(wanted)
        self.needed[asked] = True
        self.needed[0] = True
        reads: list[list[Any]] = [[] for _ in range(n)]
        for k in range(n - 1, -1, -1):
            if self.needed[k]:
                block = tape.blocks[k]
                shape = shape_of(block)
                reads[k] = [self._of(x, shape) for x in operands(block)]
                for found in reads[k]:
                    self.needed[found] = True
        if tiled:
            self._gather(reads, compiled)
        self.kept[asked] = True
        self.uses = np.zeros(n, dtype=np.int64)
        self._users: dict[int, int] = {}
        self.uses[asked] = 2  # more than one other block
        for k in range(n):
            for found in reads[k]:
                self.uses[found] += 1
                if self.group[k] < 0 and found.size == 1:
                    self._users[int(found[0])] = k
        for k in range(n):
            for found in reads[k]:
                other = self.group[found] != self.group[k]
                self.kept[found[other | (self.group[k] < 0)]] = True

    def index(self, block: tp.Block) -> int:
        """The number of a block that is not empty."""
        return int(np.searchsorted(self._starts, block.start, side="right")) - 1

    def user(self, k: int) -> tp.Block | None:
        """The last block that reads block ``k``, and is not one of a group."""
        found = self._users.get(k)
        return None if found is None else self.tape.blocks[found]

    def _blocks(self, ids: Any) -> Any:
        found = np.searchsorted(self._starts, np.ravel(ids), side="right") - 1
        return np.unique(found)

    def _of(self, x: tp.Operand, shape: tuple[int, ...]) -> Any:
        """The blocks of an operand's entries, or at least those."""
        if x.ids is not None:
            own = x.ids if len(shape) != 1 else x.flat(shape)
            return self._blocks(own[own >= 0])
        reach = [s * (n - 1) for s, n in zip(x.strides, shape, strict=False)]
        low = x.start + sum(r for r in reach if r < 0)
        high = x.start + sum(r for r in reach if r > 0)
        first, last = self._blocks([low])[0], self._blocks([high])[0]
        return np.arange(first, last + 1)

    def _gather(self, reads: Any, compiled: Any) -> None:
        """Put entrywise blocks of one size that follow each other into groups."""
        number = -1
        size = start = 0
        for k, block in enumerate(self.tape.blocks):
            if not self.needed[k] or not block.size:
                continue
            if not (
                isinstance(block, ENTRYWISE)
                and not isinstance(block, tp.Accumulate)
                and block.size >= GROUPED
                and not _is_mixed(block)
                and compiled(block)
            ):
                size = 0
                continue
            fits = block.size == size and all(
                self._aligned(x, start, size) for x in operands(block)
            )
            if not fits:
                number += 1
                size, start = block.size, block.start
            self.group[k] = number

    def _aligned(self, x: tp.Operand, start: int, n: int) -> bool:
        """Whether an operand is a block of the group that begins at ``start``, or older."""
        if x.ids is not None:
            return int(x.flat((n,)).max()) < start
        stop = x.start + max(0, x.strides[0] * (n - 1)) + 1
        if stop <= start:
            return True
        return (
            x.start >= start
            and x.strides[0] == 1
            and self._starts[self._blocks([x.start])[0]] == x.start
        )
