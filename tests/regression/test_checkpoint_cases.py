"""Programs of the kinds that went wrong under other packages' checkpointing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Chain,
    DiskStorage,
    Revolve,
    StoreAll,
    TwoLevel,
)
from derivative_covers.errors import (
    ScheduleError,
)
from tests.regression._sweeps import (
    by_jax,
    derivatives,
    different,
    same,
    schedules,
)
from tests.suites._chains import chain
from tests.suites._steppers import Stepper


def _case(
    name: str, steps: int, points: Any, init: Any, step: Any, objective: Any
) -> Any:
    points = [np.array(p) for p in points]
    return pytest.param(
        Stepper(name, steps, points[0], init, step, objective), points, id=name
    )


def _late_use(x: Any, p: Any, k: Any, xp: Any) -> Any:
    """What step 0 puts aside is used by step 2 and no other."""
    u, f = x
    if k == 0:
        return (p[0] * 1.0, 3.0 * p[0])
    return (u * f, f) if k == 2 else (1.2 * u, f)


def _turn(x: Any, p: Any, k: Any, xp: Any) -> Any:
    """Coefficients that depend on the step's index."""
    return x + 0.1 * xp.stack((x[1] * (k + 1), -x[0] * p[2]))


def _limited(x: Any, p: Any, k: Any, xp: Any) -> Any:
    """Transport with the minmod limiter: a choice in each cell at each step."""
    a, b = x - xp.roll(x, 1), xp.roll(x, -1) - x
    least = xp.sign(a) * xp.minimum(xp.abs(a), xp.abs(b))
    flux = x + 0.35 * xp.where(a * b > 0.0, least, 0.0)
    return x - 0.3 * (flux - xp.roll(flux, 1))


WEIGHTS = np.array([3.0, -1.0, 2.0, 0.5, 1.5, -2.0])

CASES = [
    _case(
        "a value put aside",
        4,
        [[1.0], [2.0]],
        lambda p, xp: (p[0] * 1.0, 2.0 * p[0]),
        _late_use,
        lambda x, p, xp: x[0] ** 2,
    ),
    _case(
        "neighbours",
        6,
        [[1.0, 2.0, 0.5], [-0.5, 1.5, 0.25]],
        lambda p, xp: p * 1.0,
        lambda x, p, k, xp: x + 0.1 * xp.roll(x, 1) * x,
        lambda x, p, xp: xp.sum(x * x),
    ),
    _case(
        "coefficients in time",
        9,
        [[1.0, 0.5, 2.0], [0.2, -0.4, 3.0]],
        lambda p, xp: p[:2],
        _turn,
        lambda x, p, xp: x[0] ** 2 + x[1],
    ),
    _case(
        "limiter",
        10,
        [[0.1, 0.9, 1.7, 1.2, 0.65, 0.31], [1.1, 0.3, 0.2, 0.7, 1.6, 1.9]],
        lambda p, xp: p + 0.0,
        _limited,
        lambda x, p, xp: xp.sum(x**2 * WEIGHTS),
    ),
    _case(
        "a control never used",
        5,
        [[1.0, 7.0], [0.5, -3.0]],
        lambda p, xp: p[:1] * 1.0,
        lambda x, p, k, xp: x * 1.5,
        lambda x, p, xp: x[0],
    ),
]


def chain_of(stepper: Stepper) -> Chain:
    return chain(stepper, stepper.steps)


@pytest.mark.parametrize(("stepper", "points"), CASES)
def test_every_budget_gives_the_derivatives_of_the_loop(
    stepper: Stepper, points: list[Any]
) -> None:
    steps = chain_of(stepper)
    whole = [derivatives(steps, p) for p in points]
    for found, p in zip(whole, points, strict=True):
        for a, b in zip(found, by_jax(stepper, p), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    for k, schedule in enumerate(different(range(1, len(steps) + 1), len(steps))):
        turn = k % 2  # here, elsewhere, and back, with the same chain
        assert same(derivatives(steps, points[turn], schedule), whole[turn])


@pytest.mark.parametrize(("stepper", "points"), CASES[:3])
def test_two_levels_give_the_same(
    stepper: Stepper, points: list[Any], tmp_path: Any
) -> None:
    steps = chain_of(stepper)
    whole = derivatives(steps, points[1])
    for memory in (1, 2, 3):
        schedule = TwoLevel(memory=memory, disk=4 - memory)
        storage = DiskStorage(tmp_path)
        found = derivatives(steps, points[1], schedule, storage=storage)
        assert same(found, whole)
    assert not list(tmp_path.iterdir())


def test_the_value_put_aside_has_a_closed_form() -> None:
    stepper, points = CASES[0].values
    for (m,) in points:
        value, (gradient,), (product,) = derivatives(
            chain_of(stepper), np.array([m]), Revolve(1)
        )
        a = (1.2 * 3.0 * 1.2) ** 2
        assert value == pytest.approx(a * m**4, rel=1e-14)
        assert gradient == pytest.approx(4 * a * m**3, rel=1e-14)
        assert product == pytest.approx(12 * a * m**2, rel=1e-14)


def test_a_control_that_is_never_used_has_an_exact_zero() -> None:
    stepper, points = CASES[4].values
    for schedule in (StoreAll(), *schedules(2)):
        _, gradient, product = derivatives(chain_of(stepper), points[0], schedule)
        assert gradient.tolist() == [1.5**5, 0.0]
        assert product.tolist() == [0.0, 0.0]


def test_a_prime_number_of_steps() -> None:
    stepper = Stepper(
        "growth",
        97 - 2,
        np.array([0.2, 1.5]),
        lambda p, xp: p[:1],
        lambda x, p, k, xp: x + 0.01 * (p[1] * x - x * x * x),
        lambda x, p, xp: x[0] ** 2,
    )
    steps, p = chain_of(stepper), stepper.p
    assert len(steps) == 97
    whole = derivatives(steps, p)
    for a, b in zip(whole, by_jax(stepper, p), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    for schedule in different((1, 2, 3, 10, 97, 1000), 97):
        assert same(derivatives(steps, p, schedule, second=False), whole[:2])
    for schedule in different((10, 1000), 97):
        assert same(derivatives(steps, p, schedule), whole)


@pytest.mark.parametrize("slots", [7, 8, 50, 10**6])
def test_more_slots_than_steps_are_no_other_result(slots: int) -> None:
    stepper, (p, _) = CASES[2].values
    steps = chain_of(stepper)
    whole = derivatives(steps, p, second=False)
    for schedule in schedules(slots):
        assert same(derivatives(steps, p, schedule, second=False), whole)
        assert schedule.plan(7).cost.peak_slots <= 7


@pytest.mark.parametrize("kind", range(4))
def test_no_slots_are_an_error_only_where_some_are_needed(kind: int) -> None:
    def made() -> Any:
        return list(schedules(0))[kind]

    for steps in (2, 7):
        with pytest.raises(ScheduleError, match="slots"):
            made().plan(steps)
    if kind > 1:  # binomial ones need none for a single step
        assert made().plan(1).cost.recorded == 1
