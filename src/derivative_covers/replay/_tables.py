"""A recorded program as tables of numbers, which an interpreter runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import Elemental

__all__ = ["Outside", "Tables", "Whole"]

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(slots=True)
class Outside:
    """Nodes of an elemental that is not compiled.

    Attributes:
        op: The elemental.
        pattern: 0 one operand, 1 two, 2 the second one constant, 3 the first one.
        o: Position of the first node.
        x: Positions of the first operand's entries (of constants, too).
        y: Those of the second one; None where there is none.
    """

    op: Elemental
    pattern: int
    o: int
    x: Whole
    y: Whole | None


@dataclass(slots=True)
class Tables:
    """A program in the form that interpreters take.

    Attributes:
        code: Instructions, a row each; the bodies of groups follow the program.
        count: Number of instructions of the program itself.
        wide: Wide nodes, a row each.
        ids: Lists of positions that instructions refer to.
        size: Entries of memory for nodes and copies of operands.
        pool: Constants, which stand behind them.
        scratch: Entries of memory behind these, for tiles.
        preset: First position and values of nodes that depend on nothing.
        functions: The compiled elementals by number.
        outside: What is left to NumPy.
        ninputs: Number of inputs, which stand first.
        outs: Positions of the outputs.
        guards: Relations that have to hold, each with the positions of two numbers.
        crosses: Whether some split could have an off-diagonal entry.
        dead: Whether a node may depend on no input although a split could ask for it, so
            that covers need a sweep of liveness.
    """

    code: Whole
    count: int
    wide: Whole
    ids: Whole
    size: int
    pool: Array
    scratch: int
    preset: list[tuple[int, Array]]
    functions: list[Any]
    outside: list[Outside]
    ninputs: int
    outs: Whole
    guards: Whole
    crosses: bool
    dead: bool

    @property
    def total(self) -> int:
        """Entries of a buffer."""
        return self.size + self.pool.size + self.scratch

    def template(self) -> Array:
        """A buffer of values with everything in it that no pass computes."""
        p = np.zeros(self.total)
        for start, values in self.preset:
            p[start : start + values.size] = values
        p[self.size : self.size + self.pool.size] = self.pool
        return p
