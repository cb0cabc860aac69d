"""Least sums of absolute excesses, by SciPy's linear programming.

The optimum is a face, not a point. Its multipliers say which excesses vanish, or keep a
sign, all over the face, and least squares then choose a point of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoverError, MissingPackageError, extra
from ._program import least_excess
from ._support import Support

__all__ = ["least_absolute"]

Array = NDArray[Any]


def least_absolute(s: Support, x: Array, *, hard: bool) -> Array:
    """The least squares among the least ``sum(weight * |z|)``, with ``z >= 0`` if hard.

    Raises:
        MissingPackageError: If SciPy is not installed.
        CoverError: If that sum turns out larger than what the linear program proves.
    """
    z = s.over(x)
    scale = float(np.abs(z).max(initial=0.0))
    if not scale:
        return x
    # Tolerances of the solver are absolute, and excesses may all be tiny.
    moved, multiplier, least = _solved(s, z / scale, hard=hard)
    least *= scale
    # At a vertex, multipliers are multiples of a half.
    if hard:
        low = np.where(multiplier > 0.1, -np.inf, 0.0)
        high = np.full(z.size, np.inf)
    else:
        low = np.where(multiplier > s.weight - 0.1, 0.0, -np.inf)
        high = np.where(multiplier < 0.1 - s.weight, 0.0, np.inf)
    x, broken, rounding = least_excess(s, x + scale * moved, low, high)
    found = float(s.weight @ np.abs(s.over(x)))
    # The linear program knows of differences from its tolerance on.
    slack = 1e-8 * (scale + least) + rounding * float(s.weight.sum())
    if broken > 1e-9 * scale + rounding or found > least + slack:
        msg = (
            f"the sum of excesses is {found:.17g}, and {least:.17g} is possible; the "
            f"conditions of the face are broken by {broken:.2g}. Please report this "
            'matrix, and take penalty="squared_log" meanwhile.'
        )
        raise CoverError(msg)
    return x


def _solved(s: Support, z: Array, *, hard: bool) -> tuple[Array, Array, float]:
    """What to add to ``x``, multipliers, and the least sum, as they prove it."""
    try:
        optimize = import_module("scipy.optimize")
        sparse = import_module("scipy.sparse")
    except ImportError:
        msg = (
            "the penalty 'absolute_log' is minimised by SciPy, which is not installed; "
            f'{extra("sparse")}, or take penalty="squared_log".'
        )
        raise MissingPackageError(msg) from None
    k = np.arange(z.size)
    ends = (np.ones(2 * z.size), (np.append(k, k), np.append(s.p, s.q)))
    R = sparse.csr_array(ends, shape=(z.size, s.count))
    if hard:
        cost, rows, right = s.adjoint(s.weight), -R, z
    else:  # with a bound of each |z|
        one = sparse.csr_array((np.ones(z.size), (k, k)))
        rows = sparse.vstack([sparse.hstack([R, -one]), sparse.hstack([-R, -one])])
        cost = np.append(np.zeros(s.count), s.weight)
        right = np.append(-z, z)
    result = optimize.linprog(
        cost,
        A_ub=rows.tocsr(),
        b_ub=right,
        bounds=(None, None),
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
        },
    )
    if result.status != 0:
        msg = (
            f"the linear program of the excesses was not solved: {result.message} "
            'Please report this matrix, and take penalty="squared_log" meanwhile.'
        )
        raise CoverError(msg)
    multiplier = -np.asarray(result.ineqlin.marginals)
    moved: Array = np.asarray(result.x)[: s.count]
    if hard:
        return moved, multiplier, float(s.weight @ z - multiplier @ z)
    multiplier = multiplier[: z.size] - multiplier[z.size :]
    return moved, multiplier, float(multiplier @ z)
