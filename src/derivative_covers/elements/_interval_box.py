"""The forms in which callers give boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from derivative_covers.errors import InputTypeError, OptionError, ShapeError

__all__ = ["as_box"]


def as_box(x: Any) -> tuple[Any, Any]:
    """The ends of a box given as two arrays, pairs, or an object with bounds.

    Raises:
        InputTypeError: If ``x`` is none of them.
        ShapeError: If an array or list does not hold pairs.
        OptionError: For a tuple of two pairs, which has two readings.
    """
    if hasattr(x, "lb") and hasattr(x, "ub"):
        return x.lb, x.ub
    if isinstance(x, tuple) and len(x) == 2:
        if all(isinstance(entry, tuple) and len(entry) == 2 for entry in x):
            message = (
                f"{x} can be read as two pairs or as the ends of a box; give a list of "
                "pairs, [(lo, hi), (lo, hi)], or Interval(lo, hi)"
            )
            raise OptionError(message)
        return x[0], x[1]
    if isinstance(x, list | tuple):
        if not _pairs(x):
            message = (
                "a box is a tuple (lo, hi) of two arrays or a list of (lo, hi) pairs; "
                f"got a {type(x).__name__} of {len(x)} entries that are no such pairs"
            )
            raise ShapeError(message)
        return [entry[0] for entry in x], [entry[1] for entry in x]
    if isinstance(x, np.ndarray):
        if x.ndim < 2 or x.shape[-1] != 2:
            message = (
                f"an array that stands for a box has shape (n, 2); got {x.shape}. For "
                "two arrays of ends, give the tuple (lo, hi)"
            )
            raise ShapeError(message)
        return x[..., 0], x[..., 1]
    message = (
        f"a {type(x).__name__} is no box; give an Interval, a tuple (lo, hi) of two "
        "arrays, or a list of (lo, hi) pairs"
    )
    raise InputTypeError(message)


def _pairs(x: Any) -> bool:
    """Whether every entry is a sequence of two."""
    return all(
        isinstance(entry, list | tuple | np.ndarray) and len(entry) == 2 for entry in x
    )
