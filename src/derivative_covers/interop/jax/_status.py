"""What went wrong, and the gravest of it, in few operations.

Each operation that is looked at costs a compiler about as long as the whole gradient of a
small function. So masks of few entries are kept and looked at together, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from ._node import is_sharded, some, total
from ._package import jnp, lax

__all__ = [
    "DOMAIN",
    "FAULTS",
    "GUARDED",
    "KINK",
    "RIGHT",
    "Mark",
    "infinite",
    "level",
    "status_of",
    "summary",
    "worst",
]

RIGHT, DOMAIN, KINK, GUARDED = 0, 1, 2, 3
FAULTS = (DOMAIN, KINK, GUARDED)
_SMALL = 4096  # entries of a mask that is kept
_ROW = 32  # XLA takes one pass over what is not longer along any axis


@dataclass(frozen=True)
class Mark:
    """A fault that was looked for: a boolean, or a mask of few, and what it means."""

    code: int
    where: Any
    name: str


def level(code: int) -> int:
    """How grave a status is."""
    return 0 if code == RIGHT else GUARDED + 1 - code


def status_of(gravest: Any) -> Any:
    """The status of a level."""
    right = lax.full_like(gravest, RIGHT)
    fault = lax.sub(lax.full_like(gravest, GUARDED + 1), gravest)
    return lax.select(lax.eq(gravest, lax.full_like(gravest, 0)), right, fault)


def summary(mask: Any) -> Any:
    """The mask, or whether any of it is true, if it is large."""
    mask = jnp.asarray(mask)
    return mask if _is_small(mask) else some(mask)


def _is_small(x: Any) -> bool:
    return x.size <= _SMALL and not is_sharded(x)


def infinite(parts: Sequence[Any], *, alone: bool) -> Any:
    """Where arrays of one shape are not finite: a mask, or whether any entry is not.

    ``alone`` says that no others are looked at, with which a mask would be.
    """
    if alone and 1 < parts[0].size <= _ROW and not is_sharded(parts[0]):
        # A product reads them once, where XLA would compute them anew for a mask.
        found = reduce(lax.add, (_weighed(x) for x in parts))
    else:
        # Zeros, unless an entry is not finite. Of products with zero, XLA would fold the
        # zero into an earlier factor, and not see that these overflow together.
        found = reduce(lax.add, (lax.sub(x, x) for x in parts))
        found = found if _is_small(found) else total(found)
    return lax.bitwise_not(lax.is_finite(found))


def _weighed(x: Any) -> Any:
    """A sum of less than half the largest entry."""
    # Of constant weights, XLA would make factors that it folds into earlier ones, and
    # not see that these overflow; those of an iota it leaves alone.
    step = 0.25 / _ROW**2
    weights = lax.iota(x.dtype, x.size) * step + _ROW * step
    flat = lax.reshape(x, (x.size,))
    return lax.dot(flat, weights, precision=lax.Precision.HIGHEST)


def worst(marks: Sequence[Mark]) -> Any:
    """The level of the gravest fault that was found: an integer."""
    marks = [mark for mark in marks if mark.where.size]
    size = sum(map(prod, {mark.where.shape for mark in marks}))
    # XLA has faster maxima of whole numbers in short rows, and of others in long ones.
    dtype = np.dtype(np.int32 if size <= _ROW else np.float32)
    by_shape: dict[tuple[int, ...], Any] = {}
    for mark in marks:
        here = lax.convert_element_type(mark.where, dtype)
        here = here * dtype.type(level(mark.code))
        before = by_shape.get(here.shape)
        by_shape[here.shape] = here if before is None else lax.max(before, here)
    scalar = by_shape.pop((), None)
    found = [] if scalar is None else [scalar]
    if by_shape:
        found.append(_largest(list(by_shape.values())))
    if not found:
        return jnp.zeros((), np.int32)
    found = [lax.convert_element_type(part, np.int32) for part in found]
    return found[0] if len(found) == 1 else lax.max(*found)


def _largest(parts: list[Any]) -> Any:
    """The largest entry of arrays of nonnegative numbers, looked at as one array."""
    flat = [lax.reshape(part, (part.size,)) for part in parts]
    whole = flat[0] if len(flat) == 1 else lax.concatenate(flat, 0)
    if whole.size > _ROW:
        shape = (_ROW,) if whole.size <= _ROW**2 else (_ROW, _ROW)
        whole = lax.pad(whole, whole.dtype.type(0), [(0, -whole.size % prod(shape), 0)])
        whole = lax.reshape(whole, (whole.size // prod(shape), *shape))
        whole = lax.reduce_max(whole, axes=(whole.ndim - 1,))
        whole = lax.convert_element_type(whole, np.int32)
    return lax.reduce_max(whole, axes=tuple(range(whole.ndim)))
