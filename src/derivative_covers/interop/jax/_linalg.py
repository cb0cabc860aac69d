"""Linear systems, factors, eigenvalues and singular values.

Each is linearised at the point with the primitive's own results, and corrected by sums of
products of deviations: the mathematics of the NumPy package's routines. Entries of a matrix
that is transformed into a diagonal one stand beside a constant of their size, which is
where covers find their scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import UnsupportedOperationError
from ._interpret import bind
from ._package import core, jnp, lax
from ._rewritten import centred, centred_like, centred_square, product, rewritten
from ._rule import Rule, refuse, register

__all__: list[str] = []

Values = Sequence[Any]


def _stacked(x: Any) -> Any:
    return x.reshape(-1, *x.shape[-2:])


def _turned(x: Any) -> Any:
    return jnp.swapaxes(x, -1, -2)


def _size(left: Any, value: Any, right: Any) -> Any:
    """How large the terms of a product of three are."""
    return product(product(jnp.abs(left), jnp.abs(value)), jnp.abs(right))


def _beside(x: Any, left: Any, right: Any, value: Any) -> Any:
    """``left @ x @ right`` plus a constant that makes it as large as its terms are."""
    shift = _size(left, value, right) - product(product(left, value), right)
    return product(product(left, x), right) + shift


def _inverse_of_triangle(a: Any, *, lower: bool, unit: bool = False) -> Any:
    one = jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    return lax.linalg.triangular_solve(
        a, one, left_side=True, lower=lower, unit_diagonal=unit
    )


def _from_lower(a: Any) -> Any:
    """The symmetric matrix of which the lower triangle is read."""
    lower = jnp.tri(a.shape[-1], dtype=bool)
    return jnp.where(lower, a, _turned(a))


# -- systems ---------------------------------------------------------------------------


def _triangle(eqn: Any, a: Any) -> Any:
    """The matrix of a triangular system with its unknowns on the right."""
    p = eqn.params
    n = a.shape[-1]
    a = jnp.tril(a) if p["lower"] else jnp.triu(a)
    if p["unit_diagonal"]:
        one = jnp.eye(n, dtype=a.dtype)
        a = jnp.where(one > 0, one, a)
    return _turned(a) if p["transpose_a"] == p["left_side"] else a


def _triangular(eqn: Any) -> Callable[..., list[Any]]:
    """With ``e = b - a x``, ``x`` moves by ``inv(a) (de - da dx)``, exactly."""
    on_left = eqn.params["left_side"]

    def f(a: Any, b: Any, x: Any, inverse: Any) -> list[Any]:
        shape = b.shape
        a, b, x = (_stacked(m) for m in (_triangle(eqn, a), b, x))
        if not on_left:
            b, x = _turned(b), _turned(x)
        first = x + product(inverse, b - product(a, x))
        found = first - product(inverse, centred(a, first))
        return [(found if on_left else _turned(found)).reshape(shape)]

    return f


def _of_triangular(eqn: Any, values: Values, results: Values) -> list[Any]:
    a = _stacked(_triangle(eqn, values[0]))
    lower = eqn.params["lower"] != (
        eqn.params["transpose_a"] == eqn.params["left_side"]
    )
    return [results[0], _inverse_of_triangle(a, lower=lower)]


_PLAIN = frozenset({"transpose", "reduce_sum"})


def _product_of(eqn: Any) -> Any:
    """The equation in which a system multiplies by its matrix.

    Raises:
        UnsupportedOperationError: Unless the matrix is one array that multiplies the
            unknowns along one axis, batch axes aside, as in ``jnp.linalg.solve``.
    """
    body = eqn.params["jaxprs"].matvec.jaxpr
    dots = [e for e in body.eqns if e.primitive is lax.dot_general_p]
    others = [e for e in body.eqns if e.primitive is not lax.dot_general_p]
    fits = (
        eqn.params["const_lengths"].matvec == 1
        and len(body.invars) == 2
        and len(body.outvars) == 1
        and len(dots) == 1
        and all(e.primitive.name in _PLAIN for e in others)
        and not any(e.params.get("axes") for e in others)
    )
    if not (fits and _keeps_its_axes(body, dots[0])):
        msg = (
            "the JAX primitive 'custom_linear_solve' depends on the differentiated "
            "inputs, and only systems of one dense matrix have a rule, as of "
            "jnp.linalg.solve. Write the iteration out with jax.lax.fori_loop, solve "
            "with the matrix itself, or cut the dependence with "
            "jax.lax.stop_gradient."
        )
        raise UnsupportedOperationError(msg)
    return dots[0]


def _keeps_its_axes(body: Any, dot: Any) -> bool:
    """Whether rows of the matrix go where its columns came from, all else in place."""
    matrix, unknown = body.invars
    if matrix not in dot.invars or dot.invars[0] is dot.invars[1]:
        return False
    k = dot.invars.index(matrix)
    contract, batch = dot.params["dimension_numbers"]
    if len(contract[k]) != 1 or len(batch[k]) != matrix.aval.ndim - 2:
        return False
    (column,) = contract[1 - k]
    labels: dict[Any, list[int]] = {unknown: list(range(unknown.aval.ndim))}
    for e in body.eqns:
        (out,) = e.outvars
        if e is not dot:
            given = labels.get(e.invars[0])
            if given is None:
                return False
            order = e.params.get("permutation", range(len(given)))
            labels[out] = [given[a] for a in order]
            continue
        mine = labels.get(e.invars[1 - k])
        if mine is None:
            return False
        own = [mine[a] for a in batch[1 - k]]
        taken = {column, *batch[1 - k]}
        free = [label for a, label in enumerate(mine) if a not in taken]
        row = [mine[column]]
        labels[out] = own + (row + free if k == 0 else free + row)
    return labels.get(body.outvars[0]) == list(range(unknown.aval.ndim))


def _multiplied(eqn: Any, a: Any, x: Any, *, deviations: bool = False) -> Any:
    """What the system's matrix times ``x`` is for it, with ``a`` in its place."""
    body = eqn.params["jaxprs"].matvec.jaxpr
    env = dict(zip(body.invars, (a, x), strict=True))
    for e in body.eqns:
        values = [v.val if isinstance(v, core.Literal) else env[v] for v in e.invars]
        dot = e.primitive is lax.dot_general_p
        found = centred_like(e, *values) if dot and deviations else bind(e, values)[0]
        env[e.outvars[0]] = found
    return env[body.outvars[0]]


