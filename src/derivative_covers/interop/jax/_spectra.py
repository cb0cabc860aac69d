"""Eigenvalues of symmetric matrices and singular values; vectors are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import UnsupportedOperationError
from ._linalg import beside, from_lower, stacked, turned
from ._package import jnp
from ._rewritten import centred_square, product, rewritten
from ._rule import refuse, register

__all__: list[str] = []

Values = Sequence[Any]


def _reciprocal(gap: Any) -> Any:
    """``1 / gap``, zero in the place of infinity."""
    return jnp.where(gap == 0, 0, 1 / jnp.where(gap == 0, 1, gap))


def _squares(x: Any) -> Any:
    """Squared deviations off the diagonal; an entry and its mirror image are one."""
    upper = jnp.triu(centred_square(x), 1)
    return upper + turned(upper)


def _diagonal(x: Any) -> Any:
    return jnp.sum(x * jnp.eye(x.shape[-1], dtype=x.dtype), axis=-1)


def _neighbours(v: Any) -> Any:
    """Which entries of sorted rows equal a neighbour."""
    step = v[..., 1:] == v[..., :-1]
    no = jnp.zeros_like(v[..., :1], dtype=bool)
    return jnp.concatenate([no, step], -1) | jnp.concatenate([step, no], -1)


def _eigenvalues(eqn: Any) -> Callable[..., list[Any]]:
    """Value ``i`` moves by ``B_ii`` and ``B_ij**2 / (l_i - l_j)`` in the eigenbasis."""
    lower = eqn.params["lower"]

    def f(a: Any, basis: Any, w: Any, value: Any) -> list[Any]:
        whole = stacked(from_lower(a if lower else turned(a)))
        b = beside(whole, turned(basis), basis, value)
        weight = _reciprocal(w[:, :, None] - w[:, None, :])
        moved = _diagonal(b) + jnp.sum(_squares(b) * weight, axis=2)
        return [moved.reshape(a.shape[:-1])]

    return f


def _of_eigh(eqn: Any, values: Values, results: Values) -> list[Any]:
    a = values[0] if eqn.params["lower"] else turned(values[0])
    basis, w = results
    if w.shape != a.shape[:-1]:
        msg = "eigh has no rule for some of the eigenvalues; compute all of them."
        raise UnsupportedOperationError(msg)
    return [stacked(basis), w.reshape(-1, w.shape[-1]), stacked(from_lower(a))]


def _singular(eqn: Any) -> Callable[..., list[Any]]:
    """Eigenvalues of ``[[0, A], [A', 0]]``, in terms of ``B = U' A V``.

    Value ``i`` moves by ``B_ii``, by ``(B_ij + B_ji)**2 / 4 (s_i - s_j)`` and
    ``(B_ij - B_ji)**2 / 4 (s_i + s_j)``, and by what of ``dA v_i`` lies outside of the
    span of ``U``, squared, over ``2 s_i``.
    """

    def f(a: Any, u: Any, s: Any, right: Any, value: Any) -> list[Any]:
        whole = stacked(a)
        shape = (*a.shape[:-2], min(a.shape[-2:]))
        if a.shape[-2] < a.shape[-1]:
            whole = turned(whole)
        one = jnp.broadcast_to(jnp.eye(s.shape[1], dtype=a.dtype), right.shape)
        rows = jnp.broadcast_to(
            jnp.eye(value.shape[1], dtype=a.dtype), (len(s), *2 * value.shape[1:2])
        )
        images = beside(whole, rows, right, value)
        size = product(jnp.abs(value), jnp.abs(right))
        b = beside(images, turned(u), one, size)
        less = _reciprocal(s[:, :, None] - s[:, None, :]) / 4
        more = _reciprocal(s[:, :, None] + s[:, None, :]) / 4
        found = (
            _diagonal(b)
            + jnp.sum(_squares(b + turned(b)) * less, axis=2)
            + jnp.sum(_squares(b - turned(b)) * more, axis=2)
        )
        if value.shape[1] > value.shape[2]:
            lost = jnp.sum(centred_square(images - product(u, b)), axis=1)
            found = found + lost * _reciprocal(s) / 2
        return [found.reshape(shape)]

    return f


def _of_svd(eqn: Any, values: Values, results: Values) -> list[Any]:
    a = stacked(values[0])
    if results[0].shape[-1] != min(a.shape[1:]):
        msg = "svd has no rule for some of the singular values; compute all of them."
        raise UnsupportedOperationError(msg)
    a = turned(a) if a.shape[1] < a.shape[2] else a
    u, s, vh = jnp.linalg.svd(a, full_matrices=False)
    return [u, s, turned(vh), a]


def _tied_or_zero(eqn: Any, results: Values) -> Any:
    return _neighbours(results[0]) | (results[0] == 0)


def _tied_values(eqn: Any, results: Values) -> Any:
    return _neighbours(results[1])


def _without_vectors(name: str, instead: str) -> str:
    return (
        f"the vectors of {name} depend on the differentiated inputs, and only its values "
        f"have a rule; use {instead}, or cut the dependence with jax.lax.stop_gradient."
    )


register(
    "eigh",
    rewritten(
        _eigenvalues,
        _of_eigh,
        outputs=(1,),
        ties=_tied_values,
        refused=_without_vectors("jnp.linalg.eigh", "jnp.linalg.eigvalsh"),
    ),
)
register(
    "svd",
    rewritten(
        _singular,
        _of_svd,
        ties=_tied_or_zero,
        refused=_without_vectors("jnp.linalg.svd", "jnp.linalg.svdvals"),
    ),
)
for _name in ("eig", "schur", "hessenberg", "tridiagonal"):
    refuse(_name, "it has no rule; jnp.linalg.eigvalsh of a symmetric matrix has")
