"""What can be said of a function over many boxes, to close them or to cut them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...elements import _outward as ow
from ._jets import BoxProgram, Jets
from ._quadratic import Model, model_of

__all__ = ["GRADIENT", "KINDS", "UNBOUNDED", "Verdicts", "judge", "upper_bounds"]

Array = NDArray[Any]
Pair = tuple[Any, Any]

KINDS = ("none", "value", "mean value", "second order", "gradient")
UNBOUNDED, VALUE, MEAN_VALUE, SECOND_ORDER, GRADIENT = range(5)
_EXPANSIONS = 4


@dataclass(frozen=True)
class Verdicts:
    """What was found over boxes, one a row.

    Attributes:
        bound: The function is nowhere below it in the box.
        kind: How that was found, an index of ``KINDS``.
        variable: The component of the gradient that is proved to have one sign all over
            the box, so that minimisers lie on a face at most; -1 where none is.
        sign: That sign; 0 elsewhere.
        score: How much the range of each variable leaves uncertain, of shape
            ``(boxes, n)``: across the largest one the box is to be cut.
        hole: A point where the function may have no finite value; None: none was found.
        points: A point of the box.
        upper: A number that the value at that point does not exceed.
    """

    bound: Array
    kind: Array
    variable: Array
    sign: Array
    score: Array
    hole: Array | None
    points: Array
    upper: Array


def judge(
    program: BoxProgram, lo: Array, hi: Array, domain: Array, target: float
) -> Verdicts:
    """Bounds of a function over boxes.

    Args:
        program: The function; its recording holds over all of the boxes.
        lo: Lower ends, of shape ``(boxes, n)``.
        hi: Upper ends.
        domain: Widths of the whole box, for choices alone.
        target: A box whose bound is at least this needs nothing better.
    """
    work = _Work(program, lo, hi, domain, target)
    work.values()
    with np.errstate(all="ignore"):
        work.first_order()
        work.second_order()
        work.corners()
    return work.verdicts()


class _Work:
    """The verdicts on some boxes while they are made."""

    def __init__(
        self, program: BoxProgram, lo: Array, hi: Array, domain: Array, target: float
    ) -> None:
        self.program, self.target = program, target
        self.lo, self.hi = lo, hi
        self.mid = np.clip(0.5 * lo + 0.5 * hi, lo, hi)
        self.relative = (hi - lo) / np.where(domain > 0, domain, 1.0)
        boxes = len(lo)
        self.variable = np.full(boxes, -1)
        self.sign = np.zeros(boxes, dtype=int)
        self.score = np.zeros_like(lo)
        self.hole: Array | None = None

    def values(self) -> None:
        """Enclosures over the boxes and at their middles."""
        found = self.found = self.program(self.lo, self.hi, 2)
        low = np.where(found.undefined, -np.inf, found.value[0])
        self.bound = np.where(np.isnan(low), -np.inf, low)
        self.kind = np.where(self.bound == -np.inf, UNBOUNDED, VALUE)
        at = self.at = self.program(self.mid, self.mid, 1)
        self.points = self.mid.copy()
        self.upper = upper_bounds(at)
        self._note_holes(self.mid, at)

    def first_order(self) -> None:
        """The mean value form, and the signs of the gradient."""
        found, at = self.found, self.at
        assert found.gradient is not None
        assert found.hessian is not None
        assert at.gradient is not None
        usable = ~(found.rough | found.undefined)
        slope = _rows(found.gradient)
        away = ow.subtract((self.lo, self.hi), (self.mid, self.mid))
        bends = (
            np.moveaxis(found.hessian[0], -1, 0),
            np.moveaxis(found.hessian[1], -1, 0),
        )
        turned = ow.multiply(bends, (away[0][:, None], away[1][:, None]))
        nearby = ow.add(_rows(at.gradient), ow.total(turned, axis=-1))
        slope = ow.intersect(slope, nearby)
        usable &= np.isfinite(slope[0]).all(axis=1) & np.isfinite(slope[1]).all(axis=1)
        self.usable, self.bends = usable, bends
        change = ow.total(ow.multiply(slope, away), axis=-1)
        self._raise(usable, ow.add(at.value, change)[0], MEAN_VALUE)
        wide = self.hi > self.lo
        for sign, sure in ((1, slope[0] > 0), (-1, slope[1] < 0)):
            sure &= wide & usable[:, None]
            hit = sure.any(axis=1) & (self.sign == 0)
            self.variable[hit] = np.argmax(sure[hit], axis=1)
            self.sign[hit] = sign
        size = np.maximum(np.abs(slope[0]), np.abs(slope[1]))
        self.score = np.where(usable[:, None], size * (self.hi - self.lo), 0.0)

    def second_order(self) -> None:
        """Second-order bounds of the boxes that are still open, about several points."""
        finite = np.isfinite(self.bends[0]) & np.isfinite(self.bends[1])
        units = np.square(self.hi - self.lo)
        large = np.maximum(np.abs(self.bends[0]), np.abs(self.bends[1])).max(
            axis=(1, 2)
        )
        finite = finite.all(axis=(1, 2)) & np.isfinite(units.max(axis=1) * large)
        rows = np.flatnonzero(self._open() & finite & self.usable)
        if not rows.size:
            return
        bends = (self.bends[0][rows], self.bends[1][rows])
        model = model_of(self.lo[rows], self.hi[rows], bends)
        self.score[rows] = np.where(
            np.isfinite(model.rest), model.rest, self.score[rows]
        )
        gradient = self.at.gradient
        assert gradient is not None
        value = (self.at.value[0][rows], self.at.value[1][rows])
        slope = (gradient[0].T[rows], gradient[1].T[rows])
        self._expand(model, rows, self.mid[rows], value, slope)

    def _expand(
        self, model: Model, rows: Any, at: Array, value: Pair, slope: Pair
    ) -> None:
        """Expand about a point, then about the minimum of what bounds the function."""
        before = np.full(len(rows), -np.inf)
        for again in range(_EXPANSIONS):
            low, near = model.bound(at, value, slope)
            every = np.zeros(len(self.lo), dtype=bool)
            every[rows] = True
            lows = np.full(len(self.lo), -np.inf)
            lows[rows] = low
            self._raise(every, lows, SECOND_ORDER)
            # Where the last point brought much, the next one may close the box.
            gap = self.target - low
            keep = (gap > 0) & ((gap < 0.5 * (self.target - before)) | (again == 0))
            keep &= (near != at).any(axis=1)
            if again == _EXPANSIONS - 1 or not keep.any():
                return
            rows, at, before = rows[keep], near[keep], low[keep]
            model = model.part(keep)
            there = self.program(at, at, 1)
            assert there.gradient is not None
            value, slope = there.value, _rows(there.gradient)
            self._improve(rows, at, upper_bounds(there))

    def verdicts(self) -> Verdicts:
        """All that was found."""
        return Verdicts(
            self.bound,
            self.kind,
            self.variable,
            self.sign,
            self._scores(),
            self.hole,
            self.points,
            self.upper,
        )

    def corners(self) -> None:
        """Values at two corners of boxes that nothing but values bounds.

        A function with a kink, or at the end of its domain, often is least there; and
        where it has no value at a corner, no smaller box has a bound.
        """
        rows = np.flatnonzero(
            self._open() & (self.found.rough | (self.bound == -np.inf))
        )
        for ends in (self.lo, self.hi) if rows.size else ():
            at = ends[rows]
            there = self.program(at, at, 0)
            self._note_holes(at, there)
            self._improve(rows, at, upper_bounds(there))

    def _note_holes(self, at: Array, there: Jets) -> None:
        lost = there.undefined | ~np.isfinite(there.value[0])
        if lost.any() and self.hole is None:
            self.hole = at[np.argmax(lost)].copy()

    def _improve(self, rows: Array, at: Array, top: Array) -> None:
        better = top < self.upper[rows]
        self.points[rows[better]] = at[better]
        self.upper[rows[better]] = top[better]

    def _open(self) -> Array:
        found: Array = (self.bound < self.target) & (self.sign == 0)
        return found

    def _raise(self, where: Array, low: Array, kind: int) -> None:
        better = where & (low > self.bound)
        self.bound = np.where(better, low, self.bound)
        self.kind = np.where(better, kind, self.kind)

    def _scores(self) -> Array:
        """What leaves most uncertain; the widest variable where nothing is known."""
        score = np.where(np.isfinite(self.score), self.score, 0.0)
        most = score.max(axis=1, keepdims=True)
        # A little for the width, so that no variable is left alone for ever.
        found: Array = np.where(
            most > 0, score + 1e-3 * most * self.relative, self.relative
        )
        return found


def _rows(ends: Pair) -> Pair:
    return ends[0].T, ends[1].T


def upper_bounds(at: Jets) -> Array:
    """Upper bounds of values at points; infinite where there may be no value."""
    found: Array = np.where(at.undefined | np.isnan(at.value[1]), np.inf, at.value[1])
    return found
