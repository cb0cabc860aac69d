"""Covers through JAX's linear algebra and indexing: those of the NumPy package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import NondifferentiableError, UnsupportedOperationError
from derivative_covers.interop import jax as dj
from tests._jax import compiled
from tests._jax import doubles as doubles

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 1.5, 3)
PARTS = RNG.normal(size=(3, 3, 3))
SYMMETRIC = PARTS @ PARTS.transpose(0, 2, 1)
C = RNG.normal(size=(3, 2))


def matrix(np: Any, x: Any, parts: Any = PARTS) -> Any:
    return 3 * np.eye(3) + x[0] * parts[0] + x[1] * x[2] * parts[1] + parts[2] * x[2]


def systems(np: Any, x: Any) -> Any:
    a = matrix(np, x)
    whole = (np.linalg.solve(a, x) ** 2).sum() + (np.linalg.solve(a, C) * x[1]).sum()
    return whole + (np.linalg.inv(a[:2, :2]) ** 3).sum()


def spectra(np: Any, x: Any) -> Any:
    a = matrix(np, x)
    tall = (np.linalg.svd(a[:, :2], compute_uv=False) ** 3).sum()
    return (np.linalg.eigvalsh(matrix(np, x, SYMMETRIC)) ** 3).sum() + tall


def differences(gradient: Any, x: Any) -> Any:
    """Derivatives by central differences: the Hessian, given the gradient."""
    step = 1e-5 * np.eye(x.size)
    return np.array([gradient(x + e) - gradient(x - e) for e in step]) / 2e-5


def cholesky(np: Any, a: Any) -> Any:
    if np is jnp:
        return jax.lax.linalg.cholesky(a, symmetrize_input=False)
    return np.linalg.cholesky(a)


def factors(np: Any, x: Any) -> Any:
    return (cholesky(np, matrix(np, x, SYMMETRIC)) ** 3).sum()


def on_devices(f: Any) -> Any:
    """The function applied on every device, to its part of an array."""
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((1,), ("d",), axis_types=auto)
    part = jax.sharding.PartitionSpec("d")

    def each(x: Any) -> Any:
        return jax.tree.map(lambda a: a[None], f(x[0]))

    whole = jax.shard_map(each, mesh=mesh, in_specs=part, out_specs=part)
    return lambda x: jax.tree.map(lambda a: a[0], whole(x[None]))


@pytest.mark.parametrize("program", [systems, spectra, factors])
def test_same_as_the_tape(program: Any) -> None:
    where = on_devices if program is systems else lambda f: f
    cover = compiled(where(dj.cover_hessian(lambda x: program(jnp, x))))
    found, tape = cover(X), dc.cover_hessian(lambda x: program(np, x), X)
    np.testing.assert_allclose(found.value, tape.value, rtol=1e-12)
    np.testing.assert_allclose(found.gradient, tape.gradient, rtol=1e-10)
    np.testing.assert_allclose(found.h, tape.h, rtol=1e-10)


def test_triangular_systems_and_determinants_cover() -> None:
    def f(np: Any, x: Any) -> Any:
        a = matrix(np, x, SYMMETRIC)
        if np is not jnp:
            factor = np.linalg.cholesky(a).T
            plain, right = np.linalg.solve(factor, x), np.linalg.solve(factor, C * x[0])
        else:
            factor = np.linalg.cholesky(a)
            plain = jax.scipy.linalg.solve_triangular(factor, x, lower=True, trans=1)
            right = jax.lax.linalg.triangular_solve(factor, C.T * x[0], lower=True).T
        whole = (plain**3).sum() + (right**2).sum()
        return whole + np.linalg.slogdet(matrix(np, x))[1]

    cover = compiled(dj.cover_hessian(lambda x: f(jnp, x)))
    found, tape = cover(X), dc.cover_hessian(lambda x: f(np, x), X)
    assert int(found.status) == 0
    np.testing.assert_allclose(found.gradient, tape.gradient, rtol=1e-9)
    H = differences(lambda x: cover(x).gradient, X)
    assert np.all(np.abs(H) <= np.outer(found.h, found.h) * (1 + 1e-6))


def test_entries_put_and_taken() -> None:
    def f(x: Any) -> Any:
        y = jnp.zeros(4).at[jnp.array([0, 2, 2])].set(x * x)
        y = y.at[1].set(x[0] * x[1]).at[9].set(x[0], mode="drop")
        y = y.at[3].subtract(x[2] ** 3)
        top, _ = jax.lax.top_k(y, 2)
        return jnp.sum(y**2 * jnp.arange(4.0)) * top[0] * top[1]

    def plain(x: Any) -> Any:
        y = np.stack([x[0] * x[0], x[0] * x[1], x[2] * x[2], -(x[2] ** 3)])
        order = np.argsort(dc.value(y))
        return np.sum(y**2 * np.arange(4.0)) * y[order[-1]] * y[order[-2]]

    found, other = compiled(dj.cover_hessian(f))(X), dc.cover_hessian(plain, X)
    np.testing.assert_allclose(found.gradient, other.gradient, rtol=1e-12)
    np.testing.assert_allclose(found.h, other.h, rtol=1e-13)
    with pytest.raises(NondifferentiableError):
        dj.cover_hessian(lambda x: jax.lax.top_k(x, 1)[0][0] ** 2)(np.ones(3))


def test_special_functions_and_windows_cover() -> None:
    def f(x: Any) -> Any:
        special = jax.scipy.special
        gammas = special.gammainc(2.5, x[0] * x[1]) * special.polygamma(1, x[2])
        image = jnp.outer(x, jnp.sin(x))
        pool = jax.lax.reduce_window(
            image, -jnp.inf, jax.lax.max, (1, 2), (1, 2), "SAME"
        )
        return gammas + (pool**2).sum()

    cover = compiled(dj.cover_hessian(f))
    found = cover(X)
    slope = differences(lambda x: cover(x).value, X)
    np.testing.assert_allclose(found.gradient, slope, rtol=1e-7)
    H = differences(lambda x: cover(x).gradient, X)
    assert np.all(np.abs(H) <= np.outer(found.h, found.h) * (1 + 1e-6))


def conjugate(x: Any) -> Any:
    return jax.scipy.sparse.linalg.cg(lambda v: matrix(jnp, x) @ v, x)[0].sum()


@pytest.mark.parametrize(
    ("f", "says"),
    [
        (lambda x: jnp.linalg.qr(matrix(jnp, x))[1].sum(), r"'qr'.*cholesky"),
        (lambda x: jnp.linalg.eigh(matrix(jnp, x))[1].sum(), r"vectors.*eigvalsh"),
        (lambda x: jnp.abs(jnp.fft.fft(x)).sum(), r"complex numbers"),
        (lambda x: x.at[0].multiply(x[1]).sum(), r"'scatter.mul'"),
        (conjugate, r"dense matrix.*stop_gradient"),
    ],
    ids=["qr", "eigenvectors", "complex", "scatter_mul", "cg"],
)
def test_what_has_no_rule_is_refused_by_name(f: Callable[..., Any], says: str) -> None:
    with pytest.raises(UnsupportedOperationError, match=says):
        jax.eval_shape(dj.cover_hessian(f), X)
