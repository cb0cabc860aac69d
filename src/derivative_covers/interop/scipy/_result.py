"""What comes back, in the units of the caller."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._objective import Counts, Objective
from ._package import optimize
from ._point import Point
from ._scaling import Scaling
from ._stop import StopTest

__all__ = ["Run", "callback_for", "result_of"]

Array = NDArray[Any]

MESSAGES = {
    "converged": "Converged: no step gains more than {worth:.2g}, by the model or the last iterations.",
    "exhausted": "Converged: the method finds no decrease, and the model promises {predicted:.2g}, as good as the rounding of f.",
    "stagnated": "Stagnated: the method gains nothing more, though its model or Newton's step promises {predicted:.2g}, where {worth:.2g} is worth a step.",
    "limit": "Stopped at a limit of SciPy's: {scipy}",
    "stationary": "Converged: gradient of the Lagrangian, violation and barrier are negligible in scaled variables.",
    "saddle": "No minimum: the gradient vanishes, but f curves downwards in some direction.",
    "unbounded": "f falls without bound, as far as floats reach.",
    "callback": "The callback raised StopIteration.",
    "scipy": "{scipy}",
}
STATUS = {
    "converged": 0,
    "exhausted": 0,
    "stationary": 0,
    "limit": 1,
    "stagnated": 2,
    "unbounded": 3,
    "saddle": 4,
    "callback": 99,
}


@dataclass
class Run:
    """One minimisation so far.

    Attributes:
        test: The stopping test.
        scaling: The scale in use.
        bounds: Lower and upper bounds, in units.
        callback: The user's, or None.
        counts: Evaluations.
        nit: Iterations.
        reason: Why it stopped.
        rescaled: How often the scale was estimated anew.
    """

    test: StopTest
    scaling: Scaling
    bounds: tuple[Array, Array]
    callback: Any = None
    counts: Counts = field(default_factory=Counts)
    nit: int = 0
    reason: str = ""
    rescaled: int = 0


def callback_for(
    run: Run, objective: Objective, test: Callable[[Point, Any], str | None]
) -> Callable[..., None]:
    """SciPy's callback: the stopping test, and the user's callback in units."""
    callback = run.callback
    names = list(inspect.signature(callback).parameters) if callback else []

    def called(y: Array, *state: Any) -> None:
        point = objective.accept(y)
        run.nit += 1
        if callback is not None:
            try:
                if names == ["intermediate_result"]:
                    callback(
                        intermediate_result=optimize.OptimizeResult(
                            x=point.x.copy(), fun=point.value
                        )
                    )
                elif state:
                    callback(point.x.copy(), _state(state[0], point))
                else:
                    callback(point.x.copy())
            except StopIteration:
                run.reason = "callback"
                raise
        reason = test(point, state[0] if state else None)
        if reason is not None:
            run.reason = reason
            raise StopIteration

    return called


def _state(state: Any, point: Point) -> Any:
    """trust-constr's state, with what has units in those of the caller."""
    return optimize.OptimizeResult(
        {**state, "x": point.x.copy(), "fun": point.value, "grad": point.gradient}
    )


def result_of(run: Run, point: Point, predicted: float | None, found: Any) -> Any:
    """The result in units, with what was found out about the end."""
    reason, scaling = run.reason, run.scaling
    scipy = str(getattr(found, "message", ""))
    message = MESSAGES[reason].format(
        worth=run.test.worth(point), predicted=predicted or 0.0, scipy=scipy
    )
    message += scaling.note()
    success = STATUS.get(reason, 0) == 0 and (reason != "scipy" or bool(found.success))
    extra: dict[str, Any] = {}
    for name in ("constr_violation", "optimality", "tr_radius", "multipliers"):
        if name in (found or {}):
            extra[name] = found[name]
    if found is not None and "hess_inv" in found:
        extra["hess_inv"] = _inverse(found["hess_inv"], scaling)
    status = STATUS.get(reason, getattr(found, "status", 0))
    return optimize.OptimizeResult(
        x=point.x,
        fun=point.value,
        jac=point.gradient,
        nfev=run.counts.nfev,
        njev=run.counts.nfev,
        nhev=run.counts.nhev,
        nit=run.nit,
        status=status,
        success=success,
        message=message,
        reason=reason,
        predicted_decrease=predicted,
        scale=scaling.step,
        unscaled=scaling.unscaled,
        rescaled=run.rescaled,
        asked=scaling.asked,
        outside=run.counts.outside,
        **extra,
    )


def _inverse(found: Any, s: Scaling) -> Any:
    """A quasi-Newton inverse of the Hessian, in the units of the caller."""
    if isinstance(found, np.ndarray):
        return found * np.outer(s.step, s.step) / s.unit
    if isinstance(found, optimize.LbfgsInvHessProduct):
        return optimize.LbfgsInvHessProduct(
            found.sk * s.step, found.yk / s.step * s.unit
        )
    return None
