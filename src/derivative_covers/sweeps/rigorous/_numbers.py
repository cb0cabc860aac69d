"""The vectors of a sweep: intervals, upper bounds, or objects.

Each kind makes zeros, takes and gives numbers, and adds to an entry; the kernels of the
kind do the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...elements import (
    Interval,
    Upward,
    converted,
    decided_zero,
    magnitude,
    magtype,
    upper_magnitudes,
)
from ...elements import _outward as outward
from ...elements._interval import pair
from ...tape import Tape
from .._step import Array
from ._steps import Ends

__all__ = ["numbers_of", "sizes_of"]


class _Intervals:
    """Lower and upper ends."""

    def zeros(self, n: int) -> Ends:
        return np.zeros(n), np.zeros(n)

    def ends(self, x: Any) -> Ends:
        return pair(x)

    def number(self, v: Ends) -> Any:
        return Interval._wrap((v[0], v[1]))

    def add(self, v: Ends, k: int, given: Any) -> None:
        v[0][k], v[1][k] = outward.add((v[0][k], v[1][k]), given)


class _Bounds:
    """Magnitudes, rounded up."""

    def zeros(self, n: int) -> Ends:
        return (np.zeros(n),)

    def ends(self, x: Any) -> Ends:
        if isinstance(x, np.ndarray) and x.dtype == object:
            return (upper_magnitudes(x),)
        return (np.asarray(x, dtype=np.float64),)

    def number(self, v: Ends) -> Any:
        return v[0]

    def add(self, v: Ends, k: int, given: Any) -> None:
        v[0][k] = np.asarray(Upward(v[0][k]) + given[0])


class _Elements:
    """Objects of one type."""

    def __init__(self, T: type[Any]) -> None:
        self._type = T

    def zeros(self, n: int) -> tuple[Array, ...]:
        """Exact zeros."""
        return (np.full(n, 0, dtype=object),)

    def ends(self, x: Any) -> tuple[Array, ...]:
        """Numbers as the kernels take them."""
        array = np.asarray(x, dtype=object)
        found = np.empty(array.shape, dtype=object)
        found.ravel()[:] = [self._number(e) for e in array.ravel().tolist()]
        return (found,)

    def number(self, v: tuple[Array, ...]) -> Array:
        """What a sweep gave, all in the type."""
        return self.ends(v[0])[0]

    def add(self, v: tuple[Array, ...], k: int, given: tuple[Any, ...]) -> None:
        """Add to an entry."""
        v[0][k] = v[0][k] + given[0]

    def _number(self, x: Any) -> Any:
        plain = isinstance(x, (int, float, np.integer, np.floating))
        if not plain or issubclass(self._type, float):
            return x
        return converted(self._type, x if isinstance(x, int) else float(x))


_INTERVALS, _BOUNDS = _Intervals(), _Bounds()


def numbers_of(tape: Tape, absolute: Any) -> Any:
    """The kind of numbers of a pass: with signs, upper bounds, or exact magnitudes."""
    if tape.element is None or absolute is True:
        return _BOUNDS if absolute else _INTERVALS
    return _Elements(magtype(tape.element) if absolute else tape.element)


def sizes_of(v: Array) -> Array:
    """Magnitudes in a type of their own."""
    found = np.empty(v.shape, dtype=object)
    each = v.ravel().tolist()
    found.ravel()[:] = [0 if decided_zero(e) else magnitude(e) for e in each]
    return found
