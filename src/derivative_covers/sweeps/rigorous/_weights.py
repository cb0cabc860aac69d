"""Slot weights over a box, and where they go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...tape import Tape
from .._entrywise import Pair
from .._passes import settle
from .._step import Array, CoverState, Step
from .._wide import Dot, chunks, ids_of, positions
from ..kernels import upward
from ._explicit import BoxNode

__all__ = ["parts", "scatter", "settled", "whole"]

NO_GROUP = np.empty(0, dtype=np.int32)
ZERO, ONE = np.zeros(1), np.ones(1)


class Part(NamedTuple):
    """Blocks of two slots, ``per`` a node: what the kernels of weights take."""

    step: Step
    topo: Any
    twice: Any
    refs: Any
    per: int
    merge: bool


def whole(step: Step) -> Part | Step:
    """All blocks of a step; an explicit node is its own part."""
    if isinstance(step, Dot):
        return _products(step, 0, step.stop - step.start)
    if isinstance(step, Pair) and step.curved:
        return Part(step, step.topo, step.twice, step.refs, 1, False)
    return step


def parts(step: Step) -> Iterator[Part | Step]:
    """The blocks of a step, not too many products at a time."""
    if isinstance(step, Dot):
        shape = step.args[0]
        for lo, hi in chunks(shape, 2 * shape[4]):
            yield _products(step, lo, hi)
    elif step.curved:
        yield whole(step)


def _products(step: Dot, lo: int, hi: int) -> Part:
    shape, x, y, (xv, xo, yv, yo) = step.args
    a, b = ids_of(x, shape, lo, hi), ids_of(y, shape, lo, hi)
    z1, z2 = xv[positions(x, shape, lo, hi) - xo], yv[positions(y, shape, lo, hi) - yo]
    topo = (step.start + lo, a.size, True, a, 0, 0, b, 0, 0)
    twice, refs = (ZERO, 0, ONE, 0, ZERO, 0), (z1, 1, z2, 1)
    return Part(step, topo, twice, refs, shape[4], step.merge)


def settled(tape: Tape, part: Part | Step, size: Array, state: CoverState) -> Any:
    """Slot weights, from the magnitudes of adjoints; None without a second-order term."""
    if isinstance(part, BoxNode):
        return part.rho(size[part.start], state)
    if not isinstance(part, Part):
        return None
    _, topo, twice, refs, per, merge = part
    r1, r2 = np.empty(topo[1]), np.empty(topo[1])
    while True:
        status, k = upward.weights(
            r1, r2, size, per, topo, twice, refs, merge, state.options
        )
        if not status:
            return r1, r2
        settle(tape, state, status, topo[0] + k // per, None)


def scatter(
    g: Array, part: Part | Step, rho: Any, group: Array = NO_GROUP, want: int = 0
) -> None:
    """Add weights at their slots: those of one group, or all where there is none."""
    if rho is None:
        return
    if isinstance(part, BoxNode):
        if group.size:
            kept = np.zeros_like(rho)
            for atom, slots in enumerate(part.atoms()):
                if group[atom] == want:
                    kept[list(slots)] = rho[list(slots)]
            rho = kept
        upward.scatter(g, rho, part.parents, 0, 0, NO_GROUP, 0)
        return
    assert isinstance(part, Part)
    _, _, two, aid, a0, sa, bid, b0, sb = part.topo
    upward.scatter(g, rho[0], aid, a0, sa, group, want)
    if two:
        upward.scatter(g, rho[1], bid, b0, sb, group, want)
