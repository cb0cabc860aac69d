"""Sums and means: values by NumPy, one wide node an output."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import axes_of, check_dtype, extent, stored
from ._convert import tape_of
from ._elementwise import binary, root, unary
from ._protocol import UFUNC_METHODS, as_array, implements
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
    where: Any = True,
) -> Any:
    """One linear node an output."""
    x = as_array(a)
    check_dtype(dtype, x.tape)
    if where is True:
        r = _ADD(x.v, axis=axis, keepdims=keepdims)
    else:
        r = np.sum(x.v, axis=axis, keepdims=keepdims, where=where)
        x = as_array(np.where(where, x, 0.0))
    return stored(sum_axes(x, axes_of(axis, x.v.ndim), r), out)


@implements(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """One linear node an output, with coefficient ``1/n``."""
    x = as_array(a)
    check_dtype(dtype, x.tape)
    axes = axes_of(axis, x.v.ndim)
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
) -> Any:
    """Mean, differences, their squares, and one linear node an output."""
    x = as_array(a)
    check_dtype(dtype, x.tape)
    check_dtype(dtype, x.tape)
    v = x.v
    axes = axes_of(axis, v.ndim)
    r = np.var(v, axis=axis, ddof=ddof, keepdims=keepdims)
    if v.ndim == 0 or not x._depends:
        return stored(constant(x.tape, r), out)
    n = extent(v.shape, axes)
    center = sum_axes(x, axes, np.mean(v, axis=axes, keepdims=True), 1.0 / n)
    squares = unary(np.square, binary(np.subtract, x, center))
    scale = 1.0 / (n - ddof) if n > ddof else np.inf
    return stored(sum_axes(squares, axes, r, scale), out)


@implements(np.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> Any:
    """The root of the variance."""
    return stored(root(var(a, axis, dtype, None, ddof, keepdims)), out)


@implements(np.average)
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Weighted mean as NumPy forms it; the weights may be recorded as well."""
    x = as_array(a, weights)
    if weights is None:
        r = mean(x, axis, keepdims=keepdims)
        total: Any = extent(x.v.shape, axes_of(axis, x.v.ndim))
    else:
        plain = tape_of(weights) is None
        w: Any = np.asarray(weights) if plain else as_array(weights)
        if w.shape != x.v.shape:
            (along,) = axes_of(axis, x.v.ndim)
            w = w.reshape((-1,) + (1,) * (x.v.ndim - along - 1))
            w = np.broadcast_to(w, x.v.shape)
        total = np.sum(w, axis=axis, keepdims=keepdims)
        r = np.sum(x * w, axis=axis, keepdims=keepdims) / total
    return (r, np.broadcast_to(total, np.shape(r))) if returned else r


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
