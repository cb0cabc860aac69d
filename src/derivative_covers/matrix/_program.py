"""Least squares of excesses under conditions on their signs, to the last digits.

With ``z`` the excess ``x[p] + x[q] - logs`` of each entry, ``sum(weight * z**2)`` is made
least where each ``z`` is nonnegative, zero, nonpositive or free. This is strictly convex
in ``z``. Multipliers come from the augmented Lagrangian method (Rockafellar, Math. Oper.
Res. 1, 1976); each of its rounds minimises a piecewise quadratic function by Newton's
method, which ends exactly after a few factorisations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._linear import step
from ._support import Support

__all__ = ["least_excess"]

Array = NDArray[Any]

_ROUNDS, _STEPS = 50, 100
_EPS = float(np.finfo(np.float64).eps)


def least_excess(
    s: Support, x: Array, low: Array, high: Array
) -> tuple[Array, float, float]:
    """The ``x`` with the least sum of squares.

    Args:
        s: The entries.
        x: Where to begin.
        low: Least multiplier of each entry: -inf where ``z > 0`` is forbidden, else 0.
        high: Largest multiplier: inf where ``z < 0`` is forbidden, else 0.

    Returns:
        It, by how much it breaks its conditions, and how much of that is rounding.
    """
    z = s.over(x)
    y = np.zeros(z.size)
    rounding = 1e-13 * (1.0 + float(np.abs(z).max(initial=0.0)))
    rounding += 8 * _EPS * float(np.abs(s.logs).max(initial=0.0))
    sigma = 30.0 * max(1.0, float(s.degree.mean())) if s.count else 1.0
    last = np.inf
    broken = 0.0
    for _ in range(_ROUNDS):
        x, z, moved = _newton(s, x, z, y, low, high, sigma, rounding / 10)
        new = np.clip(y - sigma * z, low, high)
        # At rest, new multipliers make x stationary; what is left is that they change.
        broken = max(moved, float(np.abs(new - y).max(initial=0.0)) / sigma)
        y = new
        if broken <= rounding:
            break
        if broken > last / 30 and sigma < 1e11:
            sigma *= 10
        last = broken
    return x, broken, rounding


def _newton(
    s: Support,
    x: Array,
    z: Array,
    y: Array,
    low: Array,
    high: Array,
    sigma: float,
    tolerance: float,
) -> tuple[Array, Array, float]:
    """Minimise half of ``sum(weight * (z**2 + clip(y - sigma z)**2 / sigma))``.

    The excesses are updated with ``x``: what they are computed from is much larger than
    they are, and sigma would multiply its rounding. The last result is by how much the
    next step would change one.
    """
    moved = 0.0
    tied = np.isinf(low) & np.isinf(high)
    v = np.clip(y - sigma * z, low, high)
    value = s.weight @ (z**2 + v**2 / sigma) / 2
    for _ in range(_STEPS):
        gradient = s.adjoint(s.weight * (z - v))
        stiff = np.where((v != 0) | tied, 1 + sigma, 1.0)
        direction = step(s, s.weight * stiff, -gradient)
        change = direction[s.p] + direction[s.q]
        moved = float(np.abs(change).max(initial=0.0))
        if moved <= tolerance:
            break
        slope = gradient @ direction
        length = 1.0
        while True:
            there = z + length * change
            v = np.clip(y - sigma * there, low, high)
            then = s.weight @ (there**2 + v**2 / sigma) / 2
            if then <= value * (1 + 4 * _EPS) + 1e-4 * length * slope:
                break
            if length < 1e-8:
                break
            length /= 2
        x, z, value = x + length * direction, there, then
    return x, z, moved
