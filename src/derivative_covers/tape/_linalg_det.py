"""Determinants and their logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._elementwise import unary
from ._linalg_tools import finished, is_recorded, plus, stacked, weighted
from ._products import factors
from ._protocol import implements
from ._storage import assembled, constant
from ._wide import contract, settled

__all__ = ["determinants"]

Array = NDArray[Any]


def _diagonalised(a: Array) -> tuple[Array, Array, Array, Array]:
    """``(sign, left, d, right)`` with ``left @ a @ right = diag(d)``, for a stack.

    Gaussian elimination with complete pivoting: ``left`` and ``right`` are inverses of
    unit triangular factors up to order, moderate however singular the matrix is, and
    ``det(a) = sign * prod(d)``.
    """
    b, n, _ = a.shape
    s = a.copy()
    at = np.arange(b)
    rows, columns = (np.tile(np.arange(n), (b, 1)) for _ in range(2))
    sign = np.ones(b, dtype=a.dtype)
    for k in range(n):
        size = np.abs(s[:, k:, k:]).reshape(b, -1)
        i, j = (k + p for p in np.divmod(np.argmax(size, axis=1), n - k))
        s[at, k], s[at, i] = s[at, i], s[at, k]
        s[at, :, k], s[at, :, j] = s[at, :, j], s[at, :, k]
        rows[at, k], rows[at, i] = rows[at, i], rows[at, k]
        columns[at, k], columns[at, j] = columns[at, j], columns[at, k]
        sign *= np.where(i == k, 1, -1) * np.where(j == k, 1, -1)
        pivot = s[:, k, k]
        step = np.where(pivot == 0, 1, pivot)[:, None]
        row = s[:, k, k + 1 :].copy()
        s[:, k + 1 :, k] /= step
        s[:, k, k + 1 :] /= step
        s[:, k + 1 :, k + 1 :] -= s[:, k + 1 :, k, None] * row[:, None, :]
    one = np.eye(n, dtype=a.dtype)
    left, right = np.empty_like(s), np.empty_like(s)
    left[at[:, None, None], np.arange(n)[:, None], rows[:, None, :]] = np.linalg.inv(
        np.tril(s, -1) + one
    )
    right[at[:, None, None], columns[:, :, None], np.arange(n)] = np.linalg.inv(
        np.triu(s, 1) + one
    )
    return sign, left, np.diagonal(s, axis1=1, axis2=2).copy(), right


def _frexp(x: Array) -> tuple[Array, Array]:
    """``x = m * 2**e`` with ``m`` of size 1, of complex numbers too."""
    if x.dtype.kind != "c":
        return np.frexp(x)
    exponent = np.frexp(np.abs(x))[1]
    return _ldexp(x, -exponent), exponent


def _ldexp(x: Array, exponent: Array) -> Array:
    if x.dtype.kind != "c":
        return np.ldexp(x, exponent)
    found = np.empty_like(x)
    found.real, found.imag = np.ldexp(x.real, exponent), np.ldexp(x.imag, exponent)
    return found


def _running(m: Array, e: Array) -> tuple[Array, Array]:
    """Products of the first ``k`` of ``m * 2**e``, for all ``k``, as such pairs."""
    b, n = m.shape
    mantissa = np.ones((b, n + 1), dtype=m.dtype)
    exponent = np.zeros((b, n + 1), dtype=np.int64)
    for k in range(n):
        mantissa[:, k + 1], step = _frexp(mantissa[:, k] * m[:, k])
        exponent[:, k + 1] = exponent[:, k] + e[:, k] + step
    return mantissa, exponent


def _products_without(d: Array) -> tuple[Array, Array]:
    """Products of all entries but ``i``, and but ``i < j``: no quotient, no overflow."""
    b, n = d.shape
    m, e = _frexp(d)
    before, be = _running(m, e)
    after, ae = (p[:, ::-1] for p in _running(m[:, ::-1], e[:, ::-1]))
    one = _ldexp(before[:, :-1] * after[:, 1:], be[:, :-1] + ae[:, 1:])
    two = np.zeros((b, n, n), dtype=d.dtype)
    between, te = np.ones_like(d), np.zeros((b, n), dtype=np.int64)
    for j in range(1, n):
        outside = before[:, :j] * after[:, j + 1, None]
        power = be[:, :j] + te[:, :j] + ae[:, j + 1, None]
        two[:, :j, j] = _ldexp(outside * between[:, :j], power)
        between[:, :j], step = _frexp(between[:, :j] * m[:, j, None])
        te[:, :j] += e[:, j, None] + step
    return one, two


def _entries(x: Any, i: Any, j: Any) -> Any:
    """Entries of every matrix of a stack, shape (b, k)."""
    return x[:, i, j]


def determinants(x: Any, r: Array) -> Any:
    """Determinants of a recorded stack, with values ``r``, as shape (b, 1, 1).

    With ``B = left @ x @ right``, diagonal where it was recorded, ``det(B)`` is
    ``prod(B_ii)`` less ``sum B_ij B_ji prod(others)`` up to second order: exact for
    matrices of every rank. Off the diagonal the nodes of ``B`` stand beside a constant
    of their size, which is where covers find their scale.
    """
    n = x.v.shape[-1]
    sign, left, d, right = _diagonalised(x.v)
    size = np.abs(left) @ np.abs(x.v) @ np.abs(right)
    inner = contract(left, x, left @ x.v)
    whole = contract(inner, right, size)
    one, two = (p * sign.reshape((-1,) + (1,) * (p.ndim - 1)) for p in
                _products_without(d))  # fmt: skip
    diagonal = _entries(whole, np.arange(n), np.arange(n))
    first = contract(diagonal[:, None, :], one[:, :, None], r.reshape(-1, 1, 1).copy())
    if n == 1:
        return first
    i, j = np.triu_indices(n, 1)
    a = _entries(whole, np.r_[i, i], np.r_[i, j])
    b = _entries(whole, np.r_[j, j], np.r_[j, i])
    bend = weighted(a, b, np.concatenate([two[:, i, j], -two[:, i, j]], axis=1))
    return plus(first, bend, first.v)


def _logarithms(x: Any, r: Array) -> Any:
    """``log |det|`` of a stack of regular matrices: the trace of ``log(1 + dW)``."""
    n = x.v.shape[-1]
    inverse = np.linalg.inv(x.v)
    w = contract(inverse, x, np.abs(inverse) @ np.abs(x.v))
    every = np.arange(n)
    diagonal = _entries(w, every, every)
    ones = np.ones((1, n, 1), dtype=x.v.dtype)
    first = contract(diagonal[:, None, :], ones, r.reshape(-1, 1, 1).copy())
    i, j = np.triu_indices(n, 1)
    a = _entries(w, np.r_[every, i], np.r_[every, j])
    b = _entries(w, np.r_[every, j], np.r_[every, i])
    weight = np.repeat([-0.5, -1.0], [n, i.size]).astype(x.v.dtype)
    return plus(first, weighted(a, b, weight[None, :]), first.v)


@implements(np.linalg.det)
def det(a: Any) -> Any:
    """As numpy.linalg.det."""
    tape, (x,), (v,) = factors(a)
    r = np.linalg.det(v)
    if not np.size(r) or not v.size or not is_recorded(x):
        return constant(tape, r)
    return finished(determinants(stacked(x), np.asarray(r)), r)


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    """As numpy.linalg.slogdet; the sign is plain.

    The logarithm of a singular determinant is a node outside of its domain.
    """
    tape, (x,), (v,) = factors(a)
    found = np.linalg.slogdet(v)
    sign, r = found
    if not v.size or not is_recorded(x):
        return type(found)(sign, constant(tape, r))
    whole, flat = stacked(x), np.ravel(r)
    singular = np.ravel(sign) == 0
    if not singular.any():
        return type(found)(sign, finished(_logarithms(whole, flat), r))
    ids = np.full(flat.shape, -1, dtype=np.int64)
    zero = determinants(settled(whole[singular]), np.zeros(singular.sum(), v.dtype))
    ids[singular] = unary(np.log, zero).node_ids().ravel()
    if not singular.all():
        rest = _logarithms(settled(whole[~singular]), flat[~singular])
        ids[~singular] = rest.node_ids().ravel()
    return type(found)(sign, assembled(tape, r, ids.reshape(np.shape(r))))
