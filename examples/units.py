"""One function in four sets of units: SciPy as it is, and scaled by a cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

import derivative_covers as dc

__all__ = ["METHODS", "START", "UNITS", "Run", "in_units", "minimise", "runs"]

METHODS = ("BFGS", "L-BFGS-B", "CG")
UNITS = ((1.0, 1.0), (1e6, 1.0), (1e4, 1e-4), (1e-6, 1e6))
START = np.array([-1.2, 1.0])


def rosenbrock(x: Any) -> Any:
    """The banana valley: minimum 0 at (1, 1)."""
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def in_units(units: tuple[float, float]) -> tuple[Callable[[Any], Any], np.ndarray]:
    """The program of a user who measures in other units: `z = units * x`."""
    unit = np.array(units)
    return lambda z: rosenbrock(z / unit), START * unit


@dataclass(frozen=True)
class Run:
    """What SciPy did.

    Attributes:
        method: Name of the method.
        units: Factors of the variables.
        scaled: Whether the variables were scaled by the cover.
        f: Final value.
        evaluations: Function evaluations, as SciPy counts them.
        success: Whether SciPy reports success.
        history: Best value after each evaluation.
    """

    method: str
    units: tuple[float, float]
    scaled: bool
    f: float
    evaluations: int
    success: bool
    history: np.ndarray


def minimise(method: str, units: tuple[float, float], *, scaled: bool) -> Run:
    """Minimise from the usual start, with exact gradients."""
    f, z0 = in_units(units)
    # The natural step of each variable is the reciprocal of its cover.
    step = 1 / dc.cover_hessian(f, z0, merge="quadrature").h if scaled else np.ones(2)
    values = []

    def value_and_gradient(y: np.ndarray) -> tuple[float, np.ndarray]:
        z = step * y
        values.append(float(f(z)))
        return values[-1], step * dc.gradient(f, z)

    result = minimize(value_and_gradient, z0 / step, jac=True, method=method)
    return Run(
        method=method,
        units=units,
        scaled=scaled,
        f=float(result.fun),
        evaluations=int(result.nfev),
        success=bool(result.success),
        history=np.minimum.accumulate(values),
    )


def runs() -> Iterator[Run]:
    """Every method in every set of units, raw and scaled."""
    for method in METHODS:
        for units in UNITS:
            for scaled in (False, True):
                yield minimise(method, units, scaled=scaled)
