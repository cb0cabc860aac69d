"""Compiled replay of recorded programs, where this version of the package has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import derivative_covers as dc
from derivative_covers.checkpoint import Transition

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

MISSING = "not available: this version has no replay"


def compiled(f: Callable[[Any], Any], x: np.ndarray) -> Any | None:
    """The object of `derivative_covers.compile`, or None."""
    make = getattr(dc, "compile", None)
    return None if make is None else make(f, x)


def batches(f: Callable[[Any], Any], points: np.ndarray) -> Any | None:
    """Calls for the gradients and the covers of all rows of `points`, or None."""
    replayed = compiled(f, points[0])
    if replayed is None or not hasattr(replayed, "gradients"):
        return None
    return lambda: replayed.gradients(points), lambda: replayed.covers(points)


def transition(f: Callable[[Any, int], Any]) -> Transition | None:
    """A compiled step, or None."""
    make = getattr(Transition, "compiled", None)
    return None if make is None else make(f)
