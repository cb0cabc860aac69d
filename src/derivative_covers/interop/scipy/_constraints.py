"""Bounds and constraints in scaled variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError, InputTypeError, OptionError, ShapeError
from ._jacobian import Traced
from ._package import optimize, sparse
from ._scaling import Scaling

__all__ = ["bounds_of", "constraints_of", "scaled_constraints", "violation"]

Array = NDArray[Any]


def bounds_of(bounds: Any, n: int) -> tuple[Array, Array]:
    """Lower and upper bounds, each of shape ``(n,)``.

    Args:
        bounds: SciPy's ``Bounds``, a pair ``(lowest, highest)`` for each variable with
            None for no bound, or None.
        n: Number of variables.

    Raises:
        ShapeError: If there is not one pair for each variable.
        OptionError: If a lower bound lies above the upper one, or one is NaN.
    """
    if bounds is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    if isinstance(bounds, optimize.Bounds):
        pair = (bounds.lb, bounds.ub)
        try:
            lb, ub = (np.broadcast_to(np.asarray(b, dtype=float), (n,)) for b in pair)
        except ValueError:
            msg = f"bounds have shapes {np.shape(pair[0])} and {np.shape(pair[1])}; there are {n} variables."
            raise ShapeError(msg) from None
    else:
        lb, ub = _ends(bounds, n)
    wrong = np.flatnonzero(~(lb <= ub))
    if wrong.size:
        i = int(wrong[0])
        none = np.isnan(lb[i]) or np.isnan(ub[i])
        rule = (
            "NaN is no bound; None is."
            if none
            else "the first must not exceed the second."
        )
        msg = f"the bounds of variable {i} are {lb[i]} and {ub[i]}; {rule}"
        raise OptionError(msg)
    return lb, ub


def _ends(bounds: Any, n: int) -> tuple[Array, Array]:
    """Lower and upper bounds from pairs."""
    need = (
        f"a list of {n} pairs (lowest, highest) is needed, one for each variable, with "
        "None for no bound, or SciPy's Bounds(lower, upper)."
    )
    pairs = [] if isinstance(bounds, (str, Mapping)) else bounds
    if pairs is not bounds or not np.iterable(bounds):
        msg = f"bounds is of type {type(bounds).__name__}; {need}"
        raise OptionError(msg)
    pairs = list(pairs)
    if len(pairs) != n or any(np.size(p) != 2 for p in pairs):
        msg = f"bounds is {bounds!r:.80}; {need}"
        raise ShapeError(msg)
    try:
        lb = np.array([-np.inf if p[0] is None else p[0] for p in pairs], dtype=float)
        ub = np.array([np.inf if p[1] is None else p[1] for p in pairs], dtype=float)
    except (TypeError, ValueError):
        msg = f"bounds is {bounds!r:.80}, which are no numbers; {need}"
        raise OptionError(msg) from None
    return lb, ub


def constraints_of(constraints: Any) -> list[Any]:
    """The constraints one by one.

    Raises:
        InputTypeError: If one is none of SciPy's.
    """
    single = (optimize.LinearConstraint, optimize.NonlinearConstraint, Mapping)
    if constraints is None:
        return []
    if isinstance(constraints, single) or not np.iterable(constraints):
        constraints = [constraints]
    given = list(constraints)
    for c in given:
        if not isinstance(c, single):
            msg = (
                f"a constraint is of type {type(c).__name__}; SciPy's LinearConstraint, "
                "NonlinearConstraint or a dictionary is needed."
            )
            raise InputTypeError(msg)
        if isinstance(c, Mapping) and (
            c.get("type") not in ("eq", "ineq") or not callable(c.get("fun"))
        ):
            msg = (
                "a dictionary constraint needs type='eq' or type='ineq', and fun, a "
                f"function; got {dict(c)!r:.80}."
            )
            raise OptionError(msg)
    return given


def scaled_constraints(
    given: list[Any], s: Scaling, x: Array, *, second: bool
) -> list[Any]:
    """The same constraints on scaled variables.

    Each row is divided by the norm of its gradient at ``x``.

    Args:
        given: The constraints, in units.
        s: Scaled variables.
        x: Where gradients are taken.
        second: Whether the method takes second derivatives of constraints.
    """
    return [
        _linear(c, s)
        if isinstance(c, optimize.LinearConstraint)
        else _nonlinear(c, s, x, second)
        for c in given
    ]


def violation(scaled: list[Any], y: Array) -> float:
    """By how much a point violates scaled constraints at most."""
    worst = 0.0
    for c in scaled:
        if isinstance(c, Mapping):
            value, lb, ub = c["fun"](y), 0.0, 0.0 if c["type"] == "eq" else np.inf
        else:
            linear = isinstance(c, optimize.LinearConstraint)
            value, lb, ub = c.A @ y if linear else c.fun(y), c.lb, c.ub
        beyond = np.maximum(np.subtract(lb, value), np.subtract(value, ub))
        beyond = np.where(np.isnan(beyond), np.inf, beyond)
        worst = max(worst, float(np.max(beyond, initial=0.0)))
    return worst


def _linear(c: Any, s: Scaling) -> Any:
    if np.shape(c.A)[-1:] != s.step.shape:
        msg = f"A of a LinearConstraint has shape {np.shape(c.A)}; a column for each of {s.step.size} variables is needed."
        raise ShapeError(msg)
    if sparse.issparse(c.A):
        A = sparse.csr_matrix(c.A) @ sparse.diags(s.step)
        size = _sizes(np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel()))
        A = sparse.diags(1 / size) @ A
    else:
        A = np.atleast_2d(np.asarray(c.A, dtype=float)) * s.step
        size = _sizes(np.linalg.norm(A, axis=1))
        A = A / size[:, None]
    lb, ub = np.asarray(c.lb) / size, np.asarray(c.ub) / size
    return optimize.LinearConstraint(A, lb, ub, c.keep_feasible)


def _nonlinear(c: Any, s: Scaling, x: Array, second: bool) -> Any:
    old = isinstance(c, Mapping)
    given: Mapping[str, Any] = c if old else vars(c)
    f, args, jac = given["fun"], tuple(given.get("args", ())), given.get("jac")
    rows = _Given(f, jac, args) if callable(jac) else Traced(f, x, args=args)
    size = _sizes(np.linalg.norm(rows.jacobian(x) * s.step, axis=1))

    def fun(y: Array) -> Array:
        return rows.value(s.to_units(y)) / size

    def jacobian(y: Array) -> Array:
        return rows.jacobian(s.to_units(y)) * s.step / size[:, None]

    if old and not second:
        return {"type": given["type"], "fun": fun, "jac": jacobian}
    lb, ub = (0, 0 if given["type"] == "eq" else np.inf) if old else (c.lb, c.ub)
    hess = c.hess if second and not old else optimize.BFGS()
    if second and callable(hess):
        hess = _users(hess, s, size)
    elif second and isinstance(rows, Traced):
        hess = _programs(rows, s, size)
    return optimize.NonlinearConstraint(
        fun,
        np.asarray(lb) / size,
        np.asarray(ub) / size,
        jac=jacobian,
        hess=hess,
        keep_feasible=given.get("keep_feasible", False),
    )


class _Given:
    """A constraint that brings its Jacobian."""

    def __init__(self, fun: Any, jac: Any, args: tuple[Any, ...]) -> None:
        self.fun, self.jac, self.args = fun, jac, args

    def value(self, x: Array) -> Array:
        found = np.atleast_1d(np.asarray(self.fun(x, *self.args), dtype=float))
        if np.isnan(found).any():
            name = getattr(self.fun, "__name__", "fun")
            msg = (
                f"the constraint {name} is NaN at x = {x!r:.80}; bounds keep a method "
                "away from where it is not defined."
            )
            raise DomainError(msg)
        return found

    def jacobian(self, x: Array) -> Array:
        found = self.jac(x, *self.args)
        dense = found.toarray() if sparse.issparse(found) else np.asarray(found)
        return np.atleast_2d(dense)


def _programs(rows: Traced, s: Scaling, size: Array) -> Callable[..., Any]:
    """Hessian of the weighted sum of scaled rows, by products from the tape."""
    n = s.step.size

    def hess(y: Array, weights: Array) -> Any:
        x, w = s.to_units(y), np.asarray(weights) / size

        def product(v: Array) -> Array:
            return np.asarray(s.step * rows.hvp(x, w, s.step * np.ravel(v)))

        return sparse.linalg.LinearOperator((n, n), matvec=product, dtype=float)

    return hess


def _users(given: Callable[..., Any], s: Scaling, size: Array) -> Callable[..., Any]:
    """The same from the user's function: a matrix, sparse or dense, or an operator."""

    def hess(y: Array, weights: Array) -> Any:
        D: Any = sparse.diags(s.step)
        H = given(s.to_units(y), np.asarray(weights) / size)
        if isinstance(H, sparse.linalg.LinearOperator):
            D = sparse.linalg.aslinearoperator(D)
        return D @ H @ D

    return hess


def _sizes(norms: Array) -> Array:
    """Norms of gradients; 1 for a row that is flat here."""
    return np.where((norms > 0) & np.isfinite(norms), norms, 1.0)
