"""Entrywise steps whose parents are all listed, as those of scalar programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._step import Array, CoverState
from .kernels import listed

__all__ = ["FEW", "columns", "cover", "kinds"]

FEW = 64  # nodes below which one more kernel call costs more than it saves


def columns(topo: tuple[Any, ...], first: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """``(k0, two, aid, bid, first)`` as :mod:`.kernels.listed` takes them.

    None where these kernels do not serve: some slot is a range or has one partial for all
    nodes, or numbers are complex, of which zero may have other signs.
    """
    k0, n, two, aid, _, _, bid, _, _ = topo
    d1, t1, d2, t2 = first
    if n < FEW or not (aid.size and t1 == 1) or d1.dtype.kind != "f":
        return None
    if not two:  # the second slot is never read
        bid, d2 = aid, d1
    elif not (bid.size and t2 == 1):
        return None
    return k0, two, aid.view(np.uint64), bid.view(np.uint64), (d1, 1, d2, 1)


def kinds(step: Any) -> Array:
    """What the joint sweep has to do at every node, a byte each."""
    _, two, aid, bid, first = step.listed
    found = np.empty(step.n, dtype=np.uint8)
    listed.kinds(found, two, aid, bid, first, step.twice, step.curved)
    return found


def cover(
    step: Any, adj: Array, g: Array, state: CoverState, last: int
) -> tuple[int, int]:
    """Joint sweep of the first ``last`` nodes of a step that has listed columns."""
    k0, _, aid, bid, first = step.listed
    if step.kinds is None:
        step.kinds = kinds(step)
    curvature = step.twice, step.curved, step.refs
    status, left = listed.cover(
        adj, g, last, k0, aid, bid, step.kinds, first, *curvature, state.options
    )
    return status, left
