"""Enclosures of single blocks: constant operands, one node in both slots, running results."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import Elemental
from ..elementals._enclosures import Enclosed, enclose
from ..elements import _outward as outward
from ._blocks import Binary, Linear
from ._generic import TIES

__all__ = [
    "coefficients",
    "fixed",
    "folded",
    "has_gaps",
    "one_for_all",
    "pair_of",
    "proper",
    "same_node",
]

Pair = tuple[Any, Any]
Mask = NDArray[np.bool_]

# A constant operand of these may be infinite.
_BOUNDED = TIES | {"copysign"}


def proper(found: Enclosed) -> Pair:
    """The values; the whole line where an operand has no value at all."""
    lo, hi = found.value
    none = np.asarray(found.outside) & ~((lo <= hi) & (lo < np.inf) & (hi > -np.inf))
    if none.any():
        return np.where(none, -np.inf, lo), np.where(none, np.inf, hi)
    return lo, hi


def has_gaps(a: Any) -> bool:
    """Whether some entry is no finite number."""
    return not bool(np.isfinite(a).all())


def coefficients(block: Linear) -> tuple[Pair | None, bool]:
    """Ends of the coefficients (None: all are one), and whether some is not finite.

    What is neither an integer nor a power of two is taken as the rounding of a number
    nearby, such as 1/3.
    """
    c = np.asarray(block.coef, dtype=np.float64)
    if has_gaps(c):
        return None, True
    if (c == 1.0).all():
        return None, False
    exact = (c == np.floor(c)) | (np.abs(np.frexp(c)[0]) == 0.5)
    if exact.all():
        return (c, c), False
    return (
        np.where(exact, c, np.nextafter(c, -np.inf)),
        np.where(exact, c, np.nextafter(c, np.inf)),
    ), False


def one_for_all(c: Any) -> Any:
    """One power or base in place of many that are the same, the sign of zero included."""
    same = c.size > 1 and (c == c[0]).all() and np.ptp(np.signbit(c).view(np.int8)) == 0
    return c[:1] if same else c


def fixed(op: Elemental, pattern: int, x: Pair, c: Any, order: int) -> Enclosed:
    """An elemental with a constant operand; NaN there leaves nothing to say."""
    c = np.asarray(c, dtype=np.float64)
    c = one_for_all(c)
    found = enclose(op, pattern, (x, c) if pattern == 2 else (c, x), order=order)
    if has_gaps(c):
        bad = np.isnan(c) if op.name in _BOUNDED else ~np.isfinite(c)
        if bad.any():
            n = max(np.size(x[0]), c.size)
            bad = np.broadcast_to(bad, (n,))
            lo, hi = (np.broadcast_to(e, (n,)) for e in found.value)
            value = np.where(bad, -np.inf, lo), np.where(bad, np.inf, hi)
            outside = bad if found.outside is None else bad | found.outside
            return Enclosed(value, found.parts, outside, found.kink)
    return found


def same_node(block: Binary, n: int) -> Mask | None:
    """Where both operands are one node; None: nowhere."""
    x, y = block.x, block.y
    if x.ids is None and y.ids is None:
        if x.start == y.start and x.strides == y.strides:
            return np.ones(n, dtype=bool)
        if x.strides == y.strides:
            return None
    same = x.flat((n,)) == y.flat((n,))
    return same if same.any() else None


def pair_of(
    op: Elemental, x: Pair, y: Pair, same: Mask | None, n: int, order: int
) -> Enclosed:
    """An elemental of two recorded operands, with what is known where they are one."""
    found = enclose(op, 1, (x, y), order=order)
    if same is None:
        return found
    value, outside, kink = found.value, found.outside, found.kink
    one: Pair | None = None
    if op.name == "multiply":
        one = outward.square(x)
    elif op.name == "subtract":
        one = (np.zeros(n), np.zeros(n))
    elif op.name == "divide":
        one = (np.ones(n), np.ones(n))
    elif op.name in TIES:
        one = x
        kink = None if kink is None else kink & ~same
    if one is not None:
        keep = same if outside is None else same & ~outside
        value = outward.where(keep, one, value)
    return Enclosed(value, found.parts, outside, kink)


def folded(op: Elemental, rows: Any) -> Pair:
    """All running results along the first axis."""
    lo, hi = rows
    step = 1
    while step < len(lo):
        left = (lo[:-step].ravel(), hi[:-step].ravel())
        right = (lo[step:].ravel(), hi[step:].ravel())
        v = enclose(op, 1, (left, right), order=0).value
        shape = lo[step:].shape
        lo = np.concatenate([lo[:step], v[0].reshape(shape)])
        hi = np.concatenate([hi[:step], v[1].reshape(shape)])
        step *= 2
    return lo, hi
