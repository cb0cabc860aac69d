"""Eigenvalues of symmetric matrices and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedOperationError
from ._elementwise import unary
from ._extrema import with_ties
from ._linalg_tools import is_recorded, stacked
from ._products import factors
from ._protocol import FUNCTIONS, implements
from ._storage import assembled, constant
from ._wide import contract, remainder, settled

__all__ = ["svdvals"]

Array = NDArray[Any]


def _squares(x: Any) -> Any:
    """Squared deviations entry by entry; one node for an entry and its mirror image."""
    b, n, _ = x.v.shape
    each = x.reshape(b * n * n, 1, 1)
    ids = remainder(each, each).node_ids().reshape(b, n, n)
    mirror = np.where(np.tri(n, dtype=bool), ids, ids.transpose(0, 2, 1))
    return assembled(x.tape, np.zeros((b, n, n), dtype=x.v.dtype), mirror)


def _rows(parts: list[tuple[Any, Array]], value: Array) -> Any:
    """Row sums of ``coefficient * x`` over the parts, shapes (b, n, k), as (b, n)."""
    b, n = value.shape
    x = np.concatenate([part for part, _ in parts], axis=2)
    weight = np.concatenate([w for _, w in parts], axis=2)
    found = contract(
        x.reshape(b * n, 1, -1), weight.reshape(b * n, -1, 1), value.reshape(-1, 1, 1)
    )
    return found.reshape(b, n)


def _diagonal(x: Any) -> Any:
    every = np.arange(x.v.shape[2])
    return x[:, every, every][:, :, None]


def _reciprocal(gap: Array) -> Array:
    """``1 / gap``, zero in the place of infinity."""
    tied = gap == 0
    found: Array = np.where(tied, 0, 1 / np.where(tied, 1, gap))
    return found


def _tied(v: Array) -> Array:
    """Which entries of sorted rows equal a neighbour."""
    tied = np.zeros(v.shape, dtype=bool)
    step = v[:, 1:] == v[:, :-1]
    tied[:, 1:] |= step
    tied[:, :-1] |= step
    return tied


def _turned(left: Array, x: Any, right: Array) -> Any:
    """``left @ x @ right`` beside a constant of its size."""
    size = np.abs(left) @ np.abs(x.v) @ np.abs(right)
    return contract(contract(left, x, left @ x.v), right, size)


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    """As numpy.linalg.eigvalsh: one triangle is read; tied eigenvalues are kinks.

    In the basis of eigenvectors, eigenvalue ``i`` moves by ``B_ii`` and by
    ``B_ij**2 / (l_i - l_j)`` for every other one.
    """
    tape, (x,), (v,) = factors(a)
    r = np.linalg.eigvalsh(v, UPLO)
    if not r.size or not is_recorded(x):
        return constant(tape, r)
    whole = stacked(x)
    kept = np.tri(v.shape[-1], dtype=bool)
    if UPLO.upper() == "U":
        kept = kept.T
    ids, entries = whole.node_ids(), whole.v
    ids = np.where(kept, ids, ids.transpose(0, 2, 1))
    entries = np.where(kept, entries, entries.transpose(0, 2, 1))
    w, vectors = np.linalg.eigh(entries)
    turned = _turned(
        vectors.transpose(0, 2, 1), settled(assembled(tape, entries, ids)), vectors
    )
    weight = _reciprocal(w[:, :, None] - w[:, None, :])
    value = r.reshape(w.shape).astype(tape.dtype)
    parts = [(_diagonal(turned), np.ones_like(w)[:, :, None])]
    parts.append((_squares(turned), weight))
    found = _rows(parts, value)
    tied = _tied(value) | _tied(w)
    return with_ties(tape, r, found.node_ids().reshape(r.shape), tied.reshape(r.shape))


def svdvals(x: Any, /) -> Any:
    """As numpy.linalg.svdvals; tied singular values, and zero, are kinks.

    Singular values are the positive eigenvalues of ``[[0, A], [A', 0]]``; with
    ``B = U' A V`` value ``i`` moves by ``B_ii``, by ``(B_ij + B_ji)**2 / 4 (s_i - s_j)``
    and ``(B_ij - B_ji)**2 / 4 (s_i + s_j)``, and by what of ``dA v_i`` lies outside of
    the span of ``U``, squared, over ``2 s_i``.
    """
    tape, (a,), (v,) = factors(x)
    r = np.linalg.svd(v, compute_uv=False)
    if not r.size or not is_recorded(a):
        return constant(tape, r)
    whole = stacked(a)
    if v.shape[-2] < v.shape[-1]:
        whole = whole.transpose(0, 2, 1)
    b, m, n = whole.v.shape
    u, s, vh = np.linalg.svd(whole.v, full_matrices=False)
    right, left = vh.transpose(0, 2, 1), u.transpose(0, 2, 1)
    images = contract(whole, right, np.abs(whole.v) @ np.abs(right))
    turned = contract(left, images, np.abs(left) @ images.v)
    mirror = turned.transpose(0, 2, 1)
    less, more = s[:, :, None] - s[:, None, :], s[:, :, None] + s[:, None, :]
    off = 1 - np.eye(n, dtype=v.dtype)
    parts = [
        (_diagonal(turned), np.ones_like(s)[:, :, None]),
        (_squares(turned + mirror), _reciprocal(less) * off / 4),
        (_squares(turned - mirror), _reciprocal(more) * off / 4),
    ]
    if m > n:
        inside = contract(-u, turned, np.zeros((b, m, n), dtype=v.dtype))
        outside = (images + inside).transpose(0, 2, 1).reshape(b * n, 1, m)
        lost = remainder(outside, outside.transpose(0, 2, 1)).reshape(b, n, 1)
        parts.append((lost, _reciprocal(s)[:, :, None] / 2))
    value = r.reshape(b, n).astype(tape.dtype)
    found = _rows(parts, value)
    ids = found.node_ids()
    zero = value == 0
    if zero.any():
        kink = unary(np.absolute, assembled(tape, value[zero], ids[zero]))
        ids = ids.copy()
        ids[zero] = kink.node_ids()
    tied = (_tied(value) | _tied(s)).reshape(r.shape)
    return with_ties(tape, r, ids.reshape(r.shape), tied)


if hasattr(np.linalg, "svdvals"):
    FUNCTIONS[np.linalg.svdvals] = svdvals


@implements(np.linalg.svd)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular values only.

    Raises:
        UnsupportedOperationError: Where vectors are asked for.
    """
    if compute_uv:
        msg = (
            "np.linalg.svd of recorded variables gives singular values only; pass "
            "compute_uv=False, or take derivative_covers.value(x) of the matrix where "
            "the derivative of the vectors is not wanted."
        )
        raise UnsupportedOperationError(msg)
    if hermitian:
        return np.sort(np.abs(eigvalsh(a)), axis=-1)[..., ::-1]
    return svdvals(a)


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """As numpy.linalg.cond."""
    tape, (a,), (v,) = factors(x)
    r = np.linalg.cond(v, p)
    if not np.size(r) or not is_recorded(a):
        return constant(tape, r)
    if p is None or p in (2, -2):
        s = svdvals(a)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    size = [np.linalg.norm(e, p, axis=(-2, -1)) for e in (a, np.linalg.inv(a))]
    return size[0] * size[1]


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, **kw: Any) -> Any:
    """A plain number."""
    _, _, (v,) = factors(A)
    return np.linalg.matrix_rank(v, tol, hermitian, **kw)


def _refused(name: str, instead: str) -> None:
    @implements(getattr(np.linalg, name))
    def refuse(*args: Any, **kw: Any) -> Any:
        msg = f"np.linalg.{name} has no rule for recorded variables; {instead}."
        raise UnsupportedOperationError(msg)


_refused("eigh", "np.linalg.eigvalsh has, for the eigenvalues")
_refused("eig", "np.linalg.eigvalsh of a symmetric matrix has")
_refused("eigvals", "np.linalg.eigvalsh of a symmetric matrix has")
_refused("qr", "np.linalg.cholesky of A.T @ A has, whose transpose is R up to signs")
