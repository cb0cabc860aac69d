"""From the blocks of a tape over a box to the steps of its sweeps.

Every block gives a step of signed numbers, one of magnitudes, and one for questions of
structure: a step at a point, made of the magnitudes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import tape as tp
from ...elements import _outward as outward
from ...errors import UnsupportedOperationError
from ...tape import Tape
from ...tape._block_enclosures import coefficients
from .._entrywise import Pair
from .._lower import Program, is_small, slots, walk, where
from .._step import Array, Leaves, Step
from .._wide import Dot, Linear
from ..kernels import interval, upward
from ..kernels._jit import charge
from . import _steps as steps
from ._explicit import BoxNode, small_parts

__all__ = ["BoxProgram", "lowered"]

WORK = 8  # what a node costs before the compiler is loaded, in nodes at a point
ZERO = (0.0, 0.0)
Parts = list[Any]
"""Ends of ``d1, d2, c11, c12, c22``; each end a number or an array."""


@dataclass(slots=True)
class BoxProgram(Program):
    """The steps of a tape over a box.

    Attributes:
        signed: Arithmetic of numbers with a sign, a step each.
        upward: Arithmetic of magnitudes, a step each.
        plain: That of magnitudes in a type of their own, where numbers are objects.
    """

    signed: list[steps.Passes | None] = field(default_factory=list)
    upward: list[steps.Passes | None] = field(default_factory=list)
    plain: list[steps.Passes | None] = field(default_factory=list)

    def arithmetic(self, magnitudes: Any, node: int) -> list[steps.Passes]:
        """The arithmetic of the steps up to the one that holds ``node``."""
        every = self.upward if magnitudes else self.signed
        if magnitudes == "exact":
            every = self.plain
        return [s for s in every[: len(self.below(node))] if s is not None]


def lowered(tape: Tape) -> BoxProgram:
    """The program of a tape over a box."""
    charge(WORK * tape.nnodes)
    found = BoxProgram([], [])
    enclosures = tape.enclosures
    ends = enclosures.all()
    small: list[_Block] = []

    def gathered() -> None:
        if small:
            _add(found, *_entrywise(ends, _joined(small)))
            small.clear()

    for block in tape.blocks:
        if not block.size:
            continue
        bad = enclosures.marks(block)
        if bad is not None:
            found.marks.append((block.start, bad))
        if is_small(block):
            small.append(_Block.of(tape, block))
            continue
        gathered()
        _add(found, *_step(tape, ends, block))
    gathered()
    return found


def _add(program: BoxProgram, step: Step, signed: Any, upward_: Any) -> None:
    program.steps.append(step)
    program.signed.append(signed)
    program.upward.append(upward_)


def _step(tape: Tape, ends: Any, block: Any) -> tuple[Any, Any, Any]:
    start, stop = block.start, block.stop
    if isinstance(block, (tp.Inputs, tp.Constants)):
        return Leaves(start, stop, isinstance(block, tp.Inputs)), None, None
    if isinstance(block, tp.Linear):
        return _linear(block)
    if isinstance(block, tp.Dot):
        return _dot(ends, block)
    if isinstance(block, tp.Node):
        node = BoxNode(tape, block)
        return node, node.signed, node.upward
    return _entrywise(ends, _Block.of(tape, block))


def _linear(block: tp.Linear) -> tuple[Any, Any, Any]:
    found, bad = coefficients(block)
    if bad:
        found = (block.coef, block.coef)  # the nodes are marked
    lo, hi = found if found is not None else (np.ones_like(block.coef),) * 2
    ids = steps.NO_IDS if block.x.ids is None else block.x.ids
    shape, x = (block.start, *block.shape), walk(ids, block.x)
    size = (magnitude(lo, hi), 0, *block.coef_strides)
    signed = [(np.ascontiguousarray(e), 0, *block.coef_strides) for e in (lo, hi)]
    return (
        Linear(shape, x, size),
        steps.Linear(interval, shape, x, signed),
        steps.Linear(upward, shape, x, [size]),
    )


def _dot(ends: Any, block: tp.Dot) -> tuple[Any, Any, Any]:
    if block.centred:
        msg = "a linearised result (numpy.linalg.solve and the like) has no enclosure."
        raise UnsupportedOperationError(msg)
    shape = (block.start, *block.shape)
    x, lo, xo = _operand(ends, block.x)
    y, lo2, yo = _operand(ends, block.y)
    held = magnitude(*lo), xo, magnitude(*lo2), yo

    def values(walk_: Any, arrays: Any, o: int) -> Any:
        return [(a, walk_[1] - o, *walk_[2:]) for a in arrays]

    return (
        Dot(shape, x, y, held, block.merge),
        steps.Product(interval, shape, x, y, values(x, lo, xo), values(y, lo2, yo)),
        steps.Product(
            upward, shape, x, y, values(x, held[:1], xo), values(y, held[2:3], yo)
        ),
    )


def _operand(ends: Any, x: tp.Operand) -> tuple[Any, Any, int]:
    """A walk over the ids, ends of the values, and the position of their first."""
    if x.ids is not None:
        return walk(x.ids, x), tuple(e[x.ids] for e in ends), 0
    return walk(steps.NO_IDS, x), ends, 0


def magnitude(lo: Any, hi: Any) -> Any:
    """The largest absolute value of members."""
    return np.maximum(np.abs(lo), np.abs(hi))


@dataclass(slots=True)
class _Block:
    """Entrywise nodes: parents of the slots as ``(ids, first, stride)``, and partials."""

    start: int
    n: int
    x: tuple[Array, int, int]
    y: tuple[Array, int, int] | None
    parts: Parts

    @classmethod
    def of(cls, tape: Tape, block: Any, given: Any = None) -> _Block:
        """What one block says; its partials may be given."""
        n = block.size
        x, y = slots(block)
        if isinstance(block, tp.Node):
            parts = small_parts(block)
        else:
            given = given or tape.enclosed(block)
            found = [_ends(p) for p in given.parts]
            parts = found if len(found) == 5 else [found[0], ZERO, found[1], ZERO, ZERO]
        second = None if y is None else where(y, n)
        return cls(block.start, n, where(x, n), second, parts)

    def ids(self, slot: int) -> Array:
        """Parents in a slot; those of the first where there is no second."""
        ids, first, stride = (self.y or self.x) if slot else self.x
        if ids.size:
            return ids
        return first + stride * np.arange(self.n, dtype=np.int64)


def _ends(part: Any) -> Any:
    return part if isinstance(part, tuple) else (part, part)


def _joined(blocks: list[_Block]) -> _Block:
    """Blocks in a row as one."""
    if len(blocks) == 1:
        return blocks[0]
    n = sum(b.n for b in blocks)
    parts = [(np.zeros(n), np.zeros(n)) for _ in range(5)]
    first = 0
    for b in blocks:
        here = slice(first, first + b.n)
        for column, part in zip(parts, b.parts, strict=True):
            if part is not ZERO:
                column[0][here], column[1][here] = part
        first += b.n
    two = any(b.y is not None for b in blocks)
    x, y = (np.concatenate([b.ids(slot) for b in blocks]) for slot in (0, 1))
    return _Block(blocks[0].start, n, (x, 0, 0), (y, 0, 0) if two else None, parts)


def _entrywise(ends: Any, block: _Block) -> tuple[Any, Any, Any]:
    n, none = block.n, (steps.NO_IDS, 0, 0)
    d1, d2, c11, c12, c22 = _merged(block)
    topo = (block.start, n, block.y is not None, *block.x, *(block.y or none))
    curved = any(np.any(e) for part in (c11, c12, c22) for e in part)
    cross = any(np.any(e) for e in c12)
    one = (np.ones(1), 0)
    refs: tuple[Any, ...] = (*one, *one)
    if cross:
        z = [magnitude(*(e[block.ids(slot)] for e in ends)) for slot in (0, 1)]
        refs = (z[0], 1, z[1], 1)
    signed = [steps.column(part, n) for part in (d1, d2, c11, c12, c22)]
    size = [((magnitude(*e),), t) for e, t in signed]

    def made(kernels: Any, columns: Any) -> steps.Entrywise:
        c = tuple(columns[2:]) if curved else None
        return steps.Entrywise(kernels, topo, (columns[0], columns[1]), c)

    flat: list[Any] = [entry for (e,), t in size for entry in (e, t)]
    step = Pair(topo, tuple(flat[:4]), tuple(flat[4:]), refs, curved, cross)
    return step, made(interval, signed), made(upward, size)


def _merged(block: _Block) -> Iterator[Any]:
    """The partials, with those of slots of one parent moved to the first."""
    if block.y is None or not (same := _same(block)).any():
        return iter(block.parts)
    parts: list[Any] = [
        tuple(
            np.broadcast_to(np.asarray(e, dtype=np.float64), (block.n,)) for e in part
        )
        for part in block.parts
    ]
    d1, d2, c11, c12, c22 = parts
    zero = (np.zeros(block.n),) * 2
    d = outward.add(d1, d2)
    c = outward.add(outward.add(c11, c22), outward.add(c12, c12))
    return iter(
        [
            outward.where(same, d, d1),
            outward.where(same, zero, d2),
            outward.where(same, c, c11),
            outward.where(same, zero, c12),
            outward.where(same, zero, c22),
        ]
    )


def _same(block: _Block) -> NDArray[np.bool_]:
    """Which nodes have one parent in both slots."""
    assert block.y is not None
    (xid, a, s), (yid, b, t) = block.x, block.y
    if not (xid.size or yid.size) and s == t:
        return np.array([a == b])
    same: NDArray[np.bool_] = block.ids(0) == block.ids(1)
    return same
