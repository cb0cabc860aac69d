"""Sums and means: values by NumPy, one wide node an output."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import axes_of, check_dtype, extent, stored
from ._convert import tape_of
from ._decide import refuse_over_box
from ._elementwise import binary, root, unary
from ._exact import valued, values_of
from ._over_box import box_of
from ._protocol import UFUNC_METHODS, as_array, implements
from ._select import truth
from ._storage import constant
from ._wide import sum_axes

_ADD: Any = np.add.reduce  # what numpy.sum calls

__all__ = ["mean", "std", "sum_", "var"]


@implements(np.sum)
def sum_(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """One linear node an output."""
    x = as_array(a, initial)
    check_dtype(dtype, x.tape)
    if where is True:
        r = _ADD(x.v, axis=axis, keepdims=keepdims)
    else:
        mask = truth(where)
        r = np.sum(x.v, axis=axis, keepdims=keepdims, where=mask)
        x = as_array(np.where(mask, x, 0.0), x)
    y = sum_axes(x, axes_of(axis, x.v.ndim), r)
    if initial is not None:
        first = values_of(initial, x.tape)
        bare: dict[str, Any] = {"axis": axis, "keepdims": keepdims, "initial": first}
        if where is not True:
            bare["where"] = mask
        y = valued(initial + y, np.sum(as_array(a, x).v, **bare))
    return stored(y, out)


def _counted(x: Any, axis: Any, where: Any, *, keepdims: bool) -> Any:
    """How many entries take part in every result."""
    if where is True:
        return max(extent(x.v.shape, axes_of(axis, x.v.ndim)), 1)
    mask = np.broadcast_to(truth(where), x.v.shape)
    return np.sum(mask, axis=axis, keepdims=keepdims)


@implements(np.mean)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """One linear node an output, with coefficient ``1/n``."""
    x = as_array(a)
    check_dtype(dtype, x.tape)
    axes = axes_of(axis, x.v.ndim)
    if where is not True:
        mask = truth(where)
        r = np.mean(x.v, axis=axis, keepdims=keepdims, where=mask)
        n = _counted(x, axis, where, keepdims=keepdims)
        y = sum_(x, axis, keepdims=keepdims, where=mask)
        return stored(valued(y / n, r), out)
    r = np.mean(x.v, axis=axis, keepdims=keepdims)
    return stored(sum_axes(x, axes, r, 1.0 / max(extent(x.v.shape, axes), 1)), out)


@implements(np.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """Mean, differences, their squares, and one linear node an output."""
    x = as_array(a, mean)
    check_dtype(dtype, x.tape)
    ddof = ddof if correction is None else correction
    if box_of(x) is not None and ddof != np.floor(ddof):
        refuse_over_box("a variance with a ddof that is no whole number")
    v = x.v
    axes = axes_of(axis, v.ndim)
    kw: dict[str, Any] = {} if where is True else {"where": truth(where)}
    bare = dict(kw) if mean is None else {**kw, "mean": values_of(mean, x.tape)}
    r = np.var(v, axis=axis, ddof=ddof, keepdims=keepdims, **bare)
    if v.ndim == 0 or not (x._depends or tape_of(mean)):
        return stored(constant(x.tape, r), out)
    center = _mean(x, axis=axis, keepdims=True, **kw) if mean is None else mean
    squares = unary(np.square, binary(np.subtract, x, center))
    if where is not True:
        squares = as_array(np.where(kw["where"], squares, 0.0), x)
        total = sum_(squares, axis, keepdims=keepdims)
        free = _counted(x, axis, where, keepdims=keepdims) - ddof
        return stored(valued(total / np.where(free > 0, free, np.nan), r), out)
    n = extent(v.shape, axes)
    scale = 1.0 / (n - ddof) if n > ddof else np.inf
    y = sum_axes(squares, axes, r, scale)
    if mean is None and not x.is_constant and x.has_constants():
        # Of constants alone it is one: its root must not count as a kink.
        live = (x.node_ids() >= 0).any(axis=axes, keepdims=keepdims)
        y = y if live.all() else np.where(live, y, r)
    return stored(y, out)


_mean = mean


@implements(np.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    **kw: Any,
) -> Any:
    """The root of the variance."""
    return stored(root(var(a, axis, dtype, None, ddof, keepdims, **kw)), out)


@implements(np.trace)
def trace(
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """One linear node an output."""
    x = as_array(a)
    check_dtype(dtype, x.tape)
    r = np.trace(x.v, offset, axis1, axis2)
    diagonal = x.diagonal(offset, axis1, axis2)
    return stored(sum_axes(diagonal, (diagonal.v.ndim - 1,), r), out)


UFUNC_METHODS[np.add, "reduce"] = lambda a, axis=0, *args, **kw: sum_(
    a, axis, *args, **kw
)
