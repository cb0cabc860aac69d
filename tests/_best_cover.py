"""The best cover that a matrix can have, for any cover to be measured against.

The excess of a cover at a nonzero entry is ``log10(h_i h_j / |H_ij|)``, never negative.
The best cover has the least sum of squared excesses over all nonzero entries. In the
logarithms of ``h`` that is a least-squares problem under linear inequalities, which is
solved by way of nonnegative least squares (Lawson and Hanson, "Solving Least Squares
Problems", chapter 23): finitely many steps, no tolerance to choose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import nnls

__all__ = ["above_best", "best_cover", "excess"]


def best_cover(H: Any) -> Any:
    """The ``h`` with ``h_i h_j >= |H_ij|`` and the least sum of squared excesses.

    Where several do (scaling ``h_0`` up and ``h_1`` down leaves a matrix with the only
    entry ``H_01`` as it is), one of them. An entry whose row is zero is zero.
    """
    size = np.abs(np.asarray(H, dtype=float))
    i, j = np.nonzero(np.triu(size))
    h = np.zeros(len(size))
    if not i.size:
        return h
    used = np.unique([i, j])
    pairs = (np.eye(len(size))[i] + np.eye(len(size))[j])[:, used]
    logs = np.log(size[i, j])
    # An entry off the diagonal stands for two.
    weight = np.where(i == j, 1.0, np.sqrt(2.0))
    U, s, Vt = np.linalg.svd(pairs * weight[:, None], full_matrices=False)
    rank = np.sum(s > 1e-12 * s[0])
    U, basis = U[:, :rank], Vt[:rank].T / s[:rank]
    # In z = s V' log(h) - U' (weight logs) the sum of squares is z'z and a constant.
    free = U.T @ (weight * logs)
    rows = pairs @ basis
    z = _least_distance(rows, logs - rows @ free)
    u = basis @ (z + free)
    h[used] = np.exp(u + max(0.0, np.max(logs - pairs @ u)) / 2)
    return h


def _least_distance(G: Any, g: Any) -> Any:
    """The shortest ``z`` with ``G z >= g``."""
    E = np.vstack([G.T, g])
    f = np.zeros(len(E))
    f[-1] = 1.0
    multipliers, _ = nnls(E, f)
    residual = E @ multipliers - f
    return -residual[:-1] / residual[-1]


def excess(h: Any, H: Any) -> float:
    """Mean of ``log10(h_i h_j / |H_ij|)`` over the nonzero entries; 0 where none is."""
    i, j = np.nonzero(H)
    if not i.size:
        return 0.0
    logs = np.log10(np.asarray(h)[[i, j]]).sum(axis=0)
    return float(np.mean(logs - np.log10(np.abs(np.asarray(H)[i, j]))))


def above_best(h: Any, H: Any) -> float:
    """Decades by which a cover is looser than the best one: of their mean excesses."""
    return excess(h, H) - excess(best_cover(H), H)
