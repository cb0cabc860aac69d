"""Products of arrays: inner products become dot nodes, constant factors linear nodes."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ..errors import ShapeError
from ._call import plain, stored
from ._elementwise import binary, common_tape
from ._protocol import as_array, implements, outer
from ._storage import ArrayBase, constant
from ._tape import Tape
from ._wide import contract, inner_product, settled

__all__ = ["factors", "shaped"]


def factors(*operands: Any) -> tuple[Tape, list[Any], list[Any]]:
    """The tape, the operands (constant ones plain) and their values.

    Constants among recorded entries get nodes, once for each distinct operand, so that
    an operand that occurs twice keeps one set of parents.
    """
    arrays = [x if _is_real(x) else as_array(x, *operands) for x in operands]
    tape = common_tape(*arrays)
    values = [plain(x, tape.dtype) for x in arrays]
    done: dict[int, Any] = {}
    parts = []
    for x, v in zip(arrays, values, strict=True):
        if not isinstance(x, ArrayBase) or not x._depends:
            parts.append(v)
            continue
        if id(x) not in done:
            done[id(x)] = settled(x)
        parts.append(done[id(x)])
    return tape, parts, values


def _is_real(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype.kind in "fiub"


def shaped(x: Any, order: Any, shape: tuple[int, ...]) -> Any:
    """Axes of a recorded or plain array reordered and grouped."""
    return x.transpose(order).reshape(shape)


@implements(np.matmul)
def matmul(x: Any, y: Any, out: Any = None) -> Any:
    """Matrix product, batched as NumPy's."""
    if (
        isinstance(x, ArrayBase)
        and isinstance(y, ArrayBase)
        and x.v.ndim == y.v.ndim == 1
    ):
        found = inner_product(x, y, np.matmul(x.v, y.v))
        if found is not None:
            return stored(found, out)
    tape, (a, b), (av, bv) = factors(x, y)
    r = np.matmul(av, bv)
    if a.ndim == 1:
        a = a.reshape(1, -1)
    if b.ndim == 1:
        b = b.reshape(-1, 1)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return stored(_contract(tape, _batched(a, batch), _batched(b, batch), r), out)


def _batched(a: Any, batch: tuple[int, ...]) -> Any:
    matrix = a.shape[-2:]
    if math.prod(a.shape[:-2]) == 1:
        return a.reshape(1, *matrix)
    if a.shape[:-2] != batch:
        a = np.broadcast_to(a, batch + matrix)
    return a.reshape(-1, *matrix)


