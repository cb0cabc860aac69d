"""Value and gradient of a chain, against one tape and against JAX."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.checkpoint import (
    Binomial,
    Chain,
    DiskStorage,
    MemoryStorage,
    Revolve,
    Transition,
    TwoLevel,
    reverse_sweep,
)
from derivative_covers.errors import (
    ShapeError,
)
from tests._sweep_programs import (
    SCHEDULES,
    X0,
    bits,
    chain,
    energy,
    sweep,
    whole,
)

# Values ---------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_equals_one_tape_bit_for_bit(schedule: Any) -> None:
    result = reverse_sweep(chain(30), X0, schedule=schedule)
    assert bits(result.cotangent) == bits(dc.gradient(lambda x: whole(x, 30), X0))
    assert result.value == whole(X0, 30)
    assert type(result.value) is np.float64
    assert result.params_cotangent is None


def test_two_levels(tmp_path: Any) -> None:
    storage = DiskStorage(tmp_path / "slots")
    schedule = TwoLevel(memory=2, disk=4)
    result = reverse_sweep(chain(30), X0, schedule=schedule, storage=storage)
    assert bits(result.cotangent) == bits(dc.gradient(lambda x: whole(x, 30), X0))
    assert result.report.executed.disk_saves == 3
    assert not list((tmp_path / "slots").iterdir())


@pytest.mark.parametrize("storage", [None, MemoryStorage(), "disk"])
def test_any_storage_serves_a_schedule_of_one_level(
    storage: Any, tmp_path: Any
) -> None:
    storage = DiskStorage(tmp_path) if storage == "disk" else storage
    result = reverse_sweep(chain(20), X0, schedule=Revolve(slots=2), storage=storage)
    assert bits(result.cotangent) == bits(dc.gradient(lambda x: whole(x, 20), X0))
    assert result.report.executed.disk_saves == 0
    assert storage is None or len(storage) == 0


def test_a_plan_is_as_good_as_a_schedule() -> None:
    schedule = Revolve(slots=2)
    a = reverse_sweep(chain(20), X0, schedule=schedule.plan(20))
    b = reverse_sweep(chain(20), X0, schedule=schedule)
    assert bits(a.cotangent) == bits(b.cotangent)


def test_a_seed_scales_the_cotangent() -> None:
    one = sweep(chain(9), X0)
    for seed in (-4.0, np.float32(-4), np.array(-4.0), np.array([-4.0]), -4):
        many = sweep(chain(9), X0, seed=seed)
        assert bits(many.cotangent) == bits(-4.0 * one.cotangent)
        assert many.value == one.value


@pytest.mark.parametrize("kind", ["taped", "from_vjp"])
def test_one_step(kind: str) -> None:
    if kind == "taped":
        step = Transition.taped(energy)
    else:
        step = Transition.from_vjp(energy, lambda x, ybar, k: ybar * x)
    for schedule in [*SCHEDULES, Binomial(slots=0, replays=0), Revolve(slots=0)]:
        result = reverse_sweep(Chain([step]), X0, schedule=schedule)
        assert bits(result.cotangent) == bits(X0)
        assert result.value == energy(X0, 0)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_no_step_returns_what_was_given(schedule: Any) -> None:
    x0 = {"u": [np.array([1, 2]), 3.0]}
    seed = {"u": [np.array([0.5, np.nan]), 7]}
    result = reverse_sweep(
        Chain([]), x0, schedule=schedule, seed=seed, params=(1.0, X0)
    )
    assert result.value is x0
    assert result.cotangent is seed
    assert [bits(p) for p in result.params_cotangent] == [bits(0.0), bits(np.zeros(3))]
    assert result.report.executed == result.report.predicted


def test_no_step_needs_the_cotangent_of_x0() -> None:
    with pytest.raises(ShapeError, match="without steps, seed is the cotangent of x0"):
        sweep([], X0)


def test_spaces_may_change_from_step_to_step() -> None:
    links = [
        lambda x, k: np.outer(x, np.sin(x)),
        lambda m, k: {"m": m @ m, "trace": np.trace(m)},
        lambda s, k: (s["m"][0], s["trace"] * s["m"][:, 1:]),
        lambda p, k: np.sum(p[0]) * np.sum(p[1] ** 2),
    ]

    def composed(x: Any) -> Any:
        for k, f in enumerate(links):
            x = f(x, k)
        return x

    expected = dc.gradient(composed, X0)
    for schedule in SCHEDULES:
        result = reverse_sweep(Chain(links), X0, schedule=schedule)
        np.testing.assert_allclose(result.cotangent, expected, rtol=1e-13)


def test_a_scalar_point() -> None:
    result = sweep([lambda x, k: x * x] * 3, 1.5)
    assert type(result.cotangent) is np.float64
    assert result.cotangent == pytest.approx(8 * 1.5**7)


def test_integers_become_floats_in_the_point_and_the_parameters() -> None:
    result = sweep([lambda x, p, k: (p["a"] * x).sum()], np.arange(3), params={"a": 2})
    assert bits(result.cotangent) == bits(np.full(3, 2.0))
    assert result.params_cotangent == {"a": 3.0}


class Pair(NamedTuple):
    position: Any
    speed: Any


def test_the_cotangent_has_the_containers_of_the_point() -> None:
    def move(s: Any, k: int) -> Any:
        return Pair(s.position + 0.1 * s.speed, s.speed - 0.1 * np.sin(s.position))

    def end(s: Any, k: int) -> Any:
        return np.sum(s.position**2) + s.speed[0]

    x0 = Pair(np.array([1.0, 2.0]), np.array([0.0, 0.5]))
    result = sweep([move] * 7 + [end], x0)
    assert type(result.cotangent) is Pair

    def program(p: Any) -> Any:
        s = Pair(jnp.asarray(p[0]), jnp.asarray(p[1]))
        for _ in range(7):
            s = Pair(s.position + 0.1 * s.speed, s.speed - 0.1 * jnp.sin(s.position))
        return jnp.sum(s.position**2) + s.speed[0]

    with jax.enable_x64(True):
        expected = jax.grad(program)(tuple(x0))
    for a, b in zip(result.cotangent, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_float32_stays_float32() -> None:
    half = np.float32(0.5)
    links = [lambda x, k: x * half + np.sin(x), lambda x, k: np.sum(x * x)]
    result = sweep(links, X0.astype(np.float32))
    assert result.cotangent.dtype == np.float32
    assert result.value.dtype == np.float32


def test_the_result_belongs_to_the_caller() -> None:
    weights = np.array([1.0, 2.0, 3.0])
    last = Transition.from_vjp(lambda x, k: x @ weights, lambda x, ybar, k: weights)
    x0 = X0.copy()
    result = sweep([last], x0)
    assert result.cotangent.flags.writeable
    result.cotangent[:] = 7.0
    assert weights.tolist() == [1.0, 2.0, 3.0]
    assert x0.flags.writeable
    assert weights.flags.writeable


# Parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_parameters_equal_one_tape_bit_for_bit(schedule: Any) -> None:
    def f(x: Any, p: Any, k: int) -> Any:
        return p["a"] * np.sin(x) + p["b"][0] * x

    def last(x: Any, p: Any, k: int) -> Any:
        return np.sum(x * p["a"])

    params = {"a": np.array([0.5, 0.2, -0.3]), "b": (1.1, np.ones(2))}
    links = [Chain.uniform(12, f), last]
    result = reverse_sweep(Chain(links), X0, schedule=schedule, params=params)

    def program(v: Any) -> Any:
        p = {"a": v["a"], "b": (v["b0"], v["b1"])}
        x = v["x"]
        for k in range(12):
            x = f(x, p, k)
        return last(x, p, 12)

    point = {"a": params["a"], "b0": 1.1, "b1": np.ones(2), "x": X0}
    expected = dc.gradient(program, point)
    assert bits(result.cotangent) == bits(expected["x"])
    assert bits(result.params_cotangent["a"]) == bits(expected["a"])
    assert bits(result.params_cotangent["b"][0]) == bits(expected["b0"])
    assert bits(result.params_cotangent["b"][1]) == bits(np.zeros(2))


def test_parameters_of_reverse_rules_add_up() -> None:
    step = Transition.from_vjp(
        lambda x, p, k: p * x, lambda x, p, ybar, k: (p * ybar, x * ybar)
    )
    result = sweep([step] * 5, 2.0, params=3.0)
    assert result.value == 2 * 3.0**5
    assert result.cotangent == 3.0**5
    assert result.params_cotangent == 2 * 5 * 3.0**4


# Reverse rules of other packages ----------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_steps_of_jax(schedule: Any) -> None:
    with jax.enable_x64(True):

        @jax.jit
        def f(x: Any, k: Any) -> Any:
            return x + 0.1 * jnp.sin(x) * (1 + k)

        @jax.jit
        def vjp(x: Any, ybar: Any, k: Any) -> Any:
            return jax.vjp(lambda x: f(x, k), x)[1](ybar)[0]

        one = Transition.from_vjp(f, vjp)
        last = Transition.from_vjp(
            lambda x, k: x @ x, lambda x, ybar, k: 2.0 * ybar * x
        )
        result = reverse_sweep(Chain([one] * 9 + [last]), X0, schedule=schedule)

        def program(x: Any) -> Any:
            for k in range(9):
                x = f(x, k)
            return x @ x

        np.testing.assert_allclose(result.cotangent, jax.grad(program)(X0), rtol=1e-14)


def test_a_rule_may_keep_its_memory() -> None:
    """A buffer that a step and its rule share cannot change a cotangent unseen."""
    buffer = np.empty(3)

    def f(x: Any, k: int) -> Any:
        return np.multiply(x, 0.5, out=np.empty(3))

    def vjp(x: Any, ybar: Any, k: int) -> Any:
        scaled = 0.5 * ybar
        np.copyto(buffer, scaled)
        return buffer.copy()

    step = Transition.from_vjp(f, vjp)
    last = Transition.from_vjp(lambda x, k: x @ x, lambda x, ybar, k: 2 * ybar * x)
    result = sweep([step] * 6 + [last], X0)
    np.testing.assert_allclose(result.cotangent, 2 * X0 * 0.25**6, rtol=1e-14)


def test_two_buffers_in_turn_are_safe_with_every_schedule() -> None:
    memory = np.empty(3), np.empty(3)

    def f(x: Any, k: int) -> Any:
        return np.sin(x, out=memory[k % 2])

    step = Transition.from_vjp(f, lambda x, ybar, k: ybar * np.cos(x))
    last = Transition.from_vjp(lambda x, k: x @ x, lambda x, ybar, k: 2 * ybar * x)
    plain = Transition.taped(lambda x, k: np.sin(x))
    expected = sweep([plain] * 7 + [lambda x, k: x @ x], X0).cotangent
    for schedule in SCHEDULES:
        result = reverse_sweep(Chain([step] * 7 + [last]), X0, schedule=schedule)
        np.testing.assert_allclose(result.cotangent, expected, rtol=1e-14)


def test_a_sweep_inside_of_a_step() -> None:
    inner = Chain([lambda x, k: x * x] * 3)

    def f(x: Any, k: int) -> Any:
        return reverse_sweep(inner, x, schedule=Revolve(slots=1)).cotangent

    step = Transition.from_vjp(f, lambda x, ybar, k: 56.0 * x**6 * ybar)
    result = sweep([step, lambda x, k: x * 1.0], 1.1)
    assert result.value == pytest.approx(8 * 1.1**7)
    assert result.cotangent == pytest.approx(56 * 1.1**6)


def test_a_step_that_writes_into_the_callers_point_changes_nothing() -> None:
    x0 = np.array([0.5, -1.0])

    def step(x: Any, k: int) -> Any:
        x0[:] = 7.0  # the caller's array, not the x that the step is given
        return np.sin(x)

    def total(x: Any, k: int) -> Any:
        return x.sum()

    chain = dc.checkpoint.Chain([dc.checkpoint.Chain.uniform(4, step), total])
    found = dc.checkpoint.reverse_sweep(
        chain, x0, schedule=dc.checkpoint.Revolve(slots=2)
    )
    clean = dc.checkpoint.Chain(
        [dc.checkpoint.Chain.uniform(4, lambda x, k: np.sin(x)), total]
    )
    expected = dc.checkpoint.reverse_sweep(
        clean, np.array([0.5, -1.0]), schedule=dc.checkpoint.Revolve(slots=2)
    )
    assert found.value == expected.value
    assert np.array_equal(found.cotangent, expected.cotangent)


def test_bytes_read_and_written_are_those_of_the_storage() -> None:
    class Counting(dc.checkpoint.MemoryStorage):
        read = 0

        def get(self, key: int) -> Any:
            self.read += self._states[key][1]
            return super().get(key)

        def put(self, key: int, state: Any) -> int:
            super().put(key, state)
            size = 1000 + key  # as a storage with headers counts
            self._nbytes += size - self._states[key][1]
            self._states[key] = self._states[key][0], size
            return size

    chain = dc.checkpoint.Chain(
        [dc.checkpoint.Chain.uniform(20, lambda x, k: np.sin(x)), lambda x, k: x @ x]
    )
    storage = Counting()
    report = dc.checkpoint.reverse_sweep(
        chain, np.ones(3), schedule=dc.checkpoint.Revolve(slots=3), storage=storage
    ).report
    assert report.bytes_read == storage.read > 1000 * report.executed.restores
    assert report.bytes_written > 1000 * report.executed.saves
