"""Reverse sweeps of which only the inputs' entries are wanted, tile by tile."""

from __future__ import annotations

import mmap
from dataclasses import replace
from typing import Any

import numpy as np

from ..tape import Tape
from . import _tiles
from ._lower import Program
from ._passes import adjoints, cover_pass, covered, settle
from ._slots import slot_cover, usable
from ._step import Array, CoverState
from ._tiles import Group, Plan
from ._windows import Spot, Windows, windows
from .kernels import line
from .kernels._jit import charge

__all__ = ["input_adjoints", "input_cover"]

_PAGED = 1 << 21  # bytes from which a vector has pages of its own


def input_adjoints(program: Program, tape: Tape, out: int) -> Array:
    """Adjoints of the inputs for one output: the bits of a sweep that keeps all.

    What it holds of long entrywise steps are windows of some ten thousand entries.
    """
    plan = _planned(program, tape, out)
    if plan is None:
        return adjoints(program, tape, 1.0, out)[: tape.ninputs]
    charge(tape.nnodes)
    v, x = _vectors(plan, tape, tape.dtype)
    v[out] = 1
    with np.errstate(all="ignore"):
        for item in plan.items:
            if isinstance(item, Group):
                with windows(item, (v,), (x,)) as tiles:
                    _adjoint(tiles)
            else:
                item.adjoint(v, False)
    return x if x is not v else v[: tape.ninputs].copy()


def input_cover(
    program: Program, tape: Tape, out: int, state: CoverState
) -> tuple[Array, Array]:
    """Adjoints and sum merge ``g`` of the inputs for one output, as :func:`cover_pass`."""
    n = tape.ninputs
    plan = _planned(program, tape, out)
    if plan is not None:
        charge(2 * tape.nnodes)
        adj, x = _vectors(plan, tape, tape.dtype)
        g, xg = _vectors(plan, tape, tape.magtype)
        adj[out] = 1
        with np.errstate(all="ignore"):
            done = True
            for item in plan.items:
                if isinstance(item, Group):
                    with windows(item, (adj, g), (x, xg)) as tiles:
                        done = done and _cover(tiles, state, tape, out)
                elif done:
                    covered(tape, item, adj, g, state, out)
        if done:
            return (x, xg) if plan.apart else (x[:n].copy(), xg[:n].copy())
        # Some weight is not finite: the sweep over whole steps says which.
    adj, g = cover_pass(program, tape, out, 1.0, state)
    return adj[:n], g[:n]


def _planned(program: Program, tape: Tape, out: int) -> Plan | None:
    """The plan of a sweep, where some steps are long enough for tiles."""
    if tape.box is not None:
        return None
    kept = tape.cache.get("tiles")
    if kept is None or kept.out != out:
        steps = program.below(out)
        if not any(step.stop - step.start >= _tiles.LONG for step in steps):
            return None
        kept = tape.cache["tiles"] = _tiles.plan(steps, out, tape.ninputs)
    return kept if kept.has_groups else None


def _vectors(plan: Plan, tape: Tape, dtype: Any) -> tuple[Array, Array]:
    """Zeros for all nodes, and for the inputs: apart, where no step needs them at hand."""
    n = tape.nnodes
    if n * dtype.itemsize < _PAGED:
        v = np.zeros(n, dtype=dtype)
    else:  # most of it is never touched
        v = np.frombuffer(mmap.mmap(-1, n * dtype.itemsize), dtype=dtype)
    return v, np.zeros(tape.ninputs, dtype=dtype) if plan.apart else v


def _adjoint(tiles: Windows) -> None:
    """Reverse sweep of a group."""
    for spot in tiles:
        part, lo, hi = spot.part, spot.lo, spot.hi
        if part.is_sum:
            spot.add_sum()
            continue
        for slot in part.slots:
            (p,) = spot.parents(slot)
            d, t, m = slot.args[:3]
            line.line(spot.own[0], p, d[lo:hi] if t else d, t, m, False, slot.first)


def _cover(tiles: Windows, state: CoverState, tape: Tape, out: int) -> bool:
    """Joint sweep of a group; False where some weight is not finite."""
    for spot in tiles:
        if spot.part.is_sum:
            spot.add_sum()
        elif not spot.part.step.cross:
            if not _cover_lines(spot):
                return False
        elif not _cover_products(spot, state):
            _cover_entries(spot, state, tape, out)
    return True


def _cover_lines(spot: Spot) -> bool:
    lo, hi = spot.lo, spot.hi
    w, wg = spot.own
    for slot in spot.part.slots:
        d, t, m, c, u, curved = slot.args
        args = (d[lo:hi] if t else d, t, m, c[lo:hi] if u else c, u, curved)
        p, pg = spot.parents(slot)
        if not slot_cover(args, w, wg, p, pg, slot.first):
            return False
    return True


def _cover_products(spot: Spot, state: CoverState) -> bool:
    """Products of live slots that all carry a usable pair of values, at once."""
    step, slots, lo, hi = spot.part.step, spot.part.slots, spot.lo, spot.hi
    live = state.live
    if not step.is_plain_product() or (
        live.size and not all(live[s.a0 + lo : s.a0 + hi].all() for s in slots)
    ):
        return False
    z1, _, z2, _ = step.refs
    args = (z1[lo:hi], z2[lo:hi], abs(step.twice[2][0]))
    if not line.splits_by_values(spot.own[0], *args, state.ratio, usable(spot.own[1])):
        return False
    for slot in slots:
        second = slot.a0 != step.topo[4]
        d = slot.args[0][lo:hi]
        line.product_cover(*spot.own, *spot.parents(slot), d, *args, second, slot.first)
    return True


def _cover_entries(spot: Spot, state: CoverState, tape: Tape, out: int) -> None:
    """Nodes with a mixed second partial, one by one, on a copy of what they touch."""
    part, lo, hi = spot.part, spot.lo, spot.hi
    low, high = part.slots  # in the order of their parents
    n, gap = hi - lo, high.a0 - low.a0
    for slot in part.slots:
        if slot.first:
            for p in spot.parents(slot):
                p.fill(0)
    if gap < n:
        pieces = [(low.a0 + lo, spot.parents(low, gap))]
    else:
        pieces = [(s.a0 + lo, spot.parents(s)) for s in part.slots]
    pieces.append((part.step.start + lo, spot.own))
    adj, g = (np.concatenate([p[k] for _, p in pieces]) for k in (0, 1))
    here = [slice(first, first + p[0].size) for first, p in pieces]
    live = np.concatenate([state.live[s] for s in here])
    mine = replace(state, live=live, sigma=state.sigma[:0])
    step = part.step.cut(lo, hi, adj.size - n, (low.a0, 0), (high.a0, min(gap, n)))
    left, status = n, 1
    while status:
        if state.sigma.size and not mine.sigma.size:
            mine.sigma = np.concatenate([state.sigma[s] for s in here])
        status, left = step.cover_each(adj, g, mine, left)
        if status:
            settle(tape, state, status, part.step.start + lo + left - 1, out)
    first = 0
    for _, (p, pg) in pieces[:-1]:
        p[:], pg[:] = adj[first : first + p.size], g[first : first + p.size]
        first += p.size
