"""Schedules of every kind, and derivatives of short loops by JAX, for tests of chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from derivative_covers.checkpoint import (
    Binomial,
    Chain,
    Revolve,
    StoreAll,
    UniformBlock,
    hvp_sweep,
    reverse_sweep,
)
from tests.suites._steppers import Stepper, direction

__all__ = ["by_jax", "derivatives", "different", "pair", "same", "schedules"]


def schedules(slots: int) -> Iterator[Any]:
    """Every schedule of one level with a budget of so many slots."""
    yield UniformBlock(slots=slots)
    yield UniformBlock(slots=slots, record="block")
    yield Binomial(slots=slots)
    yield Revolve(slots=slots)


def different(budgets: Iterable[int], steps: int) -> Iterator[Any]:
    """Every schedule with every budget, but for those whose plans are the same."""
    seen = set()
    for slots in budgets:
        for schedule in schedules(slots):
            actions = tuple(schedule.plan(steps))
            if actions not in seen:
                seen.add(actions)
                yield schedule


def by_jax(stepper: Stepper, p: Any) -> tuple[Any, Any, Any]:
    """Value, gradient and Hessian product of the loop, one operation after another."""

    def f(p: Any) -> Any:
        return stepper.run(p, stepper.steps, jnp)

    with jax.enable_x64(True):
        point = jnp.asarray(p, dtype=float)
        v = jnp.asarray(direction(point.size))
        (value, gradient), (_, product) = jax.jvp(jax.value_and_grad(f), (point,), (v,))
        return tuple(np.asarray(part) for part in (value, gradient, product))


def derivatives(
    sweeps: Chain, p: Any, schedule: Any = None, *, second: bool = True, **options: Any
) -> tuple[Any, ...]:
    """Value, gradient and Hessian product by sweeps over a stepper's chain."""
    schedule = StoreAll() if schedule is None else schedule
    options = {"schedule": schedule, "params": p, **options}
    found = reverse_sweep(sweeps, p, **options)
    first = found.value, found.cotangent + found.params_cotangent
    if not second:
        return first
    v = direction(p.size)
    product = hvp_sweep(sweeps, p, v, params_v=v, **options)
    assert same(first, (product.value, product.gradient + product.params_gradient))
    return *first, product.hvp + product.params_hvp


def pair(result: Any) -> tuple[Any, Any]:
    """Value and cotangent of a reverse sweep."""
    return result.value, result.cotangent


def same(found: Any, expected: Any) -> bool:
    """Equal bits in all parts."""
    return all(
        np.asarray(a).tobytes() == np.asarray(b).tobytes()
        for a, b in zip(found, expected, strict=True)
    )
