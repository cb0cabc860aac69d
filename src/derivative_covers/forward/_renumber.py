"""Node ids of a window: those held from before count first, its own nodes follow."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TapeError
from ..tape import Binary, Block, Dot, Fixed, Linear, Node, Operand, Run, Unary

__all__ = ["Renumbering"]

Ids = NDArray[np.int64]


class Renumbering:
    """From the ids of a recording to those of the tape of one window.

    Args:
        held: Ids of the nodes that are held from before, in increasing order.
        first: Id of the first node of the window.
    """

    def __init__(self, held: Ids, first: int) -> None:
        self.held, self.first = held, first
        self.shift = first - held.size

    @property
    def trivial(self) -> bool:
        """Whether no id changes."""
        return self.shift == 0

    def ids(self, a: Any) -> Ids:
        """New ids.

        Raises:
            TapeError: If a node was forgotten.
        """
        found = self.found(np.asarray(a, dtype=np.int64))
        if (found < 0).any():
            msg = (
                "an operation read a node that the propagation had forgotten, since no "
                "variable stood for it any more. Keep the variables themselves, not "
                "their node ids, or take cover_hessian, which keeps all. (If the program "
                "holds no ids, this is a bug of the package; please report it.)"
            )
            raise TapeError(msg)
        return found

    def found(self, a: Ids) -> Ids:
        """New ids, -1 for nodes that are not held."""
        found = a - self.shift
        old = a < self.first
        if old.any():
            if self.held.size:
                at = np.minimum(np.searchsorted(self.held, a), self.held.size - 1)
                found[old] = np.where(self.held[at] == a, at, -1)[old]
            else:
                found[old] = -1
        return found

    def operand(self, x: Operand, shape: tuple[int, ...]) -> Operand:
        """An operand of entries of a shape; evenly spaced ones stay so where they can."""
        if x.ids is None:
            spans = [s * (n - 1) for s, n in zip(x.strides, shape, strict=True)]
            lo = x.start + sum(min(s, 0) for s in spans)
            hi = x.start + sum(max(s, 0) for s in spans)
            ends = self.found(np.array([lo, hi]))
            same_side = (lo >= self.first) or (hi < self.first)
            if same_side and ends[0] >= 0 and ends[1] - ends[0] == hi - lo:
                return Operand(x.start - lo + int(ends[0]), x.strides)
        else:
            found = self.found(x.ids)
            if (found >= 0).all():
                return Operand(x.start, x.strides, found)
        steps = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
        return Operand(0, steps, self.ids(x.flat(shape)))

    def block(self, block: Block) -> Block:
        """A block of the window with new ids."""
        if self.trivial:
            return block
        changes: dict[str, Any] = {"start": block.start - self.shift}
        one = (block.size,)
        if isinstance(block, (Unary, Fixed, Binary)):
            changes["x"] = self.operand(block.x, one)
        if isinstance(block, Binary):
            changes["y"] = self.operand(block.y, one)
        if isinstance(block, (Linear, Dot)):
            changes["x"] = self.operand(block.x, block.shape)
        if isinstance(block, Dot):
            changes["y"] = self.operand(block.y, block.shape)
        if isinstance(block, Run):
            two = (block.code & 3) == 1
            other = block.other.copy()
            other[two] = self.ids(other[two].astype(np.int64))
            changes |= {"a": self.ids(block.a), "other": other}
        if isinstance(block, Node):
            changes["parents"] = self.ids(block.parents)
        return replace(block, **changes)
