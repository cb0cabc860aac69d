"""Least squares, pseudoinverses and Cholesky factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedOperationError
from ._elementwise import binary
from ._linalg import inverted, solved
from ._linalg_tools import correct, finished, is_recorded, plus, stacked
from ._products import factors, matmul
from ._protocol import implements
from ._spectra import svdvals
from ._storage import assembled, constant
from ._wide import contract, remainder, settled

__all__: list[str] = []


def _transposed(x: Any) -> Any:
    return x.transpose(0, 2, 1)


def _least(a: Any, b: Any, x: NDArray[Any]) -> Any:
    """Stacks of least squares solutions with values ``x``; ``a`` of full column rank.

    The normal equations ``a'(b - a x) = 0`` hold at every point. With ``e = b - a x0``,
    ``g = a' r0`` and ``G = inv(a'a)`` they give solution and residual to first order,
    and to second order the products of these with ``da``.
    """
    av = a.v
    q, triangle = np.linalg.qr(av)
    back = np.linalg.inv(triangle)
    pseudo, gram = back @ _transposed(q), back @ _transposed(back)
    shift = -(av @ x)
    e = contract(a, -x, shift)
    if is_recorded(b):
        r = b.v + shift
        e = plus(b, e, r)
    else:
        r = b + shift
    g = contract(_transposed(a), r, _transposed(av) @ r)
    both = np.concatenate([pseudo, gram], axis=2)
    parts = np.concatenate([e, g], axis=1)
    first = contract(both, parts, x.copy())
    moved = -av @ both
    moved[:, :, : av.shape[1]] += np.eye(av.shape[1], dtype=av.dtype)
    residual = contract(moved, parts, np.array(r, dtype=av.dtype))
    rests = [remainder(a, first), remainder(_transposed(a), residual)]
    return correct(
        first,
        np.concatenate([-pseudo, gram], axis=2),
        np.concatenate(rests, axis=1),
    )


def _exponents(v: NDArray[Any], axis: int) -> NDArray[np.int32]:
    """Powers of two near the largest entries along an axis, which is kept."""
    found: NDArray[np.int32] = np.frexp(np.max(np.abs(v), axis=axis, keepdims=True))[1]
    return found


def _scaled_least(a: Any, b: Any, x: NDArray[Any]) -> Any:
    """As `_least`; columns far from one are scaled, for `inv(a'a)` squares their size."""
    dtype = a.v.dtype
    columns = _exponents(a.v, 1)
    sides = _exponents(b.v if is_recorded(b) else b, 1)
    limit = np.finfo(dtype).maxexp // 8
    if max(np.max(np.abs(e)) for e in (columns, sides)) <= limit:
        return _least(a, b, x)
    one = dtype.type(1)
    back = sides - columns.transpose(0, 2, 1)
    a = binary(np.multiply, a, np.ldexp(one, -columns))
    right = np.ldexp(one, -sides)
    b = binary(np.multiply, b, right) if is_recorded(b) else b * right
    found = _least(a, b, np.ldexp(x, -back))
    return binary(np.multiply, found, np.ldexp(one, back), x.copy())


def _rank_message(name: str, m: int, n: int, rank: int) -> str:
    return (
        f"{name} got a recorded matrix of shape ({m}, {n}) and rank {rank}; the rule needs "
        f"rank {n} or, for other matrices, a plain one. The solution of least norm jumps "
        "with the rank: add a ridge term (np.linalg.solve(A.T @ A + c * np.eye(n), "
        "A.T @ b)), or solve for the leading columns."
    )


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """As numpy.linalg.lstsq; the rank is plain.

    Raises:
        UnsupportedOperationError: For a recorded matrix without full column rank.
    """
    tape, (x, y), (av, bv) = factors(a, b)
    if rcond is None or (isinstance(rcond, str) and rcond == "warn"):
        rcond = np.finfo(np.result_type(av, bv, np.float32)).eps * max(av.shape)
    r, squares, rank, s = np.linalg.lstsq(av, bv, rcond)
    m, n = av.shape
    if not r.size and squares.size and is_recorded(y):  # no column: b is the residual
        return constant(tape, r), np.sum(y.reshape(m, -1) ** 2, axis=0), rank, s
    if not r.size or not (is_recorded(x) or is_recorded(y)):
        return constant(tape, r), constant(tape, squares), rank, s
    if is_recorded(x) and rank < n:
        raise UnsupportedOperationError(_rank_message("np.linalg.lstsq", m, n, rank))
    columns = y.reshape(m, 1) if y.ndim == 1 else y
    left, right = stacked(x), stacked(columns)
    value = r.reshape(1, n, -1).astype(tape.dtype)
    if not is_recorded(x):
        pseudo = np.linalg.pinv(av, rcond)[None]
        found = contract(pseudo, right, value)
    elif m == n:
        found = solved(left, right, value)
    else:
        found = _scaled_least(left, right, value)
    found = finished(found, r)
    if squares.size:
        miss = binary(np.subtract, columns, matmul(x, found.reshape(n, -1)))
        lanes = _transposed(settled(miss).reshape(1, m, -1)).reshape(-1, 1, m)
        size = squares.reshape(-1, 1, 1).astype(tape.dtype)
        squares = finished(contract(lanes, _transposed(lanes), size), squares)
    return found, squares, rank, svdvals(x) if is_recorded(x) else s


def _kept(v: NDArray[Any], given: dict[str, Any]) -> int:
    """Fewest singular values that NumPy's pseudoinverses keep; all if undefined."""
    relative = given.get("rcond", given.get("rtol", 1e-15))
    if relative is None:
        relative = max(v.shape[-2:]) * np.finfo(v.dtype).eps
    _, s, _ = np.linalg.svd(v, full_matrices=False)
    below = s <= np.asarray(relative)[..., None] * np.max(s, axis=-1, keepdims=True)
    return int(s.shape[-1] - np.max(np.sum(below, axis=-1)))


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, **kw: Any) -> Any:
    """As numpy.linalg.pinv, for matrices of full rank.

    Raises:
        UnsupportedOperationError: For other matrices, and for ``hermitian=True``.
    """
    tape, (x,), (v,) = factors(a)
    given = kw if rcond is None else {"rcond": rcond, **kw}
    r = np.linalg.pinv(v, hermitian=hermitian, **given)
    if not r.size or not is_recorded(x):
        return constant(tape, r)
    if hermitian:
        msg = (
            "np.linalg.pinv with hermitian=True has no rule for recorded variables; "
            "leave the option out, the result is the same."
        )
        raise UnsupportedOperationError(msg)
    m, n = v.shape[-2:]
    rank = _kept(v, given)
    if rank < min(m, n):
        message = _rank_message("np.linalg.pinv", max(m, n), min(m, n), rank)
        raise UnsupportedOperationError(message)
    whole, value = stacked(x), stacked(r).copy()
    if m == n:
        return finished(inverted(whole, value), r)
    if m < n:
        whole, value = _transposed(whole), _transposed(value).copy()
    found = _scaled_least(whole, np.eye(max(m, n), dtype=v.dtype)[None], value)
    return finished(found if m > n else _transposed(found), r)


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """As numpy.linalg.cholesky: one triangle is read.

    With ``S`` the deviation of ``inv(L) A inv(L)'`` and ``P`` its lower triangle with
    half the diagonal, the factor is ``L (1 + P(S - P(S) P(S)'))`` to second order.
    """
    tape, (x,), (v,) = factors(a)
    r = np.linalg.cholesky(v, **({"upper": True} if upper else {}))
    if not r.size or not is_recorded(x):
        return constant(tape, r)
    n = v.shape[-1]
    whole, factor = stacked(x), stacked(r)
    if upper:
        whole, factor = _transposed(whole), _transposed(factor)
    lower = np.tri(n, dtype=bool)
    ids = whole.node_ids()
    ids = np.where(lower, ids, ids.transpose(0, 2, 1))
    both = np.where(lower, whole.v, whole.v.transpose(0, 2, 1))
    back = np.linalg.inv(factor)
    size = np.abs(back) @ np.abs(both) @ np.abs(_transposed(back))
    inner = contract(back, settled(assembled(tape, both, ids)), back @ both)
    change = contract(inner, _transposed(back), size)
    half = np.tri(n, dtype=v.dtype) - np.eye(n, dtype=v.dtype) / 2
    first = binary(np.multiply, change, half, size.copy())
    rest = binary(np.multiply, remainder(first, _transposed(first)), half)
    found = contract(factor, binary(np.subtract, first, rest), factor.copy())
    ids = np.where(lower, found.node_ids(), -1)
    found = assembled(tape, np.tril(factor), ids)
    return finished(_transposed(found) if upper else found, r)
