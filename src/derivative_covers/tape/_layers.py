"""Rows of a run of scalars that can be evaluated together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..elementals import BY_OPCODE, Elemental
from ._blocks import Ids, Run

__all__ = ["layers"]

FEW = 8  # rows of a run that are not worth sorting


def layers(block: Run) -> Iterator[tuple[Elemental, int, Ids]]:
    """Rows of a run that can be evaluated together, in an order that serves parents first."""
    start, n = block.start, block.size
    if n <= FEW:
        for k, code in enumerate(block.code.tolist()):
            yield BY_OPCODE[code >> 2], code & 3, np.array([k])
        return
    two = (block.code & 3) == 1
    other = np.where(two, block.other, -1.0).astype(np.int64) - start
    mine = block.a - start
    depth = [0] * n
    for k, (i, j) in enumerate(zip(mine.tolist(), other.tolist(), strict=True)):
        deep = depth[i] + 1 if i >= 0 else 0
        if j >= 0 and depth[j] >= deep:
            deep = depth[j] + 1
        depth[k] = deep
    key = np.array(depth, dtype=np.int64) * (1 << 16) + block.code
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    ends = [*(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist(), n]
    first = 0
    for last in ends:
        code = int(block.code[order[first]])
        yield BY_OPCODE[code >> 2], code & 3, order[first:last]
        first = last