def _system(eqn: Any) -> Callable[..., list[Any]]:
    _product_of(eqn)

    def f(*operands: Any) -> list[Any]:
        a, *_, b, x, inverse = operands
        first = x + _multiplied(eqn, inverse, b - _multiplied(eqn, a, x))
        rest = _multiplied(eqn, a, first, deviations=True)
        return [first - _multiplied(eqn, inverse, rest)]

    return f


def _of_system(eqn: Any, values: Values, results: Values) -> list[Any]:
    dot = _product_of(eqn)
    k = dot.invars.index(eqn.params["jaxprs"].matvec.jaxpr.invars[0])
    contract, batch = dot.params["dimension_numbers"]
    a = values[0]
    (column,) = contract[k]
    (row,) = set(range(a.ndim)) - {column, *batch[k]}
    whole = jnp.moveaxis(a, (row, column), (-2, -1))
    # The inverse stands in the product in place of the matrix: of rows and columns.
    return [results[0], jnp.moveaxis(jnp.linalg.inv(whole), (-2, -1), (row, column))]


# -- factors ---------------------------------------------------------------------------


def _cholesky(eqn: Any) -> Callable[..., list[Any]]:
    """``L (1 + P(S - P(S) P(S)'))`` with ``S`` the deviation of ``inv(L) A inv(L)'``.

    ``P`` takes the lower triangle with half the diagonal.
    """

    def f(a: Any, factor: Any, back: Any, value: Any) -> list[Any]:
        below = jnp.tri(a.shape[-1], k=-1, dtype=a.dtype)
        half = jnp.eye(a.shape[-1], dtype=a.dtype) / 2
        change = _beside(_stacked(_from_lower(a)), back, _turned(back), value)
        first = change * (below + half) + _size(back, value, _turned(back)) * half
        # On the diagonal rows meet themselves: sums of squares.
        rest = jnp.sum(centred_square(first), axis=2)[:, :, None] * half
        rest = rest + centred(first, _turned(first)) * below
        return [jnp.tril(product(factor, first - rest)).reshape(a.shape)]

    return f


def _of_cholesky(eqn: Any, values: Values, results: Values) -> list[Any]:
    factor = jnp.tril(_stacked(results[0]))
    back = _inverse_of_triangle(factor, lower=True)
    return [factor, back, _stacked(_from_lower(values[0]))]


def _lu(eqn: Any) -> Callable[..., list[Any]]:
    """``L (1 + K) (1 + H) U = P A``: ``K + H + K H`` is ``inv(L) P A inv(U)`` less 1."""

    def f(a: Any, order: Any, packed: Any, left: Any, right: Any) -> list[Any]:
        n = a.shape[-1]
        upper = jnp.triu(packed)
        lower = jnp.tril(packed, -1) + jnp.eye(n, dtype=a.dtype)
        moved = jnp.take_along_axis(_stacked(a), order, axis=1)
        change = _beside(moved, left, right, product(lower, upper))
        keep = jnp.triu(jnp.ones((n, n), a.dtype))
        below, above = change * (1 - keep), change * keep
        bend = centred(below, above)
        found = product(lower, below - bend * (1 - keep)) + product(
            above - bend * keep, upper
        )
        return [found.reshape(a.shape)]

    return f


def _of_lu(eqn: Any, values: Values, results: Values) -> list[Any]:
    packed, _, order = results
    n, m = packed.shape[-2:]
    if n != m:
        msg = (
            f"jax.lax.linalg.lu of matrices of shape {(n, m)} has no rule; square ones "
            "have, and jnp.linalg.cholesky of A.T @ A."
        )
        raise UnsupportedOperationError(msg)
    packed = _stacked(packed)
    left = _inverse_of_triangle(packed, lower=True, unit=True)
    right = _inverse_of_triangle(packed, lower=False)
    return [order.reshape(-1, n)[:, :, None], packed, left, right]


