"""What is known of a Hessian over a box: intervals for its entries, or a cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval

__all__ = ["Covered", "Entries"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Entries:
    """An interval for each entry of a symmetric matrix."""

    lo: Array
    hi: Array

    @classmethod
    def symmetric(cls, H: Interval) -> Entries:
        """Both of two entries that are equal lie in the intervals of both."""
        return cls(np.maximum(H.lo, H.lo.T), np.minimum(H.hi, H.hi.T))

    @classmethod
    def within(cls, B: Array) -> Entries:
        """From bounds of the absolute values."""
        return cls(0.0 - B, B)

    @property
    def size(self) -> Array:
        """Bounds of the absolute values."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    @property
    def interval(self) -> Interval:
        """The same as an array of intervals."""
        return Interval(self.lo, self.hi)

    def meet(self, other: Entries) -> Entries:
        """What both contain."""
        return Entries(np.maximum(self.lo, other.lo), np.minimum(self.hi, other.hi))

    def among(self, chosen: Array) -> Entries:
        """The rows and columns of some variables."""
        index = np.ix_(chosen, chosen)
        return Entries(self.lo[index], self.hi[index])

    def plus(self, diagonal: Array) -> Entries:
        """With numbers added to the diagonal."""
        H = self.interval
        k = np.arange(len(diagonal))
        H[k, k] = H[k, k] + diagonal
        return Entries(H.lo, H.hi)

    def scaled(self, s: Array) -> Entries:
        """``s_i H_ij s_j``."""
        H = Interval(s)[:, None] * self.interval * Interval(s)
        return Entries(H.lo, H.hi)

    def spread(self, t: Array) -> float:
        """How uncertain the entries are, to rounding: their widths in units ``1 / t``."""
        return float(t @ (self.hi - self.lo) @ t)


@dataclass(frozen=True, eq=False)
class Covered:
    """A cover of a symmetric matrix and nothing more."""

    h: Array

    @property
    def size(self) -> Array:
        """Bounds of the absolute values."""
        h = Interval(self.h)
        found: Array = (h[:, None] * h).hi
        return found

    def among(self, chosen: Array) -> Covered:
        """The entries of some variables."""
        return Covered(self.h[chosen])

    def scaled(self, s: Array) -> Covered:
        """A cover of ``s_i H_ij s_j``."""
        return Covered((Interval(self.h) * s).hi)

    def spread(self, t: Array) -> float:
        """How much the cover allows, to rounding, in units ``1 / t``."""
        return float((self.h @ t) ** 2)
