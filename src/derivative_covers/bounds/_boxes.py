"""Boxes: what callers give, and how one is cut in two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval
from ..errors import OptionError, ShapeError

__all__ = ["around", "as_interval", "can_cut", "cut", "finite_box"]

Array = NDArray[Any]


def as_interval(box: Any) -> Interval:
    """The box as intervals, one for each input.

    Raises:
        OptionError: For an end that is NaN, and for ``lo > hi``.
        ShapeError: If the ends have different shapes, or there are none.
        InputTypeError: If it is no box.
    """
    found = Interval.box(box)
    if not found.size:
        msg = "the box is empty: a function of at least one variable is needed."
        raise ShapeError(msg)
    return found


def finite_box(box: Any, what: str) -> Interval:
    """The box, whose ends have to be finite.

    Raises:
        OptionError: If one is not; and as :func:`as_interval`.
    """
    found = as_interval(box)
    wide = ~np.isfinite(np.ravel(found.width))
    if wide.any():
        k = int(np.argmax(wide))
        msg = (
            f"{what} needs a bounded box; variable {k} ranges over "
            f"[{np.ravel(found.lo)[k]}, {np.ravel(found.hi)[k]}]. Give finite ends."
        )
        raise OptionError(msg)
    return found


def cut(lo: float, hi: float) -> float:
    """A number between two ends: the middle, or what divides an infinite range."""
    if np.isinf(lo) and np.isinf(hi):
        return 0.0
    if np.isinf(hi):
        return 0.0 if lo <= -1 else 1.0 if lo < 0.5 else 2.0 * lo
    if np.isinf(lo):
        return -cut(-hi, np.inf)
    return min(max(0.5 * lo + 0.5 * hi, lo), hi)


def around(lo: float, hi: float) -> tuple[float, float]:
    """The floats next to where a range is cut: below and above.

    Two parts overlap by these. A kink or tie at the end of a part may be no fault there,
    and so would be lost between two parts that just meet.
    """
    middle = cut(lo, hi)
    return float(np.nextafter(middle, -np.inf)), float(np.nextafter(middle, np.inf))


def can_cut(lo: Array, hi: Array) -> Array:
    """Which of some ranges can be cut into two that are smaller."""
    ends = [(a, *around(a, b), b) for a, b in zip(lo, hi, strict=True)]
    return np.array([a < below and above < b for a, below, above, b in ends])
