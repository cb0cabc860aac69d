"""Steps in single precision many of whose terms meet in one entry.

A reverse sweep adds a term for every node that reads an entry, in float32 one after
another: where a million equal ones meet, one per cent is lost. Steps in which many meet
sweep a copy of their entries in double precision, and round once. Nothing else of a
sweep is computed in double.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ._entrywise import Pair
from ._step import Array, CoverState
from ._wide import Dot, Linear

__all__ = ["doubled"]

MANY = 64  # terms that meet before a step is worth a copy


class _Doubled:
    """Reverse passes of a step by one on a copy: its parents, then its own nodes."""

    _inner: Any
    _pieces: list[tuple[int, int]]

    def _copy(self, v: Array, *, double: bool = True) -> Array:
        parts = [v[lo:hi] for lo, hi in self._pieces]
        found = np.concatenate(parts)
        return found.astype(np.result_type(v, np.float64)) if double else found

    def _back(self, v: Array, copy: Array) -> None:
        first = 0
        for lo, hi in self._pieces[:-1]:  # the last one is the nodes, which are read
            v[lo:hi] = copy[first : first + hi - lo]
            first += hi - lo

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        copy = self._copy(v)
        self._inner.adjoint(copy, absolute)
        self._back(v, copy)

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep."""
        copy = self._copy(b)
        rest = (self._copy(x, double=False) for x in (vbar, dot))
        self._inner.second(copy, *rest, absolute)
        self._back(b, copy)

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep."""
        live, sigma = (
            self._copy(x, double=False) if x.size else x
            for x in (state.live, state.sigma)
        )
        mine = replace(state, live=live, sigma=sigma)
        one, other = self._copy(adj), self._copy(g)
        found: tuple[int, int] = self._inner.cover(one, other, mine, last)
        self._back(adj, one)
        self._back(g, other)
        return found

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel."""
        copy = self._copy(g)
        self._inner.inject(copy, rho, group, want)
        self._back(g, copy)


class _Pair(_Doubled, Pair):
    __slots__ = ("_inner", "_pieces")


class _Linear(_Doubled, Linear):
    __slots__ = ("_inner", "_pieces")


class _Dot(_Doubled, Dot):
    __slots__ = ("_inner", "_pieces")


def doubled(step: Any) -> Any:
    """The step itself, or one that sweeps its entries in double where many meet."""
    slots = _slots(step)
    if not slots or max(slot[2] for slot in slots) < MANY:
        return step
    if max(hi for _, hi, _ in slots) > step.start:
        return step  # some parents are nodes of the step itself
    pieces: list[tuple[int, int]] = []
    for lo, hi, _ in sorted(slots):
        if pieces and lo <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(hi, pieces[-1][1]))
        else:
            pieces.append((lo, hi))
    sizes = [hi - lo for lo, hi in pieces]
    if sum(sizes) > 4 * len(slots) * (step.stop - step.start) + (1 << 16):
        return step
    ends = np.cumsum([0, *sizes])

    def shift(slot: tuple[int, int, int]) -> int:
        k = next(k for k, (_, hi) in enumerate(pieces) if slot[0] < hi)
        return int(ends[k]) - pieces[k][0]

    start = int(ends[-1])
    shifts = [shift(slot) for slot in slots]
    found: Any
    inner: Any
    if isinstance(step, Pair):
        _, n, two, aid, a0, sa, bid, b0, sb = step.topo
        ka, kb = shifts[0], shifts[-1]
        topo = (start, n, two, _moved(aid, ka), a0 + ka * (not aid.size), sa,
                _moved(bid, kb), b0 + kb * (not bid.size), sb)  # fmt: skip
        rest = (step.first, step.twice, _listed_refs(step), step.curved, step.cross)
        found, inner = _Pair(step.topo, *rest), Pair(topo, *rest)
    else:
        shape = (start, *step.args[0][1:])
        walks = [_walked(w, k) for w, k in zip(_walks(step), shifts, strict=True)]
        if isinstance(step, Linear):
            found = _Linear(*step.args)
            inner = Linear(shape, walks[0], step.args[2])
        else:
            _, x, y, held = step.args
            found = _Dot(step.args[0], x, y, held, step.merge)
            inner = Dot(shape, walks[0], walks[1], _held(step, walks), step.merge)
    found._inner, found._pieces = inner, [*pieces, (step.start, step.stop)]
    return found


def _listed_refs(step: Pair) -> tuple[Any, ...]:
    """The parents' values entry by entry, where they would be read at ids that move."""
    z1, w1, z2, w2 = step.refs
    if w1 == 2:
        z1, w1 = z1[step.topo[3]], 1
    if w2 == 2:
        z2, w2 = z2[step.topo[6]], 1
    return z1, w1, z2, w2


def _moved(ids: Array, shift: int) -> Array:
    return ids + shift if ids.size else ids


def _walks(step: Any) -> tuple[Any, ...]:
    return (step.args[1],) if isinstance(step, Linear) else step.args[1:3]


def _walked(walk: Any, shift: int) -> Any:
    ids, start, *steps = walk
    return (ids + shift, start, *steps) if ids.size else (ids, start + shift, *steps)


def _held(step: Dot, walks: list[Any]) -> Any:
    """Values of the operands, at the positions of the walks that were moved."""
    xv, xo, yv, yo = step.args[3]
    moved = (w[1] - old[1] for w, old in zip(walks, step.args[1:3], strict=True))
    dx, dy = moved
    return xv, xo + dx, yv, yo + dy


def _slots(step: Any) -> list[tuple[int, int, int]]:
    """First and last parent of every slot, and the most terms that meet in one."""
    if isinstance(step, Pair):
        _, n, two, aid, a0, sa, bid, b0, sb = step.topo
        ends = [(aid, a0, sa), (bid, b0, sb)][: 2 if two else 1]
        return [_line(*end, n) for end in ends]
    if type(step) in (Linear, Dot):
        return [_reach(walk, step.args[0][1:]) for walk in _walks(step)]
    return []


def _line(ids: Array, first: int, stride: int, n: int) -> tuple[int, int, int]:
    if ids.size:
        return _listed(ids)
    last = first + stride * (n - 1)
    return min(first, last), max(first, last) + 1, 1 if stride else n


def _reach(walk: Any, shape: tuple[int, ...]) -> tuple[int, int, int]:
    ids, first, *steps = walk
    if ids.size:
        lo, hi, most = _listed(ids)
    else:
        spans = [s * (n - 1) for s, n in zip(steps, shape, strict=True)]
        lo, most = first + sum(min(s, 0) for s in spans), 1
        hi = first + sum(max(s, 0) for s in spans) + 1
    for s, n in zip(steps[:3], shape, strict=False):
        most *= 1 if s else n
    return lo, hi, most


def _listed(ids: Array) -> tuple[int, int, int]:
    lo, hi = int(ids.min()), int(ids.max()) + 1
    crowded = ids.size >= MANY and hi - lo <= 8 * ids.size
    return lo, hi, int(np.bincount(ids - lo).max()) if crowded else 1