def _contract(tape: Tape, a: Any, b: Any, r: Any) -> Any:
    if isinstance(a, ArrayBase) or isinstance(b, ArrayBase):
        return contract(a, b, r)
    return constant(tape, r)


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """As numpy.dot: the last axis of ``a`` against the last but one of ``b``."""
    if (
        isinstance(a, ArrayBase)
        and isinstance(b, ArrayBase)
        and a.v.ndim == b.v.ndim == 1
    ):
        found = inner_product(a, b, np.dot(a.v, b.v))
        if found is not None:
            return stored(found, out)
    tape, (x, y), (xv, yv) = factors(a, b)
    if not x.ndim or not y.ndim:
        return stored(binary(np.multiply, as_array(a, b), as_array(b, a)), out)
    r = np.dot(xv, yv)
    k = x.shape[-1]
    left = x.reshape(1, -1, k) if x.size else x
    if y.ndim == 1:
        right = y.reshape(1, k, 1)
    else:
        order = (y.ndim - 2, *range(y.ndim - 2), y.ndim - 1)
        right = shaped(y, order, (1, k, math.prod(y.shape) // max(k, 1)))
    if not x.size or not y.size:
        return stored(constant(tape, r), out)
    return stored(_contract(tape, left, right, r), out)


@implements(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    """Inner product of the flattened operands."""
    x, y = as_array(a, b), as_array(b, a)
    return dot(x.ravel(), y.ravel() if y is not x else x.ravel())


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    """Sum over the last axes."""
    tape, (x, y), (xv, yv) = factors(a, b)
    if not x.ndim or not y.ndim:
        return binary(np.multiply, as_array(a, b), as_array(b, a))
    r = np.inner(xv, yv)
    if not x.size or not y.size:
        return constant(tape, r)
    k = x.shape[-1]
    right = y.reshape(1, -1, k).transpose(0, 2, 1)
    return _contract(tape, x.reshape(1, -1, k), right, r)


@implements(np.outer)
def outer_(a: Any, b: Any, out: Any = None) -> Any:
    """All products of an entry of ``a`` with one of ``b``."""
    x, y = as_array(a, b), as_array(b, a)
    return stored(outer(np.multiply, x.ravel(), y.ravel()), out)


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """As numpy.tensordot."""
    tape, (x, y), (xv, yv) = factors(a, b)
    r = np.tensordot(xv, yv, axes)
    if isinstance(axes, (int, np.integer)):
        xa = list(range(x.ndim - int(axes), x.ndim))
        ya = list(range(int(axes)))
    else:
        xa, ya = (np.atleast_1d(e).tolist() for e in axes)
    if not r.size or not x.size:
        return constant(tape, r)
    xa, ya = [e % x.ndim for e in xa], [e % y.ndim for e in ya]
    k = math.prod(x.shape[e] for e in xa)
    xo = [e for e in range(x.ndim) if e not in xa]
    yo = [e for e in range(y.ndim) if e not in ya]
    left = shaped(x, [*xo, *xa], (1, x.size // k, k))
    right = shaped(y, [*ya, *yo], (1, k, y.size // k))
    return _contract(tape, left, right, r)


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Kronecker product."""
    x, y = as_array(a, b), as_array(b, a)
    ndim = max(x.ndim, y.ndim)
    x = x.reshape((1,) * (ndim - x.ndim) + x.shape)
    y = y.reshape((1,) * (ndim - y.ndim) + y.shape)
    spread = as_array(x[(slice(None), None) * ndim] * y[(None, slice(None)) * ndim])
    shape = tuple(m * n for m, n in zip(x.shape, y.shape, strict=True))
    return spread.reshape(shape)


@implements(np.cross)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """Cross product of vectors of three entries, or two; two of two give the last one."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x = np.moveaxis(as_array(a, b), axisa, -1)
    y = np.moveaxis(as_array(b, a), axisb, -1)
    if not {x.shape[-1], y.shape[-1]} <= {2, 3}:
        msg = (
            f"incompatible dimensions for cross product: {x.shape[-1]} and {y.shape[-1]} "
            "(dimension must be 2 or 3)"
        )
        raise ValueError(msg)
    last = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    if x.shape[-1] == y.shape[-1] == 2:
        return last
    if x.shape[-1] == 2:
        rows = [x[..., 1] * y[..., 2], -(x[..., 0] * y[..., 2]), last]
    elif y.shape[-1] == 2:
        rows = [-(x[..., 2] * y[..., 1]), x[..., 2] * y[..., 0], last]
    else:
        one, two = [1, 2, 0], [2, 0, 1]
        r = x.take(one, -1) * y.take(two, -1) - x.take(two, -1) * y.take(one, -1)
        return np.moveaxis(r, -1, axisc)
    return np.stack([as_array(e, x, y) for e in rows], axis=axisc)


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """Products in NumPy's order, which is the cheapest one."""
    factor = [as_array(a, *arrays) for a in arrays]
    if len(factor) < 2:
        msg = f"np.linalg.multi_dot needs two arrays or more; got {len(factor)}."
        raise ShapeError(msg)
    row, column = factor[0].ndim == 1, factor[-1].ndim == 1
    if row:
        factor[0] = factor[0].reshape(1, -1)
    if column:
        factor[-1] = factor[-1].reshape(-1, 1)
    size = [*(a.shape[0] for a in factor), factor[-1].shape[-1]]

    @cache
    def cheapest(i: int, j: int) -> tuple[int, int]:
        """Cost of the product of factors ``i .. j`` and the last one on its left."""
        if i == j:
            return 0, i
        return min(
            (
                cheapest(i, k)[0]
                + cheapest(k + 1, j)[0]
                + size[i] * size[k + 1] * size[j + 1],
                k,
            )
            for k in range(i, j)
        )

    def product(i: int, j: int) -> Any:
        k = cheapest(i, j)[1]
        return factor[i] if i == j else dot(product(i, k), product(k + 1, j))

    r = product(0, len(factor) - 1)
    if row or column:
        r = r[0, 0] if row and column else r.ravel()
    return stored(r, out)
