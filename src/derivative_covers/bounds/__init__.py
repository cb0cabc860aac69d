"""Bounds that hold all over a box: curvature, convexity, convex underestimators."""

from __future__ import annotations

from ._alphabb import AlphaBB, alphabb
from ._convex import convex_on
from ._entrywise import hessian_bound
from ._lipschitz import gradient_lipschitz

__all__ = ["AlphaBB", "alphabb", "convex_on", "gradient_lipschitz", "hessian_bound"]
