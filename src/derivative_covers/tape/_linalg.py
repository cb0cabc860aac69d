"""Linear systems, inverses and what NumPy builds of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._linalg_tools import correct, finished, is_recorded, plus, stacked
from ._products import factors, matmul
from ._protocol import implements
from ._storage import constant
from ._wide import contract, remainder

__all__ = ["inverted", "solved"]

_BY_RANK = int(np.__version__.split(".")[0]) < 2  # b of one axis less than a: vectors


def solved(a: Any, b: Any, x: Any) -> Any:
    """Stacks ``inv(a) @ b`` with values ``x``, of which one or both are recorded.

    With ``e = b - a x`` the solution moves by ``inv(a) (de - da dx)``, exactly.
    """
    if not is_recorded(a):
        return contract(np.linalg.inv(a), b, x)
    inverse = np.linalg.inv(a.v)
    shift = -(a.v @ x)
    e = contract(a, -x, shift)
    if is_recorded(b):
        e = plus(b, e, b.v + shift)
    first = contract(inverse, e, x)
    return correct(first, -inverse, remainder(a, first))


def inverted(a: Any, x: Any) -> Any:
    """Stacks of inverses with values ``x``: they move by ``-x (da x + da dx)``."""
    first = contract(-x, contract(a, x, a.v @ x), x)
    return correct(first, -x, remainder(a, first))


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """As numpy.linalg.solve."""
    tape, (x, y), (av, bv) = factors(a, b)
    r = np.linalg.solve(av, bv)
    if not r.size or not (is_recorded(x) or is_recorded(y)):
        return constant(tape, r)
    if y.ndim == (x.ndim - 1 if _BY_RANK else 1):
        y = y[..., None]
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    size = (-1, *y.shape[-2:])
    value = r.reshape(size).astype(tape.dtype)
    return finished(solved(stacked(x, batch), stacked(y, batch), value), r)


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    """As numpy.linalg.inv."""
    tape, (x,), (v,) = factors(a)
    r = np.linalg.inv(v)
    if not r.size or not is_recorded(x):
        return constant(tape, r)
    return finished(inverted(stacked(x), stacked(r).copy()), r)


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    """Products in NumPy's order."""
    tape, (x,), (v,) = factors(a)
    r = np.linalg.matrix_power(v, n)
    if not r.size or n == 0 or not is_recorded(x):
        return constant(tape, r)
    if n < 0:
        x, n = inv(x), -n
    if n == 3:
        return matmul(matmul(x, x), x)
    found, square = None, x
    while True:
        n, odd = divmod(n, 2)
        if odd:
            found = square if found is None else matmul(found, square)
        if not n:
            return found
        square = matmul(square, square)


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """As numpy.linalg.tensorsolve: a system of matrices."""
    tape, (x, y), (av, bv) = factors(a, b)
    r = np.linalg.tensorsolve(av, bv, axes)
    if not r.size:
        return constant(tape, r)
    last = [k % x.ndim for k in axes or ()]
    x = x.transpose([k for k in range(x.ndim) if k not in last] + last)
    n = bv.size
    return np.reshape(solve(x.reshape(n, n), y.reshape(n)), r.shape)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    """As numpy.linalg.tensorinv: the inverse of a matrix."""
    tape, (x,), (v,) = factors(a)
    r = np.linalg.tensorinv(v, ind)
    if not r.size:
        return constant(tape, r)
    n = int(np.prod(v.shape[ind:]))
    return np.reshape(inv(x.reshape(n, n)), r.shape)
