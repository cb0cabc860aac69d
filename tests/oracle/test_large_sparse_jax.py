"""Sparse Hessians of a hundred thousand variables, against JAX's products with vectors."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc

pytestmark = pytest.mark.slow
N = 100_000


def banded(xp, x):
    y = x[1:] * xp.sin(x[:-1]) + x[:-1] ** 3
    return xp.sum(y[2:] * y[:-2]) + xp.sum(y**2)


def arrowhead(xp, x):
    return xp.sum(x[1:] ** 2 * xp.exp(x[0]) + xp.cos(x[1:])) + x[0] ** 4


def head_meets_a_sum(xp, x):
    return xp.exp(x[0]) * xp.sum(x[1:] ** 2) + xp.sum(xp.sin(x))


def blocks(xp, x):
    z = xp.reshape(x, (-1, 4))
    return xp.sum(xp.sum(z, axis=1) ** 3) + xp.sum(z[:, 0] * z[:, 1] * z[:, 2])


NONZEROS = {
    banded: 7 * N - 12,
    arrowhead: 3 * N - 2,
    head_meets_a_sum: 3 * N - 2,
    blocks: 4 * N,
}


@pytest.mark.parametrize("f", NONZEROS)
def test_products_and_count(f):
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    H = dc.hessian(lambda x: f(np, x), x, sparse=True)
    assert H.nnz == NONZEROS[f]
    with jax.enable_x64(True):
        slope = jax.grad(lambda x: f(jnp, x))
        product = jax.jit(lambda x, v: jax.jvp(slope, (x,), (v,))[1])
        for _ in range(2):
            v = rng.normal(size=N)
            expected = np.asarray(product(jnp.asarray(x), jnp.asarray(v)))
            size = np.abs(H) @ np.abs(v)
            assert (np.abs(H @ v - expected) <= 1e-12 * (1 + size)).all()


@pytest.mark.parametrize("f", NONZEROS)
def test_auto_covers_it(f):
    x = np.random.default_rng(1).normal(size=N)
    tape, out = dc.tape_function(lambda x: f(np, x), x)
    H = dc.hessian(tape, out, sparse=True).tocoo()
    cover = dc.cover_hessian(tape, out, merge="auto")
    assert cover.merge == "hessian"
    need = np.abs(H.data) * (1 - 1e-12)
    assert (cover.h[H.row] * cover.h[H.col] >= need).all()
    tightest = dc.cover_hessian(tape, out, merge="quadrature")
    assert np.log(cover.h).sum() < np.log(tightest.h).sum()
