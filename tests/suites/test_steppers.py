"""Derivatives of time stepping programs along their chains.

They are held against JAX's in double precision of the same sources
(`make_stepper_references.py`). The long runs, 1e4 to 1e6 steps, are in
`python -m benchmarks --only steppers`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.checkpoint import (
    Binomial,
    Revolve,
    StoreAll,
    UniformBlock,
    cover_sweep,
    hvp_sweep,
    reverse_sweep,
)
from tests.suites._chains import REFERENCE, chain
from tests.suites._steppers import BY_NAME, SHORT, STEPPERS, Stepper, direction

RUNS = [(stepper.name, steps) for stepper in STEPPERS for steps in SHORT]
# Covers on large grids take their time, so their programs are short here.
COVERED = [run for run in RUNS if run[1] < 100 or run[0] in ("bodies", "van_der_pol")]
RELATIVE = 1e-9
PLANS = (Revolve(slots=4), Binomial(slots=3), UniformBlock(slots=6, record="block"))


def close(found: Any, expected: Any) -> None:
    """Every entry, to a share of itself and a smaller one of the largest."""
    expected = np.asarray(expected)
    floor = 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=RELATIVE, atol=floor)


def gradient(stepper: Stepper, steps: int, schedule: Any) -> tuple[Any, Any]:
    found = reverse_sweep(
        chain(stepper, steps), stepper.p, params=stepper.p, schedule=schedule
    )
    return found.value, found.cotangent + found.params_cotangent


def product(stepper: Stepper, steps: int, schedule: Any) -> Any:
    p, v = stepper.p, direction(stepper.p.size)
    found = hvp_sweep(
        chain(stepper, steps), p, v, params=p, params_v=v, schedule=schedule
    )
    return found.hvp + found.params_hvp


def cover(stepper: Stepper, steps: int, schedule: Any) -> Any:
    return cover_sweep(
        chain(stepper, steps), stepper.p, params=stepper.p, schedule=schedule
    )


@pytest.mark.parametrize(("name", "steps"), RUNS)
def test_value_and_gradient_are_those_of_jax(name: str, steps: int) -> None:
    expected = REFERENCE[name, steps]
    for schedule in PLANS if steps < 100 else PLANS[:1]:
        value, slope = gradient(BY_NAME[name], steps, schedule)
        assert value == pytest.approx(expected["value"], rel=1e-12)
        close(slope, expected["gradient"])


@pytest.mark.parametrize(("name", "steps"), RUNS)
def test_hessian_products_are_those_of_jax(name: str, steps: int) -> None:
    schedule = StoreAll() if steps == 100 else PLANS[steps % 3]
    close(product(BY_NAME[name], steps, schedule), REFERENCE[name, steps]["product"])


@pytest.mark.parametrize("name", BY_NAME)
def test_the_rest_of_a_taylor_polynomial_is_of_order_two(name: str) -> None:
    stepper = BY_NAME[name]
    v = 0.01 * direction(stepper.p.size) * np.maximum(np.abs(stepper.p), 0.01)
    value, slope = gradient(stepper, 100, Revolve(slots=5))
    sizes = 0.5 ** np.arange(4)
    rests = [
        abs(stepper.run(stepper.p + h * v, 100) - value - h * (slope @ v))
        for h in sizes
    ]
    rates = np.log2(np.divide(rests[:-1], rests[1:]))
    assert np.all(np.abs(rates - 2.0) < 0.1), rates


@pytest.mark.parametrize(("name", "steps"), COVERED)
def test_a_cover_covers_the_product(name: str, steps: int) -> None:
    stepper, expected = BY_NAME[name], REFERENCE[name, steps]
    found = cover(stepper, steps, Revolve(slots=5))
    close(found.gradient + found.params_gradient, expected["gradient"])
    h = found.h + found.params_h
    v = direction(stepper.p.size)
    # The Hessian lies entry by entry under the outer product of h with itself.
    bound = h * (np.abs(v) @ h)
    assert np.all(np.abs(expected["product"]) <= bound * (1 + 1e-9))
    curvature = abs(v @ np.asarray(expected["product"]))
    assert curvature <= (np.abs(v) @ h) ** 2 * (1 + 1e-9)


def whole(stepper: Stepper, steps: int) -> Any:
    """The cover on one tape, of the point and the parameters side by side."""
    n = stepper.p.size
    first, middle, last = stepper.parts()

    def f(z: Any) -> Any:
        x, p = first(z[:n], z[n:], 0), z[n:]
        for k in range(1, steps + 1):
            x = middle(x, p, k)
        return last(x, p, steps + 1)

    return dc.cover_hessian(f, np.concatenate([stepper.p, stepper.p]))


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("steps", [1, 2, 12])
def test_a_cover_is_the_one_of_a_single_tape(name: str, steps: int) -> None:
    stepper = BY_NAME[name]
    one = whole(stepper, steps)
    for schedule in (StoreAll(), Revolve(slots=3)):
        found = cover(stepper, steps, schedule)
        assert found.value == one.value
        for parts, expected in (
            ((found.gradient, found.params_gradient), one.gradient),
            ((found.h, found.params_h), one.h),
        ):
            np.testing.assert_allclose(
                np.concatenate(parts),
                expected,
                rtol=1e-12,
                atol=1e-14 * np.abs(expected).max(),
            )
