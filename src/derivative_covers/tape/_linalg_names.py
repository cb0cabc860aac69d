"""NumPy 2's names in numpy.linalg, and its products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._norms import norm
from ._products import cross, factors, matmul, outer_, tensordot
from ._protocol import FUNCTIONS, as_array, implements
from ._reductions import trace
from ._storage import constant
from ._wide import contract

__all__: list[str] = []


def _named(name: str, space: Any = np.linalg) -> Callable[[Any], Any]:
    """Register a rule where this NumPy has the function and no other rule stands."""
    function = getattr(space, name, None)
    if function is None or function in FUNCTIONS:
        return lambda rule: rule
    return implements(function)


@_named("matrix_norm")
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm over the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


@_named("vector_norm")
def vector_norm(
    x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Any:
    """The norm of all entries, or along one axis or several."""
    a = as_array(x)
    ndim = a.v.ndim
    if axis is not None and not isinstance(axis, tuple):
        return norm(a, ord, axis, keepdims)
    axes = range(ndim) if axis is None else [k % ndim for k in axis]
    kept = [k for k in range(ndim) if k not in axes]
    sizes = [a.shape[k] for k in kept]
    flat = a.transpose([*kept, *axes]).reshape(*sizes, -1)
    r = norm(flat, ord, -1)
    if keepdims:
        shape = [1 if k in axes else n for k, n in enumerate(a.shape)]
        r = as_array(r, a).reshape(shape)
    return r


@_named("matrix_transpose")
@_named("matrix_transpose", np)
def matrix_transpose(x: Any, /) -> Any:
    """The last two axes swapped, a view."""
    a = as_array(x)
    return a._view(np.matrix_transpose(a.v))


@_named("diagonal")
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonals of the last two axes."""
    return as_array(x).diagonal(offset, -2, -1)


@_named("trace")
def trace_(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Traces over the last two axes."""
    return trace(x, offset, -2, -1, dtype)


@_named("outer")
def outer(x1: Any, x2: Any, /) -> Any:
    """All products of entries of two vectors."""
    a, b = as_array(x1, x2), as_array(x2, x1)
    np.linalg.outer(a.v[:0], b.v[:0])  # refuses all but vectors
    return outer_(a, b)


@_named("cross")
def cross_(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of three entries."""
    a, b = as_array(x1, x2), as_array(x2, x1)
    np.linalg.cross(a.v, b.v, axis=axis)  # refuses vectors of two entries
    return cross(a, b, axis=axis)


@_named("matmul")
def matmul_(x1: Any, x2: Any, /) -> Any:
    """Matrix product."""
    return matmul(x1, x2)


@_named("tensordot")
def tensordot_(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """As numpy.tensordot."""
    return tensordot(x1, x2, axes)


@_named("vecdot", np)
def vecdot(x1: Any, x2: Any, /) -> Any:
    """Inner products over the last axis."""
    tape, (x, y), values = factors(x1, x2)
    r = np.vecdot(*values)
    shape = np.broadcast_shapes(x.shape, y.shape)
    if not np.size(r) or not shape[-1]:
        return constant(tape, r)
    if x is y:
        x = y = x.reshape(-1, 1, shape[-1])
    else:
        x, y = (np.broadcast_to(e, shape).reshape(-1, 1, shape[-1]) for e in (x, y))
    return contract(x, y.transpose(0, 2, 1), r)


@_named("vecdot")
def vecdot_(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Inner products along an axis."""
    x, y = as_array(x1, x2), as_array(x2, x1)
    if x1 is x2:
        x = y = np.moveaxis(x, axis, -1)
        return vecdot(x, y)
    return vecdot(np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1))


@_named("matvec", np)
def matvec(x1: Any, x2: Any, /) -> Any:
    """Products of matrices with vectors."""
    a, x = as_array(x1, x2), as_array(x2, x1)
    return matmul(a, x[..., None])[..., 0]


@_named("vecmat", np)
def vecmat(x1: Any, x2: Any, /) -> Any:
    """Products of vectors with matrices."""
    x, a = as_array(x1, x2), as_array(x2, x1)
    return matmul(x[..., None, :], a)[..., 0, :]
