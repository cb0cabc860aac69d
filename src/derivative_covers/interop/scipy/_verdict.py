"""A second look at the end of an iteration, by the Hessian of few variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError, NondifferentiableError
from ._point import Point
from ._scaling import Scaling

__all__ = ["FEW", "constrained_end", "falling", "second_look"]

Array = NDArray[Any]
EPS = float(np.finfo(float).eps)

FEW = 100
"""Variables, of which a Hessian is formed: a product each."""

DOWNWARDS = -1e-3
"""Eigenvalue, of a Hessian with diagonal 1, that is negative beyond doubt."""

FEASIBLE = 1e-6
"""Violation of a constraint, in scaled variables, up to which it counts as met."""


def constrained_end(violation: float, found: Any) -> str:
    """The reason where SciPy's own tests ended an iteration with constraints."""
    if violation > FEASIBLE:
        return "infeasible"
    if "exceeds 'gtol'" in found.message:  # a gtol of zero: by the rounding of a row
        found.success, found.status = True, 0
        found.message = "The trust region has shrunk to nothing at a feasible point."
    return "scipy"


def falling(
    scaling: Scaling, point: Point, bounds: tuple[Array, Array]
) -> tuple[int, ...]:
    """Variables in which ``f`` is linear and falls, with no bound in the way.

    Args:
        scaling: The scale of that very point.
        point: Where the iteration ended.
        bounds: Lower and upper bounds, in units.
    """
    linear = np.array(scaling.unscaled, dtype=np.intp)
    slope = point.gradient[linear]
    end = np.where(slope > 0, bounds[0][linear], bounds[1][linear])
    return tuple(linear[(slope != 0) & np.isinf(end)].tolist())


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
