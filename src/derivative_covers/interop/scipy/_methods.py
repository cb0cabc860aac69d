"""SciPy's methods: what each takes, and how its own tests are kept from deciding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import OptionError
from ._package import optimize

__all__ = ["METHODS", "Method", "check_derivatives", "method_named", "options_for"]

_NONE: dict[str, Any] = {"gtol": 0.0}
_REGION = {"gtol": 0.0, "max_trust_radius": np.inf}
_WITHOUT_GRADIENTS = ("nelder-mead", "powell", "cobyla", "cobyqa")
_OURS = ("gtol", "ftol", "xtol", "xrtol", "barrier_tol", "eps", "finite_diff_rel_step")
_SCALED = ("hess_inv0", "stepmx", "initial_constr_penalty")
_PRINTS = ("disp", "iprint", "verbose")
_COUNTS = ("maxiter", "maxfun", "maxfev", "maxcor", "maxls")

MEMORY = 1 << 15
"""Entries of the steps that L-BFGS-B remembers without a second thought."""


@dataclass(frozen=True)
class Method:
    """One method of ``scipy.optimize.minimize``.

    Attributes:
        name: SciPy's name.
        options: Options that leave the end of the iteration to us.
        bounds: Whether it takes bounds.
        constraints: Whether it takes constraints.
        second: ``"hessp"`` or ``"hess"`` where it takes second derivatives.
        infinite: Whether infinite values are right for points outside of the domain.
        searches: Whether all points that it asks for lie on a line of descent, so that
            the slope says what a point can gain.
    """

    name: str
    options: dict[str, Any] = field(default_factory=lambda: dict(_NONE))
    bounds: bool = False
    constraints: bool = False
    second: str = ""
    infinite: bool = False
    searches: bool = False


METHODS = {
    m.name.lower(): m
    for m in (
        Method("BFGS", searches=True),
        Method("CG", searches=True),
        Method("L-BFGS-B", {"gtol": 0.0, "ftol": 0.0}, bounds=True, searches=True),
        Method("TNC", {"gtol": 0.0, "ftol": 0.0, "xtol": 0.0}, bounds=True),
        Method("Newton-CG", {"xtol": 0.0}, second="hessp", searches=True),
        Method("trust-ncg", _REGION, second="hessp", infinite=True),
        Method("trust-krylov", _REGION, second="hessp", infinite=True),
        Method("trust-exact", _REGION, second="hess", infinite=True),
        Method("dogleg", _REGION, second="hess", infinite=True),
        Method("SLSQP", {"ftol": 1e-14}, True, True, infinite=True),
        Method(
            "trust-constr",
            {"gtol": 0.0, "xtol": 1e-14},
            True,
            True,
            "hessp",
            infinite=True,
        ),
    )
}


def method_named(method: Any, bounded: bool, constrained: bool) -> Method:
    """The method; SciPy's choice where none is named.

    Raises:
        OptionError: If there is none of this name, it takes no gradients, or it does
            not take the bounds or constraints that were given.
    """
    if method is None:
        method = "SLSQP" if constrained else "L-BFGS-B" if bounded else "BFGS"
    known = ", ".join(m.name for m in METHODS.values())
    if not isinstance(method, str):
        msg = f"method is of type {type(method).__name__}; the name of one is needed: {known}."
        raise OptionError(msg)
    if method.lower() in _WITHOUT_GRADIENTS:
        msg = (
            f"{method} takes no gradients, so that nothing can be said about its end. "
            f"Take one of {known}, or give scaling(f, x0).value to SciPy."
        )
        raise OptionError(msg)
    if method.lower() not in METHODS:
        msg = f"method is {method!r}; known are {known}."
        raise OptionError(msg)
    found = METHODS[method.lower()]
    for given, takes, what in (
        (bounded, found.bounds, "bounds"),
        (constrained, found.constraints, "constraints"),
    ):
        if given and not takes:
            able = ", ".join(m.name for m in METHODS.values() if getattr(m, what))
            msg = f"{found.name} takes no {what}; {able} do."
            raise OptionError(msg)
    return found


def options_for(
    method: Method, given: Any, tol: float | None, constrained: bool, n: int
) -> dict[str, Any]:
    """SciPy's options: the user's, and those that leave the end to us.

    Raises:
        OptionError: For a tolerance, whose meaning depends on units; for what prints
            scaled values, and for limits that are no positive integers.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        msg = f"options is of type {type(given).__name__}; a dictionary is needed."
        raise OptionError(msg)
    for name in _OURS:
        if name in given:
            msg = (
                f"options[{name!r}] has units that would decide when the method stops; "
                "give tol, a part of the function's value and of its decrease."
            )
            raise OptionError(msg)
    for name in _SCALED:
        if name in given:
            msg = (
                f"options[{name!r}] has units, and the method sees scaled variables. "
                "Leave it out, or give SciPy what scaling(f, x0) returns."
            )
            raise OptionError(msg)
    for name in _PRINTS:
        if given.get(name) not in (None, False, 0, -1):
            msg = (
                f"options[{name!r}] lets SciPy print values in scaled variables; print "
                "what callback(xk) gets, which is in units."
            )
            raise OptionError(msg)
    for name in _COUNTS:
        count = given.get(name)
        if count is not None and not (
            isinstance(count, (int, np.integer)) and count > 0
        ):
            msg = f"options[{name!r}] is {count!r}; a positive integer is needed."
            raise OptionError(msg)
    options = {**method.options, **given}
    if method.name == "L-BFGS-B":
        options.setdefault("maxcor", min(max(MEMORY // n, 10), 50))
    if method.name not in ("L-BFGS-B", "trust-constr"):  # which have large limits
        options.setdefault("maxfun" if method.name == "TNC" else "maxiter", 1000 * n)
    if constrained:  # the method's own tests, in variables without units
        small = max(tol or 0.0, 1e-12)
        if method.name == "SLSQP":
            options["ftol"] = small
        else:
            options["barrier_tol"] = small
    return options


def check_derivatives(method: Method, jac: Any, hess: Any, hessp: Any) -> None:
    """Refuse derivatives of the user, except for a quasi-Newton strategy.

    Raises:
        OptionError: If there are any.
    """
    strategy = isinstance(hess, optimize.HessianUpdateStrategy)
    if hess is not None and not (strategy and method.name == "trust-constr"):
        msg = (
            f"hess is {hess!r:.60}; Hessian products come from the program, and only "
            "trust-constr takes a HessianUpdateStrategy such as BFGS() in their place."
        )
        raise OptionError(msg)
    for name, given in (("jac", jac), ("hessp", hessp)):
        if given is not None:
            msg = (
                f"{name} was given; derivatives come from the program. Leave it out, or "
                "bring your own rule into the program as a black box."
            )
            raise OptionError(msg)
