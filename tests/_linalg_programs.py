"""Programs of matrix routines, and their derivatives by JAX in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import derivative_covers as dc

# Compiling takes all the time here, so the compiler is told not to optimise.
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
Function = Callable[[Any, Any], Any]  # of the array namespace and the point


def normal(*shape: int, seed: int = 0) -> Any:
    """A matrix, or a stack of them, without coincidences."""
    return np.random.default_rng(seed).normal(size=shape)


def mixed(xp: Any, y: Any) -> Any:
    """A scalar that weighs every entry differently and bends."""
    y = xp.ravel(y)
    w = np.cos(np.arange(y.shape[0]))
    return xp.sum(w * y) + xp.sum(xp.sin(y + 0.3))


def oracle(f: Callable[[Any], Any], x0: Any) -> tuple[Any, Any, Any]:
    """Value, gradient and Hessian by JAX."""
    with jax.enable_x64(True):
        both = jax.value_and_grad(f)
        run = jax.jit(
            lambda x: (both(x), jax.jacfwd(jax.grad(f))(x)), compiler_options=FAST
        )
        (value, gradient), hessian = run(jnp.asarray(x0, dtype=jnp.float64))
        return np.asarray(value), np.asarray(gradient), np.asarray(hessian)


def check(
    f: Function, x0: Any, rtol: float = 1e-9, twin: Function | None = None
) -> Any:
    """Value, gradient, Hessian, a Hessian product, covers and the elementwise bound."""
    other = twin or f
    value, gradient, hessian = oracle(lambda x: other(jnp, x), x0)
    tape, out = dc.tape_function(lambda x: f(np, x), x0)
    assert tape.vals[out] == f(np, x0)
    np.testing.assert_allclose(tape.vals[out], value, rtol=rtol)
    close(dc.gradient(tape, out), gradient, rtol)
    found = dc.hessian(tape, out)
    close(found, hessian, rtol)
    v = normal(*np.shape(x0), seed=9)
    close(dc.hvp(tape, out, v), np.tensordot(hessian, v, axes=v.ndim), 10 * rtol)
    size = np.abs(hessian)
    bound = dc.hessian_bound(tape, out)
    slack = rtol * size.max(initial=0.0) + 1e-12 * bound
    assert np.all(bound >= size - slack)
    covers = [dc.cover_hessian(tape, out, merge=m) for m in ("sum", "quadrature")]
    covers += [dc.cover_hybrid(tape, out, ngroups=g) for g in (2, 5)]
    for cover in covers:
        assert np.all(np.isfinite(cover.h) & (cover.h >= 0))
        assert np.all(np.multiply.outer(cover.h, cover.h) >= size - slack)
    assert np.all(covers[1].h <= covers[0].h * (1 + 1e-9))
    return hessian


def close(actual: Any, expected: Any, rtol: float) -> None:
    """Equal in norm."""
    assert np.shape(actual) == np.shape(expected)
    error = np.linalg.norm(np.ravel(actual - expected))
    assert error <= rtol * np.linalg.norm(np.ravel(expected)) + 1e-300


def name(f: Function) -> str:
    """For the ids of tests."""
    return f.__name__


def solve_recorded_both(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.solve(x, xp.exp(x[:, 0]) + np.arange(x.shape[0])))


def solve_constant_right_side(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.solve(x, 1.0 + np.arange(float(x.shape[0]))))


def solve_constant_matrix(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.solve(normal(*x.shape, seed=4), x**2))


def solve_matrices(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.solve(x, xp.sin(x)))


def inverse(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.inv(x))


def determinant(xp: Any, x: Any) -> Any:
    d = xp.linalg.det(x)
    return d + xp.sin(d)


def log_determinant(xp: Any, x: Any) -> Any:
    sign, log = xp.linalg.slogdet(x)
    return xp.sin(log) * sign


def negative_power(xp: Any, x: Any) -> Any:
    return xp.sum(xp.cos(xp.linalg.matrix_power(x, -2)))


def fifth_power(xp: Any, x: Any) -> Any:
    return xp.sum(normal(*x.shape, seed=7) * xp.linalg.matrix_power(x, 5))


def cholesky_of_gram(xp: Any, x: Any) -> Any:
    gram = x @ x.T + np.eye(x.shape[0])
    return mixed(xp, xp.linalg.cholesky(gram))


def eigenvalues_of_sum(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.eigvalsh(x + x.T))


def singular_values(xp: Any, x: Any) -> Any:
    return mixed(xp, xp.linalg.svd(x, compute_uv=False))


def spectral_norms(xp: Any, x: Any) -> Any:
    norms = [xp.linalg.norm(x, ord=p) for p in (2, -2, "nuc")]
    return norms[0] ** 2 * norms[1] + xp.sin(norms[2])


def condition(xp: Any, x: Any) -> Any:
    return xp.log(xp.linalg.cond(x))
