"""What users of other packages' checkpointing complained about in public."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Chain,
    DiskStorage,
    Revolve,
    StoreAll,
    Transition,
    TwoLevel,
    UniformBlock,
    reverse_sweep,
)
from tests.regression._sweeps import (
    by_jax,
    derivatives,
    different,
    pair,
    same,
    schedules,
)
from tests.suites._chains import chain
from tests.suites._steppers import Stepper


def agree(stepper: Stepper, budgets: Any) -> None:
    """All schedules give the loop's derivatives, and the same bits."""
    steps = chain(stepper, stepper.steps)
    whole = derivatives(steps, stepper.p)
    for a, b in zip(whole, by_jax(stepper, stepper.p), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    for k, schedule in enumerate(different(budgets, len(steps))):
        second = k % 3 == 0
        found = derivatives(steps, stepper.p, schedule, second=second)
        assert same(found, whole[: len(found)])


# Multi-step methods: the state carries what later steps need ---------------------------


class History(NamedTuple):
    """The last two states of a two-step method."""

    new: Any
    old: Any


def _two_step(x: History, p: Any, k: Any, xp: Any) -> History:
    """Backward differences of a linear decay, begun by a step of lower order."""
    if k == 0:
        return History(x.new / (1.0 + 0.1 * p[2:] ** 2), x.new)
    rate = 1.5 + 0.1 * p[2:] ** 2
    return History((2.0 * x.new - 0.5 * x.old + 0.02 * x.new**2) / rate, x.new)


def test_a_two_step_method_with_its_ramp() -> None:
    stepper = Stepper(
        "bdf2",
        11,
        np.array([1.0, -0.5, 0.7, 1.3]),
        lambda p, xp: History(p[:2], p[:2] * 0.0),
        _two_step,
        lambda x, p, xp: xp.sum(x.new * x.old) + x.old[0],
    )
    agree(stepper, range(1, 13))


def _delayed(x: Any, p: Any, k: Any, xp: Any) -> Any:
    """A delay equation: a step reads what was made four steps ago."""
    newest = x[-1] + 0.1 * p[-1] * xp.sin(x[0]) - 0.05 * x[-1] ** 2
    return [*x[1:], newest]


def test_a_delay_of_four_steps() -> None:
    stepper = Stepper(
        "delay",
        13,
        np.array([0.3, 0.1, -0.4, 0.9, 1.7]),
        lambda p, xp: [p[0], p[1], p[2], p[3]],
        _delayed,
        lambda x, p, xp: x[3] * x[0] + x[2],
    )
    agree(stepper, range(1, 15))


# Steps that look at their index; blocks that do not divide the number of steps ---------

DATA = np.random.default_rng(11).standard_normal((13, 3))


def test_data_a_step_with_uneven_last_blocks() -> None:
    seen: list[int] = []

    def step(x: Any, k: int) -> Any:
        seen.append(k)
        assert type(k) is int
        return x * (1.0 + 0.1 * DATA[k]) + 0.1 * np.sin(x) * DATA[k, ::-1]

    x0 = np.array([0.5, -1.0, 2.0])
    chain = Chain([Chain.uniform(13, step), lambda x, k: np.sum(x**2)])
    whole = reverse_sweep(chain, x0, schedule=StoreAll())
    assert seen == list(range(13))
    h = 1e-6

    def loop(x: Any) -> Any:
        for k in range(13):
            x = step(x, k)
        return np.sum(x**2)

    for i, e in enumerate(np.eye(3)):
        slope = (loop(x0 + h * e) - loop(x0 - h * e)) / (2 * h)
        assert whole.cotangent[i] == pytest.approx(slope, rel=1e-8)
    for slots in range(1, 16):  # no budget but 1 and 13 divides the steps
        for schedule in schedules(slots):
            found = reverse_sweep(chain, x0, schedule=schedule)
            assert same(pair(found), pair(whole))
            assert set(seen) == set(range(13))


def test_nine_steps_in_five_blocks() -> None:
    actions = list(UniformBlock(slots=5, record="block").plan(9))
    blocks = [a.stop - a.start for a in actions if a.kind == "record"]
    assert blocks == [1, 2, 2, 2, 2]


def test_four_steps_need_no_four_slots() -> None:
    for slots in (3, 4, 100):
        cost = Revolve(slots=slots).plan(4).cost
        assert (cost.unrecorded, cost.peak_slots) == (3, 3)
    assert Revolve(slots=2).plan(4).cost.unrecorded == 4


# Short loops ----------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_short_loops(steps: int) -> None:
    stepper = Stepper(
        "short",
        steps,
        np.array([0.5, 2.0]),
        lambda p, xp: p[:1] * 1.0,
        lambda x, p, k, xp: x * xp.exp(-0.1 * p[1] * x),
        lambda x, p, xp: xp.sum(x) ** 2,
    )
    agree(stepper, (1, 2, 3, 40))


# States that change their form ----------------------------------------------------------


def _forms() -> list[Any]:
    """A vector, a matrix, a dictionary, a pair with an empty part, a number."""
    w = np.random.default_rng(3).standard_normal((4, 3))
    return [
        lambda x, k: np.sin(w @ x),
        lambda x, k: np.outer(x, x[:2]) + k,
        lambda x, k: {"rows": np.sum(x, axis=1), "all": np.prod(x)},
        lambda x, k: (x["rows"][:0], [x["all"] * x["rows"], x["all"]]),
        lambda x, k: (x[1][0] + x[1][1], x[0]),
        lambda x, k: np.reshape(x[0], (2, 1, 2)),
        lambda x, k: np.sum(x, axis=0) ** 2,
        lambda x, k: x[0, 0] * x[0, 1] + np.float64(k),
    ]


def test_every_step_may_have_another_space() -> None:
    x0 = np.array([0.2, -0.6, 1.1])
    steps = _forms()

    def loop(x: Any) -> Any:
        for k, step in enumerate(steps):
            x = step(x, k)
        return x

    whole = reverse_sweep(Chain(steps), x0, schedule=StoreAll())
    assert whole.value == loop(x0)
    h = 1e-6
    for i, e in enumerate(np.eye(3)):
        slope = (loop(x0 + h * e) - loop(x0 - h * e)) / (2 * h)
        assert whole.cotangent[i] == pytest.approx(slope, rel=1e-7)
    for slots in range(1, 10):
        for schedule in schedules(slots):
            assert same(
                pair(reverse_sweep(Chain(steps), x0, schedule=schedule)), pair(whole)
            )


# Taylor tests through a disk; many states that the budget counts -----------------------


def test_order_two_through_a_disk(tmp_path: Any) -> None:
    """A sweep that reads the wrong states still falls at first order."""
    step = Transition.taped(lambda x, k: x + 0.05 * np.roll(x, 1) * np.cos(x))
    chain = Chain([Chain.uniform(60, step), lambda x, k: np.sum(x**3)])
    x0, v = np.linspace(0.3, 1.2, 5), np.array([0.3, -1.0, 0.5, 0.2, 0.7])
    found = reverse_sweep(
        chain, x0, schedule=TwoLevel(memory=2, disk=4), storage=DiskStorage(tmp_path)
    )

    def value(x: Any) -> Any:
        return reverse_sweep(chain, x, schedule=Revolve(3)).value

    steps = 0.1 * 0.5 ** np.arange(5)
    rests = [
        abs(value(x0 + h * v) - found.value - h * (found.cotangent @ v)) for h in steps
    ]
    rates = np.log2(np.divide(rests[:-1], rests[1:]))
    assert np.all(np.abs(rates[1:] - 2.0) < 0.1)


def test_float32_states_stay_float32() -> None:
    x0 = np.linspace(0.1, 0.7, 4).astype(np.float32)

    def step(x: Any, k: int) -> Any:
        assert x.dtype == np.float32
        return x + np.float32(0.01) * np.sin(x) * x

    chain = Chain([Chain.uniform(20, step), lambda x, k: np.sum(x)])
    whole = reverse_sweep(chain, x0, schedule=StoreAll())
    assert whole.cotangent.dtype == np.float32
    for schedule in schedules(3):
        assert same(pair(reverse_sweep(chain, x0, schedule=schedule)), pair(whole))


def test_a_second_gradient_with_the_same_objects() -> None:
    step = Transition.taped(lambda x, k: x * np.cos(0.1 * x))
    chain = Chain([Chain.uniform(10, step), lambda x, k: np.sum(x)])
    schedule = Revolve(slots=3)
    plan = schedule.plan(len(chain))
    first = reverse_sweep(chain, np.ones(2), schedule=schedule)
    assert list(plan) == list(plan)
    again = reverse_sweep(chain, np.ones(2), schedule=schedule)
    assert same(pair(first), pair(again))
