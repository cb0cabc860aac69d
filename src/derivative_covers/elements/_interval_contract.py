"""The element-type contract for intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from derivative_covers.elements._contract import (
    boundtype,
    decided_one,
    decided_sign,
    decided_zero,
    magnitude,
    magtype,
    separation,
)
from derivative_covers.elements._interval import Interval, pair
from derivative_covers.elements._outward import subtract
from derivative_covers.elements._upward import Upward

__all__: list[str] = []


@magnitude.register(Interval)
def _magnitude(x: Interval) -> Any:
    return np.maximum(np.abs(x.lo), np.abs(x.hi))


@magtype.register(Interval)
def _magtype(T: Any) -> type[Any]:
    return np.float64


@boundtype.register(Interval)
def _boundtype(T: Any) -> type[Any]:
    return Upward


@decided_sign.register(Interval)
def _decided_sign(x: Interval) -> int:
    return int(x.lo > 0) - int(x.hi < 0)


@decided_one.register(Interval)
def _decided_one(c: Interval) -> bool:
    return bool(c.lo == 1 and c.hi == 1)


@decided_zero.register(Interval)
def _decided_zero(c: Interval) -> bool:
    return bool(c.lo == 0 and c.hi == 0)


@separation.register(Interval)
def _separation(x: Any, y: Any) -> Any:
    """The smallest distance between members, rounded downward."""
    x, y = pair(x), pair(y)
    return np.maximum(np.maximum(subtract(x, y)[0], subtract(y, x)[0]), 0.0)
