"""What the tests of compiled elementals share."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from derivative_covers.elementals import Elemental, Rule

__all__ = ["CALL", "rule_of", "same"]

CALL = ctypes.CFUNCTYPE(ctypes.c_int64, *5 * (ctypes.c_void_p,), *4 * (ctypes.c_int64,))


def rule_of(op: Elemental, pattern: int) -> Rule:
    if pattern in {2, 4}:
        return op.rule_first()
    return op.rule_second() if pattern in {3, 5} else op.rule


def same(found: Any, expected: Any, *, ulps: int = 0, floor: Any = 0.0) -> Any:
    """Entries that agree, in a few units in the last place of the larger of two."""
    size = np.maximum(np.abs(expected), floor)
    near = np.abs(found - expected) <= ulps * np.spacing(np.minimum(size, 1e308))
    both = (found == expected) & (np.signbit(found) == np.signbit(expected))
    return both | (np.isnan(found) & np.isnan(expected)) | (near & (ulps > 0))
