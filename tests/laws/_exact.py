"""Second derivatives in exact arithmetic, by the product rule: an oracle for boxes.

Numbers are fractions, so what is said of a bound is a theorem about its floats. Entries of
an object array follow NumPy's own functions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Exact", "exact_inputs"]


class Exact:
    """A polynomial's value, gradient and Hessian at a point of fractions."""

    __slots__ = ("H", "g", "v")

    def __init__(self, v: Fraction, g: Any, H: Any) -> None:
        self.v, self.g, self.H = v, g, H

    def _lift(self, other: Any) -> Exact:
        if isinstance(other, Exact):
            return other
        zero = self.g * 0
        return Exact(Fraction(float(other)), zero, np.outer(zero, zero))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        o = self._lift(other)
        return Exact(self.v + o.v, self.g + o.g, self.H + o.H)

    __radd__ = __add__

    def __neg__(self) -> Exact:
        return Exact(-self.v, -self.g, -self.H)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self + -self._lift(other)

    def __rsub__(self, other: Any) -> Exact:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        o = self._lift(other)
        cross = np.outer(self.g, o.g)
        H = self.v * o.H + o.v * self.H + cross + cross.T
        return Exact(self.v * o.v, self.v * o.g + o.v * self.g, H)

    __rmul__ = __mul__

    def __pow__(self, n: int) -> Exact:
        found = self
        for _ in range(n - 1):
            found = found * self
        return found


def exact_inputs(x: Any) -> Any:
    """An object array of independent variables at a point of fractions."""
    n = len(x)
    found = np.empty(n, dtype=object)
    one = np.array([[Fraction(int(i == j)) for j in range(n)] for i in range(n)])
    for k, v in enumerate(x):
        found[k] = Exact(Fraction(v), one[k], np.outer(one[k] * 0, one[k] * 0))
    return found
