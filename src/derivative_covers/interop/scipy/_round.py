"""One run of SciPy's method, with one scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError
from ._constraints import scaled_constraints, violation
from ._methods import Method
from ._objective import Objective
from ._package import optimize
from ._point import Point
from ._result import Run, callback_for
from ._scaling import Scaling
from ._stop import predicted_decrease, stationary
from ._verdict import falling

__all__ = ["Task", "afresh", "falls_for_ever", "one_round"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Task:
    """What SciPy is asked to do.

    Attributes:
        how: The method.
        settings: Its options.
        bounded: Whether there are bounds.
        constraints: The constraints.
        hess: A quasi-Newton strategy in place of Hessian products, or None.
        ends_itself: Whether the method's own tests decide, which know the constraints.
    """

    how: Method
    settings: dict[str, Any]
    bounded: bool
    constraints: list[Any]
    hess: Any
    ends_itself: bool


def one_round(
    run: Run,
    task: Task,
    point: Point,
    estimate: Callable[[Point], Scaling],
    fixed: bool,
) -> tuple[Any, Point]:
    """SciPy's result, None if it was stopped from outside, and the best point."""
    s = run.scaling

    def drowned(point: Point, promise: float) -> tuple[bool, bool]:
        lost = run.test.drowned(point, promise)
        model = predicted_decrease(point, s, run.bounds) if lost else np.inf
        return lost, lost and run.test.drowned(point, model)

    objective = Objective(
        s,
        point,
        run.counts,
        run.bounds,
        infinite=task.how.infinite,
        drowned=drowned if task.how.searches else None,
    )

    def promised(point: Point) -> float:
        scaling = afresh(estimate, point)
        return (
            np.inf
            if scaling is None
            else predicted_decrease(point, scaling, run.bounds)
        )

    def test(point: Point, state: Any) -> str | None:
        if task.ends_itself:
            return "stationary" if stationary(state, run.test.tol) else None
        end = run.test(point, predicted_decrease(point, s, run.bounds), promised)
        return None if fixed and end == "rescale" else end

    more: dict[str, Any] = {}
    if task.hess is not None:
        more["hess"] = task.hess
    elif task.how.second == "hessp":
        more["hessp"] = objective.hvp
    elif task.how.second == "hess":
        more["hess"] = objective.hessian
    if task.bounded:
        lb, ub = (s.to_scaled(b) for b in run.bounds)
        more["bounds"] = optimize.Bounds(lb, ub)
    scaled = scaled_constraints(
        task.constraints, s, point.x, second=bool(task.how.second)
    )
    if scaled:
        more["constraints"] = scaled
    run.reason = ""
    try:
        with np.errstate(all="ignore"):  # of points where f is not finite, and of ends
            found = optimize.minimize(
                objective.value,
                s.to_scaled(point.x),
                jac=objective.gradient,
                method=task.how.name,
                options=dict(task.settings),
                callback=callback_for(run, objective, test),
                **more,
            )
    except StopIteration:  # of a method that does not know it
        found = None
    except (ArithmeticError, ValueError):  # of SciPy's, where nothing curves
        if task.constraints or not falls_for_ever(run, objective.best, estimate):
            raise
        found, run.reason = None, "unbounded"
    if found is not None and task.ends_itself:
        run.violation = violation(scaled, found.x)
        return found, objective.accept(found.x)
    best, last = objective.best, objective.iterate
    end = best if best.value < last.value else last
    if objective.spent and not run.reason and promised(end) <= run.test.worth(end):
        run.reason = "converged"
    return found, end


def afresh(estimate: Callable[[Point], Scaling], point: Point) -> Scaling | None:
    """The scale at a point; None where there is no finite one."""
    try:
        return estimate(point)
    except DomainError:
        return None


def falls_for_ever(
    run: Run, point: Point, estimate: Callable[[Point], Scaling]
) -> bool:
    """Whether ``f`` is linear at a point and falls; noted in ``run``."""
    if run.scaling.unscaled:
        fresh = afresh(estimate, point)
        run.falling = () if fresh is None else falling(fresh, point, run.bounds)
    return bool(run.falling)
