"""Matrix routines: what they accept, refuse, mark and leave alone."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    ConstantProgramError,
    DomainError,
    NondifferentiableError,
    UnsupportedOperationError,
)
from derivative_covers.extend import PairedCurvature
from derivative_covers.tape import Dot
from tests._differences import agrees, matrix

# -- the remainder node ----------------------------------------------------------------


def remainder_tape() -> tuple[Any, Any, int]:
    """``x0 x1`` less its linearisation at (2, 3), made of one centred node."""
    held: dict[str, int] = {}

    def f(x: Any) -> Any:
        r = np.linalg.slogdet(np.stack([x[:2], x[1:]]))[1]
        held["last"] = x.tape.nnodes
        return r

    tape, out = dc.tape_function(f, [2.0, 0.5, 3.0])
    (block,) = (b for b in tape.blocks if isinstance(b, Dot) and b.centred)
    return tape, block, out


def test_remainder_nodes_have_curvature_alone() -> None:
    tape, block, _ = remainder_tape()
    for k in range(block.start, block.stop):
        assert tape.vals[k] == 0.0
        assert not np.any(tape.ds[k])
        assert tape.ds[k].shape == tape.parents[k].shape == (2,)
        assert isinstance(tape.Cs[k], PairedCurvature)
        assert not np.any(dc.gradient(tape, k))
    assert any(np.any(dc.hessian(tape, k)) for k in range(block.start, block.stop))


def test_a_remainder_alone_is_covered_and_has_its_own_hessian() -> None:
    tape, block, _ = remainder_tape()
    for k in range(block.start, block.stop):
        hessian = np.abs(dc.hessian(tape, k))
        bound = dc.hessian_bound(tape, k)
        assert np.all(bound >= hessian - 1e-12)
        for merge in ("sum", "quadrature"):
            h = dc.cover_hessian(tape, k, merge=merge).h
            assert np.all(np.outer(h, h) >= hessian - 1e-12)
        for groups in (1, 2, 5):
            h = dc.cover_hybrid(tape, k, ngroups=groups).h
            assert np.all(np.outer(h, h) >= hessian - 1e-12)


def test_a_recorded_routine_survives_copies() -> None:
    tape, _, out = remainder_tape()
    again = pickle.loads(pickle.dumps(tape))
    np.testing.assert_array_equal(dc.hessian(again, out), dc.hessian(tape, out))


def test_the_hessian_is_asked_for_at_no_other_value() -> None:
    """Nothing but the determinant's own value stands at the output."""
    a = matrix(3, 3)
    tape, out = dc.tape_function(np.linalg.det, a)
    assert tape.vals[out] == np.linalg.det(a)


# -- values and shapes -----------------------------------------------------------------

