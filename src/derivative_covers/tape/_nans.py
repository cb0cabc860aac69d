"""Functions that pass over NaN: the values decide which entries take part."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import axes_of, check_dtype, stored
from ._decisions import by_missing
from ._elementwise import root
from ._exact import valued, values_of
from ._protocol import as_array, implements
from ._quantiles import refuse_recorded
from ._select import truth

__all__: list[str] = []

_MISSING: Any = np._NoValue


def _filled(x: Any, fill: float) -> Any:
    """``x`` with a number in the place of NaN."""
    by_missing("numpy.isnan", x)
    return as_array(np.where(np.isnan(x.v), fill, x), x)


def _reduced(function: Any, plain: Any, fill: float, a: Any, out: Any, kw: Any) -> Any:
    """A reduction for which the number ``fill`` stands for nothing."""
    given = {k: v for k, v in kw.items() if v is not _MISSING}
    x = as_array(a, given.get("initial"))
    if "where" in given:
        given["where"] = truth(given["where"])
    r = function(x.v, **{k: _bare(v, x.tape) for k, v in given.items()})
    if "where" in given and not np.isfinite(fill):
        given.setdefault("initial", fill)
    return stored(valued(plain(_filled(x, fill), **given), r), out)


def _bare(x: Any, tape: Any) -> Any:
    return values_of(x, tape) if isinstance(x, float) or hasattr(x, "tape") else x


def _sum(function: Any, plain: Any, fill: float) -> None:
    @implements(function)
    def total(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = _MISSING,
        where: Any = _MISSING,
    ) -> Any:
        check_dtype(dtype, as_array(a, initial).tape)
        kw = {"axis": axis, "keepdims": keepdims, "initial": initial, "where": where}
        return _reduced(function, plain, fill, a, out, kw)


def _extremum(function: Any, plain: Any, fill: float) -> None:
    @implements(function)
    def extremum(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = _MISSING,
        where: Any = _MISSING,
    ) -> Any:
        kw = {"axis": axis, "keepdims": keepdims, "initial": initial, "where": where}
        return _reduced(function, plain, fill, a, out, kw)


def _position(function: Any, plain: Any, fill: float) -> None:
    @implements(function)
    def position(
        a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False
    ) -> Any:
        x = as_array(a)
        r = function(x.v, axis, out, keepdims=keepdims)
        plain(_filled(x, fill), axis=axis, keepdims=keepdims)  # refuses ties
        return r


def _running(function: Any, plain: Any, fill: float) -> None:
    @implements(function)
    def running(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        x = as_array(a)
        check_dtype(dtype, x.tape)
        r = function(x.v, axis)
        return stored(valued(plain(_filled(x, fill), axis=axis), r), out)


_sum(np.nansum, np.sum, 0.0)
_sum(np.nanprod, np.prod, 1.0)
_extremum(np.nanmax, np.max, -np.inf)
_extremum(np.nanmin, np.min, np.inf)
_position(np.nanargmax, np.argmax, -np.inf)
_position(np.nanargmin, np.argmin, np.inf)
_running(np.nancumsum, np.cumsum, 0.0)
_running(np.nancumprod, np.cumprod, 1.0)


# -- moments ---------------------------------------------------------------------------


def _part(x: Any, where: Any) -> Any:
    """Which entries take part."""
    by_missing("numpy.isnan", x)
    known = ~np.isnan(x.v)
    return known if where is True else known & truth(where)


def _sum_of(x: Any, part: Any, axis: Any, keepdims: Any) -> Any:
    return np.sum(np.where(part, x, 0.0), axis=axis, keepdims=keepdims)


@implements(np.nanmean)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """The sum of the numbers over their count."""
    x = as_array(a)
    check_dtype(dtype, x.tape)
    part = _part(x, where)
    r = np.nanmean(x.v, axis, keepdims=keepdims, where=truth(where))
    count = np.sum(part, axis=axis, keepdims=keepdims)
    return stored(valued(_sum_of(x, part, axis, keepdims) / count, r), out)


@implements(np.nanvar)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = _MISSING,
    correction: Any = _MISSING,
) -> Any:
    """Squares of the differences from the mean of the numbers."""
    x = as_array(a, mean)
    check_dtype(dtype, x.tape)
    ddof = ddof if correction is _MISSING else correction
    part = _part(x, where)
    kw = {} if mean is _MISSING else {"mean": values_of(mean, x.tape)}
    r = np.nanvar(x.v, axis, ddof=ddof, keepdims=keepdims, where=truth(where), **kw)
    count = np.sum(part, axis=axis, keepdims=True)
    center = _sum_of(x, part, axis, True) / count if mean is _MISSING else mean
    squares = np.square(np.where(part, x - center, 0.0))
    free = np.sum(part, axis=axis, keepdims=keepdims) - ddof
    free = np.where(free > 0, free, np.nan)
    return stored(valued(np.sum(squares, axis=axis, keepdims=keepdims) / free, r), out)


@implements(np.nanstd)
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    **kw: Any,
) -> Any:
    """The root of the variance."""
    variance = nanvar(a, axis, dtype, None, ddof, keepdims, **kw)
    return stored(root(variance), out)


# -- order -----------------------------------------------------------------------------


def _by_lane(
    x: Any, axis: Any, keepdims: Any, r: Any, ask: Any, weights: Any = None
) -> Any:
    """What ``ask`` says of the numbers of every lane, with values ``r``.

    Where there are weights, plain ones, it is told those of the lane as well.
    """
    by_missing("numpy.isnan", x)
    axes = axes_of(axis, x.v.ndim)
    moved = np.moveaxis(x, axes, range(-len(axes), 0)) if axes else x[..., None]
    shape = moved.v.shape[: x.v.ndim - len(axes)]
    lanes = moved.reshape(int(np.prod(shape, dtype=int)), -1)
    if weights is not None:
        heavy = np.asarray(weights)
        if heavy.shape == x.v.shape:
            heavy = np.moveaxis(heavy, axes, range(-len(axes), 0))
        heavy = np.broadcast_to(heavy, moved.v.shape).reshape(lanes.v.shape)
    first: Any = ()
    found = []
    for k in range(lanes.v.shape[0]):
        known = ~np.isnan(lanes.v[k])
        told = [] if weights is None else [heavy[k][known]]
        found.append(
            as_array(ask(lanes[k][known], *told) if known.any() else np.nan, x)
        )
        first = max(first, found[-1].shape, key=len)
    rows = [np.broadcast_to(e, first) for e in found]
    if not rows:
        return valued(np.zeros_like(x, shape=np.shape(r)), r)
    y = np.moveaxis(np.stack(rows), 0, -1)
    return valued(y.reshape(np.shape(r)) if np.ndim(r) else y.ravel()[0], r)


@implements(np.nanmedian)
def nanmedian(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: Any = False,
) -> Any:
    """Median of the numbers, lane by lane."""
    x = as_array(a)
    r = np.nanmedian(x.v, axis, keepdims=keepdims)
    return stored(_by_lane(x, axis, keepdims, r, np.median), out)


def _quantiles(function: Any, plain: Any) -> None:
    @implements(function)
    def quantiles(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        refuse_recorded(q, weights)
        x = as_array(a)
        kw = {} if weights is None else {"weights": weights}
        r = function(x.v, q, axis, method=method, keepdims=keepdims, **kw)

        def ask(lane: Any, heavy: Any = None) -> Any:
            kw = {} if heavy is None else {"weights": heavy}
            return plain(lane, q, method=method, **kw)

        return stored(_by_lane(x, axis, keepdims, r, ask, weights), out)


_quantiles(np.nanpercentile, np.percentile)
_quantiles(np.nanquantile, np.quantile)
