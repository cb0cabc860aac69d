"""Second-order Taylor arithmetic on Python objects: an oracle without any tape.

An object array of jets is an ordinary NumPy array, so views, copies, overlaps and
repeated indices follow NumPy itself. Every input has its own direction, so two
entries of equal value are still told apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Jet", "as_jets", "jets"]


class Jet:
    """A value with gradient and Hessian; immutable, so sharing one is harmless."""

    __slots__ = ("g", "h", "v")

    def __init__(self, v: float, g: Any, h: Any) -> None:
        self.v, self.g, self.h = v, g, h

    def __add__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            return Jet(self.v + other.v, self.g + other.g, self.h + other.h)
        return Jet(self.v + other, self.g, self.h)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return Jet(-self.v, -self.g, -self.h)

    def __sub__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            return Jet(self.v - other.v, self.g - other.g, self.h - other.h)
        return Jet(self.v - other, self.g, self.h)

    def __rsub__(self, other: Any) -> Jet:
        return Jet(other - self.v, -self.g, -self.h)

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.v * other, self.g * other, self.h * other)
        cross = np.multiply.outer(self.g, other.g)
        h = self.v * other.h + other.v * self.h + cross + cross.T
        return Jet(self.v * other.v, self.v * other.g + other.v * self.g, h)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Jet:
        return Jet(self.v / other, self.g / other, self.h / other)


def jets(x0: Any) -> Any:
    """Object array of jets, one independent direction for each entry."""
    x0 = np.asarray(x0, dtype=float)
    flat = np.empty(x0.size, dtype=object)
    for k, (value, row) in enumerate(zip(x0.flat, np.eye(x0.size), strict=True)):
        flat[k] = Jet(float(value), row, np.zeros((x0.size, x0.size)))
    return flat.reshape(x0.shape)


def as_jets(entries: Any, size: int) -> list[Jet]:
    """Entries of an object array, plain numbers among them as constant jets."""
    constant = Jet(0.0, np.zeros(size), np.zeros((size, size)))
    return [e if isinstance(e, Jet) else constant + e for e in entries]
