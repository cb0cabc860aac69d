"""Magnitudes of a tape in arithmetic: as they are, or rounded upward over a box."""

from __future__ import annotations

from typing import Any

from ..elements import Upward, is_element, magtype
from ..tape import Tape

__all__ = ["bound", "magnitudes_kind"]


def bound(tape: Tape, x: Any) -> Any:
    """Magnitudes to compute with; ``numpy.asarray`` of a result gives plain numbers."""
    return x if tape.box is None else Upward(x)


def magnitudes_kind(tape: Tape) -> Any:
    """How a pass takes magnitudes that need no roots: exactly where they are objects."""
    own = tape.element is not None and is_element(magtype(tape.element))
    return "exact" if own else True
