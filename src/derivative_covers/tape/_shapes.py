"""Functions that move entries: the nodes move as the values do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedOperationError
from ._call import check_dtype
from ._convert import tape_of
from ._protocol import as_array, implements
from ._storage import constant

__all__: list[str] = []


def _move(function: Any) -> None:
    @implements(function)
    def moved(a: Any, *args: Any, **kw: Any) -> Any:
        x = as_array(a)

        def move(entries: Any) -> Any:
            return function(entries, *args, **kw)

        return x._derived(move(x.v), move)


_MOVES: tuple[Any, ...] = (
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
    np.resize,
    np.take,
    np.take_along_axis,
    np.diagonal,
    np.delete,
    np.broadcast_to,
    np.lib.stride_tricks.sliding_window_view,
)
_FILLS: tuple[Any, ...] = (np.tril, np.triu, np.diagflat)
_SPLITS: tuple[Any, ...] = (
    np.split,
    np.array_split,
    np.hsplit,
    np.vsplit,
    np.dsplit,
)
_AT_LEAST: tuple[Any, ...] = (np.atleast_1d, np.atleast_2d, np.atleast_3d)
_TRAPEZOID: Any = vars(np).get("trapezoid") or vars(np)["trapz"]

for _function in _MOVES:
    _move(_function)


def _fill(function: Any) -> None:
    """A function that puts zeros beside the entries that it moves."""

    @implements(function)
    def filled(a: Any, *args: Any, **kw: Any) -> Any:
        x = as_array(a)

        def move(entries: Any) -> Any:
            return function(entries, *args, **kw)

        return x._derived(move(x.v), lambda ids: move(ids + 1) - 1)


for _function in _FILLS:
    _fill(_function)


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """The diagonal of a matrix, or a diagonal matrix."""
    x = as_array(v)
    if x.v.ndim == 2:
        return x._derived(np.diag(x.v, k), lambda ids: np.diag(ids, k))
    out = constant(x.tape, np.diag(np.zeros_like(x.v), k))
    at = np.arange(x.v.size)
    out[at + max(-k, 0), at + max(k, 0)] = x
    return out


def _pieces(function: Any) -> None:
    @implements(function)
    def pieces(a: Any, *args: Any, **kw: Any) -> Any:
        x = as_array(a)
        return [x._view(piece) for piece in function(x.v, *args, **kw)]


for _function in _SPLITS:
    _pieces(_function)


def _at_least(function: Any) -> None:
    @implements(function)
    def at_least(*arrays: Any) -> Any:
        found = [as_array(a, *arrays) for a in arrays]
        out = [x._derived(function(x.v), function) for x in found]
        return out[0] if len(out) == 1 else tuple(out)


for _function in _AT_LEAST:
    _at_least(_function)


@implements(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    """Read-only views of one shape."""
    found = [as_array(a, *arrays) for a in arrays]
    shape = np.broadcast_shapes(*(x.v.shape for x in found))
    return tuple(x._view(np.broadcast_to(x.v, shape)) for x in found)


@implements(np.copy)
def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """A copy on memory of its own."""
    return as_array(a).copy(order)


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kw: Any) -> Any:
    """Constant, edge, wrap, reflect and symmetric margins.

    Raises:
        UnsupportedOperationError: For modes that compute, and recorded margins.
    """
    x = as_array(array)
    reflected = mode in ("reflect", "symmetric") and kw.get("reflect_type") != "odd"
    if not (mode in ("constant", "edge", "wrap") or reflected) or tape_of(*kw.values()):
        msg = (
            f"np.pad with mode={mode!r} and {kw} has no rule for recorded variables; use "
            "mode 'constant', 'edge', 'wrap', 'reflect' or 'symmetric' with plain "
            "numbers, or np.concatenate."
        )
        raise UnsupportedOperationError(msg)
    r = np.pad(x.v, pad_width, mode, **kw)
    if mode == "constant":
        kw["constant_values"] = -1
    return x._derived(r, lambda ids: np.pad(ids, pad_width, mode, **kw))


def _difference(x: Any, axis: int) -> Any:
    later = [slice(None)] * x.v.ndim
    earlier = list(later)
    later[axis], earlier[axis] = slice(1, None), slice(None, -1)
    return x[tuple(later)] - x[tuple(earlier)]


@implements(np.diff)
def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> Any:
    """Differences of neighbours, ``n`` times over."""
    x = as_array(a, prepend, append)
    if n < 0:
        msg = f"order must be non-negative but got {n}"
        raise ValueError(msg)
    edge = list(x.v.shape)
    edge[axis] = 1
    ends = [None if e is None else as_array(e, x) for e in (prepend, append)]
    before, after = (
        [] if e is None else [e if e.v.ndim else np.broadcast_to(e, tuple(edge))]
        for e in ends
    )
    if before or after:
        x = np.concatenate([*before, x, *after], axis)
    for _ in range(n):
        x = _difference(x, axis)
    return x


@implements(_TRAPEZOID)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Trapezoidal rule; the abscissae may be recorded as well."""
    f = as_array(y, x, dx)
    if x is not None:
        at = x if isinstance(x, np.ndarray) and x.dtype != object else as_array(x, f)
        if at.ndim == 1:
            dx = np.diff(at).reshape((-1,) + (1,) * (f.v.ndim - 1 - axis % f.v.ndim))
        else:
            dx = np.diff(at, axis=axis)
    later = [slice(None)] * f.v.ndim
    earlier = list(later)
    later[axis], earlier[axis] = slice(1, None), slice(None, -1)
    return np.sum(dx * (f[tuple(later)] + f[tuple(earlier)]) / 2.0, axis=axis)


def _like(function: Any) -> None:
    @implements(function)
    def like(a: Any, dtype: Any = None, order: Any = "K", **kw: Any) -> Any:
        x = as_array(a)
        r = function(x.v, dtype=dtype, order=order, **kw)
        if r.dtype.kind != "f":
            return r
        check_dtype(dtype, x.tape)
        return constant_array(x, r)


def constant_array(x: Any, r: Any) -> Any:
    """A constant array that recorded values can be stored into, 0-d ones included."""
    whole = constant(x.tape, np.atleast_1d(r))
    return whole if r.ndim else whole.reshape(())


_like(np.zeros_like)
_like(np.ones_like)


@implements(np.empty_like)
def empty_like(a: Any, dtype: Any = None, order: Any = "K", **kw: Any) -> Any:
    """Zeros: there is nothing to gain from arbitrary values."""
    return np.zeros_like(a, dtype, order, **kw)


@implements(np.full_like)
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", **kw: Any
) -> Any:
    """An array of one value, which may be recorded."""
    x = as_array(a, fill_value)
    if (
        tape_of(fill_value) is None
        and dtype is not None
        and np.dtype(dtype).kind != "f"
    ):
        return np.full_like(x.v, fill_value, dtype, order, **kw)
    check_dtype(dtype, x.tape)
    out = np.zeros_like(x, None, order, **kw)
    out[...] = fill_value
    return out
