"""Weighted normal equations on a graph of entries."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._support import Support

__all__ = ["fitted", "step"]

Array = NDArray[Any]

_EPS = float(np.finfo(np.float64).eps)
_DENSE = 500  # nodes up to which a dense factorisation is the faster one


def step(
    s: Support,
    weight: Array,
    right: Array,
    *,
    definite: bool = False,
    ridge: float = 0.0,
) -> Array:
    """Solve ``adjoint(weight * (x[p] + x[q])) = right`` for ``x``.

    What a component of two sides leaves open is fixed by zero at one of its nodes. A
    ridge adds that part of the diagonal.

    Raises:
        LinAlgError: If ``definite`` and the matrix is not positive definite, or sparse.
    """
    diagonal = s.adjoint(weight)
    large = s.count > _DENSE and 10 * s.p.size < s.count**2
    if definite and (large or not (diagonal[s.degree > 0] > 0).all()):
        raise np.linalg.LinAlgError
    # Both sides of ``right`` have the same sum, so any weight at the pin will do.
    diagonal[s.pins] *= 2.0
    diagonal[s.degree == 0] = 1.0
    scale = 1 / np.sqrt(diagonal + s.loops(weight))
    off = weight * scale[s.p] * scale[s.q]
    ends = diagonal * scale**2 + ridge
    found: Array
    if large:
        found = _sparse(s, off, ends, scale * right)
    else:
        M = np.zeros((s.count, s.count))
        M[s.p, s.q] = off
        M += M.T
        M[np.diag_indices(s.count)] += ends
        if definite:
            np.linalg.cholesky(M)
        found = np.linalg.solve(M, scale * right)
    found *= scale
    return found


def _sparse(s: Support, off: Array, ends: Array, right: Array) -> Array:
    """The same with SciPy's sparse factorisation; dense where SciPy is missing."""
    rows = np.concatenate([s.p, s.q, np.arange(s.count)])
    columns = np.concatenate([s.q, s.p, np.arange(s.count)])
    values = np.concatenate([off, off, ends])
    found: Array
    try:
        sparse = import_module("scipy.sparse")
        solvers = import_module("scipy.sparse.linalg")
    except ImportError:
        M = np.zeros((s.count, s.count))
        np.add.at(M, (rows, columns), values)
        found = np.linalg.solve(M, right)
        return found
    M = sparse.csc_array((values, (rows, columns)), shape=(s.count, s.count))
    factors = solvers.splu(
        M,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    found = factors.solve(right)
    return found


def fitted(s: Support, x: Array, steps: int) -> Array:
    """Least squares of the logarithms from ``x``, by steps of conjugate gradients.

    They are scaled by the diagonal, and end at a residual that is rounding.
    """
    right = -s.adjoint(s.weight * s.over(x))
    size = s.adjoint(s.weight * (np.abs(x[s.p]) + np.abs(x[s.q]) + np.abs(s.logs)))
    diagonal = s.adjoint(s.weight) + s.loops(s.weight)
    inverse = np.where(s.degree > 0, 1 / np.where(s.degree > 0, diagonal, 1.0), 0.0)
    enough = (4 * _EPS) ** 2 * (size @ (inverse * size))
    direction = inverse * right
    residual = right @ direction
    for _ in range(steps):
        if residual <= enough:
            break
        change = direction[s.p] + direction[s.q]
        curvature = s.weight @ change**2
        if not curvature > 0:  # nothing left but what no entry sees
            break
        length = residual / curvature
        x = x + length * direction
        right = right - length * s.adjoint(s.weight * change)
        before, residual = residual, right @ (inverse * right)
        direction = inverse * right + (residual / before) * direction
    return x
