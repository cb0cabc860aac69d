"""Linear systems and factors.

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

__all__ = ["beside", "from_lower", "stacked", "turned"]

Values = Sequence[Any]


def stacked(x: Any) -> Any:
    return x.reshape(-1, *x.shape[-2:])


def turned(x: Any) -> Any:
    return jnp.swapaxes(x, -1, -2)


def _size(left: Any, value: Any, right: Any) -> Any:
    """How large the terms of a product of three are."""
    return product(product(jnp.abs(left), jnp.abs(value)), jnp.abs(right))


def beside(x: Any, left: Any, right: Any, value: Any) -> Any:
    """``left @ x @ right`` plus a constant that makes it as large as its terms are."""
    shift = _size(left, value, right) - product(product(left, value), right)
    return product(product(left, x), right) + shift


def _inverse_of_triangle(a: Any, *, lower: bool, unit: bool = False) -> Any:
    one = jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    return lax.linalg.triangular_solve(
        a, one, left_side=True, lower=lower, unit_diagonal=unit
    )


def from_lower(a: Any) -> Any:
    """The symmetric matrix of which the lower triangle is read."""
    lower = jnp.tri(a.shape[-1], dtype=bool)
    return jnp.where(lower, a, turned(a))


# -- systems ---------------------------------------------------------------------------


def _triangle(eqn: Any, a: Any) -> Any:
    """The matrix of a triangular system with its unknowns on the right."""
    p = eqn.params
    n = a.shape[-1]
    a = jnp.tril(a) if p["lower"] else jnp.triu(a)
    if p["unit_diagonal"]:
        one = jnp.eye(n, dtype=a.dtype)
        a = jnp.where(one > 0, one, a)
    return turned(a) if p["transpose_a"] == p["left_side"] else a


def _triangular(eqn: Any) -> Callable[..., list[Any]]:
    """With ``e = b - a x``, ``x`` moves by ``inv(a) (de - da dx)``, exactly."""
    on_left = eqn.params["left_side"]

    def f(a: Any, b: Any, x: Any, inverse: Any) -> list[Any]:
        shape = b.shape
        a, b, x = (stacked(m) for m in (_triangle(eqn, a), b, x))
        if not on_left:
            b, x = turned(b), turned(x)
        first = x + product(inverse, b - product(a, x))
        found = first - product(inverse, centred(a, first))
        return [(found if on_left else turned(found)).reshape(shape)]

    return f


def _of_triangular(eqn: Any, values: Values, results: Values) -> list[Any]:
    a = stacked(_triangle(eqn, values[0]))
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
        change = beside(stacked(from_lower(a)), back, turned(back), value)
        first = change * (below + half) + _size(back, value, turned(back)) * half
        # On the diagonal rows meet themselves: sums of squares.
        rest = jnp.sum(centred_square(first), axis=2)[:, :, None] * half
        rest = rest + centred(first, turned(first)) * below
        return [jnp.tril(product(factor, first - rest)).reshape(a.shape)]

    return f


def _of_cholesky(eqn: Any, values: Values, results: Values) -> list[Any]:
    factor = jnp.tril(stacked(results[0]))
    back = _inverse_of_triangle(factor, lower=True)
    return [factor, back, stacked(from_lower(values[0]))]


def _lu(eqn: Any) -> Callable[..., list[Any]]:
    """``L (1 + K) (1 + H) U = P A``: ``K + H + K H`` is ``inv(L) P A inv(U)`` less 1."""

    def f(a: Any, order: Any, packed: Any, left: Any, right: Any) -> list[Any]:
        n = a.shape[-1]
        upper = jnp.triu(packed)
        lower = jnp.tril(packed, -1) + jnp.eye(n, dtype=a.dtype)
        moved = jnp.take_along_axis(stacked(a), order, axis=1)
        change = beside(moved, left, right, product(lower, upper))
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
    packed = stacked(packed)
    left = _inverse_of_triangle(packed, lower=True, unit=True)
    right = _inverse_of_triangle(packed, lower=False)
    return [order.reshape(-1, n)[:, :, None], packed, left, right]


_SYSTEM: Rule = rewritten(_system, _of_system)
register("triangular_solve", rewritten(_triangular, _of_triangular))
register("custom_linear_solve", _SYSTEM)
register("linear_solve", _SYSTEM)
register("cholesky", rewritten(_cholesky, _of_cholesky))
register("lu", rewritten(_lu, _of_lu))
_CHOLESKY = (
    "its factors have no rule; jnp.linalg.cholesky of A.T @ A has, whose transpose is R up "
    "to the signs of its rows"
)
for _name in ("qr", "geqrf", "geqp3", "householder_product", "ormqr"):
    refuse(_name, _CHOLESKY)
refuse("tridiagonal_solve", "it has no rule; jnp.linalg.solve has")
refuse(
    "cholesky_update", "it has no rule; jnp.linalg.cholesky of the updated matrix has"
)
