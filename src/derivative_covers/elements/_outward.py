"""Arithmetic on intervals held as a pair ``(lo, hi)`` of floats, rounded outward.

Every result contains the result of the real operation at each choice of members. An end
is the rounded-to-nearest one moved by one float at most, which contains the exact result
since IEEE 754-2019 (section 4.3) rounds ``+ - * /`` and ``sqrt`` correctly. An end that is
exact stays: sums without rounding error, products and quotients with a zero or a power
of two, square roots and products of few bits.

Ends are float64 arrays or scalars of one shape; ``lo`` is never ``inf`` and ``hi`` never
``-inf``, save in points made of such a constant. A pair of one object twice is a point.
NaN never comes out: an operation without a result gives the whole line.

Source: Rump, Zimmermann, Boldo, Melquiond 2009, "Computing predecessor and successor in
rounding to nearest", BIT 49, for the steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from derivative_covers.elements import _outward_careful as careful
from derivative_covers.elements import _outward_kernels as kernels
from derivative_covers.elements import _outward_scalar as scalar
from derivative_covers.elements._outward_careful import down, up
from derivative_covers.elements._outward_kernels import run

__all__ = [
    "Pair",
    "absolute",
    "add",
    "divide",
    "dot",
    "down",
    "hull",
    "intersect",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "point",
    "power",
    "reciprocal",
    "sqrt",
    "square",
    "subtract",
    "total",
    "up",
    "where",
]

Pair = tuple[Any, Any]

_FEW = 256  # terms of a sum that is rounded once
_TERMS = 2**17  # of a matrix product that are formed at a time


def point(a: Any) -> Pair:
    """The pair that holds ``a`` and nothing else."""
    entries: Any = np.asarray(a, dtype=np.float64)
    found = entries if entries.ndim else np.float64(entries.item())
    return found, found


def where(mask: Any, x: Pair, y: Pair) -> Pair:
    """The intervals of ``x`` where ``mask`` holds, those of ``y`` elsewhere."""
    lo: Any = np.where(mask, x[0], y[0])
    hi: Any = np.where(mask, x[1], y[1])
    return lo[()], hi[()]


def hull(x: Pair, y: Pair) -> Pair:
    """The least intervals that contain both."""
    return np.minimum(x[0], y[0]), np.maximum(x[1], y[1])


def intersect(x: Pair, y: Pair) -> Pair:
    """What both contain; where they are disjoint, ``lo > hi``, which the caller tests."""
    return np.maximum(x[0], y[0]), np.minimum(x[1], y[1])


def maximum(x: Pair, y: Pair) -> Pair:
    """The larger of a member of each."""
    return np.maximum(x[0], y[0]), np.maximum(x[1], y[1])


def minimum(x: Pair, y: Pair) -> Pair:
    """The smaller of a member of each."""
    return np.minimum(x[0], y[0]), np.minimum(x[1], y[1])


def _run(name: str, *ends: Any) -> Pair:
    """An operation, on single intervals without arrays."""
    if all(type(e) is np.float64 for e in ends):
        found = getattr(scalar, name)(*(float(e) for e in ends))
        if found is not None:
            return np.float64(found[0]), np.float64(found[1])
    return run(getattr(kernels, name), getattr(careful, name), *ends)


def negative(x: Pair) -> Pair:
    """The negated intervals."""
    lo = 0.0 - x[1]
    return lo, lo if x[0] is x[1] else 0.0 - x[0]


def absolute(x: Pair) -> Pair:
    """The absolute values."""
    if x[0] is x[1]:
        a = np.abs(x[0])
        return a, a
    return (
        np.maximum(np.maximum(x[0], 0.0 - x[1]), 0.0),
        np.maximum(0.0 - x[0], x[1]),
    )


def add(x: Pair, y: Pair) -> Pair:
    """The sums; exact where the rounded sum is."""
    return _run("add", *x, *y)


def subtract(x: Pair, y: Pair) -> Pair:
    """The differences; exact where the rounded difference is."""
    return add(x, negative(y))


def multiply(x: Pair, y: Pair) -> Pair:
    """The products; exact with a zero, a point that is a power of two, and few bits."""
    return _run("times", *x, *y)


def divide(x: Pair, y: Pair) -> Pair:
    """The quotients: a half line, or the whole one, where the divisor contains zero."""
    return _run("divide", *x, *y)


def reciprocal(x: Pair) -> Pair:
    """``1 / x``; see :func:`divide`."""
    return divide(point(1.0), x)


def square(x: Pair) -> Pair:
    """The squares, which are not negative."""
    return _run("squares", *x)


def sqrt(x: Pair) -> Pair:
    """The square roots of the members that are not negative: zero where there is none."""
    return _run("square_root", *x)


def power(x: Pair, n: int) -> Pair:
    """The ``n``-th powers, for a whole number ``n``; even powers know their sign."""
    if n < 0:
        return reciprocal(power(x, -n))
    if n == 0:
        one = np.ones_like(x[0])[()]
        return one, one
    if n == 1:
        return x
    if n % 2 == 0:
        return _power(absolute(x), n)
    if np.size(x[0]) and np.min(x[0]) >= 0:
        return _power(x, n)
    ends = []
    for k in (0, 1):
        size = np.abs(x[k])
        found = _power((size, size), n)
        ends.append(np.where(x[k] < 0, 0.0 - found[1 - k], found[k])[()])
    return ends[0], ends[1]


def _power(x: Pair, n: int) -> Pair:
    """The powers of numbers that are not negative."""
    found = None
    while True:
        if n & 1:
            found = x if found is None else multiply(found, x)
        n >>= 1
        if not n:
            return x if found is None else found
        x = multiply(x, x)


def total(x: Pair, axis: Any = None, keepdims: bool = False) -> Pair:
    """Sums over ``axis``: halves are added to one another until one entry is left."""
    lo = np.asarray(x[0])
    given = range(lo.ndim) if axis is None else np.atleast_1d(axis).tolist()
    axes = [range(lo.ndim)[k] for k in given]  # an IndexError where there is none
    kept = [k for k in range(lo.ndim) if k not in axes]
    shape = tuple(1 if k in axes else n for k, n in enumerate(lo.shape))
    length = math.prod(lo.shape[k] for k in axes)
    outer = [lo.shape[k] for k in kept]
    rows = _both(
        x, lambda a: np.asarray(a).transpose(*axes, *kept).reshape([length, *outer])
    )
    found = _folded(rows) if length else point(np.zeros(outer))
    lo, hi = _both(found, lambda a: np.reshape(a, shape) if keepdims else a)
    return lo, hi


def _folded(rows: Pair) -> Pair:
    """The sum over the first axis, which is not empty."""
    while (n := rows[0].shape[0]) > 1:
        if 4 < n >= rows[0].size / 8 and n < _FEW:
            return _summed(rows)
        half = n // 2
        found = add(
            _both(rows, lambda a, m=half: a[:m]),
            _both(rows, lambda a, m=half: a[m : 2 * m]),
        )
        if n % 2:
            last = _both(rows, lambda a: a[-1:])
            found = (
                np.concatenate([found[0], last[0]]),
                np.concatenate([found[1], last[1]]),
            )
        rows = found
    return rows[0][0], rows[1][0]


def _summed(rows: Pair) -> Pair:
    """As :func:`_folded` with one rounding, for few columns."""
    outer = rows[0].shape[1:]
    ends = []
    for end, toward in zip(rows, (-math.inf, math.inf), strict=True):
        columns = end.reshape(len(end), -1).T.tolist()
        sums = np.array([_rounded_sum(terms, toward) for terms in columns])
        ends.append(sums.reshape(outer)[()])
    return ends[0], ends[1]


def _rounded_sum(terms: list[float], toward: float) -> float:
    """The sum rounded downward or upward."""
    try:
        near = math.fsum(terms)
        error = math.fsum([*terms, -near])
    except (OverflowError, ValueError):  # inf - inf too
        return toward
    if not math.isfinite(near):
        return near
    return math.nextafter(near, toward) if error * toward > 0 else near


def dot(x: Any, y: Any) -> Pair:
    """The matrix product ``x @ y`` of pairs, or of a pair and a plain array.

    Terms are formed and summed one by one; large products with a plain matrix are
    computed as such, and the bound of their error is added.
    """
    x = x if isinstance(x, tuple) else point(x)
    y = y if isinstance(y, tuple) else point(y)
    first, last = np.ndim(x[0]) == 1, np.ndim(y[0]) == 1
    left = _both(x, lambda a: a[None, :]) if first else x
    right = _both(y, lambda a: a[:, None]) if last else y
    found = _matrix_product(left, right)
    if first:
        found = _both(found, lambda a: a[..., 0, :])
    if last:
        found = _both(found, lambda a: a[..., 0])
    return found[0][()], found[1][()]


def _matrix_product(x: Pair, y: Pair) -> Pair:
    n = x[0].shape[-1]
    work = math.prod(x[0].shape) * y[0].shape[-1]
    if work > _TERMS and x[0].ndim == 2 == y[0].ndim:
        found = None
        if y[0] is y[1]:
            found = _by_plain(x, y[0])
        elif x[0] is x[1]:
            swapped = _by_plain(_both(y, np.transpose), x[0].T)
            found = swapped and _both(swapped, np.transpose)
        if found is not None:
            return found
    # as many rows at a time as keep the terms few
    rows = max(1, _TERMS * x[0].shape[-2] // max(work, 1))
    parts = []
    for k in range(0, max(x[0].shape[-2], 1), rows):
        left = _both(
            x, lambda a, k=k: a[..., k : k + rows, :].swapaxes(-1, -2)[..., None]
        )
        right = _both(y, lambda a: a[..., :, None, :])
        if n:
            terms = multiply(left, right)
            parts.append(_folded(_both(terms, lambda a: np.moveaxis(a, -3, 0))))
        else:
            shape = np.broadcast_shapes(left[0].shape, right[0].shape)
            parts.append(point(np.zeros(shape[:-3] + shape[-2:])))
    lo, hi = (np.concatenate([p[k] for p in parts], axis=-2) for k in (0, 1))
    return lo, hi


def _by_plain(x: Pair, y: Any) -> Pair | None:
    """``x @ y`` by products of plain matrices; None where a number is not finite.

    In any order of summation the error of a sum of ``m`` products is at most
    ``m u / (1 - m u)`` times the sum of their sizes, and ``m`` halves of the least
    number where they underflow (Higham 2002, "Accuracy and Stability of Numerical
    Algorithms", section 3.1).
    """
    m = 2 * x[0].shape[-1]
    upper, lower = np.maximum(y, 0.0), np.minimum(y, 0.0)
    with np.errstate(all="ignore"):
        lo = x[0] @ upper + x[1] @ lower
        hi = x[1] @ upper + x[0] @ lower
        size = absolute(x)[1] @ np.abs(y)
        # twice the bound: once for the ends, once for the rounding of what is added
        slack = size * (m + 2) * 2.0**-51 + (m + 2) * 2.0**-1070
        slack[size == 0] = np.where(_touched(x, y), np.inf, 0.0)[size == 0]
        lo, hi = lo - slack, hi + slack
    return (lo, hi) if np.isfinite(lo).all() and np.isfinite(hi).all() else None


def _touched(x: Pair, y: Any) -> Any:
    """Where a product has a term that is not zero."""
    nonzero = (x[0] != 0) | (x[1] != 0)
    return nonzero.astype(float) @ (y != 0).astype(float) > 0


def _both(x: Any, change: Any) -> Any:
    lo = change(x[0])
    return lo, lo if x[0] is x[1] else change(x[1])
