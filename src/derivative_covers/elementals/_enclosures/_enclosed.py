"""What the enclosure of an elemental consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...elements._outward import Pair

__all__ = ["Enclosed", "endless", "marked"]


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Enclosures of an elemental and its partials over intervals, entry by entry.

    Attributes:
        value: A pair ``(lo, hi)``.
        parts: Pairs, or floats where a partial is one number everywhere: ``(d, c)``, or
            ``(d1, d2, c11, c12, c22)`` where two operands are differentiated. They hold
            at every point where the partial exists; at a kink they contain the partials
            of both sides.
        outside: True where the operands are not wholly inside of the open domain. None:
            nowhere.
        kink: True where the operands contain a kink or jump. None: nowhere.
        undefined: True where the operands have members without a value, which are passed
            over. None: as ``outside``.

    Example:
        >>> from derivative_covers.extend import Enclosed
        >>> Enclosed((0.0, 4.0), ((-2.0, 4.0), 2.0)).parts
        ((-2.0, 4.0), 2.0)
    """

    value: Pair
    parts: tuple[Pair | float, ...]
    outside: Any = None
    kink: Any = None
    undefined: Any = None


def marked(mask: Any) -> Any:
    """A mask of faults, or None where there is none."""
    return mask if np.any(mask) else None


def endless(x: Pair) -> Any:
    """Where an end is infinite; None: nowhere."""
    return marked(~(np.isfinite(x[0]) & np.isfinite(x[1])))
