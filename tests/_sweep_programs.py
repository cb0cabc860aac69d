"""A small chain, schedules of one level, and a short way to sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from derivative_covers.checkpoint import (
    Binomial,
    Chain,
    Revolve,
    StoreAll,
    Transition,
    UniformBlock,
    reverse_sweep,
)

__all__ = [
    "SCHEDULES",
    "X0",
    "at",
    "bits",
    "chain",
    "energy",
    "keep",
    "step",
    "sweep",
    "total",
    "vjp",
    "whole",
]

SCHEDULES = [
    StoreAll(),
    UniformBlock(slots=3),
    UniformBlock(slots=3, record="block"),
    Binomial(slots=3, replays=None),
    Revolve(slots=2),
]
X0 = np.array([0.5, -1.0, 0.3])


def step(x: Any, k: int) -> Any:
    return x + 0.1 * np.sin(x) * (1 + k % 3)


def energy(x: Any, k: int) -> Any:
    return 0.5 * (x @ x)


def chain(steps: int) -> Chain:
    return Chain([Chain.uniform(steps - 1, step), energy])


def whole(x: Any, steps: int) -> Any:
    """The same chain as one program."""
    for k in range(steps - 1):
        x = step(x, k)
    return energy(x, steps - 1)


def total(x: Any, k: int) -> Any:
    return np.sum(x * x)


def keep(x: Any, k: int) -> Any:
    return x * 1.0


def vjp(f: Any, rule: Any = lambda x, ybar, k: ybar) -> Transition:
    """A step with a reverse rule, by default that of the identity."""
    return Transition.from_vjp(f, rule)


def at(step: int, change: Any, rest: Any = keep) -> Any:
    """A step function that does something else at one step."""
    return lambda x, k: change(x) if k == step else rest(x, k)


def bits(a: Any) -> bytes:
    return np.asarray(a).tobytes()


def sweep(links: Any, x0: Any = X0, **options: Any) -> Any:
    options.setdefault("schedule", Revolve(slots=2))
    links = links if isinstance(links, Chain) else Chain(links)
    return reverse_sweep(links, x0, **options)