# -- spectra ---------------------------------------------------------------------------


def _reciprocal(gap: Any) -> Any:
    """``1 / gap``, zero in the place of infinity."""
    return jnp.where(gap == 0, 0, 1 / jnp.where(gap == 0, 1, gap))


def _squares(x: Any) -> Any:
    """Squared deviations off the diagonal; an entry and its mirror image are one."""
    upper = jnp.triu(centred_square(x), 1)
    return upper + _turned(upper)


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
        whole = _stacked(_from_lower(a if lower else _turned(a)))
        turned = _beside(whole, _turned(basis), basis, value)
        weight = _reciprocal(w[:, :, None] - w[:, None, :])
        moved = _diagonal(turned) + jnp.sum(_squares(turned) * weight, axis=2)
        return [moved.reshape(a.shape[:-1])]

    return f


def _of_eigh(eqn: Any, values: Values, results: Values) -> list[Any]:
    a = values[0] if eqn.params["lower"] else _turned(values[0])
    basis, w = results
    if w.shape != a.shape[:-1]:
        msg = "eigh has no rule for some of the eigenvalues; compute all of them."
        raise UnsupportedOperationError(msg)
    return [_stacked(basis), w.reshape(-1, w.shape[-1]), _stacked(_from_lower(a))]


def _singular(eqn: Any) -> Callable[..., list[Any]]:
    """Eigenvalues of ``[[0, A], [A', 0]]``, in terms of ``B = U' A V``.

    Value ``i`` moves by ``B_ii``, by ``(B_ij + B_ji)**2 / 4 (s_i - s_j)`` and
    ``(B_ij - B_ji)**2 / 4 (s_i + s_j)``, and by what of ``dA v_i`` lies outside of the
    span of ``U``, squared, over ``2 s_i``.
    """

    def f(a: Any, u: Any, s: Any, right: Any, value: Any) -> list[Any]:
        whole = _stacked(a)
        shape = (*a.shape[:-2], min(a.shape[-2:]))
        if a.shape[-2] < a.shape[-1]:
            whole = _turned(whole)
        one = jnp.broadcast_to(jnp.eye(s.shape[1], dtype=a.dtype), right.shape)
        rows = jnp.broadcast_to(
            jnp.eye(value.shape[1], dtype=a.dtype), (len(s), *2 * value.shape[1:2])
        )
        images = _beside(whole, rows, right, value)
        size = product(jnp.abs(value), jnp.abs(right))
        turned = _beside(images, _turned(u), one, size)
        less = _reciprocal(s[:, :, None] - s[:, None, :]) / 4
        more = _reciprocal(s[:, :, None] + s[:, None, :]) / 4
        found = (
            _diagonal(turned)
            + jnp.sum(_squares(turned + _turned(turned)) * less, axis=2)
            + jnp.sum(_squares(turned - _turned(turned)) * more, axis=2)
        )
        if value.shape[1] > value.shape[2]:
            lost = jnp.sum(centred_square(images - product(u, turned)), axis=1)
            found = found + lost * _reciprocal(s) / 2
        return [found.reshape(shape)]

    return f


def _of_svd(eqn: Any, values: Values, results: Values) -> list[Any]:
    a = _stacked(values[0])
    if results[0].shape[-1] != min(a.shape[1:]):
        msg = "svd has no rule for some of the singular values; compute all of them."
        raise UnsupportedOperationError(msg)
    a = _turned(a) if a.shape[1] < a.shape[2] else a
    u, s, vh = jnp.linalg.svd(a, full_matrices=False)
    return [u, s, _turned(vh), a]


def _tied_or_zero(eqn: Any, results: Values) -> Any:
    return _neighbours(results[0]) | (results[0] == 0)


def _tied_values(eqn: Any, results: Values) -> Any:
    return _neighbours(results[1])


def _without_vectors(name: str, instead: str) -> str:
    return (
        f"the vectors of {name} depend on the differentiated inputs, and only its values "
        f"have a rule; use {instead}, or cut the dependence with jax.lax.stop_gradient."
    )


_SYSTEM: Rule = rewritten(_system, _of_system)
register("triangular_solve", rewritten(_triangular, _of_triangular))
register("custom_linear_solve", _SYSTEM)
register("linear_solve", _SYSTEM)
register("cholesky", rewritten(_cholesky, _of_cholesky))
register("lu", rewritten(_lu, _of_lu))
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
_CHOLESKY = (
    "its factors have no rule; jnp.linalg.cholesky of A.T @ A has, whose transpose is R up "
    "to the signs of its rows"
)
for _name in ("qr", "geqrf", "geqp3", "householder_product", "ormqr"):
    refuse(_name, _CHOLESKY)
for _name in ("eig", "schur", "hessenberg", "tridiagonal"):
    refuse(_name, "it has no rule; jnp.linalg.eigvalsh of a symmetric matrix has")
refuse("tridiagonal_solve", "it has no rule; jnp.linalg.solve has")
refuse(
    "cholesky_update", "it has no rule; jnp.linalg.cholesky of the updated matrix has"
)
