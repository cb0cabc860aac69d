"""Passes over a program over a box; see the passes at a point for what they are.

Sums of second-order terms need not be formed on the way: they are sources that stand in
the vector before the sweep. So a cover is a signed sweep, a scan for the slot weights,
and a sweep of magnitudes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...elements import Interval, upper_magnitudes
from ...elements._interval import pair
from ...tape import Tape
from .._step import Array, CoverState
from ..kernels._jit import charge
from ._lower import WORK, BoxProgram
from ._lower import magnitude as sizes
from ._numbers import numbers_of
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
    numbers = numbers_of(tape, absolute)
    v = _seeded(numbers, tape.nnodes, outs, seeds)
    return numbers.number(swept(program, v, _last(outs), absolute))


def swept(program: BoxProgram, v: Ends, last: int, absolute: Any) -> Ends:
    """A reverse sweep from what stands in ``v``, which is overwritten."""
    charge(WORK * v[0].size)
    with np.errstate(all="ignore"):
        for step in reversed(program.arithmetic(absolute, last)):
            step.adjoint(v)
    return v


def tangents(program: BoxProgram, tape: Tape, w: Any, *, absolute: bool = False) -> Any:
    """Tangents of all nodes for a direction of the inputs: one forward sweep."""
    n = tape.nnodes
    charge(WORK * n)
    numbers = numbers_of(tape, absolute)
    s = numbers.zeros(n)
    for mine, given in zip(s, numbers.ends(w), strict=True):
        mine[: tape.ninputs] = np.ravel(given)
    with np.errstate(all="ignore"):
        for step in program.arithmetic(absolute, n - 1):
            step.tangent(s)
    return numbers.number(s)


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
    last = _last(out)
    numbers = numbers_of(tape, absolute)
    b = numbers.zeros(tape.nnodes)
    weights, directions = numbers.ends(vbar), numbers.ends(dot)
    with np.errstate(all="ignore"):
        for step in program.arithmetic(absolute, last):
            step.source(b, weights, directions)
    return numbers.number(swept(program, b, last, absolute))


def hessian_matrix(program: BoxProgram, tape: Tape, vbar: Any, out: int) -> Any:
    """The Hessian of an output whose adjoints are given, a product an input."""
    n = tape.ninputs
    if tape.element is not None:
        return _element_hessian(program, tape, vbar, out)
    lo, hi = np.empty((n, n)), np.empty((n, n))
    for a in range(n):
        e = np.zeros(n)
        e[a] = 1
        dot = tangents(program, tape, e)
        lo[a], hi[a] = pair(second_order(program, tape, vbar, dot, out)[:n])
    return Interval(np.maximum(lo, lo.T), np.minimum(hi, hi.T))


def _element_hessian(program: BoxProgram, tape: Tape, vbar: Any, out: int) -> Any:
    n = tape.ninputs
    found = np.empty((n, n), dtype=object)
    for a in range(n):
        e = np.zeros(n)
        e[a] = 1
        row = second_order(program, tape, vbar, tangents(program, tape, e), out)[:n]
        found[a, a:] = found[a:, a] = row[a:]
    return found


def cover_pass(
    program: BoxProgram, tape: Tape, out: Any, seeds: Any, state: CoverState
) -> tuple[Any, Array]:
    """Adjoints and sum merge ``g`` of all nodes: two reverse sweeps."""
    adj = adjoints(program, tape, seeds, out)
    size = magnitudes(adj)
    last = _last(out)
    g = np.zeros(tape.nnodes)
    with np.errstate(all="ignore"):
        for step in program.below(last):
            for part in parts(step):
                scatter(g, part, settled(tape, part, size, state))
    return adj, swept(program, (g,), last, True)[0]


def slot_weights(
    program: BoxProgram, tape: Tape, adj: Any, state: CoverState
) -> list[Any]:
    """Slot weights ``rho`` of every step."""
    size = magnitudes(adj)
    with np.errstate(all="ignore"):
        return [settled(tape, whole(step), size, state) for step in program.steps]


def magnitudes(x: Any) -> Array:
    """The largest absolute value of members."""
    found: Array = upper_magnitudes(x) if isinstance(x, np.ndarray) else sizes(*pair(x))
    return found


def _last(outs: Any) -> int:
    """The largest of some ids."""
    return outs if type(outs) is int else int(np.max(outs))


def _seeded(numbers: Any, n: int, outs: Any, seeds: Any) -> Ends:
    """Zeros but for the outputs; one that occurs several times has all its seeds."""
    v: Ends = numbers.zeros(n)
    if type(outs) is int and type(seeds) is float and v[0].dtype == np.float64:
        for mine in v:
            mine[outs] = seeds
        return v
    ids = np.ravel(outs)
    given = tuple(
        np.broadcast_to(e, np.shape(outs)).ravel() for e in numbers.ends(seeds)
    )
    if np.unique(ids).size == ids.size:
        for mine, e in zip(v, given, strict=True):
            mine[ids] = e
        return v
    for at, k in enumerate(ids.tolist()):
        numbers.add(v, k, tuple(e[at] for e in given))
    return v
