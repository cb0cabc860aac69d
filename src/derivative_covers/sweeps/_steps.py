"""The steps of a sweep: blocks of a tape in the form that kernels take.

Every step offers the same passes; a sweep is a loop over steps, forward or backward,
that calls one kernel a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..local import NoCurvature, ScaleSource, SplitScale
from ..tape import Tape, TapeSite
from ._load import pair, wide

__all__ = ["CoverState", "Dot", "Explicit", "Linear", "Pair", "Step", "Weights"]

Array = NDArray[Any]
Weights = tuple[Array, Array]
Expanded = tuple[int, Array, Array, Array]
CHUNK = 1 << 18  # slots of a chunk of expanded nodes

_NONE = np.empty(0, dtype=np.int64)

NEEDS_SCALE, NOT_FINITE, NOT_COVERED = 1, 2, 3


@dataclass(slots=True)
class CoverState:
    """What a cover sweep reads beside the tape: liveness, declared scales, options."""

    source: ScaleSource
    ratio: Any
    check: bool
    live: Array  # one byte a node; empty where every node is live
    limit: float
    sigma: Array = field(default_factory=lambda: np.empty(0))

    def ask(self) -> None:
        """Build the declared scales, which some block asked for."""
        self.sigma = np.asarray(self.source.scales)


class Step:
    """A group of nodes ``start .. stop`` and its passes; ``v``, ``s``, ... are a node."""

    __slots__ = ("start", "stop")

    start: int
    stop: int
    curved = False
    cross = False  # whether a split with an active off-diagonal entry can occur

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse: ``v[parent] += d v[node]``."""

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward: ``s[node] = sum d s[parent]``."""

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Reverse, second order."""

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Reverse: adjoints and sum merge; ``(status, nodes that remain)``."""
        return 0, 0

    def weights(self, adj: Array, state: CoverState) -> tuple[Any, int, int]:
        """Slot weights of all nodes, and ``(status, nodes that remain)``."""
        return None, 0, 0

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """Reverse: one channel of the hybrid merge."""

    def asks(self, ratio: Any) -> bool:
        """Whether a block could ask for declared scales."""
        return False

    def has_zero(self) -> bool:
        """Whether some first partial is exactly zero."""
        return False

    def alive(self, live: Array) -> None:
        """Forward: liveness."""

    def reach(self, mark: Array, structural: bool) -> None:
        """Reverse: dependence."""

    def natoms(self) -> int:
        """Number of atoms."""
        return 0

    def slot_ids(self) -> tuple[Array, Array]:
        """First and second parent of every atom."""
        return _NONE, _NONE

    def rho_of(self, k: int, rho: Any) -> Array | None:
        """Slot weights of node ``k``."""
        return None

    def expanded(self) -> Iterator[Expanded]:
        """The nodes in chunks, as ``(first node, ptr, parents, partials)``."""
        return iter(())


class Leaves(Step):
    """Inputs and constants: nodes without parents."""

    __slots__ = ("live",)

    def __init__(self, start: int, stop: int, live: bool) -> None:
        self.start, self.stop, self.live = start, stop, live

    def has_zero(self) -> bool:
        """Constants are dead."""
        return not self.live

    def alive(self, live: Array) -> None:
        """Inputs are live, constants are not."""
        live[self.start : self.stop] = self.live


class Pair(Step):
    """Entrywise nodes of one or two parents."""

    __slots__ = ("cross", "curved", "first", "n", "refs", "topo", "twice")

    def __init__(
        self,
        topo: tuple[Any, ...],
        first: tuple[Any, ...],
        twice: tuple[Any, ...],
        refs: tuple[Any, ...],
        curved: bool,
        cross: bool,
    ) -> None:
        self.topo, self.first, self.twice, self.refs = topo, first, twice, refs
        self.start, self.n = topo[0], topo[1]
        self.stop = self.start + self.n
        self.curved, self.cross = curved, cross

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        pair().adjoint(v, *self.topo, *self.first, absolute)

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward sweep."""
        pair().tangent(s, *self.topo, *self.first, absolute)

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep."""
        pair().second(
            b, vbar, dot, *self.topo, *self.first, *self.twice, self.curved, absolute
        )

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep."""
        status, left = pair().cover(
            adj, g, last, *self.topo, *self.first, *self.twice, self.curved, *self.refs,
            state.live, state.sigma, state.ratio, state.check, state.limit,
        )  # fmt: skip
        return status, left

    def weights(self, adj: Array, state: CoverState) -> tuple[Any, int, int]:
        """Slot weights, one pair of arrays."""
        if not self.curved:
            return None, 0, 0
        r1 = np.empty(self.n, dtype=adj.dtype)
        r2 = np.empty(self.n, dtype=adj.dtype)
        status, left = pair().weights(
            r1, r2, adj, *self.topo, *self.twice, *self.refs,
            state.live, state.sigma, state.ratio, state.check, state.limit,
        )  # fmt: skip
        return (r1, r2), status, left

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel."""
        r1, r2 = rho if rho is not None else (_empty(g), _empty(g))
        pair().inject(g, *self.topo, *self.first, r1, r2, group, want)

    def asks(self, ratio: Any) -> bool:
        """Scan for unusable value pairs."""
        return self.cross and bool(
            pair().asks(*self.topo, *self.twice, *self.refs, ratio)
        )

    def has_zero(self) -> bool:
        """Scan the partials."""
        d1, _, d2, _ = self.first
        two = self.topo[2]
        nonzero = pair().nonzero
        return bool(not nonzero(d1) or (two and not nonzero(d2)))

    def alive(self, live: Array) -> None:
        """Liveness."""
        pair().alive(live, *self.topo, *self.first)

    def reach(self, mark: Array, structural: bool) -> None:
        """Dependence."""
        pair().reach(mark, *self.topo, *self.first, structural)

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
        two = self.topo[2]
        if two:
            a, b = self.slot_ids()
            two = a[at] != b[at]
        return np.array([r[at] for r in (rho if two else rho[:1])])

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


class Linear(Step):
    """Linear nodes over a strided walk."""

    __slots__ = ("args", "coef")

    def __init__(
        self, start: int, stop: int, args: tuple[Any, ...], coef: Array
    ) -> None:
        self.start, self.stop, self.args, self.coef = start, stop, args, coef

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        wide().linear_adjoint(v, *self.args, absolute)

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward sweep."""
        wide().linear_tangent(s, *self.args, absolute)

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep."""
        wide().linear_adjoint(b, *self.args, absolute)

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep: there is no curvature."""
        wide().linear_adjoint(adj, *self.args, False)
        wide().linear_adjoint(g, *self.args, True)
        return 0, 0

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel."""
        wide().linear_adjoint(g, *self.args, True)

    def has_zero(self) -> bool:
        """Scan the coefficients."""
        return not pair().nonzero(self.coef)

    def alive(self, live: Array) -> None:
        """Liveness."""
        wide().linear_alive(live, *self.args)

    def reach(self, mark: Array, structural: bool) -> None:
        """Dependence."""
        wide().linear_reach(mark, *self.args, structural)

    def expanded(self) -> Iterator[Expanded]:
        """One slot a summand."""
        _, n0, n1, n2, nk, xid, x0, s0, s1, s2, sk, coef, c0, c1, c2, ck = self.args
        for lo, hi, levels in _node_chunks(n0, n1, n2, nk):
            ids = _walk(levels, nk, x0, (s0, s1, s2, sk))
            d = coef[_walk(levels, nk, 0, (c0, c1, c2, ck))]
            ptr = (
                np.arange(0, (hi - lo) * nk + 1, nk)
                if nk
                else np.zeros(hi - lo + 1, int)
            )
            yield self.start + lo, ptr, xid[ids] if xid.size else ids, d


class Dot(Step):
    """Inner products of recorded entries."""

    __slots__ = ("args", "merge", "npairs")

    curved = True
    cross = True

    def __init__(
        self, start: int, stop: int, args: tuple[Any, ...], merge: bool, npairs: int
    ) -> None:
        self.start, self.stop, self.args = start, stop, args
        self.merge, self.npairs = merge, npairs

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        wide().dot_adjoint(v, *self.args, absolute)

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward sweep."""
        wide().dot_tangent(s, *self.args, absolute)

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep."""
        wide().dot_second(b, vbar, dot, *self.args, absolute)

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep."""
        status, left = wide().dot_cover(
            adj, g, last, *self.args, self.merge,
            state.live, state.sigma, state.ratio, state.check, state.limit,
        )  # fmt: skip
        return status, left

    def weights(self, adj: Array, state: CoverState) -> tuple[Any, int, int]:
        """Slot weights, one pair of arrays over all pairs."""
        r1 = np.empty(self.npairs, dtype=adj.dtype)
        r2 = np.empty(self.npairs, dtype=adj.dtype)
        status, left = wide().dot_weights(
            r1, r2, adj, *self.args, self.merge,
            state.live, state.sigma, state.ratio, state.check, state.limit,
        )  # fmt: skip
        return (r1, r2), status, left

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel."""
        r1, r2 = rho
        wide().dot_inject(g, *self.args, self.merge, r1, r2, group, want)

    def asks(self, ratio: Any) -> bool:
        """Scan for unusable value pairs."""
        return bool(wide().dot_asks(*self.args, self.merge, ratio))

    def has_zero(self) -> bool:
        """Scan the operands."""
        nonzero = pair().nonzero
        return not nonzero(self.args[-4]) or not nonzero(self.args[-2])

    def alive(self, live: Array) -> None:
        """Liveness."""
        wide().dot_alive(live, *self.args)

    def reach(self, mark: Array, structural: bool) -> None:
        """Dependence."""
        wide().dot_reach(mark, *self.args, structural)

    def natoms(self) -> int:
        """Number of pairs."""
        return self.npairs

    def slot_ids(self) -> tuple[Array, Array]:
        """Both parents of every pair."""
        _, n0, n1, n2, nk, xid, x0, s0, s1, s2, sk, yid, y0, t0, t1, t2, tk = self.args[
            :17
        ]
        levels = _levels(n0, n1, n2, 0, n0 * n1 * n2)
        p = _walk(levels, nk, x0, (s0, s1, s2, sk))
        q = _walk(levels, nk, y0, (t0, t1, t2, tk))
        return xid[p] if xid.size else p, yid[q] if yid.size else q

    def rho_of(self, k: int, rho: Any) -> Array | None:
        """Slot weights, those of the first operand first."""
        nk = self.args[4]
        at = slice((k - self.start) * nk, (k - self.start + 1) * nk)
        found = np.concatenate([rho[0][at], rho[1][at]])
        return found if found.any() else None

    def expanded(self) -> Iterator[Expanded]:
        """Two slots a pair."""
        _, n0, n1, n2, nk, xid, x0, s0, s1, s2, sk, yid, y0, t0, t1, t2, tk = self.args[
            :17
        ]
        xv, xo, yv, yo = self.args[17:]
        for lo, hi, levels in _node_chunks(n0, n1, n2, 2 * nk):
            p = _walk(levels, nk, x0, (s0, s1, s2, sk))
            q = _walk(levels, nk, y0, (t0, t1, t2, tk))
            ids = np.empty((p.size, 2), dtype=np.int64)
            ids[:, 0], ids[:, 1] = xid[p] if xid.size else p, yid[q] if yid.size else q
            d = np.empty((p.size, 2), dtype=xv.dtype)
            d[:, 0], d[:, 1] = yv[q - yo], xv[p - xo]
            ptr = np.arange(0, 2 * (hi - lo) * nk + 1, 2 * nk)
            yield self.start + lo, ptr, ids.reshape(-1), d.reshape(-1)


class Explicit(Step):
    """One node given explicitly; its curvature form takes part through its methods."""

    __slots__ = ("curvature", "d", "dtype", "parents", "tape")

    cross = True

    def __init__(
        self, tape: Tape, k: int, parents: Array, d: Array, curvature: Any
    ) -> None:
        self.tape, self.start, self.stop = tape, k, k + 1
        self.parents, self.d, self.curvature = parents, d, curvature

    @property
    def curved(self) -> bool:  # type: ignore[override]
        """Whether there is a second-order term."""
        return not isinstance(self.curvature, NoCurvature)

    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse sweep."""
        w = v[self.start]
        if w != 0:
            d = np.abs(self.d) if absolute else self.d
            np.add.at(v, self.parents, d * w)

    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward sweep."""
        d = np.abs(self.d) if absolute else self.d
        x = s[self.parents]
        on = x != 0
        s[self.start] = np.sum(d[on] * x[on])

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Second-order sweep (its absolute twin goes through ``bound_contribution``)."""
        self.adjoint(b, absolute)
        av = vbar[self.start]
        if av != 0 and not absolute:
            self.curvature.curvature_apply(b, self.parents, av, dot)

    def rho(self, av: Any, state: CoverState) -> Array | None:
        """Slot weights of the node, or None without a second-order term."""
        if av == 0 or not self.curved:
            return None
        values = np.abs(self.tape.vals[self.parents])
        sl = [
            SplitScale(value, state.source.reference(int(p)))
            for value, p in zip(values, self.parents, strict=True)
        ]
        found: list[Any] = []
        site = TapeSite(self.tape, self.start)
        if not self.curvature.cover_slots_into(
            found, state.ratio, site, av, sl, check=state.check
        ):
            return None
        return np.asarray(found, dtype=self.d.dtype)

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Joint sweep."""
        rho = self.rho(abs(adj[self.start]), state)
        self.adjoint(adj, False)
        self.adjoint(g, True)
        if rho is not None:
            np.add.at(g, self.parents, rho)
        return 0, 0

    def weights(self, adj: Array, state: CoverState) -> tuple[Any, int, int]:
        """Slot weights, one array."""
        return self.rho(abs(adj[self.start]), state), 0, 0

    def atoms(self) -> tuple[tuple[int, ...], ...]:
        """Slot groups that the quadrature merge combines separately."""
        return tuple(tuple(a) for a in self.curvature.atom_slots(self.parents.size))

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """One channel; a group an atom."""
        self.adjoint(g, True)
        if rho is not None:
            for atom, slots in enumerate(self.atoms()):
                if group[atom] == want:
                    at = list(slots)
                    np.add.at(g, self.parents[at], rho[at])

    def asks(self, ratio: Any) -> bool:
        """Whether building its cover with unit weight consults a declared scale."""
        asked = False

        def scales() -> Any:
            nonlocal asked
            asked = True
            return np.ones(self.start + 1, dtype=self.d.dtype)

        nothing = np.zeros(self.start + 1, dtype=bool)
        state = CoverState(
            ScaleSource(scales, lambda: nothing), ratio, False, np.empty(0), 2.0**1022
        )
        self.rho(self.d.dtype.type(1), state)
        return asked

    def has_zero(self) -> bool:
        """Scan the partials."""
        return bool((self.d == 0).any())

    def alive(self, live: Array) -> None:
        """Liveness."""
        live[self.start] = bool((live[self.parents].astype(bool) & (self.d != 0)).any())

    def reach(self, mark: Array, structural: bool) -> None:
        """Dependence."""
        if mark[self.start]:
            mark[self.parents if structural else self.parents[self.d != 0]] = 1

    def natoms(self) -> int:
        """Number of slot groups."""
        return len(self.atoms()) if self.curved else 0

    def rho_of(self, k: int, rho: Any) -> Array | None:
        """Slot weights."""
        return rho  # type: ignore[no-any-return]

    def expanded(self) -> Iterator[Expanded]:
        """The node itself."""
        yield self.start, np.array([0, self.parents.size]), self.parents, self.d


Levels = tuple[Array, Array, Array]


def _levels(n0: int, n1: int, n2: int, lo: int, hi: int) -> Levels:
    o = np.arange(lo, hi, dtype=np.int64)
    return o // (n1 * n2), (o // n2) % n1, o % n2


def _node_chunks(
    n0: int, n1: int, n2: int, slots: int
) -> Iterator[tuple[int, int, Levels]]:
    """Ranges of nodes with at most about ``CHUNK`` slots, and their level indices."""
    n = n0 * n1 * n2
    size = max(1, CHUNK // max(slots, 1))
    for lo in range(0, n, size):
        hi = min(lo + size, n)
        yield lo, hi, _levels(n0, n1, n2, lo, hi)


def _walk(
    levels: Levels, nk: int, start: int, strides: tuple[int, int, int, int]
) -> Array:
    """Positions of all summands of the nodes, flat."""
    i, j, m = levels
    first = start + i * strides[0] + j * strides[1] + m * strides[2]
    k = np.arange(nk, dtype=np.int64)
    found: Array = first[:, None] + strides[3] * k[None, :]
    return found.reshape(-1)
