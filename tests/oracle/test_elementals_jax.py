"""Every ufunc through recording and sweeps, on scalars, small and large arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from tests._oracle import FAST
from tests._own import OWN

UFUNCS = [
    (ufunc, op.arity)
    for op in OWN
    for ufunc in op.ufuncs
    if hasattr(np, ufunc) and hasattr(jnp, ufunc)
]
RNG = np.random.default_rng(11)


def agree(f: Any, g: Any, x0: Any) -> None:
    """Value, gradient and Hessian product of ``f`` against JAX's of ``g``."""
    x0 = np.asarray(x0)
    v = np.cos(np.arange(x0.size)).reshape(x0.shape)

    def derivatives(x: Any, v: Any) -> Any:
        (value, grad), (_, product) = jax.jvp(jax.value_and_grad(g), (x,), (v,))
        return value, grad, product

    with jax.enable_x64(True):
        value, grad, product = jax.jit(derivatives, compiler_options=FAST)(x0, v)
    tape, out = dc.tape_function(f, x0)
    for found, expected in (
        (tape.vals[out], value),
        (dc.gradient(tape, out), grad),
        (dc.hvp(tape, out, v), product),
    ):
        expected = np.asarray(expected)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13 * scale)


def test_all_are_there() -> None:
    assert len(UFUNCS) >= 50


@pytest.mark.parametrize("n", [0, 3, 300])
@pytest.mark.parametrize("name", [u for u, arity in UFUNCS if arity == 1])
def test_one_operand(name: str, n: int) -> None:
    lo, hi = (1.2, 2.8) if name == "arccosh" else (0.1, 0.45)
    ours, theirs = getattr(np, name), getattr(jnp, name)
    if n == 0:
        agree(
            lambda x: ours(x[0]) * x[1] + x[0],
            lambda x: theirs(x[0]) * x[1] + x[0],
            [RNG.uniform(lo, hi), 0.7],
        )
        return
    w = np.linspace(1.0, 2.0, n)
    agree(
        lambda x: np.sum(w * ours(x)) + np.sum(x),
        lambda x: jnp.sum(w * theirs(x)) + jnp.sum(x),
        RNG.uniform(lo, hi, size=n),
    )


@pytest.mark.parametrize("n", [0, 3, 300])
@pytest.mark.parametrize("name", [u for u, arity in UFUNCS if arity == 2])
def test_two_operands(name: str, n: int) -> None:
    ours, theirs = getattr(np, name), getattr(jnp, name)
    m = max(n, 1)
    low, high = RNG.uniform(0.2, 0.8, size=m), RNG.uniform(1.1, 1.9, size=m)
    x0 = np.concatenate([low, high])

    def through(xp: Any, f: Any, x: Any, pick: Any) -> Any:
        total = xp.sum(x)
        for a, b in ((pick(x, 0), pick(x, 1)), (pick(x, 1), pick(x, 0))):
            c = pick(x0, 0)
            total = total + xp.sum(f(a, b)) + xp.sum(f(a, c * 1.3 + 1.0))
            total = total + xp.sum(f(c * 1.3 + 1.0, a) * b)
        return total

    def part(x: Any, k: int) -> Any:
        return x[k] if n == 0 else x[k * m : (k + 1) * m]

    agree(
        lambda x: through(np, ours, x, part),
        lambda x: through(jnp, theirs, x, part),
        x0,
    )
