"""The windows through which a group of steps sees the entries of one tile after another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import _tiles
from ._step import Array
from ._tiles import Group, Part, Slot

__all__ = ["Spot", "Windows", "windows"]

_KEPT = 1 << 23  # bytes that a thread keeps for its next sweep
_local = threading.local()


@contextmanager
def windows(
    group: Group, nodes: tuple[Array, ...], inputs: tuple[Array, ...]
) -> Iterator[Windows]:
    """Windows for a sweep of one or two vectors.

    Their memory is kept for the next sweep: fresh pages cost more than what is done there.
    """
    size = _tiles.TILE
    sizes = [0 if p.is_sum else size + p.pad for p in group.parts]
    need = sum(n * v.itemsize for n in sizes for v in nodes)
    memory = getattr(_local, "memory", None)
    _local.memory = None  # a sweep within this one takes its own
    if memory is None or memory.size < need:
        memory = np.empty(need, dtype=np.uint8)
    made, at = [], 0
    for n in sizes:
        each = []
        for v in nodes:
            end = at + n * v.itemsize
            each.append(memory[at:end].view(v.dtype))
            at = end
        made.append(tuple(each))
    try:
        yield Windows(group.parts, size, made, nodes, inputs)
    finally:
        if memory.size <= _KEPT:
            _local.memory = memory


class Spot:
    """The entries ``lo .. hi`` of a part, and the windows on its nodes."""

    __slots__ = ("_at", "_windows", "full", "hi", "lo", "own", "part")

    def __init__(self, windows: Windows, k: int, at: int) -> None:
        self._windows, self._at = windows, at
        self.part = part = windows.parts[k]
        lo = at + part.lag
        hi = lo + windows.size
        self.full = lo >= 0 and hi <= part.n
        if self.full:
            self.lo, self.hi = lo, hi
            self.own = windows.full[id(part)]
        else:
            self.lo, self.hi = max(lo, 0), min(hi, part.n)
            self.own = windows.slices(k, at + part.lag - part.pad, self.lo, self.hi)

    def parents(self, slot: Slot, beyond: int = 0) -> tuple[Array, ...]:
        """The parents of the entries ``lo .. hi + beyond``."""
        windows = self._windows
        if self.full and not beyond and slot.target >= 0:
            return windows.full[id(slot)]
        hi = self.hi + beyond
        if slot.target < 0:
            vectors = windows.inputs if slot.to_inputs else windows.nodes
            lo, hi = slot.a0 + self.lo, slot.a0 + hi
            return tuple([v[lo:hi] for v in vectors])
        base = windows.base(slot, self._at)
        return windows.slices(slot.target, base, self.lo, hi)

    def add_sum(self) -> None:
        """The terms of one linear node, which are all the same."""
        (slot,) = self.part.slots
        coef, first = self.part.step.args[2][:2]
        pairs = zip(self._windows.nodes, self.parents(slot), strict=True)
        for k, (v, p) in enumerate(pairs):
            w, f = v[self.part.step.start], coef[first]
            term = v.dtype.type(0)
            if w != 0:
                term = term + (abs(f) if k else f) * w
            if slot.first:
                p.fill(term)
            elif w != 0:
                p += term


class Windows:
    """The windows of a group, one for each part and vector, on one tile at a time.

    The window of a part also holds what lies below its tile and has been written already.
    """

    def __init__(
        self,
        parts: list[Part],
        size: int,
        made: list[tuple[Array, ...]],
        nodes: tuple[Array, ...],
        inputs: tuple[Array, ...],
    ) -> None:
        self.parts, self.size, self.made = parts, size, made
        self.nodes, self.inputs = nodes, inputs
        # In a tile that is full, the same slices of windows serve again and again.
        self.full: dict[int, tuple[Array, ...]] = {}
        for k, part in enumerate(parts):
            lo, hi = part.lag, part.lag + size
            self.full[id(part)] = self.slices(k, part.lag - part.pad, lo, hi)
            for slot in part.slots:
                if slot.target >= 0:
                    base = self.base(slot, 0)
                    self.full[id(slot)] = self.slices(slot.target, base, lo, hi)

    def __iter__(self) -> Iterator[Spot]:
        """All parts of a tile, the last tile first."""
        size = self.size
        top = max(p.n - p.lag for p in self.parts)
        bottom = min(-p.lag for p in self.parts)
        for at in range(top - size, bottom - size, -size):
            for k, part in enumerate(self.parts):
                if not part.is_sum:
                    self._move(k, at, begin=at == top - size)
            for k in range(len(self.parts)):
                spot = Spot(self, k, at)
                if spot.lo < spot.hi:
                    yield spot

    def _move(self, k: int, at: int, *, begin: bool) -> None:
        """Take windows to a new tile: what lay below it moves in."""
        part, size = self.parts[k], self.size
        pad = part.pad
        base = at + part.lag - pad
        for v, window in zip(self.nodes, self.made[k], strict=True):
            # At the beginning nothing has been written: all of it is new.
            new = window if begin else window[:size]
            if not begin and pad:
                window[size:] = window[:pad]
            if part.fed:
                lo, hi = max(base, 0), min(base + new.size, part.n)
                if lo < hi:
                    start = part.step.start
                    new[lo - base : hi - base] = v[start + lo : start + hi]
            elif part.blank:
                new.fill(0)

    def slices(self, k: int, base: int, lo: int, hi: int) -> tuple[Array, ...]:
        """Entries ``lo .. hi`` of windows that begin at ``base``."""
        return tuple([w[lo - base : hi - base] for w in self.made[k]])

    def base(self, slot: Slot, at: int) -> int:
        """Where the window of the parents begins, in entries of the slot's own part."""
        to: Any = self.parts[slot.target]
        return int(to.step.start + at + to.lag - to.pad - slot.a0)