ROUTINES: list[tuple[Any, Any]] = [
    (lambda x: np.linalg.solve(x, np.arange(3.0)), matrix(3, 3)),
    (lambda x: np.linalg.solve(x, matrix(3, 2)), matrix(4, 3, 3)),
    (lambda x: np.linalg.solve(matrix(4, 3, 3), x), matrix(3, 2, seed=1)),
    (lambda x: np.linalg.solve(np.eye(2, dtype=int) * 3, x), np.array([1.0, 2.0])),
    (np.linalg.inv, matrix(2, 2, 3, 3)),
    (np.linalg.det, matrix(5, 2, 2)),
    (lambda x: np.linalg.slogdet(x)[1], matrix(2, 3, 3)),
    (lambda x: np.linalg.cholesky(x @ x.T + np.eye(3)), matrix(3, 3)),
    (lambda x: np.linalg.lstsq(x, np.arange(5.0), rcond=None)[0], matrix(5, 2)),
    (lambda x: np.linalg.lstsq(x, matrix(5, 2), rcond=None)[1], matrix(5, 3)),
    (lambda x: np.linalg.lstsq(x, np.arange(5.0), rcond=None)[3], matrix(5, 2)),
    (np.linalg.pinv, matrix(2, 4, 2)),
    (np.linalg.eigvalsh, matrix(2, 3, 3)),
    (lambda x: np.linalg.svd(x, compute_uv=False), matrix(2, 3, 4)),
    (lambda x: np.linalg.svd(x + x.T, False, False, hermitian=True), matrix(3, 3)),
    (lambda x: np.linalg.matrix_power(x, -3), matrix(2, 3, 3)),
    (lambda x: np.linalg.matrix_power(x, 6), matrix(3, 3)),
    (lambda x: np.linalg.matrix_power(x, 3), matrix(3, 3)),
    (lambda x: np.linalg.norm(x, 2, axis=(0, 1)), matrix(3, 4, 2)),
    (lambda x: np.linalg.norm(x, -2, axis=(2, 0), keepdims=True), matrix(3, 4, 2)),
    (lambda x: np.linalg.norm(x, "nuc"), matrix(3, 4)),
    (lambda x: np.linalg.norm(x, 2, keepdims=True), matrix(3, 4)),
    (lambda x: np.linalg.cond(x), matrix(2, 4, 3)),
    (lambda x: np.linalg.cond(x, -2), matrix(4, 3)),
    (lambda x: np.linalg.cond(x, "fro"), matrix(3, 3)),
    (lambda x: np.linalg.tensorinv(x, 1), matrix(4, 2, 2)),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", range(len(ROUTINES)))
def test_values_and_shapes_are_those_of_numpy(k: int, dtype: Any) -> None:
    f, x0 = ROUTINES[k]
    x0 = x0.astype(dtype)
    expected = np.asarray(f(x0))
    tape, outs = dc.tape_function(f, x0)
    assert tape.dtype == dtype
    assert np.shape(outs) == expected.shape
    if dtype == np.float64 and k not in (10, 24):  # of another call of NumPy's
        np.testing.assert_array_equal(tape.vals[outs], expected)
    else:
        tol = 1e-12 if dtype == np.float64 else 1e-4
        np.testing.assert_allclose(tape.vals[outs], expected, rtol=tol, atol=tol)
    jacobian = dc.jacobian(tape, outs)
    assert np.all(np.isfinite(jacobian))
    assert np.all(np.isfinite(dc.hessian(tape, int(np.ravel(outs)[0]))))


@pytest.mark.parametrize("k", range(len(ROUTINES)))
def test_single_precision_agrees_with_double(k: int) -> None:
    f, x0 = ROUTINES[k]
    x0 = x0.astype(np.float32)

    def total(x: Any) -> Any:
        return np.sum(f(x))

    exact = dc.gradient(total, x0.astype(float))
    found = dc.gradient(total, x0)
    assert found.dtype == np.float32
    size = np.abs(exact).max()
    np.testing.assert_allclose(found, exact, rtol=2e-2, atol=2e-3 * size)


def test_vectors_and_stacks_as_this_numpy_reads_them() -> None:
    a, b = matrix(3, 2, 2), matrix(3, 2)

    def f(x: Any) -> Any:
        return np.linalg.solve(x, b[:2])

    plain = np.linalg.solve(a, b[:2])
    tape, outs = dc.tape_function(f, a)
    np.testing.assert_array_equal(tape.vals[outs], plain)
    agrees(lambda x: np.sum(np.sin(np.linalg.solve(x, x[0, 0]))), a)


def test_empty_matrices() -> None:
    def f(x: Any) -> Any:
        none = x[:0].reshape(0, 0)
        assert np.linalg.inv(none).shape == (0, 0)
        assert np.linalg.solve(none, x[:0]).shape == (0,)
        assert np.linalg.det(none) == 1.0
        assert np.linalg.slogdet(none)[1] == 0.0
        assert np.linalg.cholesky(none).shape == (0, 0)
        assert np.linalg.eigvalsh(none).shape == (0,)
        assert np.linalg.pinv(x[:0].reshape(0, 2)).shape == (2, 0)
        assert np.linalg.det(x[:0].reshape(0, 2, 2)).shape == (0,)
        assert np.linalg.matrix_power(none, 3).shape == (0, 0)
        assert np.linalg.norm(x[:0].reshape(0, 2), 2) == 0.0
        return np.sum(x)

    np.testing.assert_array_equal(dc.gradient(f, [1.0, 2.0]), [1.0, 1.0])


def test_one_by_one() -> None:
    x0 = np.array([[2.5]])
    for f, g, h in [
        (lambda x: np.linalg.inv(x)[0, 0], -1 / 6.25, 2 / 2.5**3),
        (np.linalg.det, 1.0, 0.0),
        (lambda x: np.linalg.slogdet(x)[1], 0.4, -0.16),
        (lambda x: np.linalg.cholesky(x)[0, 0], 0.5 / 2.5**0.5, -0.25 / 2.5**1.5),
        (lambda x: np.linalg.eigvalsh(x)[0], 1.0, 0.0),
        (lambda x: np.linalg.norm(x, 2), 1.0, 0.0),
        (lambda x: np.linalg.solve(x, [5.0])[0], -0.8, 2 * 5 / 2.5**3),
    ]:
        tape, out = dc.tape_function(f, x0)
        np.testing.assert_allclose(dc.gradient(tape, out), [[g]], rtol=1e-14)
        np.testing.assert_allclose(dc.hessian(tape, out).ravel(), [h], rtol=1e-14)
        cover = float(dc.cover_hessian(tape, out).h[0, 0] ** 2)
        assert abs(h) * (1 - 1e-12) <= cover <= 2 * abs(h) * (1 + 1e-12)


# -- operands --------------------------------------------------------------------------


def test_lists_of_scalars_and_constants_among_the_entries() -> None:
    def f(x: Any) -> Any:
        rows = [[x[0], 1.0, 0.0], [2.0, x[1], x[2]], [0.0, x[0] * x[2], 3.0]]
        a = np.linalg.solve(rows, x)
        b = np.linalg.det(np.stack([np.stack([x[0], 1.5 * x[1]]), x[1:]]))
        s = np.zeros_like(x, shape=(3, 3))
        s[...] = np.eye(3) * 4.0
        s[1, 0] = x[0]
        s[2, 2] = x[1] ** 2 + 1.0
        s[0, 2] = x[2]  # in the triangle that is not read
        c = np.linalg.cholesky(s)
        d = np.linalg.eigvalsh(s)
        return np.sum(np.sin(a)) * b + np.sum(c**3) + d[0] * d[2] + a[2]

    agrees(f, [0.7, 1.9, -0.4])


def test_triangles_that_are_not_read_do_not_count() -> None:
    s = np.array([[4.0, 9.0], [1.0, 3.0]])
    for f, unread in [
        (lambda x: np.sum(np.linalg.cholesky(x)), (0, 1)),
        (lambda x: np.sum(np.linalg.eigvalsh(x) ** 2), (0, 1)),
        (lambda x: np.sum(np.linalg.eigvalsh(x, "U") ** 2), (1, 0)),
    ]:
        tape, out = dc.tape_function(f, s)
        assert dc.gradient(tape, out)[unread] == 0.0
        assert not np.any(dc.hessian(tape, out)[unread])
        assert dc.cover_hessian(tape, out, merge="quadrature").h[unread] == 0.0
    factor = dc.tape_function(lambda x: np.linalg.cholesky(x)[:, 1], s)
    assert not np.any(dc.jacobian(*factor)[0])


def test_views_and_writes_into_operands_and_results() -> None:
    a = matrix(3, 3) + 3 * np.eye(3)

    def f(x: Any) -> Any:
        y = x.T[::-1, ::-1].copy()
        r = np.linalg.inv(y)
        y[...] = 0.0
        s = np.linalg.solve(x[:, ::-1], r[0])
        r[0, 0] = 1.0
        s[1:] *= 2.0
        return np.sum(r**2) + np.sum(s**3)

    agrees(f, a)


def test_an_operand_that_occurs_twice() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.linalg.solve(x, x * 1.0)) + np.sum(np.linalg.solve(x, x))

    np.testing.assert_allclose(dc.gradient(f, matrix(3, 3)), 0.0, atol=1e-12)
    np.testing.assert_allclose(dc.hessian(f, matrix(3, 3)), 0.0, atol=1e-10)


