"""Which steps of a program a reverse sweep can take tile by tile.

Where only the inputs are asked for, adjoints of intermediate results need not be kept.
Entrywise steps in a row over long arrays are a *group*: it is swept in tiles, from the
last entries to the first, every step of a tile before the next tile. So adjoints stay in
the cache, and in windows of a tile's size.

An entry must get its terms in the order of a sweep step by step, so that the bits agree.
Views such as ``x[1:]`` and ``x[:-1]`` meet in entries of neighbouring tiles. So each part
of a group runs behind by its *lag*, the least that keeps that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._entrywise import Pair
from ._explicit import Explicit
from ._step import Leaves, Step
from ._wide import Dot, Linear

__all__ = ["TILE", "Group", "Part", "Plan", "Slot", "plan"]

TILE = 1 << 15  # entries of a tile
LONG = 1 << 16  # entries from which a step is taken in tiles
MOST = 64  # parts of a group

Span = tuple[int, int]


@dataclass(slots=True)
class Slot:
    """Where the terms of one slot of a part go.

    Attributes:
        a0: Node of the first parent; they are consecutive.
        args: What kernels take: partials and second partials, as in ``Pair.lines``.
        target: Part of the group whose window holds the parents; -1: none does.
        first: Whether nothing else has been written there before.
        to_inputs: Whether they are inputs.
    """

    a0: int
    args: tuple[Any, ...]
    target: int = -1
    first: bool = False
    to_inputs: bool = False


@dataclass(slots=True)
class Part:
    """A step of a group.

    Attributes:
        step: The step.
        n: Number of its entries; of a sum, those of its parents.
        slots: Its slots, in the order in which they are swept.
        is_sum: Whether it is one linear node of consecutive parents.
        lag: Its tiles are those of the group, moved up by so many entries.
        pad: How far below its own tile others have written into its window.
        fed: Whether other steps than those of the group write to its nodes.
        blank: Whether its window has to be cleared.
    """

    step: Any
    n: int
    slots: list[Slot]
    is_sum: bool
    lag: int = 0
    pad: int = 0
    fed: bool = False
    blank: bool = True


@dataclass(slots=True)
class Group:
    """Steps in a row that are swept tile by tile, the last one first."""

    parts: list[Part]


@dataclass(slots=True)
class Plan:
    """A reverse sweep in tiles.

    Attributes:
        out: The node that it begins with.
        items: Groups, and the steps between them, in the order of the sweep.
        apart: Whether nothing but groups writes to the inputs.
    """

    out: int
    items: list[Step | Group]
    apart: bool

    @property
    def has_groups(self) -> bool:
        """Whether anything is swept in tiles."""
        return any(isinstance(item, Group) for item in self.items)


def plan(steps: list[Step], out: int, ninputs: int) -> Plan:
    """How a reverse sweep from ``out`` over these steps goes."""
    found: list[Step | Group] = []
    written: list[Span] = [(out, out + 1)]
    parts: list[Part] = []
    apart = out >= ninputs

    def close() -> None:
        nonlocal apart
        if parts:
            _link(parts, written)
            for part in parts:
                for slot in part.slots:
                    slot.to_inputs = slot.a0 + part.n <= ninputs
                    apart = apart and (slot.to_inputs or slot.a0 >= ninputs)
            found.append(Group(list(parts)))
            written.extend((s.a0, s.a0 + p.n) for p in parts for s in p.slots)
            parts.clear()

    for step in reversed(steps):
        if isinstance(step, Leaves):
            continue
        part = _part(step)
        if part is None:
            close()
            found.append(step)
            theirs = list(spans(step))
            apart = apart and all(lo >= ninputs for lo, _ in theirs)
            written.extend(theirs)
            continue
        if len(parts) == MOST or not _fits(part, parts):
            close()
            _fits(part, parts)
        parts.append(part)
    close()
    return Plan(out, found, apart)


def _part(step: Step) -> Part | None:
    """The step as a part of a group, where it can be one."""
    if isinstance(step, Pair):
        if not step.lines or step.n < LONG:
            return None
        slots = [Slot(line[0], line[1:]) for line in step.lines]
        return Part(step, step.n, slots, is_sum=False)
    if type(step) is Linear and step.stop - step.start == 1:
        shape, x, coef = step.args
        n, ids = shape[4], x[0]
        if n >= LONG and not ids.size and x[5] == 1 and coef[5] == 0:
            return Part(step, n, [Slot(x[1], ())], is_sum=True)
    return None


def _overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _fits(part: Part, above: list[Part]) -> bool:
    """Whether a part can run in the tiles of those above it; gives it its lag."""
    start, stop = part.step.start, part.step.stop
    bounds = []  # entries below its tile must wait for tiles of others
    written = []  # how far down others write into its window
    for other in above:
        for slot in other.slots:
            lo, hi = slot.a0, slot.a0 + other.n
            if lo < stop and start < hi:
                if part.is_sum or lo < start or hi > stop:
                    return False
                written.append(other.lag + lo - start)
            bounds += [
                other.lag + lo - own.a0
                for own in part.slots
                if lo < own.a0 + part.n and own.a0 < hi
            ]
    part.lag = max(bounds + written, default=0)
    part.pad = part.lag - min(written, default=part.lag)
    return bool(max(abs(part.lag), part.pad) <= TILE // 4)


def _link(parts: list[Part], written: list[Span]) -> None:
    """Find the windows that slots write into, and who comes first there."""
    seen: list[Span] = []
    for part in parts:
        own = (part.step.start, part.step.stop)
        part.fed = any(_overlap(own, span) for span in written)
    for part in parts:
        for slot in part.slots:
            span = (slot.a0, slot.a0 + part.n)
            for k, other in enumerate(parts):
                if _overlap(span, (other.step.start, other.step.stop)):
                    slot.target = k
            before = any(_overlap(span, s) for s in (*seen, *written))
            slot.first = not before
            if slot.target >= 0:
                other = parts[slot.target]
                slot.first = not before and part.n == other.n
                other.blank = other.blank and not slot.first
            seen.append(span)


def spans(step: Step) -> Iterator[Span]:
    """Ranges of nodes in which the parents of a step lie."""
    if isinstance(step, Pair):
        _, n, two, aid, a0, sa, bid, b0, sb = step.topo
        for ids, at, stride in ((aid, a0, sa), (bid, b0, sb))[: 2 if two else 1]:
            if ids.size:
                yield int(ids.min()), int(ids.max()) + 1
            else:
                last = at + stride * (n - 1)
                yield min(at, last), max(at, last) + 1
    elif isinstance(step, (Linear, Dot)):
        walks: tuple[Any, ...] = step.args[1 : 2 if isinstance(step, Linear) else 3]
        for ids, at, *strides in walks:
            if ids.size:
                yield int(ids.min()), int(ids.max()) + 1
            else:
                sizes = step.args[0][1:]
                ends = [s * (m - 1) for s, m in zip(strides, sizes, strict=True)]
                yield (
                    at + sum(min(e, 0) for e in ends),
                    at + 1 + sum(max(e, 0) for e in ends),
                )
    elif isinstance(step, Explicit) and step.parents.size:
        yield int(step.parents.min()), int(step.parents.max()) + 1
    elif not isinstance(step, Explicit):
        yield 0, step.start
