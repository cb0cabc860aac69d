"""Slot weights of one node: what the forms of curvature fill ``rho`` with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from derivative_covers.elements import boundtype, magnitude, magtype
from derivative_covers.local._block import split_block
from derivative_covers.local._checks import check_covering, check_finite_partials
from derivative_covers.local._scales import SplitScale, dead_slot
from derivative_covers.local._site import CoverSite

__all__ = ["cover_pairs", "cover_single", "cover_two"]


def cover_single(
    rho: list[Any],
    c: Any,
    site: CoverSite,
    av: Any,
    sl: Sequence[SplitScale],
    check: bool,
) -> bool:
    """Weights of a node with one slot; see ``Curvature.cover_slots_into``."""
    size = magnitude(c)
    if av == 0 or size == 0 or dead_slot(sl[0]):
        return False
    (e,), unit = _weighted(site, av, size)
    return _fill(rho, [np.sqrt(e)], unit, [(0, 0, e)], site, check)


def cover_two(
    rho: list[Any],
    block: tuple[Any, Any, Any],
    ratio: Any,
    site: CoverSite,
    av: Any,
    sl: Sequence[SplitScale],
    check: bool,
) -> bool:
    """Weights of a node with two slots; see ``Curvature.cover_slots_into``.

    Args:
        rho: List to fill.
        block: Second partials ``(c11, c12, c22)``.
        ratio: Threshold from ``split_ratio``.
        site: Element type and error context.
        av: Weight of the node's second-order term.
        sl: References of the two slots.
        check: Verify the weights.
    """
    c11, c12, c22 = map(magnitude, block)
    if av == 0 or c11 == c12 == c22 == 0:
        return False
    if dead_slot(sl[0]):
        c11 = c12 = 0.0
    if dead_slot(sl[1]):
        c12 = c22 = 0.0
    (e11, e12, e22), unit = _weighted(site, av, c11, c12, c22)
    weights = split_block(ratio, e11, e12, e22, sl[0], sl[1])
    entries = [(0, 0, e11), (0, 1, e12), (1, 1, e22)]
    return _fill(rho, weights, unit, entries, site, check)


def cover_pairs(
    rho: list[Any],
    q: int,
    ratio: Any,
    site: CoverSite,
    av: Any,
    sl: Sequence[SplitScale],
    check: bool,
) -> bool:
    """Weights of an inner product of ``q`` pairs; see ``Curvature.cover_slots_into``.

    A pair with a dead slot has no term, so both of its weights are zero.
    """
    if av == 0:
        return False
    live = [j for j in range(q) if not (dead_slot(sl[j]) or dead_slot(sl[q + j]))]
    if not live:
        return False
    (e, zero), unit = _weighted(site, av, 1.0, 0.0)
    weights = [zero] * (2 * q)
    for j in live:
        weights[j], weights[q + j] = split_block(ratio, zero, e, zero, sl[j], sl[q + j])
    return _fill(rho, weights, unit, [(j, q + j, e) for j in live], site, check)


def _weighted(site: CoverSite, av: Any, *sizes: Any) -> tuple[list[Any], Any]:
    """Entries ``av * size / unit**2`` in the type of bounds, and ``unit``.

    The unit is 1, unless a product leaves the normal range although its root does not:
    then it is the power of two that brings ``av`` close to 1.
    """
    check_finite_partials(site, av, sizes)
    bound = boundtype(site.dtype)
    with np.errstate(all="ignore"):
        entries = [bound(av) * bound(size) for size in sizes]
        limits = np.finfo(magtype(site.dtype))
        if all(limits.tiny <= e <= limits.max for e in entries if e != 0) and all(
            e != 0 or size == 0 for e, size in zip(entries, sizes, strict=True)
        ):
            return entries, bound(1)
        half = int(np.frexp(av)[1]) // 2
        scaled = bound(np.ldexp(av, -2 * half))
        return [scaled * bound(size) for size in sizes], bound(np.ldexp(bound(1), half))


def _fill(
    rho: list[Any],
    weights: Sequence[Any],
    unit: Any,
    entries: Sequence[tuple[int, int, Any]],
    site: CoverSite,
    check: bool,
) -> bool:
    """Check weights and move them into ``rho``, unless all entries vanished."""
    if all(e == 0 for _, _, e in entries):
        return False
    M = magtype(site.dtype)
    if check:
        check_covering(site, weights, entries, float(np.finfo(M).eps))
    rho[:] = [M(weight * unit) for weight in weights]
    return True
