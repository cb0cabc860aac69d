"""Matrix routines against JAX in double precision, to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests._linalg_programs import (
    Function,
    check,
    cholesky_of_gram,
    condition,
    determinant,
    eigenvalues_of_sum,
    fifth_power,
    inverse,
    log_determinant,
    mixed,
    name,
    negative_power,
    normal,
    singular_values,
    solve_constant_matrix,
    solve_constant_right_side,
    solve_matrices,
    solve_recorded_both,
    spectral_norms,
)

pytestmark = pytest.mark.slow


def both_triangles(xp: Any, x: Any, k: int = 1) -> Any:
    """The symmetric matrix of one triangle (the lower one for ``k = 1``)."""
    keep = np.tri(x.shape[-1]) if k == 1 else np.tri(x.shape[-1]).T
    strict = keep - np.eye(x.shape[-1])
    return xp.where(keep > 0, x, 0.0) + xp.swapaxes(
        xp.where(strict > 0, x, 0.0), -1, -2
    )


SQUARE: list[Function] = [
    solve_recorded_both,
    solve_constant_right_side,
    solve_constant_matrix,
    solve_matrices,
    inverse,
    determinant,
    log_determinant,
    negative_power,
    fifth_power,
    cholesky_of_gram,
    eigenvalues_of_sum,
    singular_values,
]


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("f", SQUARE, ids=name)
def test_square_matrices(f: Function, n: int) -> None:
    check(f, normal(n, n, seed=n) + 0.5 * np.eye(n))


@pytest.mark.parametrize("shape", [(4, 4), (5, 2), (2, 4)])
@pytest.mark.parametrize("f", [singular_values, spectral_norms, condition], ids=name)
def test_singular_values(f: Function, shape: tuple[int, int]) -> None:
    check(f, normal(*shape, seed=3))


# -- triangles that are not read; factors of least squares ---------------------------


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_reads_one_triangle(upper: bool) -> None:
    n = 4
    x0 = normal(n, n) + 6 * np.eye(n)

    def f(xp: Any, x: Any) -> Any:
        return mixed(xp, xp.linalg.cholesky(x, upper=upper))

    def twin(xp: Any, x: Any) -> Any:
        factor = xp.linalg.cholesky(both_triangles(xp, x, -1 if upper else 1))
        return mixed(xp, factor.T if upper else factor)

    check(f, x0, twin=twin)


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigenvalues_read_one_triangle(uplo: str) -> None:
    def f(xp: Any, x: Any) -> Any:
        return mixed(xp, xp.linalg.eigvalsh(x, uplo))

    def twin(xp: Any, x: Any) -> Any:
        return mixed(
            xp, xp.linalg.eigvalsh(both_triangles(xp, x, 1 - 2 * (uplo == "U")))
        )

    check(f, normal(4, 4), twin=twin)


def by_normal_equations(xp: Any, a: Any, b: Any) -> Any:
    return xp.linalg.solve(a.T @ a, a.T @ b)


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize("shape", [(6, 3), (5, 1), (3, 3)])
def test_least_squares(shape: tuple[int, int], k: int) -> None:
    m, n = shape
    given = normal(m, k, seed=5) if k else normal(m, seed=5)

    def right(xp: Any, x: Any) -> Any:
        column = xp.sin(x[:, 0])
        return given + (column[:, None] if k else column)

    def f(xp: Any, x: Any) -> Any:
        found, squares, rank, _ = np.linalg.lstsq(x, right(np, x))
        assert rank == n
        return mixed(np, found) + (mixed(np, squares) if m > n else 0.0)

    def twin(xp: Any, x: Any) -> Any:
        b = right(xp, x)
        found = by_normal_equations(xp, x, b)
        squares = xp.atleast_1d(xp.sum((b - x @ found) ** 2, axis=0))
        return mixed(xp, found) + (mixed(xp, squares) if m > n else 0.0)

    check(f, normal(m, n, seed=2), rtol=1e-8, twin=twin)


def test_least_squares_of_a_constant_matrix() -> None:
    for a in (normal(5, 2), normal(2, 4), np.ones((4, 3))):

        def f(xp: Any, x: Any, a: Any = a) -> Any:
            found, squares, _, _ = np.linalg.lstsq(a, x**2)
            return mixed(np, found) + (np.sum(np.sin(squares)) if squares.size else 0.0)

        def twin(xp: Any, x: Any, a: Any = a) -> Any:
            found = np.linalg.pinv(a) @ x**2
            squares = xp.sum((x**2 - a @ found) ** 2)
            over = a.shape == (5, 2)
            return mixed(xp, found) + (xp.sin(squares) if over else 0.0)

        check(f, normal(a.shape[0], seed=6), twin=twin)


@pytest.mark.parametrize("shape", [(5, 2), (2, 4), (3, 3)])
def test_pseudoinverse(shape: tuple[int, int]) -> None:
    def f(xp: Any, x: Any) -> Any:
        return mixed(xp, xp.linalg.pinv(x))

    def twin(xp: Any, x: Any) -> Any:
        if x.shape[0] < x.shape[1]:
            return mixed(xp, by_normal_equations(xp, x.T, np.eye(x.shape[1])).T)
        return mixed(xp, by_normal_equations(xp, x, np.eye(x.shape[0])))

    check(f, normal(*shape, seed=8), rtol=1e-8, twin=twin)


def test_tensor_systems() -> None:
    def f(xp: Any, x: Any) -> Any:
        a = xp.reshape(x, (2, 3, 3, 2))
        b = xp.sin(a[:, :, 0, 0])
        moved = xp.linalg.tensorsolve(a, b, axes=(2,))
        return mixed(xp, xp.linalg.tensorsolve(a, b)) + mixed(xp, moved)

    def g(xp: Any, x: Any) -> Any:
        return mixed(xp, xp.linalg.tensorinv(xp.reshape(x, (2, 3, 6)), ind=2))

    check(f, normal(6, 6, seed=1), rtol=1e-8)
    check(g, normal(6, 6, seed=2), rtol=1e-8)


# -- stacks --------------------------------------------------------------------------


def stack_of_systems(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.solve(x, xp.sin(x[..., :2])))


def one_system_many_sides(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.solve(x[0], x[1:, :, :1]))


def many_systems_one_side(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.solve(x, x[0, 0] ** 2))


def stack_of_inverses(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.inv(x)) + mixed(xp, xp.linalg.pinv(x[:, :, :2]))


def stack_of_determinants(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.det(x)) + mixed(xp, xp.linalg.slogdet(x)[1])


def stack_of_factors(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.cholesky(x @ xp.swapaxes(x, 1, 2) + np.eye(3)))


def stack_of_spectra(xp: Any, x: Any) -> Any:
    values = xp.linalg.eigvalsh(x + xp.swapaxes(x, 1, 2))
    norms = xp.linalg.norm(x, 2, axis=(0, 2))
    return mixed(xp, values) + mixed(xp, norms)


STACKS: list[Function] = [
    stack_of_systems,
    one_system_many_sides,
    many_systems_one_side,
    stack_of_inverses,
    stack_of_determinants,
    stack_of_factors,
    stack_of_spectra,
]


@pytest.mark.parametrize("f", STACKS, ids=name)
def test_stacks_of_matrices(f: Function) -> None:
    check(f, normal(2, 3, 3, seed=11) + 0.4 * np.eye(3), rtol=1e-8)
