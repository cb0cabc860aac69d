"""A step that JAX compiles and differentiates, in a sweep of bounded memory."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Binomial,
    Chain,
    Revolve,
    Transition,
    reverse_sweep,
)
from derivative_covers.errors import InputTypeError
from derivative_covers.testing import check_transition

pytestmark = pytest.mark.optional("jax")

STEPS = 60
H = 0.01
X = np.linspace(-1.0, 2.0, 8)
PARAMS = {"force": np.float64(8.0), "damping": np.full(8, 0.9)}


@pytest.fixture
def jax():
    jax = import_module("jax")
    with jax.enable_x64(True):
        yield jax


def steps(jax):
    """Lorenz-96 by Euler, and the objective, as transitions and as JAX functions."""
    jnp = jax.numpy

    @jax.jit
    def step(x, params):
        rate = (jnp.roll(x, -1) - jnp.roll(x, 2)) * jnp.roll(x, 1)
        return x + H * (rate - params["damping"] * x + params["force"])

    @jax.jit
    def pull(x, params, ybar):
        return jax.vjp(step, x, params)[1](ybar)

    def total(x, params):
        return jnp.sum(x**2) * 0.5

    def pull_total(x, params, ybar):
        return jax.vjp(total, x, params)[1](jnp.asarray(ybar))

    return step, total, pull, pull_total


def transition(f, pull):
    return Transition.from_vjp(
        lambda x, params, k: f(x, params),
        lambda x, params, ybar, k: pull(x, params, ybar),
    )


def test_it_conforms(jax):
    step, total, pull, pull_total = steps(jax)
    check_transition(transition(step, pull), X, params=PARAMS)
    check_transition(transition(total, pull_total), X, params=PARAMS)


def test_a_sweep_gives_the_gradient_of_the_whole_program(jax):
    step, total, pull, pull_total = steps(jax)
    chain = Chain(
        [Chain.uniform(STEPS, transition(step, pull)), transition(total, pull_total)]
    )

    def program(x, params):
        for _ in range(STEPS):
            x = step(x, params)
        return total(x, params)

    value, (gx, gp) = jax.value_and_grad(program, argnums=(0, 1))(X, PARAMS)
    for schedule in (Revolve(slots=4), Binomial(slots=3)):
        found = reverse_sweep(chain, X, schedule=schedule, params=PARAMS)
        np.testing.assert_allclose(found.value, value, rtol=1e-12)
        np.testing.assert_allclose(found.cotangent, gx, rtol=1e-9)
        for name, wanted in gp.items():
            np.testing.assert_allclose(found.params_cotangent[name], wanted, rtol=1e-9)


def test_single_precision(jax):
    step = Transition.from_vjp(
        lambda x, k: jax.numpy.sin(x),
        lambda x, ybar, k: jax.vjp(jax.numpy.sin, x)[1](jax.numpy.asarray(ybar))[0],
    )
    last = Transition.taped(lambda x, k: np.sum(x))
    x = X.astype(np.float32)
    found = reverse_sweep(
        Chain([Chain.uniform(5, step), last]), x, schedule=Revolve(slots=2)
    )
    assert found.cotangent.dtype == np.float32

    def program(x):
        for _ in range(5):
            x = jax.numpy.sin(x)
        return jax.numpy.sum(x)

    np.testing.assert_allclose(found.cotangent, jax.grad(program)(x), rtol=1e-5)


class Box(NamedTuple):
    x: Any
    seen: Any


def test_from_jax_conforms_and_sweeps_like_the_whole_program(jax):
    """Named states, parameters, and an index that is traced: one compilation a rule."""
    jnp, traces = jax.numpy, []

    def step(s, params, k):
        traces.append(k)
        x = s.x + H * (jnp.roll(s.x, 1) * params["force"] - params["damping"] * s.x)
        return Box(
            x * (1 + 1e-3 * k), {"b": s.seen["b"] + x[0], "a": s.seen["a"] * 1.0}
        )

    def total(s, params, k):
        return jnp.sum(s.x**2) * s.seen["b"]

    start = Box(X, {"b": np.float64(1.0), "a": np.zeros(2)})
    made = Transition.from_jax(step)
    check_transition(made, start, params=PARAMS, steps=(0, 3))
    assert len(traces) == 2
    assert repr(made) == "Transition.from_jax(step)"
    chain = Chain([Chain.uniform(STEPS, made), Transition.from_jax(total)])
    found = reverse_sweep(chain, start, schedule=Revolve(slots=4), params=PARAMS)

    def program(s, params):
        s, _ = jax.lax.scan(
            lambda s, k: (step(s, params, k), None), s, jnp.arange(STEPS)
        )
        return total(s, params, 0)

    value, (gs, gp) = jax.value_and_grad(program, argnums=(0, 1))(start, PARAMS)
    np.testing.assert_allclose(found.value, value, rtol=1e-12)
    np.testing.assert_allclose(found.cotangent.x, gs.x, rtol=1e-9)
    np.testing.assert_allclose(found.params_cotangent["damping"], gp["damping"], 1e-9)


def test_from_jax_keeps_the_precision_of_the_state():
    jax = import_module("jax")
    step = Transition.from_jax(lambda x, k: jax.numpy.sin(x))
    for dtype in (np.float64, np.float32):
        with jax.enable_x64(False):
            y, pullback = step.record(X.astype(dtype), None, 0)
            xbar, _ = pullback(np.ones_like(y), None)
        assert y.dtype == xbar.dtype == dtype
        np.testing.assert_allclose(y, np.sin(X), rtol=4 * np.finfo(dtype).eps)
    with pytest.raises(InputTypeError, match="cannot be called"):
        Transition.from_jax(lambda x: x).forward(X, None, 0)
