"""Comparisons of products without rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["below"]

Array = NDArray[Any]


def below(a: Array, b: Array, size: Array) -> Array:
    """Whether ``a * b < size``, without rounding.

    On mantissas, whose product and its error are both floats (Dekker, Numer. Math. 18,
    1971).
    """
    (a, i), (b, j), (c, k) = np.frexp(a), np.frexp(b), np.frexp(size)
    aim = np.ldexp(c, np.clip(k - i - j, -9, 9))
    product = a * b
    a1, b1 = _head(a), _head(b)
    a2, b2 = a - a1, b - b1
    error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    found: Array = (product - aim) + error < 0
    return found


def _head(a: Array) -> Array:
    """The upper half of the digits."""
    c = 134217729.0 * a
    found: Array = c - (c - a)
    return found
