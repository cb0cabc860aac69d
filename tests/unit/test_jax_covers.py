"""Covers of JAX functions against those of the NumPy package, and against jax.hessian."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.interop import jax as dj
from tests._jax import compiled
from tests._jax import doubles as doubles

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 1.5, 6)
A = RNG.uniform(-1, 1, (4, 6))

# Each for the namespace it is given; the sums put many rules into one compiled program.
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "rosenbrock": lambda np, x: np.sum(
        100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2
    ),
    "products": lambda np, x: (
        x[0] * x[1] * np.exp(x[2]) + x[3] / x[4] / x[5] + np.sum(x[1:] * x[1:] * x[:-1])
    ),
    "powers": lambda np, x: np.sum(x[:3] ** x[3:]) + np.sum(x**2.5 + x**-1) + x[0] ** 5,
    "waves": lambda np, x: np.sum(np.sin(x) * np.cos(x[::-1])) + np.arctan2(x[0], x[1]),
    "norms": lambda np, x: (
        np.log(x @ x) + np.sqrt(np.dot(x[:3], x[3:])) + np.sum(np.hypot(x, x[::-1] + 1))
    ),
    "logistic": lambda np, x: np.sum(np.logaddexp(A @ x, 0.0)) / np.sum(np.tanh(x)),
    "extrema": lambda np, x: (
        np.max(x) * np.min(x) + np.sum(np.maximum(x, 1.0) ** 2 * np.abs(x - 1)) * x[1]
    ),
    "running": lambda np, x: (
        np.prod(x) + np.sum(np.cumprod(x) ** 2) + np.sum(np.cumsum(x) ** 2)
    ),
    "twice": lambda np, x: (
        np.sum((x.reshape(2, 3).T @ x.reshape(2, 3)) ** 2)
        + np.sum((x[:, None] * x) ** 3 * (x * x[::-1]))
        + np.sum(x[np.array([1, 3])] * x[np.array([1, 3])] * x[2])
    ),
    "choices": lambda np, x: (
        np.sum(np.where(x > 1, x**3, np.sqrt(x) * x[0]))
        + np.sum(np.sort(x) * np.arange(6.0) * x.sum())
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_the_tape_and_above_the_hessian(name: str) -> None:
    def f(x: Any) -> Any:
        return PROGRAMS[name](jnp, x)

    found = compiled(dj.cover_hessian(f))(X)
    tape = dc.cover_hessian(lambda x: PROGRAMS[name](np, x), X)
    np.testing.assert_allclose(found.value, tape.value, rtol=1e-13)
    np.testing.assert_allclose(found.gradient, tape.gradient, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.h, tape.h, rtol=1e-13)
    assert int(found.status) == 0
    H = compiled(jax.hessian(f))(X)
    assert np.all(np.abs(H) <= np.outer(found.h, found.h) * (1 + 1e-12) + 1e-14)


def test_magnitudes_of_constants_are_not_left_to_the_compiler() -> None:
    a = jnp.asarray(A)
    traced = jax.make_jaxpr(dj.cover_hessian(lambda x: jnp.sum(jnp.exp(a @ x))))(X)
    assert "dot_general" in str(traced)
    assert re.search(r"\[4,6\] = abs", str(traced)) is None
