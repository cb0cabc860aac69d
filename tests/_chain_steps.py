"""Small chains whose covers and Hessian products are held against one tape."""

from __future__ import annotations

from typing import Any

import numpy as np

import derivative_covers as dc
from derivative_covers import checkpoint as cp

__all__ = [
    "SCHEDULES",
    "X0",
    "assert_same",
    "clock",
    "energy",
    "plain_chain",
    "step",
    "whole",
]

SCHEDULES = (
    cp.StoreAll(),
    cp.UniformBlock(slots=2),
    cp.UniformBlock(slots=3, record="block"),
    cp.Binomial(slots=2),
    cp.Revolve(slots=2),
)
X0 = np.array([0.4, -1.1, 0.8])


def step(x: Any, k: int) -> Any:
    """A curved step."""
    return x + 0.1 * np.sin(x) * np.roll(x, 1)


def energy(x: Any, k: int) -> Any:
    """An objective."""
    return np.sum(x**2) / 2 + x[0] * x[1]


def plain_chain(steps: int = 7) -> cp.Chain:
    """Equal steps and the objective."""
    return cp.Chain([cp.Chain.uniform(steps, step), energy])


def whole(chain: cp.Chain) -> Any:
    """The chain as one program."""

    def program(x: Any, *params: Any) -> Any:
        for k, transition in enumerate(chain):
            x = transition.function(x, *params, k)  # type: ignore[attr-defined]
        return x

    return program


def assert_same(found: cp.ChainCover, one: dc.HessianCover) -> None:
    """Equal bit for bit."""
    assert found.value == one.value
    assert found.asked == one.asked
    np.testing.assert_array_equal(found.gradient, one.gradient)
    np.testing.assert_array_equal(found.h, one.h)


def clock(x: Any, k: int) -> Any:
    """A step with a constant in its output."""
    return np.stack([x[0] * x[1] * x[2], x[1], np.array(0.5 * k + 0.5)])
