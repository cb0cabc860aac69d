"""When to stop, in a way that has no units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import OptionError
from ...replay import Compiled
from ...sweeps import adjoints, check_outputs
from ._point import Point
from ._scaling import Scaling

__all__ = ["StopTest", "predicted_decrease", "rounding_of", "stationary"]

Array = NDArray[Any]
EPS = float(np.finfo(float).eps)

RESOLVED = 1e-3
"""Part of a value that no rounding is expected to reach: not worth estimating it."""

IDLE = 30
"""Iterations without a decrease after which a trust region is given up."""

PATIENCE = 5
"""Iterations between two new covers that may allow stopping; and those without a decrease,
such as the rejected steps of a trust region, that say nothing."""


NEGLIGIBLE = 1e-9
"""Of constrained problems, in scaled variables."""


def predicted_decrease(
    point: Point, scaling: Scaling, bounds: tuple[Array, Array]
) -> float:
    """What a step in the scaled variables promises, in units of the function.

    The model is ``g'p + p'p / 2`` with ``p`` within the bounds: without them, the step
    gains ``sum((g / h)**2) / 2``.
    """
    s = scaling
    y = s.to_scaled(point.x)
    g = s.slope(point.gradient)
    with np.errstate(invalid="ignore", over="ignore"):
        p = np.clip(-g, s.to_scaled(bounds[0]) - y, s.to_scaled(bounds[1]) - y)
        gain = float(-(g @ p) - p @ p / 2) * s.unit
    return max(gain, 0.0) + 0.0  # no -0.0


def rounding_of(program: Compiled, x: Array) -> float:
    """How far the computed value of a program is from the exact one, by rounding.

    To first order, an error of one unit in the last place of every intermediate result
    changes the value by ``sum(adjoint * result * eps)``; errors are as good as
    independent, so that squares are added.
    """
    tape, outs = program.tape_at(x)
    (out,) = np.ravel(outs).tolist()
    weights = adjoints(check_outputs(tape, out), tape, 1.0, out)
    results = tape.vals[: weights.size]
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.where(weights == 0, 0.0, np.abs(weights * results))
        return EPS * float(np.linalg.norm(size))


class StopTest:
    """Whether neither the last iterations nor the model gain more than is worth it.

    What is worth it: without ``tol``, the rounding of ``f``, and a tiny part of the
    decrease since the start, which is what ends a run to the value zero. With ``tol``,
    also that part of ``|f|`` and of the decrease since the start.
    """

    def __init__(self, program: Compiled, first: Point, tol: float | None) -> None:
        number = isinstance(tol, (int, float)) and not isinstance(tol, bool)
        if tol is not None and not (number and 0 <= tol < 1):
            msg = (
                f"tol is {tol!r}; a number in [0, 1) is needed: which part of |f|, and "
                "of the decrease since the start, is not worth an iteration. None goes "
                "on to the rounding of f."
            )
            raise OptionError(msg)
        self.program, self.first, self.tol = program, first.value, float(tol or 0.0)
        self.last = first.value
        self.begin()
        self._rounding: tuple[float, float] | None = None

    def begin(self) -> None:
        """Forget what was found out about a scale that is no longer in use."""
        self.decrease, self.left = 0.0, np.inf
        self.idle = self.waited = 0
        self.refused = False

    def worth(self, point: Point) -> float:
        """The smallest decrease worth an iteration, in units of the function."""
        gained = abs(self.first - point.value)
        return self.resolution(point) + self.tol * (abs(point.value) + gained)

    def resolution(self, point: Point) -> float:
        """The smallest decrease that values can show, in units of the function."""
        gained = abs(self.first - point.value)
        return float(self.rounding(point) + EPS**1.5 * gained)

    def drowned(self, point: Point, promise: float) -> bool:
        """Whether a decrease from ``point`` could not be told from rounding."""
        gained = abs(self.first - point.value)
        most = RESOLVED * abs(point.value) + EPS**1.5 * gained
        return promise <= most and promise <= self.resolution(point)

    def rounding(self, point: Point) -> float:
        """Rounding of the value, estimated anew where that has changed by a percent."""
        known = self._rounding
        if known is None or abs(known[0] - point.value) > 0.01 * abs(point.value):
            known = (point.value, rounding_of(self.program, point.x))
            self._rounding = known
        return known[1]

    def __call__(
        self, point: Point, predicted: float, afresh: Callable[[Point], float]
    ) -> str | None:
        """Why to stop after an iteration that went to ``point``; None to go on.

        Args:
            point: Where it went.
            predicted: What the model promises, by the scale in use.
            afresh: What it promises by the scale of that very point. It has the last
                word: the scale in use may be that of a far start.

        Returns:
            ``"converged"``, ``"unbounded"``, ``"stagnated"``, None, or ``"rescale"``
            where only the scale in use is for stopping.
        """
        decrease = self.last - point.value
        if decrease > 0 or self.idle >= PATIENCE:
            self.left = _left(self.decrease, decrease)
        self.last, self.decrease = point.value, decrease
        self.idle = self.idle + 1 if decrease <= 0 else 0
        self.waited += 1
        if predicted == 0 and afresh(point) == 0:
            return "converged"
        gained = abs(self.first - point.value)
        most = RESOLVED * abs(point.value) + (EPS**1.5 + self.tol) * gained
        if self.left <= most:
            worth = self.worth(point)
            if not np.isfinite(worth):
                return "unbounded"
            done = predicted <= worth and not self.refused
            if self.left <= worth and (done or self.waited >= PATIENCE):
                self.waited = 0
                if afresh(point) <= worth:
                    return "converged"
                if done:
                    self.refused = True
                    return "rescale"
        return "stagnated" if self.idle >= IDLE else None


def _left(before: float, last: float) -> float:
    """What iterations to come gain if decreases go on as a geometric series."""
    if not 0 < last < before:
        return last
    return min(last, last * (last / before) / (1 - last / before))


def stationary(state: Any, tol: float) -> bool:
    """Whether trust-constr has arrived, in scaled variables.

    SciPy's own ``gtol`` looks at the Lagrangian alone, which vanishes for every size of
    the barrier.
    """
    if state is None:  # of another method
        return False
    sizes = ("optimality", "constr_violation", "barrier_parameter")
    return all(state.get(name, 0.0) <= max(tol, NEGLIGIBLE) for name in sizes)
