"""Singular, ill-conditioned, defective, nearly tied and large matrices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from tests._linalg_programs import (
    FAST,
    Function,
    check,
    cholesky_of_gram,
    close,
    determinant,
    eigenvalues_of_sum,
    inverse,
    log_determinant,
    name,
    negative_power,
    normal,
    oracle,
    singular_values,
    solve_constant_right_side,
    solve_recorded_both,
)

pytestmark = pytest.mark.slow


def minor(x: Any) -> int:
    """The determinant of integers, exactly, by expansion along the first row."""
    if not x.shape[0]:
        return 1
    rest = (np.delete(x[1:], k, axis=1) for k in range(x.shape[0]))
    return sum(
        (-1) ** k * int(x[0, k]) * minor(y) for k, y in enumerate(rest) if x[0, k]
    )


def cofactors(x: Any) -> tuple[Any, Any]:
    """Gradient and Hessian of the determinant of a matrix of integers: minors."""
    n = x.shape[0]
    gradient, hessian = np.zeros((n, n)), np.zeros((n, n, n, n))
    for i, j in np.ndindex(n, n):
        one = np.delete(np.delete(x, i, axis=0), j, axis=1)
        gradient[i, j] = (-1) ** (i + j) * minor(one)
        for k, m in np.ndindex(n - 1, n - 1):
            two = np.delete(np.delete(one, k, axis=0), m, axis=1)
            sign = (-1) ** (i + j + k + m)
            hessian[i, j, k + (k >= i), m + (m >= j)] = sign * minor(two)
    return gradient, hessian


def of_rank(n: int, rank: int, seed: int = 0) -> Any:
    """Small integers, so that the rank is exact."""
    rng = np.random.default_rng(seed)
    left = rng.integers(-3, 4, size=(n, rank)) + 5 * np.eye(n, rank)
    return left @ (rng.integers(-3, 4, size=(rank, n)) + 5 * np.eye(rank, n))


def check_determinant(x0: Any) -> Any:
    """NumPy's value of a singular determinant is rounding; its derivatives are exact."""
    exact = minor(x0)
    gradient, hessian = cofactors(x0)
    largest = max(1.0, np.abs(x0).max())
    size = largest ** (x0.shape[0] - 1)
    for bend in (0.0, 0.5):  # a square brings in the square of the gradient

        def f(x: Any, bend: float = bend) -> Any:
            d = np.linalg.det(x)
            return d + bend * d * d

        tape, out = dc.tape_function(f, x0)
        assert tape.vals[out] == f(x0)
        slope = 1 + 2 * bend * exact
        slack = 1e-12 * size * (1 + 2 * bend * size * largest)
        found = dc.gradient(tape, out)
        np.testing.assert_allclose(found, slope * gradient, atol=slack)
        square = 2 * bend * np.multiply.outer(gradient, gradient)
        whole = slope * hessian + square
        np.testing.assert_allclose(dc.hessian(tape, out), whole, atol=slack)
        covers = [dc.cover_hessian(tape, out, merge=m).h for m in ("sum", "quadrature")]
        covers.append(dc.cover_hybrid(tape, out, ngroups=3).h)
        for h in covers:
            assert np.all(np.multiply.outer(h, h) >= np.abs(whole) - slack)
        assert np.all(dc.hessian_bound(tape, out) >= np.abs(whole) - slack)
    return gradient, hessian


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_determinant_of_singular_matrices(n: int) -> None:
    for loss in range(n + 1):
        x0 = of_rank(n, n - loss)
        assert np.linalg.matrix_rank(x0) == n - loss
        gradient, hessian = check_determinant(x0)
        assert np.any(gradient) == (loss < 2)
        assert np.any(hessian) == (loss < 3 and n > 1)


