"""Bounds and constraints in scaled variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputTypeError, OptionError, ShapeError
from ._jacobian import Traced
from ._package import optimize, sparse
from ._scaling import Scaling

__all__ = ["bounds_of", "constraints_of", "scaled_constraints"]

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
        pairs = list(bounds)
        if len(pairs) != n or any(np.size(p) != 2 for p in pairs):
            msg = f"bounds has {len(pairs)} entries; a pair for each of {n} variables is needed."
            raise ShapeError(msg)
        lb = np.array([-np.inf if p[0] is None else p[0] for p in pairs], dtype=float)
        ub = np.array([np.inf if p[1] is None else p[1] for p in pairs], dtype=float)
    wrong = np.flatnonzero(~(lb <= ub))
    if wrong.size:
        i = int(wrong[0])
        msg = f"the bounds of variable {i} are {lb[i]} and {ub[i]}; the first must not exceed the second."
        raise OptionError(msg)
    return lb, ub


def constraints_of(constraints: Any) -> list[Any]:
    """The constraints one by one.

    Raises:
        InputTypeError: If one is none of SciPy's.
    """
    single = (optimize.LinearConstraint, optimize.NonlinearConstraint, Mapping)
    given = [constraints] if isinstance(constraints, single) else list(constraints)
    for c in given:
        if not isinstance(c, single):
            msg = (
                f"a constraint is a {type(c).__name__}; SciPy's LinearConstraint, "
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


def scaled_constraints(given: list[Any], s: Scaling, x: Array) -> list[Any]:
    """The same constraints on scaled variables, each row divided by its gradient's norm."""
    return [_scaled(c, s, x) for c in given]


def _scaled(c: Any, s: Scaling, x: Array) -> Any:
    if isinstance(c, optimize.LinearConstraint):
        if sparse.issparse(c.A):
            A = sparse.csr_matrix(c.A) @ sparse.diags(s.step)
            size = _sizes(np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel()))
            A = sparse.diags(1 / size) @ A
        else:
            A = np.atleast_2d(np.asarray(c.A, dtype=float)) * s.step
            size = _sizes(np.linalg.norm(A, axis=1))
            A = A / size[:, None]
        return optimize.LinearConstraint(
            A, np.asarray(c.lb) / size, np.asarray(c.ub) / size, _keep(c, size.size)
        )
    if isinstance(c, Mapping):
        return _dictionary(c, s, x)
    jac = c.jac if callable(c.jac) else None
    fun, jacobian, size = _rows(c.fun, jac, (), s, x)
    hess: Any = c.hess
    if callable(c.hess):

        def hess(y: Array, v: Array) -> Any:
            H = c.hess(s.to_units(y), np.asarray(v) / size)
            D = sparse.diags(s.step)
            if isinstance(H, sparse.linalg.LinearOperator):
                D = sparse.linalg.aslinearoperator(D)
            return D @ H @ D

    return optimize.NonlinearConstraint(
        fun,
        np.asarray(c.lb) / size,
        np.asarray(c.ub) / size,
        jac=jacobian,
        hess=hess,
        keep_feasible=_keep(c, size.size),
    )


def _dictionary(c: Mapping[str, Any], s: Scaling, x: Array) -> dict[str, Any]:
    fun, jacobian, _ = _rows(c["fun"], c.get("jac"), c.get("args", ()), s, x)
    return {"type": c["type"], "fun": fun, "jac": jacobian}


def _rows(
    fun: Callable[..., Any], jac: Any, args: tuple[Any, ...], s: Scaling, x: Array
) -> tuple[Callable[[Array], Any], Callable[[Array], Any], Array]:
    """Function and Jacobian of scaled variables, and what rows are divided by."""
    if callable(jac):

        def value(x: Array) -> Array:
            return np.atleast_1d(np.asarray(fun(x, *args), dtype=float))

        def slope(x: Array) -> Any:
            found = jac(x, *args)
            return found.toarray() if sparse.issparse(found) else np.asarray(found)

    else:
        traced = Traced(fun, x, args=args)
        value, slope = traced.value, traced.jacobian
    size = _sizes(np.linalg.norm(np.atleast_2d(slope(x)) * s.step, axis=1))

    def scaled_value(y: Array) -> Array:
        return value(s.to_units(y)) / size

    def scaled_jacobian(y: Array) -> Any:
        return np.atleast_2d(slope(s.to_units(y))) * s.step / size[:, None]

    return scaled_value, scaled_jacobian, size


def _sizes(norms: Array) -> Array:
    """Norms of gradients; 1 for a row that is flat here."""
    return np.where((norms > 0) & np.isfinite(norms), norms, 1.0)


def _keep(c: Any, rows: int) -> Any:
    return np.broadcast_to(np.asarray(c.keep_feasible, dtype=bool), (rows,))
