"""Convex underestimators over a box: alphaBB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..covers import RecordingOptions, gradient, tape_function
from ..elements import Interval
from ..errors import DomainError, OptionError, ShapeError
from ..results import Named, Summary, number, variables
from ._bisect import Judgement, bisect, largest_first
from ._boxes import finite_box
from ._curvature import Curvature, Method, check_method
from ._dominance import diagonals
from ._options import Options, split_options

__all__ = ["AlphaBB", "alphabb"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class AlphaBB(Named):
    """A function that is convex over a box and nowhere above another one.

    It is ``f(x) - sum(alpha * (x - lo) * (hi - x))``. ``numpy.asarray`` of it is
    ``alpha``.

    Attributes:
        alpha: Nonnegative, of the shape of the box. The Hessian of ``f`` and
            ``diag(2 * alpha)`` add up to a positive semidefinite matrix all over the
            box, exactly; variables that the box fixes are left out of it.
        box: The box.
        gap: The most that the underestimator lies below ``f``,
            ``sum(alpha * (hi - lo)**2) / 4``, rounded upward.
        method: How ``alpha`` was found: ``"dominance"`` of the diagonal in units of the
            widths, ``"scaled dominance"`` and ``"half-scaled dominance"`` in other
            units, ``"eigenvalues"`` or ``"cover"``.
        boxes: The number of parts of the box that were looked at.
    """

    alpha: Array
    box: Interval
    gap: float
    method: str
    boxes: int
    _f: Any
    _recording: RecordingOptions

    def underestimator(self, x: Any) -> Any:
        """The underestimator at a point of the box, in plain arithmetic.

        Args:
            x: A point, of the shape of the box; may be recorded, too. It is not asked
                whether it lies in the box, so that optimisers may step out of it.

        Returns:
            ``f(x) - sum(alpha * (x - lo) * (hi - x))``. In exact arithmetic this is
            convex; the rounding of ``f`` is that of the program.

        Raises:
            ShapeError: If the point has another shape than the box.
        """
        if not hasattr(x, "shape"):
            x = np.asarray(x)[()]
        self._check_shape(x.shape)
        args = self._recording.get("args", ())
        value = self._f(x, *args, **(self._recording.get("kwargs") or {}))
        return value - np.sum(self.alpha * (x - self.box.lo) * (self.box.hi - x))

    def lower_bound(self, x: Any) -> float:
        """A number that ``f`` is nowhere below in the box, proved.

        It is the least value that a tangent plane of the underestimator takes, so that
        any point will do; the nearer to its minimum, the better the bound.

        Args:
            x: A point of the box.

        Returns:
            The bound, rounded downward.

        Raises:
            ShapeError: If the point has another shape than the box.
            OptionError: If it lies outside.

        Cost:
            One recording and one reverse sweep over intervals.
        """
        point = Interval(x)
        self._check_shape(point.shape)
        if point not in self.box:
            msg = f"x is {x!r:.80}, which does not lie in the box."
            raise OptionError(msg)
        tape, out = tape_function(self._f, point, **self._recording)
        slope = gradient(tape, out)
        left, right = point - self.box.lo, self.box.hi - point
        value = tape.vals[out] - np.sum(self.alpha * left * right)
        slope = slope + self.alpha * (left - right)
        fall = np.minimum(slope * (0 - left), slope * right)
        return float((value + np.sum(np.minimum(fall, 0.0))).lo)

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if shape != self.box.shape:
            msg = f"x has shape {shape}; the box has shape {self.box.shape}."
            raise ShapeError(msg)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.alpha, dtype=dtype)

    def _variables(self) -> tuple[Any, int]:
        return self.alpha, 0

    def _summary(self) -> Summary:
        title = (
            f"AlphaBB: gap={number(self.gap)}, method={self.method!r}, "
            f"boxes={self.boxes}"
        )
        columns = {"alpha": self.alpha, "box": self.box}
        return Summary(title, (variables(self.names, columns, "alpha"),))


@dataclass(frozen=True)
class _Diagonals:
    """Diagonals that make the Hessian over a part positive semidefinite."""

    curvature: Curvature
    free: Array
    widths: Array

    def __call__(self, lo: Array, hi: Array) -> tuple[dict[str, Array], float]:
        found = self.curvature(lo, hi).among(self.free)
        return diagonals(found, self.widths), found.spread(self.widths)


def alphabb(
    f: Any,
    box: Any,
    *,
    method: Method = "auto",
    **options: Unpack[Options],
) -> AlphaBB:
    """A convex underestimator of a function over a box, proved to be one.

    Args:
        f: Function of one array (or of one number) with a scalar result.
        box: An :class:`Interval`; a tuple ``(lo, hi)`` of arrays; a list of ``(lo, hi)``
            pairs; or an object with ``lb`` and ``ub`` such as ``scipy.optimize.Bounds``.
            All ends are finite.
        method: Which bounds of the Hessian are used. ``"hessian"``: an interval Hessian;
            ``"bound"``: absolute values, :func:`derivative_covers.hessian_bound`;
            ``"cover"``: a cover, which never forms an n by n matrix; ``"auto"``: all of
            them.
        **options: ``max_boxes=1``: bisect the box into at most so many parts, which
            tightens the bound. ``until``: a function of the result so far, which is
            sound; bisection ends once it returns true. ``executor``: an executor of
            ``concurrent.futures`` that evaluates the parts; it does not change the
            result. ``progress=True`` draws a bar. Further ``args``, ``kwargs`` and
            ``numpy`` as in :func:`derivative_covers.tape_function`.

    Returns:
        The :class:`AlphaBB` of least ``gap`` among those found, each a whole valid
        vector.

    Raises:
        OptionError: For a box with an end that is NaN or infinite or with ``lo > hi``,
            or for an option that is none.
        ShapeError: If the result of ``f`` is no scalar.
        DomainError: If ``f`` leaves its domain, or something overflows, somewhere in the
            box.
        NondifferentiableError: If it has a kink there.
        UndecidedError: If it takes different branches there. ``max_boxes`` helps where
            the fault is one of enclosures that are too wide.

    Guarantee:
        ``alpha`` is never too small: enclosures and all that follows are rounded
        outward.

    Cost:
        For each part an interval Hessian (a sweep an input), for ``"cover"`` a few
        sweeps in all.

    Source:
        Adjiman, Dallwig, Floudas, Neumaier 1998, "A global optimization method, alphaBB,
        for general twice-differentiable constrained NLPs: I", Computers and Chemical
        Engineering 22. With a cover ``h`` and widths ``t``,
        ``alpha_i = h_i sum_j h_j t_j / (2 t_i)``.

    Example:
        >>> from derivative_covers import bounds
        >>> found = bounds.alphabb(lambda x: x[0] * x[1] + x[0] ** 2, [(0, 1), (0, 2)])
        >>> found.alpha, found.gap
        (array([0.  , 0.25]), 0.25)
        >>> found.lower_bound([0.0, 1.0])
        -0.25
    """
    check_method(method)
    recording, bisection = split_options(options)
    where = finite_box(box, "alphabb")
    widths = np.ravel(where.width)
    free = widths > 0
    t = widths[free]
    finding = _Diagonals(Curvature(f, method, recording), free, t)

    def judge(parts: list[dict[str, Array]]) -> Judgement:
        if not parts:
            return Judgement(None, [])
        names = dict.fromkeys(name for part in parts for name in part)
        # A part that lacks a vector lends its first one, which is valid there as well.
        rows = {
            name: np.stack([p.get(name, next(iter(p.values()))) for p in parts])
            for name in names
        }
        gaps = {name: _gap(some.max(axis=0), t) for name, some in rows.items()}
        name = min(gaps, key=gaps.__getitem__)
        some = rows[name].max(axis=0)
        if not np.isfinite(gaps[name]):
            msg = (
                "alpha, or the gap, exceeds the largest float over this box; take a "
                "smaller box, or other units for its variables."
            )
            raise DomainError(msg)
        alpha = np.zeros(where.size)
        alpha[free] = (Interval(some) / 2.0).hi
        alpha = alpha.reshape(where.shape)
        best = AlphaBB(alpha, where, gaps[name], name, len(parts), f, recording)
        at_most = np.where((rows[name] == some) & (some > 0), some * t * t, 0.0)
        return Judgement(best, largest_first(at_most.sum(axis=1)))

    found: AlphaBB = bisect(finding, judge, where, bisection)
    return found


def _gap(s: Array, t: Array) -> float:
    """``sum(s * t**2) / 8``, rounded upward."""
    if not np.isfinite(s).all():
        return float("inf")
    return float((np.sum(Interval(s) * t * t) / 8.0).hi)
