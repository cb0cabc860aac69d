"""Calls of NumPy functions on recorded arrays: one table for all that is checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests._numpy_calls import moves, numbers, order, products, reductions, targets
from tests._numpy_calls._call import Call

__all__ = ["BY_NAME", "CALLS", "NAMES", "Call", "total"]

CALLS: list[Call] = [
    call
    for module in (moves, products, reductions, order, numbers, targets)
    for call in module.TABLE.calls
]
BY_NAME = {call.name: call for call in CALLS}
NAMES = list(BY_NAME)


def total(xp: Any, y: Any) -> Any:
    """A curved number that depends on every entry of a result in its own way."""
    y = xp.ravel(y)
    k = np.arange(1.0, y.size + 1.0)
    return xp.sum(np.cos(k) * y + 0.5 * np.sin(2.0 * k) * y * y)
