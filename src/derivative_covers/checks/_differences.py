"""Derivatives along a line by differences, with an estimate of their error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimate", "Line", "Table", "noise_of"]

Array = NDArray[Any]
Function = Callable[[Array], Array]

LARGEST = 2.0**-4  # of the typical size of the variables
RATIO = 4.0
LEVELS = 13  # down to a relative step of 4e-9
FINEST = 18  # levels where an estimate is in doubt, down to 4e-12
JUMP_STEPS = (2.0**-20, 2.0**-26, 2.0**-34, 2.0**-42)


@dataclass(frozen=True)
class Estimate:
    """A derivative by extrapolated differences, an entry an output.

    Attributes:
        value: The estimate.
        error: How far it may be off: the disagreement within the extrapolation table,
            and the noise of the function over the step.
        table: Where it comes from; see :meth:`Table.settled`.
    """

    value: Array
    error: Array
    table: Table


def noise_of(f: Function, x: Array, d: Array) -> Array:
    """Rounding noise of the entries of ``f`` near ``x``.

    Values at nine points 1e-10 apart (relatively) differ by a smooth part that high
    differences remove, and by noise. It is the method of Moré and Wild, Estimating
    computational noise (2011), on both sides, since a jump at ``x`` itself is no noise.
    """
    sides = [
        np.array([f(x + s * j * 2.0**-33 * d) for j in range(1, 10)]) for s in (1, -1)
    ]
    return np.fmin(*(_level(table) for table in sides))


def _level(table: Array) -> Array:
    found = 0.5 * np.finfo(np.float64).eps * np.abs(table[0])
    for order in range(1, 7):
        table = np.diff(table, axis=0)
        if order > 2:
            size = np.fmax(np.abs(table).max(axis=0), np.finfo(np.float64).tiny)
            mean = np.mean((table / size) ** 2, axis=0)
            level = size * np.sqrt(mean / comb(2 * order, order))
            found = np.fmax(found, level)
    return np.where(np.isnan(found), 0.0, found)


class Line:
    """A function on a line through a point; its values are computed once.

    Args:
        f: Function of a flat vector.
        x: The point.
        d: Direction, of the typical size of the variables.
        f0: ``f(x)``.
        noise: Noise of its entries at the point.
    """

    def __init__(
        self, f: Function, x: Array, d: Array, f0: Array, noise: Array
    ) -> None:
        self.f, self.x, self.d, self.f0, self.noise = f, x, d, f0, noise
        self._values: dict[float, Array] = {}

    def at(self, t: float) -> Array:
        """The function at ``x + t d``."""
        found = self._values.get(t)
        if found is None:
            found = self._values[t] = self.f(self.x + t * self.d)
        return found

    def slope(self) -> Estimate:
        """First derivative along the line."""
        return Table(self, 1).estimate()

    def curvature(self) -> Estimate:
        """Second derivative along the line."""
        return Table(self, 2).estimate()

    def one_sided(self) -> tuple[Array, Array, Array]:
        """Smallest and largest of the slopes to both sides, and their noise."""
        t = LARGEST * RATIO**-9
        left, right = (self.f0 - self.at(-t)) / t, (self.at(t) - self.f0) / t
        low, high = np.minimum(left, right), np.maximum(left, right)
        return low, high, 8 * self.noise / t + 1e-4 * np.maximum(abs(low), abs(high))

    def jumps(self) -> tuple[Array, Array, Array]:
        """Whether entries jump at the point: by value near it, change allowed, excess.

        A jump keeps its height as the step shrinks, that is more than half of it at every
        step of JUMP_STEPS; a steep slope does not. The excess is the last height over
        what is allowed by that and by noise, on the side where it is larger; a jump has
        more than 1.
        """
        floor = 64 * self.noise + 1e3 * np.finfo(np.float64).eps * np.abs(self.f0)
        near, allowed, excess = self.f0, floor, np.zeros(self.f0.shape)
        for side in (1.0, -1.0):
            heights = [abs(self.at(side * t) - self.f0) for t in JUMP_STEPS]
            last = heights[-1]
            with np.errstate(all="ignore"):
                kept = [2 * b / a for a, b in pairwise(heights)]
                found = np.minimum.reduce([*kept, last / floor])
                found = np.where(np.isnan(found), 0.0, found)
                limit = np.where(found > 0, last / found, floor)
            more = found >= excess
            near = np.where(more, self.at(side * JUMP_STEPS[-1]), near)
            allowed, excess = (
                np.where(more, limit, allowed),
                np.where(more, found, excess),
            )
        return near, allowed, excess

    def variation(self) -> Array:
        """How much the function changes over the largest step."""
        ends = [abs(self.at(s * LARGEST) - self.f0) for s in (1.0, -1.0)]
        found: Array = np.nan_to_num(np.fmax(*ends), posinf=0.0)
        return found

    def floor(self, t: float, order: int) -> Array:
        """What rounding of values and of points may change in a difference."""
        eps = np.finfo(np.float64).eps
        high, low = self.at(t), self.at(-t)
        values = np.fmax(abs(high), abs(low))
        change = np.fmax(abs(high - self.f0), abs(low - self.f0))
        noise = np.fmax(self.noise, eps * (values + change / t))
        floor: Array = 4.0**order * noise / t**order
        return floor

    def difference(self, t: float, order: int) -> Array:
        """The central difference of an order at a step."""
        high, low = self.at(t), self.at(-t)
        found: Array = (high - low) / (2 * t)
        if order == 2:
            found = ((high - self.f0) - (self.f0 - low)) / t**2
        return found


class Table:
    """Central differences at shrinking steps, and what extrapolation makes of them.

    Args:
        line: The function on a line.
        order: Order of the derivative, 1 or 2.
    """

    def __init__(self, line: Line, order: int) -> None:
        self.line, self.order, self.level = line, order, 0
        self.rows: list[list[Array]] = []
        self.values: list[Array] = []
        self.errors: list[Array] = []
        self.plain: list[Array] = []  # without extrapolation
        self.spread: list[Array] = []  # how far those may be off

    def estimate(self) -> Estimate:
        """The entry of the table with the least error, once it settles."""
        shape = self.line.f0.shape
        best, error = np.full(shape, np.nan), np.full(shape, np.inf)
        stale = 0
        while self._deepen(LEVELS):
            if not self.values:
                continue
            better = self.errors[-1] < error
            best = np.where(better, self.values[-1], best)
            error = np.where(better, self.errors[-1], error)
            stale = 0 if better.any() else stale + 1
            if stale >= 3 and (error <= 1e-9 * np.abs(best)).all():
                break
        return Estimate(best, error, self)

    def settled(self, k: int, found: float, slack: float) -> tuple[float, float]:
        """An estimate of one entry, and its error, for a number that disagrees.

        Differences over long steps can agree with each other about a function that bends
        within those steps (a narrow peak, a pole near). So an estimate counts only if no
        difference at a smaller step contradicts it; else the next one is taken, until
        one agrees with ``found``. Without any, the error is infinite.
        """
        while self._deepen(FINEST):
            pass
        if not self.values:
            return np.nan, np.inf
        values, errors, plain, spread = (
            np.array([row[k] for row in rows])
            for rows in (self.values, self.errors, self.plain, self.spread)
        )
        start = 0
        while start < errors.size and np.isfinite(errors[start:]).any():
            n = start + int(np.argmin(errors[start:]))
            value, error = float(values[n]), float(errors[n])
            if abs(found - value) <= 8 * error + slack:
                return value, error
            later, far = plain[n + 1 :], spread[n + 1 :]
            if not (abs(later - value) > far + 8 * error).any():
                return value, error
            start = n + 1
        return np.nan, np.inf

    def _deepen(self, levels: int) -> bool:
        """Add the differences at the next smaller step; False at the smallest."""
        if len(self.rows) >= levels or self.level >= 2 * levels:
            return False
        t = LARGEST * RATIO**-self.level
        self.level += 1
        row = [self.line.difference(t, self.order)]
        if not self.rows and not np.isfinite(row[0]).any():
            return True  # a step beyond the end of the domain
        floor = self.line.floor(t, self.order)
        best = np.full(row[0].shape, np.nan)
        error = np.full(row[0].shape, np.inf)
        for j in range(1, min(len(self.rows), 5) + 1):
            above, left = self.rows[-1][j - 1], row[j - 1]
            row.append(left + (left - above) / (RATIO ** (2 * j) - 1))
            off = np.maximum(abs(row[j] - left), abs(row[j] - above)) + floor
            best, error = (
                np.where(off < error, row[j], best),
                np.where(off < error, off, error),
            )
        if self.rows:
            self.values.append(best)
            self.errors.append(error)
            self.plain.append(row[0])
            self.spread.append(8 * abs(row[0] - self.rows[-1][0]) + 4 * floor)
        self.rows.append(row)
        return True
