"""The nodes of a step, with the slots of their atoms, in the form that kernels take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sweeps import Dot, Explicit, Linear, Step

__all__ = ["Chunk", "chunks"]

Array = NDArray[Any]
Chunk = tuple[int, Array, Array, Array, Array, Array, Array, Array]
"""``(k0, ptr, ids, d, aptr, sptr, sid, rho)``; the kernels' legend explains them."""

_NO_IDS = np.zeros(0, dtype=np.int64)


class _Again:
    """The chunks of a step with many slots, made anew whenever they are asked for."""

    def __init__(self, step: Step, rho: Any) -> None:
        self.step, self.rho = step, rho

    def __iter__(self) -> Iterator[Chunk]:
        return _chunks(self.step, self.rho)


def chunks(step: Step, rho: Any) -> Iterable[Chunk]:
    """All nodes of a step in order, with the slot weights ``rho`` of their atoms."""
    if isinstance(step, (Linear, Dot)):
        return _Again(step, rho)
    return list(_chunks(step, rho))


def _chunks(step: Step, rho: Any) -> Iterator[Chunk]:
    for k0, ptr, ids, d in step.expanded():
        n = ptr.size - 1
        if rho is None:
            none = np.zeros(n + 1, dtype=np.int64)
            yield k0, ptr, ids, d, none, none, _NO_IDS, d[:0]
        elif isinstance(step, Explicit):
            yield k0, ptr, ids, d, *_explicit(step, rho)
        elif isinstance(step, Dot):
            yield k0, ptr, ids, d, *_pairs(step, rho, k0 - step.start, n, ids)
        else:
            r1, r2 = (r[k0 - step.start : k0 - step.start + n] for r in rho)
            one = ids.size == n
            weights = r1 if one else np.stack([r1, r2], axis=1).reshape(-1)
            yield k0, ptr, ids, d, np.arange(n + 1), ptr, ids, weights


def _explicit(step: Explicit, rho: Array) -> tuple[Array, Array, Array, Array]:
    atoms = step.atoms()
    slots = np.array(list(chain(*atoms)), dtype=np.int64)
    sptr = np.cumsum([0, *map(len, atoms)])
    return np.array([0, len(atoms)]), sptr, step.parents[slots], rho[slots]


def _pairs(
    step: Dot, rho: Any, first: int, n: int, ids: Array
) -> tuple[Array, Array, Array, Array]:
    nk = step.args[0][4]
    at = slice(first * nk, (first + n) * nk)
    weights = np.stack([rho[0][at], rho[1][at]], axis=1).reshape(-1)
    if step.centred:  # its nodes have no slots of first order
        ids = np.stack([p[at] for p in step.slot_ids()], axis=1).reshape(-1)
    sptr = np.arange(0, 2 * n * nk + 1, 2)
    return nk * np.arange(n + 1), sptr, ids, weights
