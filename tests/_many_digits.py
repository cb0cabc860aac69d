"""Derivatives as differences in so many digits that doubling them changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

__all__ = ["agrees", "both", "differences", "near"]

TOL = mpf("1e-13")
TINY = mpf(float(np.finfo(float).tiny))
HUGE = mpf(float(np.finfo(float).max))


def near(x: float) -> tuple[float, ...]:
    """Doubles next to ``x``, on both sides."""
    below, above = np.nextafter(x, -np.inf), np.nextafter(x, np.inf)
    return float(below), float(above)


def both(points: Sequence[float]) -> tuple[float, ...]:
    return (*points, *(-p for p in points))


def settled(old: Any, new: Any) -> bool:
    if new == 0 or abs(new) < mpf(10) ** -330:
        return bool(mp.dps > 700)
    return bool(abs(new - old) < mpf(10) ** -20 * abs(new))


def differences(f: Callable[..., Any], x: tuple[float, ...], reach: Any) -> list[Any]:
    """Value, first and second differences of ``f``: ``v, d1, (d2,) c11, (c12, c22)``."""
    point = [mpf(t) for t in x]
    old: list[Any] | None = None
    dps = 60
    while dps < 10000:
        with mpmath.workdps(dps):
            h = [mpf(r) * mpf(10) ** (-dps // 4) for r in reach]

            def at(*steps: int, h: Any = h) -> Any:
                return f(*(p + s * t for p, s, t in zip(point, steps, h, strict=True)))

            if len(x) == 1:
                v, plus, minus = at(0), at(1), at(-1)
                k = h[0]
                new = [v, (plus - minus) / (2 * k), (plus - 2 * v + minus) / k**2]
            else:
                v = at(0, 0)
                e, w, n, s = at(1, 0), at(-1, 0), at(0, 1), at(0, -1)
                cross = at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)
                new = [
                    v,
                    (e - w) / (2 * h[0]),
                    (n - s) / (2 * h[1]),
                    (e - 2 * v + w) / h[0] ** 2,
                    cross / (4 * h[0] * h[1]),
                    (n - 2 * v + s) / h[1] ** 2,
                ]
            if old is not None and all(map(settled, old[1:], new[1:])):
                return new
        old = new
        dps *= 2
    msg = f"no agreement at {x}"
    raise AssertionError(msg)


def agrees(got: float, truth: Any, scale: Any = 0, tol: Any = TOL) -> bool:
    """Whether a double equals the truth to ``tol`` of it, or of a larger ``scale``."""
    if np.isnan(got):
        return False
    if np.isinf(got):
        return bool(abs(truth) > HUGE * (1 - tol)) and (got > 0) == (truth > 0)
    return bool(abs(mpf(float(got)) - truth) <= tol * max(abs(truth), TINY, scale))
