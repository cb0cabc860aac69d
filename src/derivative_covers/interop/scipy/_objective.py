"""The scaled program as an optimiser sees it, and what it has seen so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError, NondifferentiableError
from ...replay import Compiled
from ._point import Point
from ._scaling import Scaling

__all__ = ["Counts", "Objective", "evaluated"]

Array = NDArray[Any]


@dataclass
class Counts:
    """Evaluations: of value and gradient together, of Hessian products, refused ones."""

    nfev: int = 0
    nhev: int = 0
    outside: int = 0


class Objective:
    """Value and gradient once a point, in scaled variables.

    Where the program cannot be evaluated, the value is infinite for methods that shrink
    a region. For those that interpolate along a line it is what sends them back to a
    tenth of the step: the parabola through it has its minimum there.
    """

    def __init__(
        self,
        scaling: Scaling,
        first: Point,
        counts: Counts,
        bounds: tuple[Array, Array],
        *,
        infinite: bool,
    ) -> None:
        self.scaling, self.counts, self.infinite = scaling, counts, infinite
        self.bounds = bounds
        self.best = first
        self.iterate = first
        self._y = scaling.to_scaled(first.x)
        self._last: tuple[Array, Point | None] = (self._y.copy(), first)

    def to_units(self, y: Array) -> Array:
        """The point, within the bounds in spite of rounding."""
        x: Array = np.clip(self.scaling.to_units(y), *self.bounds)
        return x

    def point(self, y: Array) -> Point | None:
        """What the program is at ``y``; None where it is not finite."""
        if not np.array_equal(y, self._last[0]):
            self._last = (np.array(y), self._evaluated(self.to_units(y)))
        return self._last[1]

    def _evaluated(self, x: Array) -> Point | None:
        self.counts.nfev += 1
        found = evaluated(self.scaling.program, x)
        if found is None:
            self.counts.outside += 1
        elif found.value < self.best.value:
            self.best = found
        return found

    def value(self, y: Array) -> float:
        """Scaled value, or its stand-in."""
        found = self.point(y)
        if found is not None:
            return float(found.value / self.scaling.unit)
        if self.infinite:
            return np.inf
        base = self.iterate
        slope = self.scaling.slope(base.gradient) @ (y - self.scaling.to_scaled(base.x))
        return float(base.value / self.scaling.unit + 4 * abs(slope))

    def gradient(self, y: Array) -> Array:
        """Scaled gradient, or one that points back."""
        found = self.point(y)
        if found is not None:
            return self.scaling.slope(found.gradient)
        return -9 * self.scaling.slope(self.iterate.gradient)

    def hvp(self, y: Array, v: Array) -> Array:
        """Scaled Hessian product."""
        if not np.isfinite(v).all():  # trust-krylov asks so where the gradient is zero
            return np.full(np.size(v), np.nan)
        self.counts.nhev += 1
        s = self.scaling
        try:
            found = s.program.hvp(self.to_units(y), s.to_units(np.ravel(v)))
        except (DomainError, NondifferentiableError):  # of a step that is refused
            return np.ravel(v)
        return s.slope(found)

    def hessian(self, y: Array) -> Array:
        """Scaled Hessian by products."""
        columns = [self.hvp(y, e) for e in np.eye(y.size)]
        H = np.stack(columns)
        return np.asarray((H + H.T) / 2)

    def accept(self, y: Array) -> Point:
        """Note that the method has gone to ``y``."""
        found = self.point(np.asarray(y, dtype=float))
        if found is not None:
            self.iterate = found
        return self.iterate


def evaluated(program: Compiled, x: Array) -> Point | None:
    """Value and gradient; None outside of the domain, at a kink, and where one is not finite."""
    try:
        value, gradient = program.value_and_gradient(x)
    except (DomainError, NondifferentiableError):
        return None
    (value,) = np.ravel(value).tolist()  # of shape (), (1,), (1, 1) ...
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        return None
    return Point(x, value, np.asarray(gradient))
