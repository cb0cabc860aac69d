"""A PyTorch network as a step, in a sweep of bounded memory."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Binomial,
    Chain,
    Revolve,
    Transition,
    reverse_sweep,
)
from derivative_covers.testing import check_transition

pytestmark = pytest.mark.optional("torch")

STEPS = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4))
PARAMS = {"w": 0.5 * RNG.normal(size=(4, 4)), "b": RNG.normal(size=4)}


@pytest.fixture
def torch():
    return import_module("torch")


def residual(torch, x, params):
    """A residual layer: the Euler step of a neural differential equation."""
    return x + 0.1 * torch.tanh(x @ params["w"] + params["b"])


def transitions(torch):
    def f(x, params, k):
        given = {name: torch.tensor(p) for name, p in params.items()}
        with torch.no_grad():
            return residual(torch, torch.tensor(x), given)

    def vjp(x, params, ybar, k):
        x = torch.tensor(x, requires_grad=True)
        params = {n: torch.tensor(p, requires_grad=True) for n, p in params.items()}
        y = residual(torch, x, params)
        xbar, *parts = torch.autograd.grad(y, [x, *params.values()], torch.tensor(ybar))
        return xbar, dict(zip(params, parts, strict=True))

    def total(x, params, k):
        return np.sum(x**2)

    return Transition.from_vjp(f, vjp), Transition.taped(total)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_conforms(torch, dtype):
    step, _ = transitions(torch)
    params = {name: p.astype(dtype) for name, p in PARAMS.items()}
    check_transition(step, X.astype(dtype), params=params)


def test_a_sweep_gives_the_gradient_of_the_whole_program(torch):
    step, last = transitions(torch)
    chain = Chain([Chain.uniform(STEPS, step), last])
    x = torch.tensor(X, requires_grad=True)
    params = {n: torch.tensor(p, requires_grad=True) for n, p in PARAMS.items()}
    y = x
    for _ in range(STEPS):
        y = residual(torch, y, params)
    value = (y**2).sum()
    value.backward()
    for schedule in (Revolve(slots=4), Binomial(slots=3)):
        found = reverse_sweep(chain, X, schedule=schedule, params=PARAMS)
        np.testing.assert_allclose(found.value, value.item(), rtol=1e-12)
        np.testing.assert_allclose(found.cotangent, x.grad.numpy(), rtol=1e-10)
        for name, p in params.items():
            np.testing.assert_allclose(
                found.params_cotangent[name], p.grad.numpy(), rtol=1e-10
            )


def test_a_tensor_that_still_needs_a_gradient_is_refused(torch):
    step = Transition.from_vjp(
        lambda x, k: torch.tensor(x, requires_grad=True) * 2,
        lambda x, ybar, k: 2 * ybar,
    )
    with pytest.raises(TypeError, match="detach"):
        step.record(X, None, 0)
