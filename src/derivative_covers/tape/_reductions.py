"""Sums, means, products and norms: values by NumPy, one wide node an output."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementals import by_name
from ..errors import UnsupportedOperationError
from ._blocks import Ids, Operand
from ._call import axes_of, check_dtype, extent, stored
from ._elementwise import binary, unary
from ._protocol import UFUNC_METHODS, as_array, implements
from ._storage import ArrayBase, assembled, constant, entrywise
from ._tvar import TVar, apply_unary
from ._wide import contract, settled, sum_axes

__all__ = ["mean", "squared_norm", "std", "sum_", "var"]


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
    check_dtype(dtype)
    x = as_array(a)
    r = np.sum(x.v, axis=axis, keepdims=keepdims, where=where)
    if where is not True:
        x = as_array(np.where(where, x, 0.0))
    return stored(sum_axes(x, axes_of(axis, x.v.ndim), r), out)


@implements(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """One linear node an output, with coefficient ``1/n``."""
    check_dtype(dtype)
    x = as_array(a)
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
    check_dtype(dtype)
    x = as_array(a)
    v = x.v
    axes = axes_of(axis, v.ndim)
    r = np.var(v, axis=axis, ddof=ddof, keepdims=keepdims)
    if v.ndim == 0 or not x.depends:
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
    return stored(_root(var(a, axis, dtype, None, ddof, keepdims)), out)


def _root(x: Any) -> Any:
    return apply_unary(np.sqrt, x) if isinstance(x, TVar) else unary(np.sqrt, x)


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
        w = weights if isinstance(weights, ArrayBase) else np.asarray(weights)
        if w.dtype == object:
            w = as_array(w)
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
    check_dtype(dtype)
    x = as_array(a)
    r = np.trace(x.v, offset, axis1, axis2)
    diagonal = x.diagonal(offset, axis1, axis2)
    return stored(sum_axes(diagonal, (diagonal.v.ndim - 1,), r), out)


# -- cumulative ----------------------------------------------------------------------


def _chain(op: str, lanes: ArrayBase, values: Any) -> Ids:
    """Node ids of a cumulative operation along the first axis, one block in all."""
    first = lanes.node_ids()[:1]
    if len(values) == 1:
        return first
    tape = lanes.tape
    rest = np.ascontiguousarray(values[1:], dtype=tape.dtype)
    inside = rest.size - first.size

    def before(start: int) -> Operand:
        mine = np.arange(start, start + inside, dtype=np.int64)
        return Operand(0, (1,), np.concatenate([first.ravel(), mine]))

    y = entrywise(lanes.view(lanes.v[1:]), rest)
    block = tape.accumulate(by_name(op), before, y, rest.reshape(-1))
    ids = np.arange(block.start, block.stop, dtype=np.int64).reshape(rest.shape)
    return np.concatenate([first, ids])


@implements(np.prod)
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """A cumulative product, exact where factors vanish."""
    check_dtype(dtype)
    x = as_array(a)
    axes = axes_of(axis, x.v.ndim)
    r = np.prod(x.v, axis=axis, keepdims=keepdims)
    if not x.depends:
        return stored(constant(x.tape, r), out)
    x = settled(x)
    moved = x.view(np.moveaxis(x.v, axes, range(len(axes))))
    lanes = moved.reshape(extent(x.v.shape, axes), -1)
    values = np.multiply.accumulate(lanes.v, axis=0)
    values[-1] = np.ravel(r)
    ids = _chain("multiply", lanes, values)
    return stored(assembled(x.tape, r, ids[-1].reshape(np.shape(r))), out)


def _cumulative(function: Any, op: str) -> None:
    @implements(function)
    def cumulative(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        check_dtype(dtype)
        x = as_array(a)
        if axis is None:
            x, axis = x.ravel(), 0
        r = function(x.v, axis=axis)
        if not x.depends:
            return stored(constant(x.tape, r), out)
        x = settled(x)
        lanes = x.view(np.moveaxis(x.v, axis, 0))
        ids = _chain(op, lanes, np.moveaxis(r, axis, 0))
        return stored(assembled(x.tape, r, np.moveaxis(ids, 0, axis)), out)

    ufunc = getattr(np, op)
    UFUNC_METHODS[ufunc, "accumulate"] = lambda a, axis=0, **kw: cumulative(a, axis, **kw)


_cumulative(np.cumsum, "add")
_cumulative(np.cumprod, "multiply")

UFUNC_METHODS[np.add, "reduce"] = lambda a, axis=0, *args, **kw: sum_(a, axis, *args, **kw)
UFUNC_METHODS[np.multiply, "reduce"] = lambda a, axis=0, *args, **kw: prod(
    a, axis, *args, **kw
)

# -- norms ---------------------------------------------------------------------------


def squared_norm(x: ArrayBase, axes: tuple[int, ...], r: Any) -> Any:
    """Sum-of-squares nodes with values ``r``: inner products of lanes with themselves."""
    if not x.depends:
        return constant(x.tape, r)
    k = extent(x.v.shape, axes)
    last = range(-len(axes), 0)
    moved = x.view(np.moveaxis(x.v, axes, last))
    lanes = settled(moved).reshape(np.size(r), 1, k)
    return contract(lanes, lanes.transpose(0, 2, 1), r)


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Euclidean and Frobenius norms are roots of sum-of-squares nodes.

    Raises:
        UnsupportedOperationError: For norms by singular values.
    """
    a = as_array(x)
    ndim = a.v.ndim
    axes = axes_of(axis, ndim)
    whole = axis is None and (
        ord is None or (ord == 2 and ndim == 1) or (ord in ("f", "fro") and ndim == 2)
    )
    if whole:
        flat = a.ravel(order="K")
        r = _root(squared_norm(flat, (0,), flat.v.dot(flat.v)))
        return r if not keepdims else as_array(r).reshape((1,) * ndim)
    if ord is None or (ord == 2 and len(axes) == 1) or ord in ("f", "fro"):
        r = np.add.reduce(a.v * a.v, axis=axes, keepdims=keepdims)
        return _root(squared_norm(a, axes, r))
    if len(axes) == 1:
        return _vector_norm(a, ord, axes[0], keepdims)
    if len(axes) == 2 and ord in (1, -1, np.inf, -np.inf):
        row, column = axes if axis is None else (a % ndim for a in axis)
        along, across = (row, column) if abs(ord) == 1 else (column, row)
        sums = np.sum(np.abs(a), axis=along, keepdims=True)
        r = (np.max if ord > 0 else np.min)(sums, axis=across, keepdims=True)
        return r if keepdims else np.squeeze(r, axis=(row, column))
    msg = (
        f"np.linalg.norm with ord={ord!r} of an array of {ndim} dimensions has no rule "
        "for recorded variables; vector norms and ord None, 'fro', 1, inf have."
    )
    raise UnsupportedOperationError(msg)


def _vector_norm(a: ArrayBase, ord: Any, axis: int, keepdims: bool) -> Any:
    size = np.abs(a)
    if ord == 0:
        return np.sum(a.v != 0.0, axis=axis, keepdims=keepdims).astype(a.v.dtype)
    if ord == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    if abs(ord) == np.inf:
        return (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdims)
    return np.sum(size**ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)
