"""NumPy's functions (not its ufuncs) on intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from derivative_covers.elements import _outward as outward
from derivative_covers.elements._interval import FUNCTIONS, Interval, pair
from derivative_covers.errors import (
    UndecidedError,
    UnsupportedOperationError,
)

__all__: list[str] = []


def _lift(x: Any) -> Interval:
    if isinstance(x, Interval):
        return x
    lifted: Interval = Interval._wrap(pair(x))
    return lifted


def _kind(values: Any) -> type[Interval]:
    """The class of results: the most derived one among intervals."""
    return max((type(v) for v in values if isinstance(v, Interval)), key=_depth)


def _depth(cls: type[Any]) -> int:
    return len(cls.__mro__)


def _arranged(function: Any) -> Callable[..., Any]:
    """A function that only arranges entries, applied to both ends."""

    def rule(a: Any, *args: Any, **kw: Any) -> Any:
        if any(isinstance(x, Interval) for x in (*args, *kw.values())):
            message = f"numpy.{function.__name__} takes intervals as its first argument"
            raise UnsupportedOperationError(message)
        a = _lift(a)
        return _both(
            type(a), function(a._lo, *args, **kw), function(a._hi, *args, **kw)
        )

    return rule


def _both(cls: Any, lo: Any, hi: Any) -> Any:
    if isinstance(lo, list | tuple):
        return type(lo)(cls._wrap(ends) for ends in zip(lo, hi, strict=True))
    return cls._wrap((lo, hi))


def _joined(join: Any) -> Callable[..., Any]:
    """A function of a sequence of arrays, applied to both ends."""

    def rule(arrays: Any, *args: Any, **kw: Any) -> Any:
        parts = list(map(_lift, arrays))
        ends = [
            join([getattr(p, e) for p in parts], *args, **kw) for e in ("_lo", "_hi")
        ]
        return _kind(parts)._wrap((ends[0], ends[1]))

    return rule


def _each(function: Any) -> Callable[..., Any]:
    """A function of several arrays that gives as many, applied to both ends."""

    def rule(*arrays: Any) -> Any:
        parts = list(map(_lift, arrays))
        return _both(
            _kind(parts),
            function(*(p._lo for p in parts)),
            function(*(p._hi for p in parts)),
        )

    return rule


def _filled(value: float) -> Callable[..., Any]:
    def rule(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
        return _full_like(a, value, dtype, shape=shape)

    return rule


def _full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    shape = a.shape if shape is None else shape
    if dtype is not None and np.dtype(dtype) != np.float64:
        return np.full(shape, fill_value, dtype=dtype)
    lo, hi = pair(fill_value)
    return _lift(a)._wrap((np.full(shape, lo), np.full(shape, hi)))


def _where(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, Interval):
        condition = condition != 0
    return _kind((x, y))._wrap(outward.where(condition, pair(x), pair(y)))


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    found = a if a_min is None else np.maximum(a, a_min)
    return found if a_max is None else np.minimum(found, a_max)


def _method(name: str) -> Callable[..., Any]:
    def rule(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        return getattr(_lift(a), name)(axis, keepdims=keepdims)

    return rule


def _dot(a: Any, b: Any) -> Any:
    a, b = _lift(a), _lift(b)
    if a.ndim > 2 or b.ndim > 2:
        message = "numpy.dot of intervals with over two dimensions; use @ (matmul)"
        raise UnsupportedOperationError(message)
    return a.dot(b)


def _inner(a: Any, b: Any) -> Any:
    a, b = _lift(a), _lift(b)
    return a * b if not (a.ndim and b.ndim) else _dot(a, b.T if b.ndim > 1 else b)


def _outer(a: Any, b: Any) -> Any:
    return _lift(a).reshape(-1, 1) * _lift(b).reshape(1, -1)


def _prod(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    a = _lift(a)
    axes = range(a.ndim) if axis is None else np.atleast_1d(axis).tolist()
    axes = sorted(range(a.ndim)[k] for k in axes)
    found = a
    for k in reversed(axes):
        found = _folded(np.multiply, np.moveaxis(found, k, 0), 1.0)
        if keepdims:
            found = np.expand_dims(found, k)
    return found


def _folded(ufunc: Any, rows: Any, start: float) -> Any:
    if not len(rows):
        lo = np.full(rows.shape[1:], start)
        return rows._wrap((lo, lo))
    while len(rows) > 1:
        half = (len(rows) + 1) // 2
        paired = ufunc(rows[: len(rows) - half], rows[half:])
        rows = np.concatenate([paired, rows[len(rows) - half : half]])
    return rows[0]


def _cumsum(a: Any, axis: Any = None) -> Any:
    return _accumulated(np.add, a, axis)


def _cumprod(a: Any, axis: Any = None) -> Any:
    return _accumulated(np.multiply, a, axis)


def _accumulated(ufunc: Any, a: Any, axis: Any) -> Any:
    a = _lift(a)
    moved: Any = a.ravel() if axis is None else _arranged(np.moveaxis)(a, axis, 0)
    moved = moved.copy()
    for k in range(1, len(moved)):
        moved[k] = ufunc(moved[k - 1], moved[k])
    return moved if axis is None else np.moveaxis(moved, 0, axis)


def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    moved: Any = _arranged(np.moveaxis)(a, axis, 0)
    for _ in range(n):
        moved = moved[1:] - moved[:-1]
    return np.moveaxis(moved, 0, axis)


def _trace(a: Any) -> Any:
    return np.diagonal(_lift(a)).sum(-1)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord in (None, 2, "fro") and (ord != 2 or x.ndim == 1 or isinstance(axis, int)):
        return np.sqrt(np.square(x).sum(axis, keepdims=keepdims))
    if (x.ndim == 1 or isinstance(axis, int)) and ord in (1, np.inf):
        size = abs(x)
        return size.sum(axis, keepdims=keepdims) if ord == 1 else size.max(axis)
    message = f"numpy.linalg.norm of order {ord} is not defined for an Interval"
    raise UnsupportedOperationError(message)


def _extreme(name: str, sign: int) -> Callable[..., Any]:
    """The index of the extreme entry, where one entry is sure to be it."""

    def rule(a: Any, axis: Any = None) -> Any:
        a = _lift(a) if sign > 0 else -_lift(a)
        rows = a.ravel() if axis is None else np.moveaxis(a, axis, -1)
        first = rows._lo.argmax(axis=-1)
        best = np.take_along_axis(rows._lo, np.expand_dims(first, -1), -1)
        others = np.where(
            np.arange(rows.shape[-1]) == np.expand_dims(first, -1), -np.inf, rows._hi
        )
        # ties are broken by position, as NumPy does, only between equal points
        ties = (others == best) & (rows._lo == rows._hi)
        if np.any((others >= best) & ~ties):
            message = (
                f"numpy.{name} is not decided: the intervals of the two {name[3:]}imal "
                "entries overlap; make the intervals smaller, or compare their ends"
            )
            raise UndecidedError(message)
        return first

    return rule


def _array_equal(a: Any, b: Any) -> bool:
    """Whether shapes and ends agree: equality of sets, which is always decided."""
    (lo, hi), (low, high) = pair(a), pair(b)
    return np.array_equal(lo, low) and np.array_equal(hi, high)


def _count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return np.count_nonzero(a != 0, axis, keepdims=keepdims)


def _sorted(a: Any, axis: int = -1) -> Any:
    """Each end sorted: the k-th smallest is monotone in every entry."""
    return _both(type(a), np.sort(a._lo, axis), np.sort(a._hi, axis))


def _broadcast_arrays(*arrays: Any) -> Any:
    return [a.copy() for a in _each(np.broadcast_arrays)(*arrays)]


_ARRANGE = (
    np.reshape,
    np.ravel,
    np.transpose,
    np.swapaxes,
    np.moveaxis,
    np.rollaxis,
    np.expand_dims,
    np.squeeze,
    np.flip,
    np.fliplr,
    np.flipud,
    np.rot90,
    np.roll,
    np.tile,
    np.repeat,
    np.take,
    np.take_along_axis,
    np.compress,
    np.delete,
    np.diag,
    np.diagflat,
    np.diagonal,
    np.tril,
    np.triu,
    np.split,
    np.array_split,
    np.hsplit,
    np.vsplit,
    np.dsplit,
    np.resize,
)
_JOIN = (np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack)

FUNCTIONS.update({function: _arranged(function) for function in _ARRANGE})
FUNCTIONS.update({function: _joined(function) for function in _JOIN})
FUNCTIONS.update(
    {
        np.broadcast_to: lambda a, shape: _arranged(np.broadcast_to)(a, shape).copy(),
        np.broadcast_arrays: _broadcast_arrays,
        np.atleast_1d: lambda a: _arranged(np.atleast_1d)(a),
        np.atleast_2d: lambda a: _arranged(np.atleast_2d)(a),
        np.atleast_3d: lambda a: _arranged(np.atleast_3d)(a),
        np.append: lambda arr, values, axis=None: _joined(np.concatenate)(
            [arr, values]
            if axis is not None
            else [_lift(arr).ravel(), _lift(values).ravel()],
            axis=axis or 0,
        ),
        np.zeros_like: _filled(0.0),
        np.ones_like: _filled(1.0),
        np.empty_like: _filled(0.0),
        np.full_like: _full_like,
        np.copy: lambda a: a.copy(),
        np.shape: lambda a: _lift(a).shape,
        np.ndim: lambda a: _lift(a).ndim,
        np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
        np.sum: _method("sum"),
        np.mean: _method("mean"),
        np.max: _method("max"),
        np.amax: _method("max"),
        np.min: _method("min"),
        np.amin: _method("min"),
        np.prod: _prod,
        np.cumsum: _cumsum,
        np.cumprod: _cumprod,
        np.diff: _diff,
        np.trace: _trace,
        np.dot: _dot,
        np.vdot: lambda a, b: _dot(_lift(a).ravel(), _lift(b).ravel()),
        np.inner: _inner,
        np.outer: _outer,
        np.linalg.norm: _norm,
        np.where: _where,
        np.clip: _clip,
        np.sort: _sorted,
        np.argmax: _extreme("argmax", 1),
        np.argmin: _extreme("argmin", -1),
        np.any: lambda a: bool(np.any(a != 0)),
        np.all: lambda a: bool(np.all(a != 0)),
        np.count_nonzero: _count_nonzero,
        np.array_equal: _array_equal,
        np.real: lambda val: val,
    }
)
