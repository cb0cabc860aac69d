"""What a step does to the dicts, lists and arrays that it was given stays with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Chain,
    Revolve,
    StoreAll,
    Transition,
    UniformBlock,
    reverse_sweep,
)
from derivative_covers.errors import InputTypeError, StateMutationError

SCHEDULES = (StoreAll(), Revolve(slots=1), UniformBlock(slots=2))
X = np.array([1.1, 1.2])

by_schedule = pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)


def _square_inside(x: Any, k: int) -> Any:
    x["u"] = x["u"] ** 2
    return x


def _square_rule(x: Any, ybar: Any, k: int) -> Any:
    ybar["u"] = 2 * x["u"] * ybar["u"]
    x["u"] = x["u"] * 0.0
    return ybar


def _sum(x: Any, k: int) -> Any:
    return np.sum(x["u"])


@by_schedule
@pytest.mark.parametrize("taped", [False, True])
def test_a_step_may_fill_the_dict_of_its_state_anew(schedule: Any, taped: bool) -> None:
    step = Transition.taped(_square_inside)
    links: Any = [step if taped else Transition.from_vjp(_square_inside, _square_rule)]
    found = reverse_sweep(Chain(links * 3 + [_sum]), {"u": X}, schedule=schedule)
    np.testing.assert_allclose(found.cotangent["u"], 8 * X**7, rtol=1e-13)


def _log_inside(x: Any, k: int) -> Any:
    u = x.pop("u")
    x["u"] = np.where(u > 0, np.log(u), -u)
    return x


@by_schedule
def test_a_flagged_step_is_recorded_from_its_own_input(schedule: Any) -> None:
    # log(-3) is not selected; taken for the input, log(0.5) < 0 would raise no flag.
    x0 = {"u": np.array([np.e**2, -3.0])}
    links = Chain([_log_inside, _sum, lambda x, k: x * 1.0])
    found = reverse_sweep(links, x0, schedule=schedule)
    np.testing.assert_allclose(found.cotangent["u"], [np.e**-2, -1.0], rtol=1e-13)


def _scaled(x: Any, params: Any, k: int) -> Any:
    params["a"] = params["a"] * 2.0
    return x * params["a"]


def _scaled_rule(x: Any, params: Any, ybar: Any, k: int) -> Any:
    a = params.pop("a")
    return 2.0 * a * ybar, {"a": 2.0 * x * ybar}


@by_schedule
@pytest.mark.parametrize("taped", [False, True])
def test_no_step_changes_the_parameters_of_another(schedule: Any, taped: bool) -> None:
    step = Transition.taped(_scaled)
    links: Any = [step if taped else Transition.from_vjp(_scaled, _scaled_rule)]
    a = np.array([1.0, 2.0])
    found = reverse_sweep(
        Chain(links * 3 + [lambda x, params, k: np.sum(x)]),
        X,
        schedule=schedule,
        params={"a": a},
    )
    assert found.value == pytest.approx(float(np.sum(8 * a**3 * X)), rel=1e-14)
    np.testing.assert_allclose(found.cotangent, 8 * a**3, rtol=1e-13)
    np.testing.assert_allclose(found.params_cotangent["a"], 24 * a**2 * X, rtol=1e-13)


class _Buffered(Transition):
    """Squares into two buffers in turn, with a pullback that holds its input."""

    def __init__(self) -> None:
        self.buffers = np.empty(2), np.empty(2)

    def forward(self, x: Any, params: Any, k: int) -> Any:
        return np.multiply(x, x, out=self.buffers[k % 2])

    def record(self, x: Any, params: Any, k: int) -> Any:
        y = self.forward(x, params, k)
        return y, lambda ybar, params_bar: (2 * x * ybar, params_bar)


@by_schedule
def test_the_input_of_anothers_record_stays_until_its_pullback(schedule: Any) -> None:
    step = _Buffered()
    links = Chain([step, step, step, lambda x, k: np.sum(x)])
    found = reverse_sweep(links, X, schedule=schedule)
    np.testing.assert_allclose(found.cotangent, 8 * X**7, rtol=1e-13)


class _Flagged(Transition):
    """Squares into a buffer, raises a flag, and records with that buffer as scratch."""

    def __init__(self) -> None:
        self.buffers = np.empty(2), np.empty(2)

    def forward(self, x: Any, params: Any, k: int) -> Any:
        np.log(-x)
        return np.multiply(x, x, out=self.buffers[k % 2])

    def record(self, x: Any, params: Any, k: int) -> Any:
        partial = np.multiply(2.0, x, out=self.buffers[k % 2]).copy()
        return x * x, lambda ybar, params_bar: (partial * ybar, params_bar)


@by_schedule
def test_a_flagged_step_keeps_its_output_while_it_is_recorded(schedule: Any) -> None:
    step = _Flagged()
    links = Chain([step, step, step, lambda x, k: np.sum(x)])
    found = reverse_sweep(links, X, schedule=schedule)
    np.testing.assert_allclose(found.cotangent, 8 * X**7, rtol=1e-13)


@by_schedule
@pytest.mark.parametrize("nested", [False, True])
def test_a_number_in_one_buffer_of_step_and_rule(schedule: Any, nested: bool) -> None:
    """Nothing protects a 0-d array, since steps get it as a scalar: it is copied."""
    buffer = np.empty(())

    def square(x: Any, k: int) -> Any:
        buffer[()] = (x["t"] if nested else x) ** 2
        return {"t": buffer} if nested else buffer

    def rule(x: Any, ybar: Any, k: int) -> Any:
        buffer[()] = 2 * x["t"] * ybar["t"] if nested else 2 * x * ybar
        return {"t": buffer} if nested else buffer

    last = Transition.from_vjp(
        lambda x, k: x["t"] if nested else x,
        lambda x, ybar, k: {"t": ybar} if nested else ybar,
    )
    links = Chain([*[Transition.from_vjp(square, rule)] * 3, last])
    x0 = {"t": 1.1} if nested else 1.1
    for verify in (None, "fingerprint"):
        found = reverse_sweep(links, x0, schedule=schedule, verify=verify)
        cotangent = found.cotangent["t"] if nested else found.cotangent
        assert found.value == pytest.approx(1.1**8, rel=1e-14)
        assert cotangent == pytest.approx(8 * 1.1**7, rel=1e-14)


class _Accumulating(Transition):
    """Multiplies by the parameters; adds up their cotangent in a buffer of its own."""

    def __init__(self) -> None:
        self.buffer = np.empty(2)

    def forward(self, x: Any, params: Any, k: int) -> Any:
        self.buffer[:] = x  # scratch
        return params * self.buffer

    def record(self, x: Any, params: Any, k: int) -> Any:
        def pullback(ybar: Any, params_bar: Any) -> Any:
            self.buffer[:] = 0.0
            self.buffer += ybar * x
            self.buffer += params_bar
            return ybar * params, self.buffer

        return self.forward(x, params, k), pullback


class _AddingInPlace(_Accumulating):
    def record(self, x: Any, params: Any, k: int) -> Any:
        def pullback(ybar: Any, params_bar: Any) -> Any:
            params_bar += ybar * x
            return ybar * params, params_bar

        return x * params, pullback


@by_schedule
@pytest.mark.parametrize("kind", [_Accumulating, _AddingInPlace])
def test_the_parameters_cotangent_stays_between_pullbacks(
    schedule: Any, kind: Any
) -> None:
    step, theta = kind(), np.array([0.9, 1.3])
    links = Chain([step, step, step, lambda x, params, k: np.sum(x)])
    found = reverse_sweep(links, X, schedule=schedule, params=theta)
    np.testing.assert_allclose(found.cotangent, theta**3, rtol=1e-14)
    np.testing.assert_allclose(found.params_cotangent, 3 * theta**2 * X, rtol=1e-14)


def test_a_rule_with_one_buffer_is_told_what_to_do() -> None:
    buffer = np.empty(2)

    def rule(x: Any, ybar: Any, k: int) -> Any:
        return np.multiply(2 * x, ybar, out=buffer)

    step = Transition.from_vjp(lambda x, k: x * x, rule)
    links = Chain([step, step, lambda x, k: np.sum(x)])
    with pytest.raises(StateMutationError, match="new memory") as caught:
        reverse_sweep(links, X, schedule=StoreAll())
    assert "x = x.copy()" not in str(caught.value)
    assert buffer.flags.writeable


def test_a_point_that_is_none_is_no_missing_return_statement() -> None:
    with pytest.raises(InputTypeError, match=r"x0 is None.*pass an array") as caught:
        reverse_sweep(Chain([_sum]), None, schedule=StoreAll())
    assert "return" not in str(caught.value)
