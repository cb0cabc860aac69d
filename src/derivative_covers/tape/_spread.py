"""Singular values that later operations hide: `exp(log(x))` at zero has no derivative.

The partial of `exp` at minus infinity is exactly zero, so nothing depends on the
logarithm through partials alone; yet its operand has left every domain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..elementals import BY_OPCODE
from ._blocks import Accumulate, Binary, Block, Fixed, Run, Unary
from ._views import parents

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["spread"]

Mask = NDArray[np.bool_]
Marks = list[tuple[int, Mask]]

# These choose, or do not depend on how far an operand is from zero.
_CHOOSES = frozenset(
    ("maximum", "minimum", "fmax", "fmin", "sign", "heaviside", "copysign", "detach")
)


def spread(tape: Tape, marks: Marks) -> Marks:
    """The marks, and marks on operations whose operand is infinite, or NaN, by a fault.

    An infinity that is the rounding of a large number, such as `exp(800)`, is no fault.
    """
    vals = tape.vals
    fault = np.zeros(vals.size, dtype=bool)
    for start, bad in marks:
        at = slice(start, start + bad.size)
        fault[at] = bad & ~np.isfinite(vals[at])
    if not fault.any():
        return marks
    first = int(np.argmax(fault))
    found = dict(marks)
    for block in tape.blocks:
        if block.stop <= first:
            continue
        here = _operates_on(tape, block, fault)
        if here.any():
            old = found.get(block.start)
            found[block.start] = here if old is None else here | old
    return sorted(found.items(), key=lambda mark: mark[0])


def _operates_on(tape: Tape, block: Block, fault: Mask) -> Mask:
    """Nodes of a block with a faulty operand; those that stay infinite become faults."""
    here = np.zeros(block.size, dtype=bool)
    own = slice(block.start, block.stop)
    lost = ~np.isfinite(block.values)
    if isinstance(block, Run):
        names = [op.name for op in BY_OPCODE]
        two = (block.code & 3) == 1
        second = np.where(two, block.other, block.a).astype(np.int64)
        odd = ~np.isfinite(tape.vals)
        for k in np.flatnonzero(odd[block.a] | odd[second]).tolist():
            bad = fault[block.a[k]] or fault[second[k]]
            if bad and names[int(block.code[k]) >> 2] not in _CHOOSES:
                here[k] = True
                fault[block.start + k] |= lost[k]
    elif isinstance(block, (Unary, Fixed, Binary)) and not isinstance(
        block, Accumulate
    ):
        if block.op.name not in _CHOOSES:
            n = (block.size,)
            here |= fault[block.x.flat(n)]
            if isinstance(block, Binary):
                here |= fault[block.y.flat(n)]
            fault[own] |= here & lost
    else:
        for k in np.flatnonzero(lost).tolist():
            here[k] = bool(fault[parents(tape, block.start + k)].any())
            fault[block.start + k] |= here[k]
    return here
