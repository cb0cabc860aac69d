"""First and second derivatives of a plain function along a line, with error estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["along"]

_STEPS = [2.0**-k for k in range(4, 17)]


def _extrapolated(levels: list[Any]) -> tuple[Any, Any]:
    """Entry by entry the best of all extrapolations in h**2, and how far it may be off."""
    best, error = levels[0], np.full(np.shape(levels[0]), np.inf)
    row = [levels[0]]
    for plain in levels[1:]:
        new = [plain]
        for k, old in enumerate(row):
            new.append(new[k] + (new[k] - old) / (4.0 ** (k + 1) - 1.0))
            off = np.maximum(abs(new[-1] - new[-2]), abs(new[-1] - old))
            better = off < error
            best, error = np.where(better, new[-1], best), np.where(better, off, error)
        row = new
    return best, error


def along(r: Callable[[Any], Any], x: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    """``r'``, its error, ``r''`` and its error, along ``v`` at ``x``.

    Central differences with halved steps, extrapolated as Ridders does; the error has the
    rounding of the values that the difference came from.
    """
    middle = np.asarray(r(x), dtype=float)
    first, second = [], []
    for h in _STEPS:
        with np.errstate(all="ignore"):
            up, down = (np.asarray(r(x + s * v), float) for s in (h, -h))
        if np.isfinite(up).all() and np.isfinite(down).all():
            first.append((up - down) / (2.0 * h))
            second.append((up - 2.0 * middle + down) / h**2)
    d1, e1 = _extrapolated(first)
    d2, e2 = _extrapolated(second)
    # Rounding in the parts of an entry, which may cancel in the entry itself.
    size = np.maximum(abs(middle), np.max(np.abs(first), axis=0)).max()
    noise = 64.0 * np.finfo(float).eps * size
    return d1, 4.0 * e1 + noise / _STEPS[2], d2, 4.0 * e2 + noise / _STEPS[2] ** 2
