"""What ``least_squares`` takes, and why it does not take the rest of SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import OptionError, ShapeError
from ._constraints import bounds_of
from ._package import optimize

__all__ = ["SINGLE", "check_choices", "check_count", "fit_bounds"]

Array = NDArray[Any]

METHODS = ("trf", "dogbox", "lm")
LOSSES = ("linear", "huber", "soft_l1", "cauchy", "arctan")

SINGLE = (
    "r returns one residual for {n} variables. Return the residuals themselves, not the "
    "sum of their squares, which is for minimize."
)


def check_choices(
    method: Any, loss: Any, tr_solver: Any, max_nfev: Any, verbose: Any
) -> None:
    """Refuse what SciPy would refuse.

    Raises:
        OptionError: For an unknown name, or a number that is none.
    """
    for what, value, known in (
        ("method", method, METHODS),
        ("loss", "linear" if callable(loss) else loss, LOSSES),
        ("tr_solver", tr_solver, (None, "exact", "lsmr")),
        ("verbose", verbose, (0, 1, 2)),
    ):
        if not any(value == k for k in known):
            msg = (
                f"{what} is {value!r}; it must be one of {', '.join(map(str, known))}."
            )
            raise OptionError(msg)
    if method == "lm" and loss != "linear":
        msg = f"lm takes no loss but 'linear'; loss is {loss!r}. trf and dogbox do."
        raise OptionError(msg)
    if max_nfev is not None and not (
        isinstance(max_nfev, (int, np.integer)) and max_nfev > 0
    ):
        msg = f"max_nfev is {max_nfev!r}; a positive integer is needed."
        raise OptionError(msg)


def check_count(method: str, m: int, n: int) -> None:
    """Refuse fewer residuals than variables where the method needs as many.

    Raises:
        ShapeError: If there are fewer.
    """
    if method == "lm" and m < n:
        more = " " + SINGLE.format(n=n) if m == 1 else ""
        msg = (
            f"lm needs as many residuals as variables; there are {m} and {n}. trf and "
            f"dogbox take fewer.{more}"
        )
        raise ShapeError(msg)


def fit_bounds(bounds: Any, x: Array, method: str) -> tuple[Array, Array]:
    """Lower and upper bounds, from SciPy's ``Bounds`` or a pair of arrays.

    Raises:
        ShapeError: If shapes do not fit.
        OptionError: If they are no pair, exclude the start, leave nothing between, or the
            method takes none.
    """
    form = (
        "SciPy's Bounds, or a pair (lower, upper) with a number or an entry for each "
        "variable in both; from pairs for each variable, Bounds(*zip(*pairs))."
    )
    if not isinstance(bounds, optimize.Bounds):
        try:
            lower, upper = bounds
            bounds = optimize.Bounds(
                np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
            )
        except (TypeError, ValueError):
            msg = f"bounds is {bounds!r:.80}; what is needed: {form}"
            raise OptionError(msg) from None
    lb, ub = bounds_of(bounds, x.size)
    if method == "lm" and (np.isfinite(lb) | np.isfinite(ub)).any():
        msg = "lm takes no bounds; trf and dogbox do."
        raise OptionError(msg)
    for i in np.flatnonzero((lb == ub) | (x < lb) | (x > ub)):
        rule = (
            "the first must lie below the second."
            if lb[i] == ub[i]
            else f"x0 is {x[i]} there, outside."
        )
        msg = f"the bounds of variable {i} are {lb[i]} and {ub[i]}; {rule} Bounds are {form}"
        raise OptionError(msg)
    return lb, ub
