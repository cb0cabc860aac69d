"""Arithmetic of nonnegative floats, rounded to nearest and then stepped up.

Every function takes and gives plain arrays or scalars of one floating-point type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    UnsupportedOperationError,
)

__all__ = ["RULES", "total"]


def _step(found: Any, exact: Any) -> Any:
    """The next number above ``found``, except where it is exact."""
    up = np.nextafter(found, found.dtype.type(np.inf))
    return np.where(exact, found, up)[()]


def _add(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return _step(x + y, (x == 0) | (y == 0))


def _multiply(x: Any, y: Any) -> Any:
    zero = (x == 0) | (y == 0)
    with np.errstate(all="ignore"):
        found = _step(x * y, (x == 1) | (y == 1))
    return np.where(zero, found.dtype.type(0), found)[()]


def _divide(x: Any, y: Any) -> Any:
    if ((x == 0) & (y == 0)).any() or (np.isinf(x) & np.isinf(y)).any():
        message = "0 / 0 or inf / inf of Upward numbers has no value"
        raise DomainError(message)
    with np.errstate(all="ignore"):
        return _step(x / y, (x == 0) | (y == 1))


def _sqrt(x: Any) -> Any:
    return _step(np.sqrt(x), (x == 0) | (x == 1))


def _hypot(x: Any, y: Any) -> Any:
    """``large * sqrt(1 + (small / large)**2)``, exact where one of them is zero."""
    large, small = np.maximum(x, y), np.minimum(x, y)
    plain = (small == 0) | np.isinf(large)
    one = large.dtype.type(1)
    quotient = _divide(np.where(plain, 0, small), np.where(plain, one, large))
    found = _multiply(large, _sqrt(_add(one, _multiply(quotient, quotient))))
    return np.where(plain, large, found)[()]


def _power(x: Any, n: Any) -> Any:
    """Integer powers by repeated squaring; negative ones of the reciprocal."""
    try:
        whole = isinstance(n, float) and n.is_integer()
        exponent = int(n) if whole else operator.index(n)
    except TypeError:
        message = (
            f"an Upward number to the power {n!r}: only a single integer exponent keeps "
            "an upper bound; numpy.sqrt is there for roots"
        )
        raise UnsupportedOperationError(message) from None
    one = np.ones_like(x)[()]
    if exponent < 0:
        x, exponent = _divide(one, x), -exponent
    found = one
    while exponent:
        if exponent & 1:
            found = _multiply(found, x)
        exponent >>= 1
        if exponent:
            x = _multiply(x, x)
    return found


def _ldexp(x: Any, n: Any) -> Any:
    """``x * 2**n``, exact unless it underflows."""
    if np.asarray(n).dtype.kind not in "iu":
        message = f"the exponent of ldexp is {n!r}; integers are needed"
        raise InputTypeError(message)
    with np.errstate(all="ignore"):
        found = np.ldexp(x, n)
        lost = np.ldexp(found, -np.asarray(n)) < x
        return _step(found, ~lost)


def total(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Sum over ``axis``: halves are added to one another until one entry is left."""
    a = np.asarray(x)
    given = range(a.ndim) if axis is None else np.atleast_1d(axis).tolist()
    axes = [range(a.ndim)[k] for k in given]  # an IndexError where there is none
    kept = [k for k in range(a.ndim) if k not in axes]
    shape = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
    length = math.prod(a.shape[k] for k in axes)
    rows = a.transpose(*kept, *axes).reshape([a.shape[k] for k in kept] + [length])
    if not length:
        rows = np.zeros((*rows.shape[:-1], 1), dtype=a.dtype)
    while rows.shape[-1] > 1:
        half = (rows.shape[-1] + 1) // 2
        left, right = rows[..., :half], rows[..., half:]
        paired = _add(left[..., : right.shape[-1]], right)
        rows = np.concatenate([paired, left[..., right.shape[-1] :]], axis=-1)
    found = rows[..., 0]
    return (found.reshape(shape) if keepdims else found)[()]


def _matmul(x: Any, y: Any) -> Any:
    """Matrix product, one term of all inner products at a time."""
    if not (np.ndim(x) and np.ndim(y)):
        message = "a matrix product of an Upward scalar; use * for it"
        raise InputTypeError(message)
    left = x[None, :] if x.ndim == 1 else x
    right = y[:, None] if y.ndim == 1 else y
    if x.ndim == 1 and y.ndim == 1 and x.shape == y.shape:
        return total(_multiply(x, y))
    with np.errstate(all="ignore"):
        found = np.zeros_like(left @ right)
    for k in range(left.shape[-1]):
        term = _multiply(left[..., :, k, None], right[..., None, k, :])
        found = _add(found, term)
    if x.ndim == 1:
        found = found[..., 0, :]
    return found[..., 0] if y.ndim == 1 else found


def _same(x: Any) -> Any:
    return x.copy()


RULES: dict[Any, Callable[..., Any]] = {
    np.add: _add,
    np.multiply: _multiply,
    np.divide: _divide,
    np.sqrt: _sqrt,
    np.square: lambda x: _multiply(x, x),
    np.reciprocal: lambda x: _divide(np.ones_like(x), x),
    np.hypot: _hypot,
    np.power: _power,
    np.ldexp: _ldexp,
    np.matmul: _matmul,
    np.maximum: np.maximum,
    np.minimum: np.minimum,
    np.fmax: np.maximum,
    np.fmin: np.minimum,
    np.positive: _same,
    np.absolute: _same,
    np.fabs: _same,
}
