"""Covers along a chain that carry facts forward; storages and resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import checkpoint as cp
from tests._chain_steps import SCHEDULES, X0, assert_same, clock, energy, step, whole


def twice(x: Any, k: int) -> Any:
    y = np.sin(x[0])
    return np.stack([y, y, x[1] * x[2]])


def dead(x: Any, k: int) -> Any:
    return np.stack([x[0] * x[1], 0.0 * x[1], x[2] + x[0]])


def vanish(x: Any, k: int) -> Any:
    return np.stack([x[0] - x[0].copy() if k else x[0] - 0.4, x[1], x[2]]) * x[::-1]


@pytest.mark.parametrize("special", [clock, twice, dead, vanish])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_what_needs_carrying_is_carried_and_bit_for_bit(
    special: Any, schedule: Any
) -> None:
    def product(x: Any, k: int) -> Any:
        return x[0] * x[1] + x[1] * x[2] ** 2

    chain = cp.Chain(
        [cp.Transition.taped(f, numpy=None) for f in (step, special, step, special)]
        + [cp.Transition.taped(product)]
    )
    one = dc.cover_hessian(whole(chain), X0, scales=[2.0, 0.5, 4.0])
    scales = np.array([2.0, 0.5, 4.0])
    found = cp.cover_sweep(chain, X0, schedule=schedule, scales=scales)
    assert_same(found, one)
    report = found.report
    assert report.carried
    assert report.executed == report.predicted
    assert isinstance(report.abandoned, cp.PlanCost)
    assert 0 < report.abandoned.evaluations <= report.executed.evaluations
    assert "given up" in str(report)
    at_once = cp.cover_sweep(
        chain, X0, schedule=schedule, scales=scales, carry="always"
    )
    assert_same(at_once, one)
    assert at_once.report.abandoned is None


def test_a_parameter_in_the_state() -> None:
    def keep(x: Any, p: Any, k: int) -> Any:
        return np.stack([x[0] * p[1], p[0], x[1]])

    def product(x: Any, p: Any, k: int) -> Any:
        return x[0] * x[1] * x[2] * p[0]

    p = np.array([1.5, 0.7])
    chain = cp.Chain([keep, keep, product])
    found = cp.cover_sweep(chain, X0, params=p, schedule=cp.Revolve(slots=2))
    one = dc.cover_hessian(whole(chain), (X0, p))
    assert found.report.carried
    np.testing.assert_array_equal(found.h, one.h[0])
    np.testing.assert_array_equal(found.params_h, one.h[1])


def test_a_constant_operand_permits_what_a_variable_does_not() -> None:
    def power(x: Any, k: int) -> Any:
        return np.stack([x[0], np.array(3.0)])

    def raised(x: Any, k: int) -> Any:
        return x[0] ** x[1] + x[0]

    chain = cp.Chain([power, raised])
    x0 = np.array([0.0, 1.0])
    found = cp.cover_sweep(chain, x0, schedule=cp.StoreAll())
    assert_same(found, dc.cover_hessian(whole(chain), x0))
    assert found.report.carried


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_a_flag_that_a_constant_sets_is_no_error(schedule: Any) -> None:
    def table(x: Any, k: int) -> Any:
        return np.stack([x[0] * x[1], x[1], np.array(0.0)])

    def use(x: Any, k: int) -> Any:
        return np.stack([x[0] + x[1] / (1 + 1 / x[2]), x[1] * x[0], np.array(0.0)])

    chain = cp.Chain([table, use, use, use, lambda x, k: x[0] * x[1]])
    found = cp.cover_sweep(chain, X0, schedule=schedule)
    assert found.report.carried
    with np.errstate(divide="ignore"):
        assert_same(found, dc.cover_hessian(whole(chain), X0))


def test_constants_may_be_read_as_plain_numbers() -> None:
    def count(x: Any, k: int) -> Any:
        return (np.sin(x[0]), np.float64(k + 2.0))

    def use(x: Any, k: int) -> Any:
        total = x[0]
        for _ in range(int(x[1])):
            total = total * x[0]
        return total

    chain = cp.Chain([count, use])
    x0 = (np.array(0.7), np.array(0.0))
    found = cp.cover_sweep(chain, x0, schedule=cp.StoreAll())
    assert found.h[0] ** 2 >= abs(dc.hessian(lambda t: np.sin(t) ** 3, 0.7))
    assert found.h[1] == 0


def test_a_first_step_that_asks_needs_no_carrying() -> None:
    chain = cp.Chain([lambda x, k: x[0] * x[1]])
    x0, scales = np.array([0.0, 2.0]), np.array([4.0, 1.0])
    found = cp.cover_sweep(chain, x0, schedule=cp.StoreAll(), scales=scales)
    assert found.asked
    assert not found.report.carried
    assert_same(found, dc.cover_hessian(whole(chain), x0, scales=scales))


def test_scales_that_overflow_where_nobody_asks_are_no_error() -> None:
    def spread(x: Any, k: int) -> Any:
        difference = x[0] if k else x[0] - x[1]
        return np.stack([1e200 * difference, x[1], x[2], np.array(1.0)])

    x0 = np.array([1.0, 1.0, 0.3])
    chain = cp.Chain([spread, spread, lambda x, k: np.sum(x[1:] ** 2)])
    found = cp.cover_sweep(chain, x0, schedule=cp.UniformBlock(slots=2))
    assert found.report.carried
    assert_same(found, dc.cover_hessian(whole(chain), x0))


@pytest.mark.parametrize("carry", ["auto", "always"])
def test_a_result_that_depends_on_nothing_is_refused(carry: Any) -> None:
    chain = cp.Chain([step, lambda x, k: np.array([1.0, 2.0]), lambda x, k: x @ x])
    with pytest.raises(dc.errors.ConstantProgramError):
        dc.cover_hessian(whole(chain), X0)
    with pytest.raises(dc.errors.ConstantProgramError, match="step 2"):
        cp.cover_sweep(chain, X0, schedule=cp.Revolve(slots=1), carry=carry)


# Storages, resuming --------------------------------------------------------------------


def test_it_leaves_every_storage_empty(tmp_path: Path) -> None:
    chain = cp.Chain([step, clock, step, clock, energy])
    memory = cp.MemoryStorage()
    disk = cp.DiskStorage(tmp_path / "d", journal_seconds=0)
    two = cp.DiskStorage(tmp_path / "t", journal_seconds=0)
    one = dc.cover_hessian(whole(chain), X0)
    for schedule, storage in (
        (cp.Revolve(slots=2), memory),
        (cp.Revolve(slots=2), disk),
        (cp.TwoLevel(memory=1, disk=2), two),
    ):
        found = cp.cover_sweep(
            chain, X0, schedule=schedule, storage=storage, verify="fingerprint"
        )
        assert_same(found, one)
        assert found.report.carried
        assert len(storage) == 0
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


class Killed(KeyboardInterrupt):
    """Stands for a kill."""


@pytest.mark.parametrize("third", [step, clock], ids=["plain", "carried"])
def test_a_killed_sweep_resumes_to_the_same_bits(tmp_path: Path, third: Any) -> None:
    chain = cp.Chain([step, third, step, step, energy])
    schedule = cp.Revolve(slots=2)
    scales = np.array([2.0, 1.0, 0.25])
    whole_result = cp.cover_sweep(chain, X0, schedule=schedule, scales=scales)
    total = 0

    def count(event: Any) -> None:
        nonlocal total
        total += 1

    cp.cover_sweep(chain, X0, schedule=schedule, scales=scales, on_event=count)
    resumed = 0
    for at in range(1, total, 2):
        seen = 0

        def kill(event: Any) -> None:
            nonlocal seen
            seen += 1
            if seen == at:  # noqa: B023 - called in this turn of the loop
                raise Killed

        folder = tmp_path / str(at)
        disk = cp.DiskStorage(folder, journal_seconds=0)
        with pytest.raises(Killed):
            cp.cover_sweep(
                chain,
                X0,
                schedule=schedule,
                scales=scales,
                storage=disk,
                on_event=kill,
            )
        found = cp.resume(folder, chain)
        resumed += 1
        assert found.value == whole_result.value
        np.testing.assert_array_equal(found.gradient, whole_result.gradient)
        np.testing.assert_array_equal(found.h, whole_result.h)
        assert found.asked == whole_result.asked
        assert found.report.executed == whole_result.report.executed
        assert found.report.abandoned == whole_result.report.abandoned
        assert not [p for p in folder.rglob("*") if p.is_file()]
    assert resumed > 5
