"""What comes back, in the units of the caller."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._form import Form
from ._objective import Counts, Objective
from ._package import optimize
from ._point import Point
from ._scaling import Scaling
from ._stop import StopTest

__all__ = ["Run", "callback_for", "result_of"]

Array = NDArray[Any]

MESSAGES = {
    "converged": "Converged: the next iterations, judged by the last decreases or by the slope, gain at most {worth:.2g}, which is not worth a step; {step} promises {predicted:.2g}.",
    "exhausted": "Converged: the method finds no decrease, and {step} promises {predicted:.2g}, at most a thousand times what is worth a step, {worth:.2g}.",
    "stagnated": "Stagnated: the method gains nothing more, though {step} promises {predicted:.2g}, where {worth:.2g} is worth a step.",
    "vanished": "Converged: the gradient vanishes, or points out of the bounds, so that the model promises no decrease.",
    "infeasible": "Infeasible: at the end the constraints are violated by {violation:.2g} in scaled variables, and the method gets no closer. They may exclude each other; else start closer to where they hold.",
    "limit": "Stopped at a limit of SciPy's: {scipy}",
    "stationary": "Converged: gradient of the Lagrangian, violation and barrier are negligible in scaled variables.",
    "saddle": "No minimum: the gradient vanishes, but f curves downwards in some direction.",
    "unbounded": "f falls without bound, as far as floats reach.",
    "falling": "No minimum: where the method ended, f is linear in the variables {falling} and falls along them, with no bound in the way.",
    "callback": "The callback ended the iteration.",
    "scipy": "{scipy}",
}
_COUNTED = ("nit", "niter", "nfev", "njev", "nhev", "cg_niter", "execution_time")
STATUS = {
    "converged": 0,
    "exhausted": 0,
    "stationary": 0,
    "limit": 1,
    "stagnated": 2,
    "unbounded": 3,
    "saddle": 4,
    "infeasible": 5,
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
        form: What the caller's points look like.
        counts: Evaluations.
        nit: Iterations.
        reason: Why it stopped.
        rescaled: How often the scale was estimated anew.
        looked: Whether Newton's step was looked at in the end.
        violation: By how much constraints are violated in the end, in scaled variables.
        falling: Variables in which ``f`` is linear at the end and falls.
    """

    test: StopTest
    scaling: Scaling
    bounds: tuple[Array, Array]
    callback: Any = None
    form: Form = field(default_factory=Form)
    counts: Counts = field(default_factory=Counts)
    nit: int = 0
    reason: str = ""
    rescaled: int = 0
    looked: bool = False
    violation: float = 0.0
    falling: tuple[int, ...] = ()


def callback_for(
    run: Run, objective: Objective, test: Callable[[Point, Any], str | None]
) -> Callable[..., None]:
    """SciPy's callback: the stopping test, and the user's callback in units."""
    callback, form = run.callback, run.form
    names = _parameters(callback) if callback else []

    def called(y: Array, *state: Any) -> None:
        point = objective.accept(y)
        run.nit += 1
        if callback is not None:
            try:
                if names == ["intermediate_result"]:
                    ends = callback(
                        intermediate_result=optimize.OptimizeResult(
                            x=form.nested(point.x.copy()), fun=point.value
                        )
                    )
                elif state and len(names) != 1:
                    seen = _state(state[0], point, form)
                    ends = callback(form.nested(point.x.copy()), seen)
                else:
                    ends = callback(form.nested(point.x.copy()))
                if state and ends:  # trust-constr's way, as SciPy has it
                    raise StopIteration
            except StopIteration:
                run.reason = "callback"
                raise
        reason = test(point, state[0] if state else None)
        if reason is not None:
            run.reason = reason
            raise StopIteration

    return called


def _parameters(callback: Callable[..., Any]) -> list[str]:
    """Names of what a callback takes by position; none where it does not say."""
    try:
        given = inspect.signature(callback).parameters.values()
    except ValueError:  # of functions in C
        return ["xk"]
    several = inspect.Parameter.VAR_POSITIONAL
    if any(p.kind == several for p in given):
        return []
    sole, keyword = "intermediate_result", inspect.Parameter.KEYWORD_ONLY
    return [p.name for p in given if p.kind != keyword or p.name == sole]


def _state(state: Any, point: Point, form: Form) -> Any:
    """What is in trust-constr's state and has no units, or those of the caller."""
    counts = {name: state[name] for name in _COUNTED if name in state}
    return optimize.OptimizeResult(
        {
            **counts,
            "x": form.nested(point.x.copy()),
            "fun": point.value,
            "grad": form.nested(point.gradient),
        }
    )


def result_of(run: Run, point: Point, predicted: float | None, found: Any) -> Any:
    """The result in units, with what was found out about the end."""
    reason, scaling, form = run.reason, run.scaling, run.form
    scipy = str(getattr(found, "message", ""))
    said = reason
    if reason == "converged" and predicted == 0:
        said = "vanished"
    elif reason == "unbounded" and run.falling:
        said = "falling"
    message = MESSAGES[said].format(
        worth=run.test.worth(point),
        step="the model's or Newton's step" if run.looked else "the model's step",
        predicted=predicted or 0.0,
        violation=run.violation,
        falling=form.named(run.falling),
        scipy=scipy,
    )
    message += scaling.note(form)
    success = STATUS.get(reason, 0) == 0 and (reason != "scipy" or bool(found.success))
    extra: dict[str, Any] = {} if form.names is None else {"names": form.names}
    if found is not None and "hess_inv" in found:
        extra["hess_inv"] = _inverse(found["hess_inv"], scaling)
    status = STATUS.get(reason, getattr(found, "status", 0))
    return optimize.OptimizeResult(
        x=form.nested(point.x),
        fun=point.value,
        jac=form.nested(point.gradient),
        nfev=run.counts.nfev,
        njev=run.counts.nfev,
        nhev=run.counts.nhev,
        nit=run.nit,
        status=status,
        success=success,
        message=message,
        reason=reason,
        predicted_decrease=predicted,
        scale=form.nested(scaling.step),
        unit=scaling.unit,
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
