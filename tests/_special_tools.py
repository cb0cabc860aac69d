"""What the tables of special functions are made of: cases, steps and points."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpmath import mp, mpf

from tests._many_digits import both

__all__ = [
    "CASES",
    "FAINT",
    "SMALL",
    "Case",
    "below",
    "one",
    "relative",
    "two",
    "unit",
    "whole",
]


@dataclass(frozen=True)
class Case:
    """An elemental's definition and where to look at it.

    Attributes:
        name: Of the elemental.
        f: The definition.
        points: Operand tuples.
        reach: How far a difference may step, to stay on one side of every singularity.
        order: Constant first operand of an elemental whose order is one, else None.
        scales: For an entry ``"v"``, ``"d1"``, ... that crosses zero, the size that its
            error is measured by.
    """

    name: str
    f: Callable[..., Any]
    points: list[tuple[float, ...]]
    reach: Callable[..., tuple[Any, ...]]
    order: float | None = None
    scales: dict[str, Callable[..., Any]] = field(default_factory=dict)


CASES: list[Case] = []


def relative(x: float) -> float:
    return abs(x) or 1.0


def unit(x: float) -> float:
    return 1.0


def below(x: float) -> float:
    return min(1.0, abs(x)) or 1.0


def whole(x: float) -> Any:
    """Distance from the poles of the gamma function."""
    return mpf(x) if x > 0 else abs(mpf(x) - mp.nint(mpf(x))) or 0.5


def one(
    name: str,
    f: Callable[..., Any],
    points: Sequence[float],
    span: tuple[float, float],
    reach: Callable[[float], Any] = unit,
    order: float | None = None,
    n: int = 24,
    **scales: Callable[..., Any],
) -> None:
    """A function of one operand at given points and at random ones of an interval."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {order}".encode()))
    low, high = span
    spread = (
        10.0 ** rng.uniform(np.log10(low), np.log10(high), n)
        if 0 < low < high / 1e3
        else rng.uniform(low, high, n)
    )
    at = [(float(x),) for x in (*points, *spread)]
    CASES.append(Case(name, f, at, lambda x: (reach(x),), order, scales))


def two(
    name: str,
    f: Callable[..., Any],
    points: Sequence[tuple[float, float]],
    reach: Callable[[float, float], tuple[Any, Any]],
    **scales: Callable[..., Any],
) -> None:
    at = [(float(x), float(y)) for x, y in points]
    CASES.append(Case(name, f, at, reach, None, scales))


FAINT = (5e-324, 1e-310, 1e-200, 1e-100, 1e-20, 1e-8)
SMALL = (0.0, *both((1e-20, 1e-8, 1e-3, 0.1)))
