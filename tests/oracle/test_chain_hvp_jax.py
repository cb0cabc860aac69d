"""Hessian products and covers of simulations along chains agree with JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from derivative_covers import checkpoint as cp

pytestmark = pytest.mark.slow


def lorenz(np: Any, x: Any, p: Any) -> Any:
    """A Runge-Kutta step of Lorenz-96 with forcing and step size as parameters."""

    def slope(y: Any) -> Any:
        return (np.roll(y, -1) - np.roll(y, 2)) * np.roll(y, 1) - y + p[0]

    h = p[1]
    k1 = slope(x)
    k2 = slope(x + h / 2 * k1)
    k3 = slope(x + h / 2 * k2)
    k4 = slope(x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def burgers(np: Any, u: Any, p: Any) -> Any:
    """An explicit step of the viscous Burgers equation on a ring."""
    left, right = np.roll(u, 1), np.roll(u, -1)
    return u - p[1] * (u * (right - left) / 2 - p[0] * (right - 2 * u + left))


def pendulum(np: Any, s: Any, p: Any) -> Any:
    """A leapfrog step of two coupled pendulums; the state is one vector."""
    at, speed = s[:2], s[2:]
    half = speed - p[1] / 2 * (np.sin(at) * p[0] + 0.1 * (at - at[::-1]))
    at = at + p[1] * half
    speed = half - p[1] / 2 * (np.sin(at) * p[0] + 0.1 * (at - at[::-1]))
    return np.concatenate([at, speed])


def misfit(np: Any, x: Any) -> Any:
    return np.sum(x**2) / 2 + np.sum(np.cos(x))


CASES = {
    "lorenz": (lorenz, 6, np.array([8.0, 0.02]), 30),
    "burgers": (burgers, 12, np.array([1.0, 0.05]), 40),
    "pendulum": (pendulum, 4, np.array([1.5, 0.05]), 60),
}


def problem(name: str) -> tuple[cp.Chain, Any, Any, Any]:
    """Chain, point, parameters, and the same program in JAX."""
    f, n, p, steps = CASES[name]
    x0 = np.random.default_rng(5).normal(size=n)
    chain = cp.Chain(
        [
            cp.Chain.uniform(steps, lambda x, q, k: f(np, x, q)),
            lambda x, q, k: misfit(np, x),
        ]
    )

    def program(x: Any, q: Any) -> Any:
        end, _ = jax.lax.scan(lambda y, _: (f(jnp, y, q), None), x, None, steps)
        return misfit(jnp, end)

    return chain, x0, p, program


def assert_close(found: Any, expected: Any, rtol: float = 1e-10) -> None:
    expected = np.asarray(expected)
    assert np.linalg.norm(found - expected) <= rtol * np.linalg.norm(expected)


@pytest.mark.parametrize("name", CASES)
def test_products_agree_with_jax(name: str) -> None:
    chain, x0, p, program = problem(name)
    rng = np.random.default_rng(6)
    v, w = rng.normal(size=x0.size), rng.normal(size=p.size)
    with jax.enable_x64(True):
        gradient = jax.grad(program, argnums=(0, 1))
        product = jax.jit(lambda *x: jax.jvp(gradient, x[:2], x[2:]))
        (gx, gp), (hx, hp) = product(x0, p, v, w)
    for schedule in (cp.Revolve(slots=4), cp.UniformBlock(slots=8, record="block")):
        found = cp.hvp_sweep(chain, x0, v, params=p, params_v=w, schedule=schedule)
        assert_close(found.gradient, gx)
        assert_close(found.params_gradient, gp)
        assert_close(found.hvp, hx)
        assert_close(found.params_hvp, hp)


@pytest.mark.parametrize("name", CASES)
def test_covers_hold_for_the_hessians_of_jax(name: str) -> None:
    chain, x0, p, program = problem(name)
    n = x0.size

    def joint(z: Any) -> Any:
        return program(z[:n], z[n:])

    with jax.enable_x64(True):
        both = jax.jit(lambda z: (jax.grad(joint)(z), jax.hessian(joint)(z)))
        gradient, hessian = map(np.asarray, both(np.concatenate([x0, p])))
    for carry in ("auto", "always"):
        found = cp.cover_sweep(
            chain,
            x0,
            params=p,
            schedule=cp.Binomial(slots=5),
            carry=carry,  # type: ignore[arg-type]
        )
        h = np.concatenate([found.h, found.params_h])
        assert (np.abs(hessian) <= np.outer(h, h) * (1 + 1e-9)).all()
        both = np.concatenate([found.gradient, found.params_gradient])
        assert_close(both, gradient)
