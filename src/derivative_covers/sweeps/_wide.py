"""The steps of wide nodes: linear nodes and inner products."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._step import CHUNK, Array, CoverState, Expanded, Shape, Step, Walk
from .kernels import pair, wide

__all__ = ["Centred", "Dot", "Linear", "chunks", "ids_of", "positions"]


class Linear(Step):
    """Linear nodes over a strided walk."""

    __slots__ = ("_sizes", "args")

    def __init__(self, shape: Shape, x: Walk, coef: Walk) -> None:
        self.args = (shape, x, coef)
        self.start = shape[0]
        self.stop = shape[0] + math.prod(shape[1:4])
        self._sizes: Any = self.args if coef[0].dtype.kind != "c" else None

    def _part(self, absolute: bool) -> Any:
        """What kernels take: of complex coefficients the magnitudes where they are due."""
        if absolute and self._sizes is None:
            shape, x, coef = self.args
            self._sizes = (shape, x, (abs(coef[0]), *coef[1:]))
        return self._sizes if absolute else self.args

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        wide.linear_adjoint(v, *self._part(absolute), absolute)

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward sweep."""
        wide.linear_tangent(s, *self._part(absolute), absolute)

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep."""
        wide.linear_adjoint(b, *self._part(absolute), absolute)

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep: there is no curvature."""
        wide.linear_adjoint(adj, *self.args, False)
        wide.linear_adjoint(g, *self._part(True), True)
        return 0, 0

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel."""
        wide.linear_adjoint(g, *self._part(True), True)

    def has_zero(self) -> bool:
        """Scan the coefficients."""
        return not pair.nonzero(self.args[2][0])

    def alive(self, live: Array) -> None:
        """Liveness."""
        wide.linear_alive(live, *self.args)

    def reach(self, mark: Array, mode: int) -> None:
        """Dependence."""
        wide.linear_reach(mark, *self.args, mode)

    def expanded(self) -> Iterator[Expanded]:
        """One slot a summand."""
        shape, x, coef = self.args
        nk = shape[4]
        for lo, hi in chunks(shape, nk):
            d = coef[0][positions(coef, shape, lo, hi)]
            ptr = np.arange(hi - lo + 1) * nk
            yield self.start + lo, ptr, ids_of(x, shape, lo, hi), d


class Dot(Step):
    """Inner products of recorded entries."""

    __slots__ = ("_sizes", "args", "merge", "npairs")

    curved = True
    cross = True
    centred = False

    def __init__(self, shape: Shape, x: Walk, y: Walk, held: Any, merge: bool) -> None:
        self.args = (shape, x, y, held)
        self.start = shape[0]
        self.stop = shape[0] + math.prod(shape[1:4])
        self.merge = merge
        self.npairs = math.prod(shape[1:])
        self._sizes: Any = self.args if held[0].dtype.kind != "c" else None

    def _part(self, absolute: bool) -> Any:
        """What kernels take: of complex values the magnitudes where they are due."""
        if absolute and self._sizes is None:
            shape, x, y, (xv, xo, yv, yo) = self.args
            self._sizes = (shape, x, y, (abs(xv), xo, abs(yv), yo))
        return self._sizes if absolute else self.args

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        wide.dot_adjoint(v, *self._part(absolute), absolute)

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward sweep."""
        wide.dot_tangent(s, *self._part(absolute), absolute)

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep."""
        args = self._part(absolute)
        wide.dot_second(b, vbar, dot, *args, self.centred, absolute)

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep."""
        found: tuple[int, int] = wide.dot_cover(
            adj, g, last, *self.args, self.merge, self.centred, state.options
        )
        return found

    def weights(self, adj: Array, state: CoverState) -> tuple[Any, int, int]:
        """Slot weights, one pair of arrays over all pairs."""
        M = adj.real.dtype
        r1, r2 = np.empty(self.npairs, dtype=M), np.empty(self.npairs, dtype=M)
        status, left = wide.dot_weights(
            r1, r2, adj, *self.args, self.merge, state.options
        )
        return (r1, r2), status, left

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel."""
        wide.dot_inject(g, *self.args, self.merge, self.centred, *rho, group, want)

    def asks(self, ratio: Any) -> bool:
        """Scan for unusable value pairs."""
        return bool(wide.dot_asks(*self.args, self.merge, ratio))

    def has_zero(self) -> bool:
        """Scan the operands."""
        xv, _, yv, _ = self.args[3]
        nonzero = pair.nonzero
        return not nonzero(xv) or not nonzero(yv)

    def alive(self, live: Array) -> None:
        """Liveness."""
        wide.dot_alive(live, *self.args)

    def reach(self, mark: Array, mode: int) -> None:
        """Dependence."""
        wide.dot_reach(mark, *self.args, mode)

    def natoms(self) -> int:
        """Number of pairs."""
        return self.npairs

    def slot_ids(self) -> tuple[Array, Array]:
        """Both parents of every pair."""
        shape, x, y, _ = self.args
        n = self.stop - self.start
        return ids_of(x, shape, 0, n), ids_of(y, shape, 0, n)

    def rho_of(self, k: int, rho: Any) -> Array | None:
        """Slot weights, those of the first operand first."""
        nk = self.args[0][4]
        at = slice((k - self.start) * nk, (k - self.start + 1) * nk)
        found = np.concatenate([rho[0][at], rho[1][at]])
        return found if found.any() else None

    def expanded(self) -> Iterator[Expanded]:
        """Two slots a pair."""
        shape, x, y, (xv, xo, yv, yo) = self.args
        nk = shape[4]
        for lo, hi in chunks(shape, 2 * nk):
            ids = np.stack([ids_of(x, shape, lo, hi), ids_of(y, shape, lo, hi)], axis=1)
            a = xv[positions(x, shape, lo, hi) - xo]
            b = yv[positions(y, shape, lo, hi) - yo]
            ptr = np.arange(hi - lo + 1) * (2 * nk)
            d = np.stack([b, a], axis=1)
            yield self.start + lo, ptr, ids.reshape(-1), d.reshape(-1)


class Centred(Dot):
    """Products of deviations: all first partials are zero."""

    __slots__ = ()

    centred = True

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Nothing is passed on."""

    def tangent(self, s: Array, absolute: bool) -> None:
        """The tangents are zero."""
        s[self.start : self.stop] = 0

    def has_zero(self) -> bool:
        """All are."""
        return True

    def alive(self, live: Array) -> None:
        """The nodes are dead."""
        live[self.start : self.stop] = 0

    def reach(self, mark: Array, mode: int) -> None:
        """Dependence through the second partials only."""
        if mode > 0:
            wide.dot_reach(mark, *self.args, mode)

    def expanded(self) -> Iterator[Expanded]:
        """No slot counts."""
        none = np.empty(0, dtype=np.int64)
        ptr = np.zeros(self.stop - self.start + 1, dtype=np.int64)
        yield self.start, ptr, none, self.args[3][0][:0]


def chunks(shape: Shape, slots: int) -> Iterator[tuple[int, int]]:
    """Ranges of nodes with at most about ``CHUNK`` slots."""
    n = math.prod(shape[1:4])
    size = max(1, CHUNK // max(slots, 1))
    for lo in range(0, n, size):
        yield lo, min(lo + size, n)


def positions(walk: Walk, shape: Shape, lo: int, hi: int) -> Array:
    """Positions of all summands of the nodes ``lo .. hi``, flat."""
    _, _, n1, n2, nk = shape
    _, start, s0, s1, s2, sk = walk
    o = np.arange(lo, hi, dtype=np.int64)
    first = start + (o // (n1 * n2)) * s0 + ((o // n2) % n1) * s1 + (o % n2) * s2
    found: Array = first[:, None] + sk * np.arange(nk, dtype=np.int64)[None, :]
    return found.reshape(-1)


def ids_of(walk: Walk, shape: Shape, lo: int, hi: int) -> Array:
    """Node ids of all summands of the nodes ``lo .. hi``, flat."""
    found = positions(walk, shape, lo, hi)
    return walk[0][found] if walk[0].size else found
