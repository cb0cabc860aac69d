"""Magnitudes of a tape in arithmetic: as they are, or rounded upward over a box."""

from __future__ import annotations

from typing import Any

from ..elements import Upward
from ..tape import Tape

__all__ = ["bound"]


def bound(tape: Tape, x: Any) -> Any:
    """Magnitudes to compute with; ``numpy.asarray`` of a result gives plain numbers."""
    return x if tape.box is None else Upward(x)
