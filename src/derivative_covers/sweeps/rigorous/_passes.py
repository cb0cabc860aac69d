"""Passes over a program over a box; see the passes at a point for what they are.

Sums of second-order terms need not be formed on the way: they are sources that stand in
the vector before the sweep. So a cover is a signed sweep, a scan for the slot weights,
and a sweep of magnitudes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...elements import Interval, Upward
from ...elements import _outward as outward
from ...elements._interval import pair
from ...tape import Tape
from .._step import Array, CoverState
from ..kernels._jit import charge
from ._lower import WORK, BoxProgram
from ._steps import Ends
from ._weights import parts, scatter, settled, whole

__all__ = [
    "adjoints",
    "cover_pass",
    "hessian_matrix",
    "magnitudes",
    "second_order",
    "slot_weights",
    "swept",
    "tangents",
]


def adjoints(
    program: BoxProgram, tape: Tape, seeds: Any, outs: Any, *, absolute: bool = False
) -> Any:
    """Adjoints of all nodes for weighted outputs: one reverse sweep."""
    v = _seeded(tape.nnodes, outs, seeds, absolute)
    return _number(swept(program, v, int(np.max(outs))))


def swept(program: BoxProgram, v: Ends, last: int) -> Ends:
    """A reverse sweep from what stands in ``v``, which is overwritten."""
    charge(WORK * v[0].size)
    with np.errstate(all="ignore"):
        for step in reversed(program.arithmetic(len(v) == 1, last)):
            step.adjoint(v)
    return v


def tangents(program: BoxProgram, tape: Tape, w: Any, *, absolute: bool = False) -> Any:
    """Tangents of all nodes for a direction of the inputs: one forward sweep."""
    n = tape.nnodes
    charge(WORK * n)
    s = _zeros(n, absolute)
    for mine, given in zip(s, _ends(w, absolute), strict=True):
        mine[: tape.ninputs] = np.ravel(given)
    with np.errstate(all="ignore"):
        for step in program.arithmetic(absolute, n - 1):
            step.tangent(s)
    return _number(s)


def second_order(
    program: BoxProgram,
    tape: Tape,
    vbar: Any,
    dot: Any,
    out: Any,
    *,
    absolute: bool = False,
) -> Any:
    """``sum_k vbar_k C^k_ij dot_j`` swept back to all nodes: one reverse sweep."""
    last = int(np.max(out))
    b = _zeros(tape.nnodes, absolute)
    weights, directions = _ends(vbar, absolute), _ends(dot, absolute)
    with np.errstate(all="ignore"):
        for step in program.arithmetic(absolute, last):
            step.source(b, weights, directions)
    return _number(swept(program, b, last))


def hessian_matrix(program: BoxProgram, tape: Tape, vbar: Any, out: int) -> Any:
    """The Hessian of an output whose adjoints are given, a product an input."""
    n = tape.ninputs
    lo, hi = np.empty((n, n)), np.empty((n, n))
    for a in range(n):
        e = np.zeros(n)
        e[a] = 1
        dot = tangents(program, tape, e)
        lo[a], hi[a] = pair(second_order(program, tape, vbar, dot, out)[:n])
    return Interval(np.maximum(lo, lo.T), np.minimum(hi, hi.T))


def cover_pass(
    program: BoxProgram, tape: Tape, out: Any, seeds: Any, state: CoverState
) -> tuple[Any, Array]:
    """Adjoints and sum merge ``g`` of all nodes: two reverse sweeps."""
    adj = adjoints(program, tape, seeds, out)
    size = magnitudes(adj)
    last = int(np.max(out))
    g = np.zeros(tape.nnodes)
    with np.errstate(all="ignore"):
        for step in program.below(last):
            for part in parts(step):
                scatter(g, part, settled(tape, part, size, state))
    return adj, swept(program, (g,), last)[0]


def slot_weights(
    program: BoxProgram, tape: Tape, adj: Any, state: CoverState
) -> list[Any]:
    """Slot weights ``rho`` of every step."""
    size = magnitudes(adj)
    with np.errstate(all="ignore"):
        return [settled(tape, whole(step), size, state) for step in program.steps]


def magnitudes(x: Any) -> Array:
    """The largest absolute value of members."""
    lo, hi = pair(x)
    found: Array = np.maximum(np.abs(lo), np.abs(hi))
    return found


def _zeros(n: int, absolute: bool) -> Ends:
    return (np.zeros(n),) if absolute else (np.zeros(n), np.zeros(n))


def _seeded(n: int, outs: Any, seeds: Any, absolute: bool) -> Ends:
    """Zeros but for the outputs; one that occurs several times has all its seeds."""
    v = _zeros(n, absolute)
    ids = np.ravel(outs)
    given = tuple(
        np.broadcast_to(e, np.shape(outs)).ravel() for e in _ends(seeds, absolute)
    )
    if np.unique(ids).size == ids.size:
        for mine, e in zip(v, given, strict=True):
            mine[ids] = e
        return v
    for at, k in enumerate(ids.tolist()):
        if absolute:
            v[0][k] = np.asarray(Upward(v[0][k]) + given[0][at])
        else:
            both = (v[0][k], v[1][k]), (given[0][at], given[1][at])
            v[0][k], v[1][k] = outward.add(*both)
    return v


def _ends(x: Any, absolute: bool) -> Ends:
    """One array of magnitudes, or both ends."""
    return (np.asarray(x, dtype=np.float64),) if absolute else pair(x)


def _number(v: Ends) -> Any:
    return v[0] if len(v) == 1 else Interval._wrap((v[0], v[1]))