def test_constant_operands_record_nothing() -> None:
    def f(x: Any) -> Any:
        c = np.zeros_like(x, shape=(2, 2))
        c[...] = [[2.0, 1.0], [1.0, 3.0]]
        before = x.tape.nnodes
        results = [np.linalg.inv(c), np.linalg.eigvalsh(c), np.linalg.cholesky(c)]
        results += [np.linalg.pinv(c), np.linalg.solve(c, [1.0, 2.0])]
        results += [np.linalg.matrix_power(c, -2)]
        results += [np.linalg.lstsq(c, [1.0, 2.0])[0]]
        scalars = [np.linalg.det(c), np.linalg.slogdet(c)[1], np.linalg.norm(c, 2)]
        assert x.tape.nnodes == before
        assert all(float(s) > 0 for s in scalars)
        return x[0] + sum(float(dc.value(r).ravel()[0]) for r in results)

    np.testing.assert_array_equal(dc.gradient(f, [1.0, 2.0]), [1.0, 0.0])


def test_the_zeroth_power_depends_on_nothing() -> None:
    with pytest.raises(ConstantProgramError):
        dc.gradient(lambda x: np.sum(np.linalg.matrix_power(x, 0)), np.eye(2))


# -- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.inv(x[:2]),
        lambda x: np.linalg.det(x[:2]),
        lambda x: np.linalg.inv(x * 0.0),
        lambda x: np.linalg.solve(x * 0.0, x[0]),
        lambda x: np.linalg.solve(x, x[0, :2]),
        lambda x: np.linalg.cholesky(-x @ x.T),
        lambda x: np.linalg.inv(x[0]),
        lambda x: np.linalg.eigvalsh(x[:2]),
        lambda x: np.linalg.lstsq(x, x[0, :2]),
        lambda x: np.linalg.cond(x[:0]),
    ],
)
def test_errors_of_numpy_stay(f: Any) -> None:
    x0 = matrix(3, 3)
    with pytest.raises((np.linalg.LinAlgError, ValueError)) as plain:
        f(x0)
    with pytest.raises(type(plain.value)) as recorded:
        dc.tape_function(lambda x: np.sum(f(x)), x0)
    assert str(recorded.value) == str(plain.value)


