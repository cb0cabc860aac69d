"""A point and what is known there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

__all__ = ["Point"]


@dataclass(frozen=True)
class Point:
    """A point with value and gradient, in the units of the program."""

    x: NDArray[Any]
    value: float
    gradient: NDArray[Any]
