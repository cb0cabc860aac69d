"""The scaled program as an optimiser sees it, and what it has seen so far."""

from __future__ import annotations

from collections.abc import Callable
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

    A search along a line is over where its points could gain no more than rounding:
    then no point is evaluated any more, so that the method finds no decrease, and
    ``spent`` says so.

    Args:
        scaling: Scaled variables.
        first: The start.
        counts: Where evaluations are counted.
        bounds: Lower and upper bounds, in units.
        infinite: What stands for a value that there is none of; see above.
        drowned: Whether a decrease from a point, as the slope promises it, would drown
            in rounding, and whether all would that the model promises there. None for
            methods that do not search along lines.
    """

    def __init__(
        self,
        scaling: Scaling,
        first: Point,
        counts: Counts,
        bounds: tuple[Array, Array],
        *,
        infinite: bool,
        drowned: Callable[[Point, float], tuple[bool, bool]] | None = None,
    ) -> None:
        self.scaling, self.counts, self.infinite = scaling, counts, infinite
        self.bounds, self.drowned = bounds, drowned
        self.spent = False
        self._least = np.inf
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
            x = self.to_units(y)
            self.spent = self.spent or self._hopeless(x)
            self._last = (np.array(y), None if self.spent else self._evaluated(x))
        return self._last[1]

    def _hopeless(self, x: Array) -> bool:
        """Whether neither a point of the search nor the model promises a decrease.

        Of the model's word there is no need at the second such point, if it is no
        farther: the method did not take the first.
        """
        if self.drowned is None:
            return False
        base = self.iterate
        with np.errstate(over="ignore", invalid="ignore"):
            promise = float(base.gradient @ (base.x - x))
        lost, everything = self.drowned(base, promise)
        again = promise <= self._least < np.inf
        self._least = promise if lost else np.inf
        return lost and (everything or again)

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
            self.iterate, self._least = found, np.inf
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