@pytest.mark.parametrize(
    ("order", "axis"),
    [
        ("fro", 0),
        ("nuc", 1),
        (3, None),
        ("spectral", None),
        (2, (0, 0)),
        (2, 7),
        (1, (0, 5)),
    ],
)
def test_norms_that_numpy_refuses(order: Any, axis: Any) -> None:
    x0 = matrix(2, 3)
    with pytest.raises(ValueError) as plain:  # noqa: PT011
        np.linalg.norm(x0, order, axis)
    with pytest.raises(type(plain.value)) as recorded:
        dc.tape_function(lambda x: np.linalg.norm(x, order, axis), x0)
    assert str(recorded.value) == str(plain.value)


def test_least_squares_without_full_rank() -> None:
    wide = matrix(2, 4)
    deficient = np.outer([1.0, 2.0, 3.0], [1.0, 1.0])
    for a in (wide, deficient):
        with pytest.raises(UnsupportedOperationError, match=r"rank .* ridge"):
            dc.tape_function(lambda x: np.linalg.lstsq(x, x[:, 0])[0], a)
    with pytest.raises(UnsupportedOperationError, match="rank"):
        dc.tape_function(np.linalg.pinv, deficient)
    with pytest.raises(UnsupportedOperationError, match="hermitian"):
        dc.tape_function(lambda x: np.linalg.pinv(x, hermitian=True), np.eye(2))


