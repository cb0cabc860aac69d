"""Diagonals that make symmetric interval matrices positive semidefinite.

Every test here is proved in outward arithmetic. Floating-point eigenvectors only choose
what is tested.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval, Upward
from ._entries import Covered, Entries

__all__ = ["diagonals", "dominance", "resolvent", "semidefinite"]

Array = NDArray[Any]
SLACK = 1e-9  # what approximate eigenvalues are moved by before they are tested


def dominance(H: Entries, d: Array) -> Array:
    """The least ``s >= 0`` by which ``H + diag(s)`` is dominated by its diagonal.

    It is so in the units ``d``: ``H_ii + s_i >= sum over j != i of |H_ij| d_j / d_i``,
    rounded upward. Then it is positive semidefinite, whatever positive ``d`` is.
    """
    size = H.size
    np.fill_diagonal(size, 0.0)
    # Intervals, and not Upward: equality in the test above is common and must stay exact.
    rows = (Interval(size) @ Interval(d)) / Interval(d)
    lacking: Array = np.maximum((rows - Interval(np.diag(H.lo))).hi, 0.0)
    return lacking


def resolvent(C: Array) -> Array:
    """Positive ``d`` with ``(C d)_i / d_i`` at most a hair above the largest eigenvalue.

    ``C`` is symmetric and nonnegative off its diagonal; the result is to rounding.
    """
    top = np.linalg.eigvalsh(C)[-1]
    shift = top + 1e-7 * max(np.abs(C).max(), np.finfo(float).tiny)
    d: Array = np.linalg.solve(shift * np.eye(len(C)) - C, np.ones(len(C)))
    np.fmax(d, 1e-9 * d.max(), out=d)
    return d


def diagonals(H: Entries | Covered, t: Array) -> dict[str, Array]:
    """Some ``s >= 0``, each of which makes ``H + diag(s)`` positive semidefinite.

    The names say how they were found. They are made to be small in the sum of
    ``s_i t_i**2``.
    """
    if isinstance(H, Covered):
        h = Upward(H.h)
        return {"cover": np.asarray(h * (h * t).sum() / t)}
    found: dict[str, Array] = {"dominance": dominance(H, t)}
    if not found["dominance"].any():
        return found
    with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
        unit = np.outer(t, t)
        low, high, size = H.lo * unit, H.hi * unit, H.size * unit
        p = resolvent(size - np.diag(np.diag(size + low)))
        for name, d in (("scaled", t * p), ("half-scaled", t * np.sqrt(p))):
            if np.isfinite(d).all() and (d > 0).all():
                found[f"{name} dominance"] = dominance(H, d)
        s = _shift(low, high) / t**2
        if np.isfinite(s).all() and semidefinite(H.plus(s), t):
            found["eigenvalues"] = s
    return found


def _shift(low: Array, high: Array) -> float:
    """What makes all eigenvalues positive by a hair, to rounding."""
    mid, rad = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    least = np.linalg.eigvalsh(mid)[0] - np.linalg.eigvalsh(rad)[-1]
    hair = SLACK * np.abs(mid).max()
    return float(hair - least) if least < hair else 0.0


def semidefinite(H: Entries, t: Array) -> bool:
    """Whether all symmetric matrices in ``H`` are proved positive semidefinite.

    By dominance; or of ``X' H X`` for a triangular ``X`` without a zero on its diagonal,
    which nearly makes the middle of ``H`` the identity (Sylvester's law of inertia).
    """
    if (np.diag(H.lo) < 0).any():
        return False
    curved = np.asarray(H.size.any(axis=1))
    if not curved.all():
        H, t = H.among(curved), t[curved]
    if not len(t) or not dominance(H, t).any():
        return True
    try:
        factor = np.linalg.cholesky(0.5 * H.lo + 0.5 * H.hi)
        X = np.triu(np.linalg.solve(factor, np.eye(len(t))).T)
    except np.linalg.LinAlgError:
        return False
    if not np.isfinite(X).all() or not np.diag(X).all():
        return False
    M = Interval(X.T) @ (H.interval @ Interval(X))
    return not dominance(Entries.symmetric(M), np.ones(len(t))).any()