def test_determinant_of_nilpotent_and_of_badly_scaled_blocks() -> None:
    check_determinant(jordan(4, 0.0))
    check_determinant(np.diag([0.0, 0.0, 2.0, 3.0]))
    units = 2.0 ** np.array([40, -30, 0, 20])
    a = of_rank(4, 3)

    def f(x: Any) -> Any:
        return np.linalg.det(units[:, None] * x * units[::-1])

    gradient, hessian = cofactors(a)
    factor = np.prod(units) ** 2
    np.testing.assert_allclose(dc.gradient(f, a), factor * gradient, rtol=1e-9)
    found = dc.hessian(f, a)
    size = factor * np.abs(hessian).max()
    np.testing.assert_allclose(found, factor * hessian, atol=1e-12 * size)


def with_condition(n: int, condition: float, seed: int = 0) -> Any:
    u, _ = np.linalg.qr(normal(n, n, seed=seed))
    v, _ = np.linalg.qr(normal(n, n, seed=seed + 1))
    return (u * np.geomspace(1.0, 1.0 / condition, n)) @ v


@pytest.mark.parametrize(
    "f",
    [solve_constant_right_side, inverse, determinant, log_determinant],
    ids=name,
)
def test_ill_conditioned_matrices(f: Function) -> None:
    def scaled(xp: Any, x: Any) -> Any:
        return f(xp, x) if f in (determinant, log_determinant) else linear(xp, f, x)

    check(scaled, with_condition(4, 1e8), rtol=1e-6)


def linear(xp: Any, f: Function, x: Any) -> Any:
    """Without the sine, whose argument would carry the error of 1e8 values."""
    if f is inverse:
        return xp.sum(normal(*x.shape, seed=2) * xp.linalg.inv(x))
    return xp.sum(normal(x.shape[0], seed=2) * xp.linalg.solve(x, np.ones(x.shape[0])))


def jordan(n: int, value: float) -> Any:
    return value * np.eye(n) + np.eye(n, k=1)


@pytest.mark.parametrize(
    "f",
    [solve_recorded_both, inverse, determinant, log_determinant, negative_power],
    ids=name,
)
def test_defective_matrices(f: Function) -> None:
    check(f, jordan(4, 1.5))


def test_nearly_tied_eigenvalues_are_large_and_right() -> None:
    q, _ = np.linalg.qr(normal(3, 3, seed=5))
    x0 = (q * np.array([1.0, 1.0 + 1e-5, 3.0])) @ q.T

    def f(xp: Any, x: Any) -> Any:
        values = xp.linalg.eigvalsh((x + x.T) / 2)
        return values[0] + 2.0 * values[1] + values[2] ** 2

    hessian = check(f, x0, rtol=1e-8)
    assert np.abs(hessian).max() > 1e4


# -- large -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        solve_recorded_both,
        inverse,
        log_determinant,
        cholesky_of_gram,
        eigenvalues_of_sum,
        singular_values,
    ],
    ids=name,
)
def test_products_with_large_hessians(f: Function) -> None:
    n = 30
    x0 = normal(n, n, seed=21) / np.sqrt(n) + 2.0 * np.eye(n)
    v = normal(n, n, seed=22)
    with jax.enable_x64(True):
        grad = jax.grad(lambda x: f(jnp, x))
        run = jax.jit(lambda x, d: jax.jvp(grad, (x,), (d,)), compiler_options=FAST)
        gradient, product = (np.asarray(r) for r in run(x0, v))
    tape, out = dc.tape_function(lambda x: f(np, x), x0)
    close(dc.gradient(tape, out), gradient, 1e-9)
    close(dc.hvp(tape, out, v), product, 1e-8)
    h = dc.cover_hessian(tape, out).h
    assert abs(np.sum(v * product)) <= np.sum(h * np.abs(v)) ** 2


def test_the_whole_hessian_of_a_large_system() -> None:
    n = 30
    x0 = normal(n, n, seed=21) / np.sqrt(n) + 2.0 * np.eye(n)

    def f(xp: Any, x: Any) -> Any:
        return xp.sum(xp.sin(xp.linalg.solve(x, np.ones(n)))) + xp.linalg.slogdet(x)[1]

    _, gradient, hessian = oracle(lambda x: f(jnp, x), x0)
    tape, out = dc.tape_function(lambda x: f(np, x), x0)
    close(dc.gradient(tape, out), gradient, 1e-9)
    close(dc.hessian(tape, out), hessian, 1e-9)
