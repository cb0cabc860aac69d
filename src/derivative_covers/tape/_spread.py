"""Singular values that later operations hide: `exp(log(x))` at zero has no derivative.

The partial of `exp` at minus infinity is exactly zero, so nothing depends on the
logarithm through partials alone; yet its operand has left every domain. Nor does
`cbrt(x)**3` at zero, whose slope is one: a power flat at zero hides a root steep there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import BY_OPCODE
from ._blocks import (
    Accumulate,
    Binary,
    Block,
    Dot,
    Fixed,
    Inputs,
    Linear,
    Node,
    Operand,
    Run,
    Unary,
)
from ._partials import columns

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["spread"]

Mask = NDArray[np.bool_]
Marks = list[tuple[int, Mask]]

# These choose, or do not depend on how far an operand is from zero.
_CHOOSES = frozenset(
    ("maximum", "minimum", "fmax", "fmin", "sign", "heaviside", "copysign", "detach")
)
_POWERS = ("power", "float_power")


def spread(tape: Tape, marks: Marks) -> Marks:
    """The marks, and marks on operations that hide a fault of their operands.

    These are operations whose operand is infinite, or NaN, by a fault, and powers flat
    at zero of a finite operand with an infinite slope. An infinity that is the rounding
    of a large number, such as `exp(800)`, is no fault.
    """
    vals = tape.vals
    lost = np.zeros(vals.size, dtype=bool)
    ends: Marks = []
    for start, bad in marks:
        finite = np.isfinite(vals[start : start + bad.size])
        lost[start : start + bad.size] = bad & ~finite
        if (bad & finite).any():
            ends.append((start, bad & finite))
    more = _infinite(tape, lost) if lost.any() else []
    flat = list(_flat_powers(tape)) if ends else []
    if flat:
        more += _flattened(tape, ends, flat)
    if not more:
        return marks
    found = dict(marks)
    for start, here in more:
        old = found.get(start)
        found[start] = here if old is None else here | old
    return sorted(found.items(), key=lambda mark: mark[0])


def _names(block: Run) -> list[str]:
    codes, back = np.unique(block.code >> 2, return_inverse=True)
    names = [BY_OPCODE[k].name for k in codes.tolist()]
    return [names[k] for k in back.tolist()]


def _second(block: Run) -> NDArray[np.int64]:
    """Second parents of a run of scalars; the first one again where there is none."""
    return block.b


def _any(mask: Mask, x: Operand, shape: tuple[int, ...]) -> Mask:
    """Whether the mask holds at a summand, for all nodes of a wide block.

    Levels that the operand does not move along are looked at once.
    """
    sizes = tuple(n if step else 1 for n, step in zip(shape, x.strides, strict=True))
    found = mask[x.flat(sizes)].reshape(sizes).any(axis=-1)
    return np.broadcast_to(found, shape[:-1]).ravel()


# -- infinite operands -----------------------------------------------------------------


def _infinite(tape: Tape, fault: Mask) -> Marks:
    """Nodes with a faulty operand; those that stay infinite become faults."""
    first = int(np.argmax(fault))
    marks = []
    for block in tape.blocks:
        if block.stop > first:
            here = _operates_on(tape, block, fault)
            if here.any():
                marks.append((block.start, here))
    return marks


def _operates_on(tape: Tape, block: Block, fault: Mask) -> Mask:
    n = (block.size,)
    here = np.zeros(n, dtype=bool)
    own = slice(block.start, block.stop)
    lost = ~np.isfinite(block.values)
    if isinstance(block, Run):
        second = _second(block)
        odd = ~(np.isfinite(tape.vals[block.a]) & np.isfinite(tape.vals[second]))
        names = _names(block) if odd.any() else []
        for k in np.flatnonzero(odd).tolist():
            if names[k] not in _CHOOSES and (fault[block.a[k]] or fault[second[k]]):
                here[k] = True
                fault[block.start + k] |= lost[k]
        return here
    if isinstance(block, Accumulate):
        x, bad = block.x.flat(n), fault[block.y.flat(n)]
        for k in np.flatnonzero(lost).tolist():
            here[k] = bad[k] or fault[x[k]]
            fault[block.start + k] |= here[k]
        return here
    if isinstance(block, (Unary, Fixed, Binary)):
        if block.op.name not in _CHOOSES:
            here |= fault[block.x.flat(n)]
            if isinstance(block, Binary):
                here |= fault[block.y.flat(n)]
    elif lost.any():
        if isinstance(block, Node):
            here |= fault[block.parents].any()
        elif isinstance(block, (Linear, Dot)):
            here |= _any(fault, block.x, block.shape)
            if isinstance(block, Dot):
                here |= _any(fault, block.y, block.shape)
        here &= lost
    fault[own] |= here & lost
    return here


# -- steep operands of flat powers -----------------------------------------------------


@dataclass(slots=True)
class _Motion:
    """How nodes move with the inputs.

    ``end``: a domain end with an infinite slope; ``low``: and a root of a degree above
    two; ``lives``: moves at all; ``moves``: to first order; ``steep``: infinitely fast.
    """

    end: Mask
    low: Mask
    lives: Mask
    moves: Mask
    steep: Mask


def _flat_powers(tape: Tape) -> Iterator[tuple[int, Mask, Any]]:
    """Powers above two at zero, first and second partials zero: start, mask, operands."""
    for block in tape.blocks:
        x: Any = None
        if isinstance(block, Run):
            here = (
                ((block.code & 3) == 2) & (block.other.real > 2) & (block.values == 0)
            )
            if here.any():
                here &= np.array([name in _POWERS for name in _names(block)])
                x = block.a
        elif isinstance(block, Fixed) and block.slot == 0 and block.op.name in _POWERS:
            here = (block.values == 0) & (block.const.real > 2)
            x = block.x.flat((block.size,)) if here.any() else None
        else:
            continue
        if here.any():
            here = here & (tape.vals[x] == 0)
        if here.any():
            yield block.start, here, x


def _flattened(tape: Tape, ends: Marks, flat: list[tuple[int, Mask, Any]]) -> Marks:
    """Flat powers of what depends on a domain end with an infinite slope.

    The square root of what is zero to first order, such as a sum of squares, is not
    steep: it moves as fast as the inputs. Lower roots are.
    """
    now = _Motion(*(np.zeros(tape.nnodes, dtype=bool) for _ in range(5)))
    for start, bad in ends:
        block = tape.block_of(start)
        own = slice(start, block.stop)
        d1, d2 = columns(tape, block)[:2]
        now.end[own] = bad & (np.isinf(d1) | np.isinf(d2))
        now.low[own] = now.end[own] & _low_roots(block)
    if not now.end.any():
        return []
    stop = max(start for start, _, _ in flat)
    for block in tape.blocks:
        if block.start > stop:
            break
        if block.size:
            _move(tape, block, now)
    found = [(start, here & now.steep[x]) for start, here, x in flat]
    return [(start, here) for start, here in found if here.any()]


def _low_roots(block: Block) -> Any:
    """Which nodes are roots of a degree above two."""
    if isinstance(block, Run):
        power = ((block.code & 3) == 2) & (block.other.real < 0.5)
        names = np.array(_names(block))
        return (names == "cbrt") | (power & np.isin(names, _POWERS))
    if isinstance(block, Fixed) and block.op.name in _POWERS and block.slot == 0:
        return block.const.real < 0.5
    return isinstance(block, Unary) and block.op.name == "cbrt"


def _move(tape: Tape, block: Block, now: _Motion) -> None:
    """How the nodes of a block move with the inputs."""
    own, n = slice(block.start, block.stop), (block.size,)
    if isinstance(block, Inputs):
        now.moves[own] = now.lives[own] = True
    elif isinstance(block, Node):
        slots = block.parents[block.d != 0]
        now.moves[own], now.steep[own] = now.moves[slots].any(), now.steep[slots].any()
        now.lives[own] = now.lives[block.parents].any()
    elif isinstance(block, (Linear, Dot)):
        walks = [block.x] if isinstance(block, Linear) else [block.x, block.y]
        for x in walks:
            now.lives[own] |= _any(now.lives, x, block.shape)
        if isinstance(block, Dot):
            walks = [] if block.centred else walks
        for x, other in zip(walks, walks[::-1], strict=True):
            live: Any = True
            if isinstance(block, Dot):
                live = _any(tape.vals != 0, other, block.shape)
            now.moves[own] |= live & _any(now.moves, x, block.shape)
            now.steep[own] |= live & _any(now.steep, x, block.shape)
    elif isinstance(block, (Run, Unary, Fixed, Binary)):
        d1, d2, c11, c12, c22 = columns(tape, block)
        slots = [(block.a if isinstance(block, Run) else block.x.flat(n), d1, c11)]
        if isinstance(block, Run):
            slots.append((_second(block), d2, c22))
        elif isinstance(block, Binary):
            slots.append((block.y.flat(n), d2, c22))
        walk: Any = [slice(None)]
        if isinstance(block, (Run, Accumulate)):  # nodes may have their parents here
            walk = range(block.size)
        ready = [
            (x, np.broadcast_to(d != 0, n), np.broadcast_to((c != 0) | (c12 != 0), n))
            for x, d, c in slots
        ]
        for k in walk:
            at = own if isinstance(k, slice) else block.start + k
            for x, slope, bend in ready:
                if not isinstance(k, slice) and not (slope[k] or bend[k]):
                    continue
                _follow(now, at, x[k], slope[k], bend[k])


def _follow(now: _Motion, at: Any, x: Any, slope: Any, bend: Any) -> None:
    """Motion of nodes, or of one, along one operand."""
    lives = now.lives[x] & (slope | bend)
    end = now.end[at] & lives
    now.lives[at] |= lives
    now.moves[at] |= end | (slope & now.moves[x])
    now.steep[at] |= slope & now.steep[x] | end & (now.moves[x] | now.low[at])
