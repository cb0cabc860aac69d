"""The arithmetic of steps over a box, in either kind of numbers.

A number is a tuple of arrays: ``(lo, hi)`` for what has a sign, one array of upper bounds
for magnitudes. The kernels of both kinds have the same names and take these arrays side
by side; a step holds its coefficients in one kind and knows the kernels of that kind.
Structure (dependence, liveness, atoms) is asked of the steps at a point, which are made
of the magnitudes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._step import Array, Shape, Walk

__all__ = [
    "NO_IDS",
    "Ends",
    "Entrywise",
    "Explicit",
    "Linear",
    "Passes",
    "Product",
    "column",
]

Ends = tuple[Array, ...]
Column = tuple[Ends, int]
"""Ends with a stride: 0 where one entry serves all nodes."""

NO_IDS = np.empty(0, dtype=np.int64)


def column(ends: Any, n: int) -> Column:
    """A column of ``n`` entries, or of one for all."""
    found = [np.atleast_1d(np.asarray(e, dtype=np.float64)) for e in ends]
    size = max(e.size for e in found)
    if size == 1:
        return tuple(found), 0 if n != 1 else 1
    return tuple(
        np.ascontiguousarray(e) if e.size == n else np.full(n, e[0]) for e in found
    ), 1


class Passes(ABC):
    """What a sweep asks of a step; ``kernels`` are those of its kind of numbers."""

    __slots__ = ("kernels", "start")

    kernels: Any
    start: int

    @abstractmethod
    def adjoint(self, v: Ends) -> None:
        """Reverse: ``v[parent] += d v[node]``."""

    @abstractmethod
    def tangent(self, s: Ends) -> None:
        """Forward: ``s[node] = sum d s[parent]``."""

    @abstractmethod
    def source(self, b: Ends, vbar: Ends, dot: Ends) -> None:
        """Add ``vbar[node] C_ij dot[p_j]`` at the parents ``p_i``."""


class Entrywise(Passes):
    """Nodes of one or two parents, none of them the same.

    Args:
        kernels: Those of its kind of numbers.
        topo: As in the step at a point.
        d: Columns of the first partials, one a slot.
        c: Those of the second partials ``c11, c12, c22``; None without curvature.
    """

    __slots__ = ("c", "d", "topo")

    def __init__(
        self, kernels: Any, topo: Any, d: tuple[Column, Column], c: Any
    ) -> None:
        self.kernels, self.start, self.topo, self.c = kernels, topo[0], topo, c
        (first, t1), (second, t2) = d
        self.d = (*first, t1, *second, t2)

    def adjoint(self, v: Ends) -> None:
        """Reverse sweep."""
        self.kernels.pair_adjoint(*v, self.topo, self.d)

    def tangent(self, s: Ends) -> None:
        """Forward sweep."""
        self.kernels.pair_tangent(*s, self.topo, self.d)

    def source(self, b: Ends, vbar: Ends, dot: Ends) -> None:
        """Second-order term."""
        if self.c is None:
            return
        k0, n, two, aid, a0, sa, bid, b0, sb = self.topo
        x, y = (aid, a0, sa), (bid, b0, sb)
        c11, c12, c22 = self.c
        terms = [(x, c11, x)]
        if two:
            terms += [(x, c12, y), (y, c12, x), (y, c22, y)]
        shape = (k0, n, 1, 1, 1)
        for (ids, i0, si), (c, t), parent in terms:
            if not any(e.any() for e in c):
                continue
            found = tuple(np.empty(n, dtype=e.dtype) for e in c)
            self.kernels.scaled(*found, *c, t, *dot, *parent)
            target = (ids, 0, 1, 0, 0, 1) if ids.size else (ids, i0, si, 0, 0, 1)
            walks = [(e, 0, 1, 0, 0, 1) for e in found]
            self.kernels.wide_adjoint(*b, *vbar, shape, target, *walks)


class Linear(Passes):
    """Linear nodes over a strided walk, with a walk over each end of the coefficients."""

    __slots__ = ("coef", "shape", "stop", "x")

    def __init__(self, kernels: Any, shape: Shape, x: Walk, coef: list[Walk]) -> None:
        self.kernels, self.start, self.shape = kernels, shape[0], shape
        self.stop = shape[0] + shape[1] * shape[2] * shape[3]
        self.x, self.coef = x, coef

    def adjoint(self, v: Ends) -> None:
        """Reverse sweep."""
        self.kernels.wide_adjoint(*v, *v, self.shape, self.x, *self.coef)

    def tangent(self, s: Ends) -> None:
        """Forward sweep."""
        for e in s:
            e[self.start : self.stop] = 0
        self.kernels.wide_tangent(*s, self.shape, self.x, *self.coef)

    def source(self, b: Ends, vbar: Ends, dot: Ends) -> None:
        """There is no second-order term."""


class Product(Passes):
    """Inner products: each operand is the coefficients of the other."""

    __slots__ = ("first", "second")

    def __init__(
        self,
        kernels: Any,
        shape: Shape,
        x: Walk,
        y: Walk,
        xv: list[Walk],
        yv: list[Walk],
    ) -> None:
        self.kernels, self.start = kernels, shape[0]
        self.first = Linear(kernels, shape, x, yv)
        self.second = Linear(kernels, shape, y, xv)

    def adjoint(self, v: Ends) -> None:
        """Reverse sweep."""
        self.first.adjoint(v)
        self.second.adjoint(v)

    def tangent(self, s: Ends) -> None:
        """Forward sweep."""
        self.first.tangent(s)
        x = self.second
        self.kernels.wide_tangent(*s, x.shape, x.x, *x.coef)

    def source(self, b: Ends, vbar: Ends, dot: Ends) -> None:
        """Second-order term: tangents are the coefficients."""
        for mine, other in ((self.first, self.second), (self.second, self.first)):
            ids, *walk = other.x
            coef = [(e[ids] if ids.size else e, *walk) for e in dot]
            self.kernels.wide_adjoint(*b, *vbar, mine.shape, mine.x, *coef)


class Explicit(Linear):
    """One explicit node of any number of parents.

    Args:
        kernels: Those of its kind of numbers.
        start: Its id.
        parents: Ids of its parents.
        d: Ends of its first partials.
        entries: Slots ``i``, slots ``j`` and ends of the second partials there, both
            triangles.
        rank_one: Bounds ``s`` with second partials below ``s_i s_j`` instead.
    """

    __slots__ = ("entries", "parents", "rank_one")

    def __init__(
        self,
        kernels: Any,
        start: int,
        parents: Array,
        d: Ends,
        entries: Any,
        rank_one: Any,
    ) -> None:
        shape = (start, 1, 1, 1, parents.size)
        super().__init__(kernels, shape, _walk(parents), [(e, *_STRAIGHT) for e in d])
        self.parents, self.entries, self.rank_one = parents, entries, rank_one

    def source(self, b: Ends, vbar: Ends, dot: Ends) -> None:
        """Second-order term."""
        K, k = self.kernels, self.start
        if self.entries is not None and self.entries[0].size:
            i, j, c = self.entries
            found = tuple(np.empty(i.size) for _ in c)
            K.scaled(*found, *c, 1, *dot, self.parents[j], 0, 0)
            shape = (k, 1, 1, 1, i.size)
            coef = [(e, *_STRAIGHT) for e in found]
            K.wide_adjoint(*b, *vbar, shape, _walk(self.parents[i]), *coef)
        if self.rank_one is not None:  # of magnitudes alone: there are no signs
            (g,), (w,), (s,) = b, vbar, dot
            pool = np.concatenate([s[self.parents], np.zeros(1)])
            here = _walk(np.arange(self.parents.size))
            weights = [(self.rank_one, *_STRAIGHT)]
            shape = (self.parents.size, 1, 1, 1, self.parents.size)
            K.wide_tangent(pool, shape, here, *weights)
            c = np.empty(self.parents.size)
            K.scaled(c, self.rank_one, 1, pool, np.full(c.size, c.size), 0, 0)
            shape = (k, 1, 1, 1, c.size)
            K.wide_adjoint(g, w, shape, _walk(self.parents), (c, *_STRAIGHT))


_STRAIGHT = (0, 0, 0, 0, 1)


def _walk(ids: Array) -> Walk:
    return (ids, *_STRAIGHT)
