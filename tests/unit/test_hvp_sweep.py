"""Hessian-vector products along a chain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import checkpoint as cp
from derivative_covers.errors import (
    DomainError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)
from tests._chain_steps import SCHEDULES, X0, energy, step, whole

V = np.array([0.3, 1.7, -0.6])


CHAIN = cp.Chain([cp.Chain.uniform(7, step), energy])


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_it_equals_one_tape_bit_for_bit(schedule: Any) -> None:
    found = cp.hvp_sweep(CHAIN, X0, V, schedule=schedule)
    program = whole(CHAIN)
    assert found.value == program(X0)
    np.testing.assert_array_equal(found.gradient, dc.gradient(program, X0))
    np.testing.assert_array_equal(found.hvp, dc.hvp(program, X0, V))
    assert found.params_hvp is found.params_gradient is None
    assert found.report.carried
    assert found.report.executed == found.report.predicted


def test_float32_and_long_states() -> None:
    def overlap(x: Any, k: int) -> Any:
        return 0.5 * np.concatenate([x[:-1] * x[1:], x[:1] ** 2]) + np.tanh(x)

    rng = np.random.default_rng(4)
    x0 = rng.normal(size=400).astype(np.float32)
    v = rng.normal(size=400).astype(np.float32)
    chain = cp.Chain([overlap, overlap, overlap, energy])
    found = cp.hvp_sweep(chain, x0, v, schedule=cp.Revolve(slots=1))
    assert found.hvp.dtype == np.float32
    np.testing.assert_array_equal(found.hvp, dc.hvp(whole(chain), x0, v))


def test_constants_repeated_entries_and_parameters_in_a_state() -> None:
    def mix(x: Any, p: Any, k: int) -> Any:
        y = x[0] * x[2]
        return np.stack([y, y, np.array(1.5), p[0], x[1] ** x[2]])

    def back(x: Any, p: Any, k: int) -> Any:
        return np.stack([x[0] * x[1], x[3] * x[2] * p[1], x[4] * x[3]])

    def last(x: Any, p: Any, k: int) -> Any:
        return x[0] * x[1] * x[2]

    x0, p, pv = np.array([0.4, 1.1, 0.8]), np.array([1.3, 0.6]), np.array([-0.2, 2.0])
    chain = cp.Chain([mix, back, mix, back, last])
    gradient = dc.gradient(whole(chain), (x0, p))
    product = dc.hvp(whole(chain), (x0, p), (V, pv))
    for schedule in SCHEDULES:
        found = cp.hvp_sweep(chain, x0, V, params=p, params_v=pv, schedule=schedule)
        np.testing.assert_array_equal(found.gradient, gradient[0])
        np.testing.assert_array_equal(found.params_gradient, gradient[1])
        np.testing.assert_array_equal(found.hvp, product[0])
        np.testing.assert_array_equal(found.params_hvp, product[1])
    without = cp.hvp_sweep(chain, x0, V, params=p, schedule=cp.Revolve(slots=1))
    expected = dc.hvp(whole(chain), (x0, p), (V, 0 * pv))
    np.testing.assert_array_equal(without.hvp, expected[0])
    np.testing.assert_array_equal(without.params_hvp, expected[1])


def test_unit_vectors_give_the_columns_of_the_hessian() -> None:
    hessian = dc.hessian(whole(CHAIN), X0)
    for a, unit in enumerate(np.eye(3)):
        found = cp.hvp_sweep(CHAIN, X0, unit, schedule=cp.Revolve(slots=2))
        np.testing.assert_allclose(found.hvp, hessian[a], rtol=1e-13, atol=1e-15)


def test_nested_states() -> None:
    def last(s: Any, k: int) -> Any:
        return np.sum(s["at"] ** 2) * s["speed"]

    x0 = {"at": np.array([1.0, 2.0]), "speed": 0.5}

    def first(s: Any, k: int) -> Any:
        return {"at": s["at"], "speed": np.sum(s["at"]) * s["speed"]}

    def turn(s: Any, k: int) -> Any:
        return {"at": s["at"] + s["speed"], "speed": s["speed"] - np.sin(s["at"][0])}

    v = {"speed": 1.0, "at": [0.5, -1.0]}
    chain = cp.Chain([first, turn, turn, last])
    with pytest.raises(ShapeError, match=r"v\['at'\]"):
        cp.hvp_sweep(chain, x0, v, schedule=cp.StoreAll())
    v["at"] = np.array([0.5, -1.0])
    found = cp.hvp_sweep(chain, x0, v, schedule=cp.Revolve(slots=1))
    expected = dc.hvp(whole(chain), x0, v)
    np.testing.assert_array_equal(found.hvp["at"], expected["at"])
    assert found.hvp["speed"] == expected["speed"]


def test_no_steps_and_one_step() -> None:
    found = cp.hvp_sweep(cp.Chain([]), 2.0, 1.0, schedule=cp.StoreAll(), params=X0)
    assert (found.value, found.gradient, found.hvp) == (2.0, 1.0, 0.0)
    np.testing.assert_array_equal(found.params_hvp, np.zeros(3))
    with pytest.raises(ShapeError, match="no steps"):
        cp.hvp_sweep(cp.Chain([]), X0, V, schedule=cp.StoreAll())
    chain = cp.Chain([energy])
    one = cp.hvp_sweep(chain, X0, V, schedule=cp.Revolve(slots=0))
    np.testing.assert_array_equal(one.hvp, dc.hvp(whole(chain), X0, V))


@pytest.mark.parametrize(
    ("v", "options", "error", "words"),
    [
        (np.ones(2), {}, ShapeError, r"v .*\(2,\).*\(3,\)"),
        (np.array([1.0, np.inf, 0.0]), {}, OptionError, "finite"),
        (V, {"params_v": 1.0}, OptionError, "without params"),
        (V, {"params": 1.0, "params_v": V}, ShapeError, "params_v"),
    ],
)
def test_directions_that_cannot_be_used(
    v: Any, options: Any, error: Any, words: str
) -> None:
    with pytest.raises(error, match=words):
        cp.hvp_sweep(CHAIN, X0, v, schedule=cp.StoreAll(), **options)


def test_steps_without_exact_second_derivatives_are_named() -> None:
    rule = cp.Transition.from_vjp(lambda x, k: x, lambda x, ybar, k: ybar)
    with pytest.raises(UnsupportedOperationError, match="step 1 is"):
        cp.hvp_sweep(cp.Chain([step, rule, energy]), X0, V, schedule=cp.StoreAll())

    def declared(x: Any, k: int) -> Any:
        u = dc.value(x[0])
        y = dc.submapnode([x[0]], [np.sin(u)], [[np.cos(u)]], [[1.0]])[0]
        return np.stack([y, x[1], x[2]])

    chain = cp.Chain([step, step, declared, energy])
    for schedule in SCHEDULES:
        with pytest.raises(UnsupportedOperationError, match=r"step 2: .*declares"):
            cp.hvp_sweep(chain, X0, V, schedule=schedule)


def test_errors_name_step_and_phase() -> None:
    def sink(x: Any, k: int) -> Any:
        return np.log(x) + 0.5

    chain = cp.Chain([cp.Chain.uniform(9, sink), lambda x, k: np.sum(x)])
    one = np.ones(1)
    for schedule, phase in (
        (cp.Revolve(slots=2), "advance"),
        (cp.StoreAll(), "record"),
    ):
        with pytest.raises(DomainError) as caught:
            cp.hvp_sweep(chain, 0.9 * one, one, schedule=schedule)
        assert (caught.value.step, caught.value.phase) == (2, phase)

    def steep(x: Any, k: int) -> Any:
        return np.sin(1e120 * x)

    chain = cp.Chain([steep, steep, steep, energy])
    with pytest.raises(DomainError, match="tangent") as caught:
        cp.hvp_sweep(chain, X0, V, schedule=cp.StoreAll())
    assert (caught.value.step, caught.value.phase) == (2, "record")
    with pytest.raises(DomainError, match="gradient is not finite") as caught:
        cp.hvp_sweep(chain, X0, 0 * V, schedule=cp.StoreAll())
    assert (caught.value.step, caught.value.phase) == (0, "reverse")


class Killed(KeyboardInterrupt):
    """Stands for a kill."""


def test_a_killed_sweep_resumes_to_the_same_bits(tmp_path: Path) -> None:
    schedule, p = cp.Revolve(slots=1), np.array([0.3, 0.7])

    def scaled(x: Any, q: Any, k: int) -> Any:
        return x + q[0] * np.sin(q[1] * x)

    def last(x: Any, q: Any, k: int) -> Any:
        return np.sum(x**2)

    chain = cp.Chain([scaled, scaled, scaled, last])
    options = {"params": p, "params_v": np.array([1.0, -1.0]), "schedule": schedule}
    expected = cp.hvp_sweep(chain, X0, V, **options)  # type: ignore[arg-type]
    for at in (2, 5, 8, 11):
        seen = 0

        def kill(event: Any) -> None:
            nonlocal seen
            seen += 1
            if seen == at:  # noqa: B023 - called in this turn of the loop
                raise Killed

        folder = tmp_path / str(at)
        disk = cp.DiskStorage(folder, journal_seconds=0)
        with pytest.raises(Killed):
            cp.hvp_sweep(chain, X0, V, storage=disk, on_event=kill, **options)  # type: ignore[arg-type]
        found = cp.resume(folder, chain, params=p)
        assert found.value == expected.value
        for name in ("gradient", "hvp", "params_gradient", "params_hvp"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert found.report.executed == expected.report.executed


def test_the_result_prints() -> None:
    assert repr(cp.hvp_sweep(CHAIN, X0, V, schedule=cp.StoreAll())).startswith(
        "ChainHvp: value="
    )