@pytest.mark.parametrize("name", ["eigh", "eig", "eigvals", "qr", "svd"])
def test_what_has_no_rule_names_the_nearest_way(name: str) -> None:
    with pytest.raises(UnsupportedOperationError, match=r"np\.linalg|compute_uv"):
        dc.tape_function(getattr(np.linalg, name), np.eye(2))


def test_infinite_and_undefined_entries() -> None:
    for bad in (np.inf, np.nan):
        for f in (np.linalg.inv, np.linalg.det, lambda x: np.linalg.slogdet(x)[1]):
            a = np.array([[1.0, 2.0], [3.0, bad]])
            with pytest.raises(DomainError):
                dc.gradient(lambda x, f=f, a=a: np.sum(f(x * a)), np.ones((2, 2)))


# -- kinks and domain ends count only where an output depends on them -----------------


def test_the_logarithm_of_a_singular_determinant() -> None:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])

    def f(x: Any) -> Any:
        sign, log = np.linalg.slogdet(x)
        assert sign == 0.0
        return log + x[0, 0]

    with pytest.raises(DomainError, match="log"):
        dc.gradient(f, singular)
    both = np.stack([singular, np.eye(2)])
    found = dc.gradient(lambda x: np.linalg.slogdet(x)[1][1], both)
    np.testing.assert_array_equal(found, [np.zeros((2, 2)), np.eye(2)])
    with pytest.raises(DomainError):
        dc.gradient(lambda x: np.linalg.slogdet(x)[1][0], both)


def test_tied_eigenvalues_and_singular_values() -> None:
    a = np.diag([1.0, 1.0, 3.0])
    for function in (
        np.linalg.eigvalsh,
        lambda x: np.linalg.svd(x, compute_uv=False)[::-1],
    ):
        with pytest.raises(NondifferentiableError, match="tied"):
            dc.gradient(lambda x, g=function: g(x)[0], a)
        tape, out = dc.tape_function(lambda x, g=function: g(x)[2], a)
        np.testing.assert_array_equal(dc.gradient(tape, out), np.diag([0.0, 0.0, 1.0]))
        h = dc.cover_hessian(tape, out).h
        size = np.abs(dc.hessian(tape, out))
        assert np.all(np.multiply.outer(h, h) >= size - 1e-12)


def test_singular_values_that_are_zero() -> None:
    a = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    with pytest.raises(NondifferentiableError):
        dc.gradient(lambda x: np.linalg.norm(x, "nuc"), a)
    np.testing.assert_array_equal(
        dc.gradient(lambda x: np.linalg.norm(x, 2), a),
        [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
    )


def test_symmetric_functions_of_nearly_tied_eigenvalues_do_not_blow_up() -> None:
    q, _ = np.linalg.qr(matrix(4, 4))
    a = (q * np.array([1.0, 1.0 + 1e-12, 2.0, 5.0])) @ q.T
    tape, out = dc.tape_function(lambda x: np.sum(np.linalg.eigvalsh(x)), a)
    np.testing.assert_allclose(dc.gradient(tape, out), np.eye(4), atol=1e-12)
    assert not np.any(dc.hessian(tape, out))
    assert not np.any(dc.cover_hessian(tape, out).h)


def test_an_array_of_objects_that_meets_linalg_is_explained():
    def f(x):
        return np.linalg.det(np.array([[x[0], x[1]], [1.0, 2.0]]))

    with pytest.raises(TypeError) as e:
        dc.gradient(f, [1.0, 2.0])
    assert any("derivative_covers.with_numpy" in note for note in e.value.__notes__)
    np.testing.assert_allclose(dc.gradient(dc.with_numpy(f), [1.0, 2.0]), [2.0, -1.0])
