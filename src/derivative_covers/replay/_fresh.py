"""Which instructions are the first of a reverse pass to reach their operands.

They can write adjoints where others add to what is there, and no zeros are needed before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._tables import Tables, Whole
from .kernels._kinds import DOT, GATHER, IDS, KIND, LANES, LINE, MORE, OUT, F, N, X, Y

__all__ = ["firsts", "operands"]


def firsts(t: Tables) -> tuple[Any, Whole]:
    """A mark for each instruction, and the ranges of entries that have to be zero before.

    Marked are those whose operands are all reached for the first time, each once.
    """
    reached = np.zeros(t.size, dtype=bool)
    zero = np.zeros(t.size, dtype=bool)
    reached[t.outs] = True
    marks = np.zeros(t.count, dtype=np.uint8)
    for k in range(t.count - 1, -1, -1):
        row = t.code[k]
        at = operands(t, row)
        new = ~reached[at]
        if row[KIND] != DOT and new.all() and np.unique(at).size == at.size:
            marks[k] = 1
        else:
            zero[at[new]] = True
        reached[at] = True
    read = np.zeros(t.size, dtype=bool)
    read[: t.ninputs] = True
    for row in t.code[: t.count]:
        read[row[OUT] : row[OUT] + row[N]] = True
    zero = (zero | ~reached) & read
    edges = np.flatnonzero(np.diff(zero, prepend=False, append=False))
    return marks, edges.reshape(-1, 2)


def operands(t: Tables, row: Whole) -> Whole:
    """The entries that the reverse of an instruction adds to."""
    kind, n = row[KIND], np.arange(row[N])
    at: Whole
    if kind in (LANES, GATHER):
        slots = t.functions[row[F]].slots
        at = np.concatenate([row[X if k == "x" else Y] + n for k in slots])
    elif kind in (LINE, IDS):
        at = row[X] + n * row[MORE]
    else:
        w = t.wide[row[X]]
        sides = [w[5:11], w[11:17]] if kind == DOT else [w[5:11]]
        return np.concatenate([_walk(t, w[1:5], side) for side in sides])
    return t.ids[at] if kind in (GATHER, IDS) else at


def _walk(t: Tables, shape: Whole, side: Whole) -> Whole:
    """The entries of all summands of one operand of wide nodes."""
    steps = np.indices(shape.tolist()).reshape(4, -1)
    at: Whole = side[0] + side[1:5] @ steps
    return at if side[5] < 0 else t.ids[side[5] + at]
