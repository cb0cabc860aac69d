"""Faults over a box: nodes that leave their domain, or meet a kink, at some of its points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import BY_OPCODE
from ..elements import Interval
from ..errors import DomainError, NondifferentiableError
from ._blocks import (
    Accumulate,
    Binary,
    Block,
    Dot,
    Fixed,
    Ids,
    Linear,
    Node,
    Operand,
    Run,
    Unary,
)

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["check_range", "described", "why"]


def described(tape: Tape, k: int) -> tuple[str, Interval, tuple[Any, ...]]:
    """Name of the elemental of node ``k``, its value and its operands over the box.

    Recorded operands are intervals, constant ones numbers.
    """
    block = tape.block_of(k)
    at = k - block.start
    name = type(block).__name__.lower()
    operands: list[Any] = []
    if isinstance(block, Run):
        code = int(block.code[at])
        name = BY_OPCODE[code >> 2].name
        operands = [_node(tape, block.a[at])]
        other = block.other[at]
        if code & 3 == 1:
            operands.append(_node(tape, int(other)))
        elif code & 3:
            place = 1 if code & 3 == 2 else 0
            operands.insert(place, float(other))
    elif isinstance(block, (Unary, Fixed, Binary)):
        name = block.op.name
        operands = [_node(tape, _entry(block.x, block.size)[at])]
        if isinstance(block, Binary):
            operands.append(_node(tape, _entry(block.y, block.size)[at]))
        elif isinstance(block, Fixed):
            c = block.const[at if block.const.size > 1 else 0]
            operands.insert(1 - block.slot, float(c))
    elif isinstance(block, Node):
        name = "explicit node"
        operands = [_node(tape, i) for i in block.parents]
    return name, _node(tape, k), tuple(operands)


def _entry(x: Operand, n: int) -> Ids:
    return x.flat((n,))


def _node(tape: Tape, k: Any) -> Interval:
    return Interval(*tape.enclosures.of(np.asarray(int(k))))


def _shown(x: Any) -> str:
    if isinstance(x, float):
        return repr(x)
    lo, hi = float(x.lo), float(x.hi)
    return repr(lo) if lo == hi else f"[{lo!r}, {hi!r}]"


def why(tape: Tape, k: int) -> DomainError | NondifferentiableError:
    """The exception that says why node ``k`` has no derivative somewhere in the box."""
    name, value, operands = described(tape, k)
    block = tape.block_of(k)
    text = f"node {k}: {name}({', '.join(map(_shown, operands))})"
    if tape.element is not None:
        return _why_elements(tape, k, name, operands)
    if tape.enclosures.is_outside(block, k - block.start):
        msg = (
            f"{text} = {_shown(value)} is not wholly in the open domain where the "
            "elemental is twice continuously differentiable with finite partials. Take a "
            "box inside of the domain, or split the box where the enclosure is too wide."
        )
        return DomainError(msg, elemental=name, node=k, values=operands)
    msg = (
        f"{text} meets a kink or jump within the box, or at an end of it, where it has no "
        "derivative. Take boxes that stay away from it."
    )
    return NondifferentiableError(msg, elemental=name, node=k, values=operands)


def _why_elements(
    tape: Tape, k: int, name: str, operands: tuple[Any, ...]
) -> DomainError | NondifferentiableError:
    block = tape.block_of(k)
    text = f"node {k}: {name}({', '.join(map(_shown, operands))})"
    if tape.enclosures.is_outside(block, k - block.start):
        msg = (
            f"{text} of numbers of type {tape.element.__name__} is not defined, or not "  # type: ignore[union-attr]
            "surely in the open domain where it is twice continuously differentiable. "
            "Evaluate at another point, or guard it with np.where."
        )
        return DomainError(msg, elemental=name, node=k, values=operands)
    msg = (
        f"{text} is at a kink or jump, or its operands do not surely lie off one. "
        "Evaluate at another point."
    )
    return NondifferentiableError(msg, elemental=name, node=k, values=operands)


def check_range(tape: Tape, outs: Any) -> None:
    """Refuse outputs that are not finite all over the box.

    An infinite end of the box itself is no fault.

    Raises:
        DomainError: If such an output depends on a node that leaves its domain, or that
            overflows.
        NondifferentiableError: If it depends on one that meets a kink.
    """
    outs = np.ravel(outs)
    lo, hi = tape.enclosures.of(outs)
    endless = ~(np.isfinite(lo) & np.isfinite(hi))
    if not endless.any():
        return
    mark = _below(tape, outs[endless])
    for block in tape.blocks:
        bad = tape.enclosures.marks(block)
        if bad is not None:
            hit = np.flatnonzero(bad & mark[block.start : block.stop])
            if hit.size:
                raise why(tape, block.start + int(hit[0]))
    lo, hi = tape.enclosures.all()
    lost = mark & ~(np.isfinite(lo) & np.isfinite(hi))
    k = int(np.flatnonzero(lost)[0])
    if k < tape.ninputs:
        return
    name, value, operands = described(tape, k)
    msg = (
        f"node {k}: {name}({', '.join(map(_shown, operands))}) = {_shown(value)} may "
        "overflow within the box. An output depends on it; take a smaller box, or "
        "rescale the program."
    )
    raise DomainError(msg, elemental=name, node=k, values=operands)


def _below(tape: Tape, outs: Ids) -> NDArray[np.bool_]:
    """Which nodes some outputs depend on, through parents of any kind."""
    mark = np.zeros(tape.nnodes, dtype=bool)
    mark[outs] = True
    for block in reversed(tape.blocks):
        here = mark[block.start : block.stop]
        if here.any():
            _mark_parents(block, here, mark)
    return mark


def _mark_parents(block: Block, here: Any, mark: NDArray[np.bool_]) -> None:
    n = block.size
    if isinstance(block, (Run, Accumulate)):
        _mark_inner(block, mark)
    elif isinstance(block, (Unary, Fixed, Binary)):
        mark[block.x.flat((n,))[here]] = True
        if isinstance(block, Binary):
            mark[block.y.flat((n,))[here]] = True
    elif isinstance(block, (Linear, Dot)):
        for x in (block.x, block.y) if isinstance(block, Dot) else (block.x,):
            # All of the block: more than needed names a fault too many at worst.
            sizes = tuple(
                m if s else 1 for m, s in zip(block.shape, x.strides, strict=True)
            )
            mark[x.flat(sizes)] = True
    elif isinstance(block, Node):
        mark[block.parents] = True


def _mark_inner(block: Any, mark: NDArray[np.bool_]) -> None:
    """Parents of a block whose nodes depend on each other, last node first."""
    n, start = block.size, block.start
    if isinstance(block, Accumulate):
        a, b = block.x.flat((n,)), block.y.flat((n,))
    else:
        a = block.a
        b = np.where((block.code & 3) == 1, block.other, a).astype(np.int64)
    for k, i, j in zip(
        range(start + n - 1, start - 1, -1),
        a[::-1].tolist(),
        b[::-1].tolist(),
        strict=True,
    ):
        if mark[k]:
            mark[i] = mark[j] = True
