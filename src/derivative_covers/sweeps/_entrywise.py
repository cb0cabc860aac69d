"""The step of entrywise nodes, of one or two parents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _listed
from ._slots import Line, slot_cover, usable
from ._step import CHUNK, NOT_FINITE, Array, CoverState, Expanded, Step
from .kernels import line, listed, pair

__all__ = ["Pair"]


class Pair(Step):
    """Entrywise nodes of one or two parents.

    Args:
        topo: ``(k0, n, two, aid, a0, sa, bid, b0, sb)``: first node and number of nodes;
            whether there is a second slot; per slot the parents' ids, or where these are
            empty the first parent and the stride.
        first: ``(d1, t1, d2, t2)``: first partials of both slots, each an array with its
            stride (0 where one entry serves all nodes).
        twice: ``(c11, u11, c12, u12, c22, u22)``: second partials likewise.
        refs: ``(z1, w1, z2, w2)``: the parents' values likewise, read by splits alone;
            a stride of 2 says that they are those of all nodes.
        curved: Whether some second partial is active.
        cross: Whether some mixed one is, between slots of two parents.
        lines: The slots once more, where nodes and parents are consecutive.
    """

    __slots__ = (
        "cross",
        "curved",
        "first",
        "kinds",
        "lines",
        "listed",
        "n",
        "refs",
        "sizes",
        "topo",
        "twice",
    )

    def __init__(
        self,
        topo: tuple[Any, ...],
        first: tuple[Any, ...],
        twice: tuple[Any, ...],
        refs: tuple[Any, ...],
        curved: bool,
        cross: bool,
        lines: tuple[Line, ...] = (),
    ) -> None:
        self.topo, self.first, self.twice, self.refs = topo, first, twice, refs
        self.start, self.n = topo[0], topo[1]
        self.stop = self.start + self.n
        self.curved, self.cross, self.lines = curved, cross, lines
        self.sizes: Pair | None = None
        self.listed = None if lines else _listed.columns(topo, first)
        self.kinds: Array | None = None  # made by the first joint sweep

    @property
    def is_complex(self) -> bool:
        """Whether the partials are complex, so that their sizes are other columns."""
        return bool(self.first[0].dtype.kind == "c")

    def _magnitudes(self) -> Pair:
        """The step of absolute partials, slots of one parent merged; made on first use.

        Kernels take absolute values of real partials themselves.
        """
        if not self.is_complex:
            return self
        if self.sizes is None:
            d1, t1, d2, t2 = self.first
            c11, u11, c12, u12, c22, u22 = self.twice
            first: tuple[Any, ...] = (abs(d1), t1, abs(d2), t2)
            twice: tuple[Any, ...] = (abs(c11), u11, abs(c12), u12, abs(c22), u22)
            if self.topo[2]:
                a, b = self.slot_ids()
                one = np.flatnonzero(a == b)
                if one.size:
                    columns = (d1, d2, c11, c12, c22)
                    d1, d2, c11, c12, c22 = (
                        np.array(np.broadcast_to(x, self.n)) for x in columns
                    )
                    d1[one] += d2[one]
                    c11[one] += 2 * c12[one] + c22[one]
                    d2[one] = c12[one] = c22[one] = 0
                    first = (abs(d1), 1, abs(d2), 1)
                    twice = (abs(c11), 1, abs(c12), 1, abs(c22), 1)
            self.sizes = Pair(
                self.topo, first, twice, self.refs, self.curved, self.cross
            )
        return self.sizes

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        if absolute and self.is_complex:
            self._magnitudes().adjoint(v, absolute)
            return
        if self.lines:
            w = v[self.start : self.stop]
            for a0, d, t, m, _, _, _ in self.lines:
                line.line(w, v[a0 : a0 + self.n], d, t, m, absolute, False)
            return
        if self.listed is not None and not absolute:
            listed.adjoint(v, *self.listed)
            return
        pair.adjoint(v, self.topo, self.first, absolute)

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward sweep."""
        first = self._magnitudes().first if absolute else self.first
        pair.tangent(s, self.topo, first, absolute)

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep."""
        on = self._magnitudes() if absolute else self
        pair.second(b, vbar, dot, on.topo, on.first, on.twice, on.curved, absolute)

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep."""
        if self.lines and last == self.n:
            if not self.cross:
                return self._cover_lines(adj, g)
            if self._cover_products(adj, g, state):
                return 0, 0
        return self.cover_each(adj, g, state, last)

    def cover_each(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep, node by node."""
        if self.listed is not None:
            return _listed.cover(self, adj, g, state, last)
        topo, first, curvature = self.topo, self.first, (self.twice, self.curved)
        status, left = pair.cover(
            adj, g, last, topo, first, *curvature, self.refs, state.options
        )
        return status, left

    def cut(self, lo: int, hi: int, start: int, *places: tuple[int, int]) -> Pair:
        """The entries ``lo .. hi`` as a step of its own, of nodes from ``start``.

        ``places`` say for each first parent of consecutive ones where these lie now.
        """

        def rows(columns: tuple[Any, ...]) -> tuple[Any, ...]:
            pairs = zip(columns[::2], columns[1::2], strict=True)
            return tuple(e for c, t in pairs for e in (c[lo:hi] if t else c, t))

        _, _, two, aid, a0, sa, bid, b0, sb = self.topo
        at = dict(places)
        topo = (start, hi - lo, two, aid, at[a0], sa, bid, at[b0], sb)
        first, twice, refs = map(rows, (self.first, self.twice, self.refs))
        return Pair(topo, first, twice, refs, self.curved, self.cross)

    def _cover_lines(self, adj: Array, g: Array) -> tuple[int, int]:
        mine = slice(self.start, self.stop)
        w, wg = adj[mine], g[mine]
        for slot in self.lines:
            at = slice(slot[0], slot[0] + self.n)
            if not slot_cover(slot[1:], w, wg, adj[at], g[at], False):
                c, u = slot[4:6]
                finite = np.isfinite(w) & np.isfinite(c[0] if u == 0 else c)
                return NOT_FINITE, int(np.flatnonzero(~finite)[0]) + 1
        return 0, 0

    def _cover_products(self, adj: Array, g: Array, state: CoverState) -> bool:
        """Products of live slots that all carry a usable pair of values, at once."""
        if not self.is_plain_product():
            return False
        if state.live.size and not all(
            state.live[a0 : a0 + self.n].all() for a0, *_ in self.lines
        ):
            return False
        mine = slice(self.start, self.stop)
        w, wg = adj[mine], g[mine]
        e = abs(self.twice[2][0])
        z1, _, z2, _ = self.refs
        if not line.splits_by_values(w, z1, z2, e, state.ratio, usable(g)):
            return False
        for a0, d, *_ in self.lines:
            second = a0 != self.topo[4]
            at = slice(a0, a0 + self.n)
            line.product_cover(w, wg, adj[at], g[at], d, z1, z2, e, second, False)
        return True

    def is_plain_product(self) -> bool:
        """Whether both operands are consecutive and only their mixed partial is active."""
        c11, u11, _, u12, c22, u22 = self.twice
        strides = (u11, u12, u22, *self.refs[1::2])
        plain = strides == (0, 0, 0, 1, 1) and c11[0] == 0 and c22[0] == 0
        return bool(self.lines) and plain

    def weights(self, adj: Array, state: CoverState) -> tuple[Any, int, int]:
        """Slot weights, one pair of arrays."""
        if not self.curved:
            return None, 0, 0
        M = adj.real.dtype
        r1, r2 = np.empty(self.n, dtype=M), np.empty(self.n, dtype=M)
        status, left = pair.weights(
            r1, r2, adj, self.topo, self.twice, self.refs, state.options
        )
        return (r1, r2), status, left

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel."""
        r1, r2 = rho if rho is not None else (_empty(g), _empty(g))
        pair.inject(g, self.topo, self.first, r1, r2, group, want)

    def asks(self, ratio: Any) -> bool:
        """Scan for unusable value pairs."""
        return self.cross and bool(pair.asks(self.topo, self.twice, self.refs, ratio))

    def has_zero(self) -> bool:
        """Scan the partials."""
        if not (self.first[1] or self.first[3]) and not self.topo[2]:
            return bool(self.first[0][0] == 0)
        return not pair.all_nonzero(self.topo, self.first)

    def finite(self) -> Array:
        """Scan first and second partials."""
        found = np.ones(self.n, dtype=bool)
        for column in (*self.first[::2], *self.twice[::2]):
            found &= np.isfinite(column)
        return found

    def alive(self, live: Array) -> None:
        """Liveness."""
        pair.alive(live, self.topo, self.first)

    def reach(self, mark: Array, mode: int) -> None:
        """Dependence."""
        pair.reach(mark, self.topo, self.first, self.twice, mode)

    def natoms(self) -> int:
        """Nodes with some nonzero second partial."""
        if not self.curved:
            return 0
        c11, u11, c12, u12, c22, u22 = self.twice
        if not (u11 or u12 or u22):
            return int(self.n)
        on = np.zeros(self.n, dtype=bool)
        for column in (c11, c12, c22):
            on |= column != 0
        return int(on.sum())

    def slot_ids(self) -> tuple[Array, Array]:
        """Parents of every node (twice the same one where there is no second)."""
        _, n, two, aid, a0, sa, bid, b0, sb = self.topo
        a = aid if aid.size else a0 + sa * np.arange(n, dtype=np.int64)
        if not two:
            return a, a
        return a, bid if bid.size else b0 + sb * np.arange(n, dtype=np.int64)

    def rho_of(self, k: int, rho: Any) -> Array | None:
        """Slot weights; None where both vanish."""
        at = k - self.start
        if rho is None or (rho[0][at] == 0 and rho[1][at] == 0):
            return None
        return np.array([rho[0][at], rho[1][at]])

    def expanded(self) -> Iterator[Expanded]:
        """Two slots a node; the second partial is zero where there is one."""
        d1, t1, d2, t2 = self.first
        a, b = self.slot_ids()
        for lo in range(0, self.n, CHUNK // 2):
            hi = min(lo + CHUNK // 2, self.n)
            m = hi - lo
            if not self.topo[2]:
                d = d1[lo:hi] if t1 else np.full(m, d1[0])
                yield self.start + lo, np.arange(m + 1), a[lo:hi], d
                continue
            ids = np.empty((m, 2), dtype=np.int64)
            ids[:, 0], ids[:, 1] = a[lo:hi], b[lo:hi]
            d = np.empty((m, 2), dtype=d1.dtype)
            d[:, 0] = d1[lo:hi] if t1 else d1[0]
            d[:, 1] = d2[lo:hi] if t2 else d2[0]
            ptr = np.arange(0, 2 * m + 1, 2)
            yield self.start + lo, ptr, ids.reshape(-1), d.reshape(-1)


def _empty(like: Array) -> Array:
    return np.empty(0, dtype=like.dtype)
