"""First and second derivatives of every call of the table, against JAX and differences."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from tests._numpy_calls import BY_NAME, NAMES, Call, total
from tests._numpy_calls._call import DIFFERENCES
from tests._oracle import FAST

pytestmark = pytest.mark.slow
SIZE = 12  # calls that JAX compiles together


def by_jax() -> list[str]:
    """One call of every function that JAX has, or that has a formula."""
    first: dict[str, str] = {}
    for name in NAMES:
        if BY_NAME[name].oracle is not DIFFERENCES:
            first.setdefault(name.split()[0], name)
    return list(first.values())


BY_JAX = by_jax()


def ours(call: Call, x0: Any) -> Any:
    def program(x: Any) -> Any:
        return total(np, call.f(np, x)) + 0.0 * np.sum(x)

    return dc.tape_function(program, x0)


def direction(x0: Any) -> Any:
    return np.cos(np.arange(1.0, x0.size + 1.0)).reshape(x0.shape)


@cache
def group(k: int) -> dict[str, Any]:
    """Gradients and Hessian products of some calls, compiled as one."""
    names = BY_JAX[k * SIZE : (k + 1) * SIZE]

    def derivatives(points: Any) -> Any:
        found = []
        for name, x in zip(names, points, strict=True):
            call = BY_NAME[name]

            def f(z: Any, call: Call = call) -> Any:
                made = call.f(jnp, z) if call.oracle is None else call.oracle(z)
                return total(jnp, made)

            v = jnp.asarray(direction(call.x0))
            found.append(jax.jvp(jax.grad(f), (x,), (v,)))
        return found

    with jax.enable_x64(True):
        points = [jnp.asarray(BY_NAME[name].x0) for name in names]
        found = jax.jit(derivatives, compiler_options=FAST)(points)
        return dict(zip(names, found, strict=True))


@pytest.mark.parametrize("name", BY_JAX)
def test_derivatives_agree_with_jax(name: str) -> None:
    gradient, product = group(BY_JAX.index(name) // SIZE)[name]
    call = BY_NAME[name]
    tape, out = ours(call, call.x0)
    size = np.abs(gradient).max() + np.abs(product).max()
    first = dc.gradient(tape, out)
    np.testing.assert_allclose(first, gradient, rtol=1e-10, atol=1e-13 * size)
    second = dc.hvp(tape, out, direction(call.x0))
    np.testing.assert_allclose(second, product, rtol=1e-9, atol=1e-12 * size)


def slope(f: Any, x: Any, step: Any, h: float) -> Any:
    """Derivative along a step, by differences of fourth order."""
    near = f(x + h * step) - f(x - h * step)
    far = f(x + 2.0 * h * step) - f(x - 2.0 * h * step)
    return (8.0 * near - far) / (12.0 * h)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_agree_with_differences(name: str) -> None:
    call = BY_NAME[name]
    x0 = call.x0

    def f(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(total(np, np.asarray(call.f(np, x))))

    tape, out = ours(call, x0)
    units = np.eye(x0.size).reshape(-1, *x0.shape)
    expected = np.reshape([slope(f, x0, unit, 1e-5) for unit in units], x0.shape)
    size = 1.0 + np.abs(expected).max() + abs(f(x0))
    gradient = dc.gradient(tape, out)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9 * size)
    v = direction(x0)
    bent = slope(lambda x: dc.gradient(*ours(call, x)), x0, v, 1e-5)
    size = 1.0 + np.abs(bent).max() + np.abs(gradient).max()
    product = dc.hvp(tape, out, v)
    np.testing.assert_allclose(product, bent, rtol=1e-7, atol=1e-9 * size)
    hessian = dc.hessian(tape, out)
    full = np.tensordot(hessian, v, axes=v.ndim)
    np.testing.assert_allclose(full, product, rtol=1e-10, atol=1e-13 * size)
