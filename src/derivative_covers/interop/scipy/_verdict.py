"""A second look at the end of an iteration, by the Hessian of few variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError, NondifferentiableError
from ._point import Point
from ._scaling import Scaling

__all__ = ["second_look"]

Array = NDArray[Any]
EPS = float(np.finfo(float).eps)

FEW = 100
"""Variables, of which a Hessian is formed: a product each."""

DOWNWARDS = -1e-3
"""Eigenvalue, of a Hessian with diagonal 1, that is negative beyond doubt."""


def second_look(
    scaling: Scaling, point: Point, bounds: tuple[Array, Array]
) -> tuple[float, bool]:
    """What Newton's step promises, and whether ``f`` curves downwards in a direction.

    The gradient alone promises little in a narrow valley. Variables whose step in the
    scaled model ends at a bound take no part; of more than a hundred variables nothing is said.
    """
    x, g = point.x, point.gradient
    lb, ub = bounds
    with np.errstate(all="ignore"):
        there = x - g * scaling.step**2 / scaling.unit
    free = (there > lb) & (there < ub)
    if x.size > FEW or not free.any():
        return 0.0, False
    try:
        H = np.stack([scaling.program.hvp(x, e) for e in np.eye(x.size)[free]])[:, free]
    except (DomainError, NondifferentiableError):
        return 0.0, False
    with np.errstate(all="ignore"):
        size = np.sqrt(np.abs(np.diag(H)))
        size[size == 0] = 1.0
        scaled = H / size[:, None] / size
        slope = g[free] / size
    if not (np.isfinite(scaled).all() and np.isfinite(slope).all()):
        return 0.0, False
    value, vector = np.linalg.eigh((scaled + scaled.T) / 2)
    along = vector.T @ slope
    curved = np.abs(value) > EPS * x.size
    gain = float(np.sum(along[curved] ** 2 / np.abs(value[curved])) / 2)
    return gain, bool(value[0] < DOWNWARDS)
