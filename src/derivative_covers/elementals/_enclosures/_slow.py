"""The monotone functions of crival on pairs that python-flint stands in for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import ball_package
from ._balls import at_points
from ._decimals import around
from ._fast import Fast
from ._shapes import fast

__all__ = ["Slow", "functions", "hull_of_corners"]

_HALF_PI = "1.570796326794896619231321691639751442098584699688"

# Left and right end of the domain, and the limits there.
_MONOTONE: dict[str, tuple[float, float, Any, Any]] = {
    "exp": (-inf, inf, 0.0, inf),
    "expm1": (-inf, inf, -1.0, inf),
    "log": (0.0, inf, -inf, inf),
    "log1p": (-1.0, inf, -inf, inf),
    "atan": (-inf, inf, "-" + _HALF_PI, _HALF_PI),
}
_BASES = {"exp2": 2, "exp10": 10, "log2": 2, "log10": 10}


class Slow:
    """Increasing functions of pairs, by name, and powers of numbers that are not negative."""

    def __getattr__(self, name: str) -> Callable[[Pair], Pair]:
        base = _BASES.get(name)
        kind = name[:3] if base else name
        left, right, low, high = _MONOTONE[kind]

        def jet(x: Any) -> tuple[Any]:
            if not base:
                return (getattr(x, name)(),)
            ln = type(x)(base).log()
            return ((x * ln).exp() if kind == "exp" else x.log() / ln,)

        def evaluate(x: Pair) -> Pair:
            point = x[0] is x[1]
            ends = [
                _increasing(
                    name, jet, np.clip(end, left, right), left, right, low, high
                )
                for end in (x[:1] if point else x)
            ]
            lo, hi = ends[0][0], ends[-1][1]
            lost = (x[1] < left) | (x[0] > right)
            return np.where(lost, -inf, lo)[()], np.where(lost, inf, hi)[()]

        setattr(self, name, evaluate)
        return evaluate

    def pow(self, x: Pair, y: Pair) -> Pair:
        """``x**y`` for numbers that are not negative."""
        return hull_of_corners(
            _power_at, (np.maximum(x[0], 0.0), np.maximum(x[1], 0.0)), y
        )


def _increasing(
    name: str, jet: Any, x: Any, left: float, right: float, low: Any, high: Any
) -> Pair:
    x = np.asarray(x)
    flat = x.ravel()
    lo, hi = np.full(flat.shape, -inf), np.full(flat.shape, inf)
    inner = np.flatnonzero((flat > left) & (flat < right))
    if inner.size:
        near = np.clip(flat[inner], -1e4, 1e4) if "exp" in name else flat[inner]
        (found,) = at_points(ball_package(name), jet, (near,), 1)
        lo[inner], hi[inner] = found
        hi[inner[near < flat[inner]]] = inf
        lo[inner[near > flat[inner]]] = around(low)[0]
    for place, limit in ((left, low), (right, high)):
        here = flat == place
        lo[here], hi[here] = around(limit)
    return lo.reshape(x.shape), hi.reshape(x.shape)


def hull_of_corners(at: Callable[[Any, Any], Pair], x: Pair, y: Pair) -> Pair:
    """Hull of a function at the four corners of boxes."""
    found = None
    for a in x[:1] if x[0] is x[1] else x:
        for b in y[:1] if y[0] is y[1] else y:
            given = at(np.asarray(a), np.asarray(b))
            found = given if found is None else ow.hull(found, given)
    assert found is not None
    return found


def _power_at(x: Any, y: Any) -> Pair:
    x, y = np.broadcast_arrays(x, y)
    shape = x.shape
    x, y = x.ravel(), y.ravel()
    lo, hi = np.full(x.shape, -inf), np.full(x.shape, inf)
    inner = np.flatnonzero((x > 0.0) & (x < inf) & (np.abs(y) < inf))
    if inner.size:
        (found,) = at_points(
            ball_package("power"), lambda a, b: (a**b,), (x[inner], y[inner]), 1
        )
        lo[inner], hi[inner] = np.maximum(found[0], 0.0), found[1]
    for place, small in ((0.0, y > 0.0), (inf, y < 0.0)):
        here = (x == place) & (np.abs(y) < inf)
        value = np.where(y == 0.0, 1.0, np.where(small, 0.0, inf))
        lo[here] = hi[here] = value[here]
    return lo.reshape(shape)[()], hi.reshape(shape)[()]


@cache
def _slow() -> Slow:
    return Slow()


def functions() -> Fast | Slow:
    """Functions on pairs: crival's where it is installed."""
    return fast() or _slow()
