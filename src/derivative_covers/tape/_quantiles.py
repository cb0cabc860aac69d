"""Quantiles by all of NumPy's methods: weighted pairs of entries in order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval
from ..elements._outward import down, up
from ..errors import UnsupportedOperationError
from ._call import axes_of, extent, stored
from ._convert import tape_of
from ._exact import valued
from ._over_box import box_of
from ._protocol import as_array, implements
from ._storage import constant
from ._wide import contract

__all__ = ["refuse_recorded"]

# Hyndman and Fan, Sample quantiles in statistical packages (1996), equation 10:
# the position of quantile q among n entries is n q + alpha + q (1 - alpha - beta) - 1.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


def _positions(n: int, q: NDArray[Any], method: str) -> NDArray[Any]:
    """Positions among ``n`` ordered entries, halves and fractions included."""
    if method == "linear":
        return (n - 1) * q  # rounded as NumPy rounds it
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        at = n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0
        return np.clip(at, 0.0, n - 1.0)
    at = np.quantile(np.arange(n, dtype=float), q, method=method)  # type: ignore[call-overload]
    return np.round(2.0 * at) / 2.0  # type: ignore[no-any-return]


def _exact_positions(n: int, q: Any, percent: float, method: str) -> list[Fraction]:
    """Positions without rounding, for the methods that do not round to an entry."""
    alpha, beta = map(_ratio, _CONTINUOUS.get(method, (1.0, 1.0)))
    found = []
    for e in np.ravel(q).tolist():
        p = Fraction(e) / Fraction(percent)
        at = n * p + alpha + p * (1 - alpha - beta) - 1
        found.append(min(max(at, Fraction(0)), Fraction(n - 1)))
    return found


def _ratio(x: float) -> Fraction:
    """The fraction of small denominator that ``x`` stands for, such as 1/3."""
    return Fraction(x).limit_denominator(8)


def refuse_recorded(q: Any, weights: Any) -> None:
    """Refuse recorded quantiles and weights.

    Raises:
        UnsupportedOperationError: If one of them is recorded.
    """
    if tape_of(q, weights) is not None:
        msg = (
            "np.quantile and np.percentile have rules in the entries alone. Take "
            "derivative_covers.value of q and of weights, or interpolate np.sort(x) with "
            "np.interp at the recorded position."
        )
        raise UnsupportedOperationError(msg)


def _quantile(
    function: Any,
    percent: float,
    a: Any,
    q: Any,
    axis: Any,
    out: Any,
    kw: dict[str, Any],
) -> Any:
    refuse_recorded(q, kw.get("weights"))
    x = as_array(a)
    r = function(x.v, q, axis, **kw)
    axes = axes_of(axis, x.v.ndim)
    moved = np.moveaxis(x, axes, range(-len(axes), 0)) if axes else x[..., None]
    kept = moved.v.shape[: x.v.ndim - len(axes)]
    ordered: Any = np.sort(moved.reshape(*kept, extent(x.v.shape, axes)))
    asked = np.true_divide(q, percent)
    values = np.array(r).reshape(asked.size, *kept)
    if not values.size:
        return stored(constant(x.tape, r), out)
    method = kw["method"]
    if kw.get("weights") is not None:
        rows = [_equal(ordered, v) for v in values]
    else:
        at = _positions(ordered.v.shape[-1], asked.ravel(), method)
        exact: Any = [None] * at.size
        if box_of(x) is not None and method in ("linear", *_CONTINUOUS):
            exact = _exact_positions(ordered.v.shape[-1], q, percent, method)
        rows = [_entry(ordered, *p) for p in zip(at, values, exact, strict=True)]
    y = np.stack(rows).reshape(np.shape(r))
    return stored(valued(y if np.ndim(r) else y[()], r), out)


def _entry(ordered: Any, at: float, value: Any, exact: Fraction | None) -> Any:
    """The entry at a position, or the weighted pair around it.

    Over a box the shares of a pair contain the exact ones, and those that NumPy rounds.
    """
    if exact is not None and (exact != at or exact.denominator != 1):
        low = min(int(exact), ordered.v.shape[-1] - 2)
        both = sorted((float(exact - low), max(at - low, 0.0)))
        part = Interval(*np.clip([down(both[0]), up(both[1])], 0.0, 1.0))
        below, above = ordered[..., low], ordered[..., low + 1]
        return as_array((1.0 - part) * below + part * above, ordered)
    low = int(at)
    share = at - low
    if share == 0.0:
        return as_array(ordered[..., low])
    pair = ordered[..., low : low + 2].reshape(value.size, 1, 2)
    weights = np.array([1.0 - share, share]).reshape(1, 2, 1)
    return as_array(contract(pair, weights, np.array(value)), ordered)


def _equal(ordered: Any, value: Any) -> Any:
    """The entries of given values; ties are marked already."""
    at = np.argmax(ordered.v == np.asarray(value)[..., None], axis=-1)
    return as_array(np.take_along_axis(ordered, at[..., None], -1)[..., 0], ordered)


def _register(function: Any, percent: float) -> None:
    @implements(function)
    def quantile(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Any:
        kw: dict[str, Any] = {"method": method, "keepdims": keepdims}
        if weights is not None:
            kw["weights"] = weights
        return _quantile(function, percent, a, q, axis, out, kw)


_register(np.quantile, 1.0)
_register(np.percentile, 100.0)
