"""Steps that break the rules: they write into states, differ each time, or raise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.checkpoint import (
    Chain,
    Revolve,
    StoreAll,
    Transition,
    reverse_sweep,
)
from derivative_covers.errors import NondeterministicStepError, StateMutationError
from tests.regression._sweeps import by_jax, pair, same, schedules
from tests.suites._steppers import Stepper

LENGTH = 7
START = np.array([1.0, 2.0, 0.5])


def _pure(x: Any, k: int) -> Any:
    return x + 0.1 * np.roll(x, 1) * x


def _in_place(x: Any, k: int) -> Any:
    x += 0.1 * np.roll(x, 1) * x
    return x


def _scratch_in_input(x: Any, k: int) -> Any:
    y = x + 0.1 * np.roll(x, 1) * x
    x[:] = 0.0
    return y


def _through_a_view(x: Any, k: int) -> Any:
    view = x[:]
    view += 0.1 * np.roll(x, 1) * x
    return view


def _by_out(x: Any, k: int) -> Any:
    return np.add(x, 0.1 * np.roll(x, 1) * x, out=x)


def _pure_vjp(x: Any, ybar: Any, k: int) -> Any:
    moved = ybar * x
    return ybar * (1.0 + 0.1 * np.roll(x, 1)) + 0.1 * np.roll(moved, -1)


def _one_buffer() -> Any:
    buffer = np.empty(3)

    def step(x: Any, k: int) -> Any:
        buffer[:] = x + 0.1 * np.roll(x, 1) * x
        return buffer

    return step


def _two_buffers() -> Any:
    buffers = np.empty(3), np.empty(3)

    def step(x: Any, k: int) -> Any:
        y = buffers[k % 2]
        y[:] = x + 0.1 * np.roll(x, 1) * x
        return y

    return step


def _rows_of_a_buffer() -> Any:
    buffer = np.empty((2, 3))

    def step(x: Any, k: int) -> Any:
        buffer[k % 2] = x + 0.1 * np.roll(x, 1) * x
        return buffer[k % 2]

    return step


LAST = Transition.from_vjp(lambda x, k: x @ x, lambda x, ybar, k: 2.0 * ybar * x)


def _gradient(step: Any, schedule: Any) -> Any:
    """A reverse sweep that may refuse the step."""
    start = START.copy()
    chain = Chain([Chain.uniform(LENGTH, step), LAST])
    try:
        found = reverse_sweep(chain, start, schedule=schedule)
    except StateMutationError:
        found = None
    assert np.array_equal(start, START)
    assert start.flags.writeable
    return found and (found.value, found.cotangent)


RIGHT = _gradient(Transition.from_vjp(_pure, _pure_vjp), StoreAll())


def test_the_step_itself() -> None:
    stepper = Stepper(
        "neighbours",
        LENGTH,
        START,
        lambda p, xp: p,
        lambda x, p, k, xp: x + 0.1 * xp.roll(x, 1) * x,
        lambda x, p, xp: xp.dot(x, x),
    )
    value, gradient, _ = by_jax(stepper, START)
    assert RIGHT[0] == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(RIGHT[1], gradient, rtol=1e-13)


ALL = [StoreAll(), *(s for slots in range(1, 9) for s in schedules(slots))]


@pytest.mark.parametrize(
    "step", [_in_place, _scratch_in_input, _through_a_view, _by_out]
)
@pytest.mark.parametrize("kind", ["taped", "from_vjp"])
def test_a_step_in_place_is_right_or_refused(step: Any, kind: str) -> None:
    if kind == "taped":
        transition = Transition.taped(step)
    else:
        transition = Transition.from_vjp(step, _pure_vjp)
    refused = 0
    for schedule in ALL:
        found = _gradient(transition, schedule)
        refused += found is None
        if found is not None:
            assert found[0] == pytest.approx(RIGHT[0], rel=1e-14)
            np.testing.assert_allclose(found[1], RIGHT[1], rtol=1e-13)
    assert refused >= len(ALL) - 9  # all that advance over a step


@pytest.mark.parametrize("make", [_one_buffer, _two_buffers, _rows_of_a_buffer])
def test_a_step_that_uses_its_buffers_again_is_right_or_refused(make: Any) -> None:
    for schedule in ALL:
        found = _gradient(Transition.from_vjp(make(), _pure_vjp), schedule)
        assert found is None or same(found, RIGHT)


def test_a_step_may_return_what_it_was_given() -> None:
    chain = Chain([Chain.uniform(4, lambda x, k: x), lambda x, k: np.sum(x**2)])
    views = [lambda x, k: x[::-1]] * 5
    for schedule in ALL:
        found = reverse_sweep(chain, START, schedule=schedule)
        assert found.cotangent.tolist() == [2.0, 4.0, 1.0]
        reversed_ = reverse_sweep(
            Chain([*views, lambda x, k: x @ np.array([1.0, 2.0, 3.0])]),
            START,
            schedule=schedule,
        )
        assert reversed_.cotangent.tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize("slots", [1, 3])
def test_parameters_cannot_be_changed_by_a_step(slots: int) -> None:
    def step(x: Any, p: Any, k: int) -> Any:
        p *= 0.5
        return x * p

    p = np.array([1.0, 2.0, 3.0])
    chain = Chain([Chain.uniform(5, step), lambda x, p, k: np.sum(x)])
    with pytest.raises(StateMutationError):
        reverse_sweep(chain, START, params=p, schedule=Revolve(slots))
    assert p.tolist() == [1.0, 2.0, 3.0]


# Steps that are not the same twice ------------------------------------------------------


def _noise_chain(draw: Any) -> Any:
    def step(x: Any, k: int) -> Any:
        return x + 0.01 * draw(k) * x

    return Chain([Chain.uniform(12, step), lambda x, k: np.sum(x**2)])


REPEATING = [s for d in (1, 2, 12) for s in schedules(d) if s.plan(13).cost.unrecorded]


@pytest.mark.parametrize("schedule", REPEATING)
def test_a_step_that_draws_anew_is_found(schedule: Any) -> None:
    generator = np.random.default_rng(5)
    chain = _noise_chain(lambda k: generator.standard_normal(3))
    with pytest.raises(NondeterministicStepError) as caught:
        reverse_sweep(chain, START, schedule=schedule, verify="fingerprint")
    assert 0 <= caught.value.step < 12


def test_a_step_that_draws_by_its_index_works() -> None:
    chain = _noise_chain(lambda k: np.random.default_rng(k).standard_normal(3))
    whole = reverse_sweep(chain, START, schedule=StoreAll(), verify="fingerprint")
    for schedule in (s for d in (1, 2, 12) for s in schedules(d)):
        found = reverse_sweep(chain, START, schedule=schedule, verify="fingerprint")
        assert same(pair(found), pair(whole))


# Errors of the steps themselves ---------------------------------------------------------


@pytest.mark.parametrize("kind", ["taped", "from_vjp"])
@pytest.mark.parametrize("schedule", [StoreAll(), *schedules(3)])
def test_an_exception_goes_through_and_leaves_nothing(kind: str, schedule: Any) -> None:
    error = RuntimeError("no more paper")
    broken = [True]

    def step(x: Any, k: int) -> Any:
        if k == 57 and broken[0]:
            raise error
        return x * 1.01

    if kind == "taped":
        transition = Transition.taped(step)
    else:
        transition = Transition.from_vjp(step, lambda x, ybar, k: 1.01 * ybar)
    chain = Chain([Chain.uniform(80, transition), lambda x, k: np.sum(x)])
    with pytest.raises(RuntimeError, match="no more paper") as caught:
        reverse_sweep(chain, START, schedule=schedule)
    assert caught.value is error
    assert dc.gradient(lambda x: np.sum(x**2), START).tolist() == [2.0, 4.0, 1.0]
    broken[0] = False
    found = reverse_sweep(chain, START, schedule=schedule)
    np.testing.assert_allclose(found.cotangent, np.full(3, 1.01**80), rtol=1e-13)


def test_an_exception_of_a_reverse_rule_goes_through() -> None:
    def vjp(x: Any, ybar: Any, k: int) -> Any:
        if k == 3:
            raise KeyError(k)
        return ybar

    step = Transition.from_vjp(lambda x, k: x + 1.0, vjp)
    chain = Chain([Chain.uniform(8, step), lambda x, k: np.sum(x)])
    for schedule in (StoreAll(), *schedules(2)):
        with pytest.raises(KeyError):
            reverse_sweep(chain, START, schedule=schedule)
