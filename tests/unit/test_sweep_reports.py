"""What a sweep reports: counts, work and bytes against what it did and the bounds."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Binomial,
    Chain,
    DiskStorage,
    Revolve,
    StoreAll,
    SweepReport,
    Transition,
    TwoLevel,
    UniformBlock,
    reverse_sweep,
    validate,
)

N = 100
STEPS = 37
SCHEDULES = [
    StoreAll(),
    UniformBlock(slots=4),
    UniformBlock(slots=4, record="block"),
    Binomial(slots=3, replays=None),
    Binomial(slots=4, replays=9),
    Revolve(slots=3),
    TwoLevel(memory=2, disk=4),
]


class Watched:
    """A chain of reverse rules that counts its own calls and live states."""

    def __init__(self) -> None:
        self.calls: Counter[int] = Counter()
        self.rules: list[int] = []
        step = Transition.from_vjp(self.forward, self.rule)
        last = Transition.from_vjp(self.end, self.end_rule)
        self.chain = Chain([Chain.uniform(STEPS - 1, step), last])

    def forward(self, x: Any, k: int) -> Any:
        self.calls[k] += 1
        return x * 0.5

    def rule(self, x: Any, ybar: Any, k: int) -> Any:
        self.rules.append(k)
        return ybar * 0.5

    def end(self, x: Any, k: int) -> Any:
        self.calls[k] += 1
        return np.sum(x)

    def end_rule(self, x: Any, ybar: Any, k: int) -> Any:
        self.rules.append(k)
        return np.full(N, ybar)


@pytest.fixture(params=SCHEDULES, ids=repr)
def schedule(request: Any) -> Any:
    return request.param


def run(
    schedule: Any, chain: Chain, tmp_path: Any, x0: Any = None, **options: Any
) -> SweepReport:
    storage = DiskStorage(tmp_path) if isinstance(schedule, TwoLevel) else None
    x0 = np.ones(N) if x0 is None else x0
    result = reverse_sweep(chain, x0, schedule=schedule, storage=storage, **options)
    return result.report


def test_counts_are_those_of_the_calls(schedule: Any, tmp_path: Any) -> None:
    watched = Watched()
    report = run(schedule, watched.chain, tmp_path)
    calls = watched.calls
    assert watched.rules == list(range(STEPS - 1, -1, -1))
    done = report.executed
    assert done == report.predicted == schedule.plan(STEPS).cost
    assert done == validate(schedule.plan(STEPS))
    assert done.unrecorded + done.recorded == sum(calls.values())
    assert done.recorded == STEPS
    assert done.max_replays == max(calls.values()) - 1


def test_work_of_reverse_rules_counts_evaluations(schedule: Any, tmp_path: Any) -> None:
    work = run(schedule, Watched().chain, tmp_path).work
    cost = schedule.plan(STEPS).cost
    assert (work.forward, work.reverse) == (STEPS, STEPS)
    assert work.unrecorded == cost.unrecorded
    assert work.total == cost.unrecorded + 2 * STEPS
    assert work.bound == 2 * STEPS + cost.max_replays * STEPS
    assert work.total <= work.bound


def test_work_of_tapes_counts_nodes(schedule: Any, tmp_path: Any) -> None:
    """Steps of different length, each weighted by how often it ran."""
    ran: Counter[int] = Counter()

    def f(x: Any, k: int) -> Any:
        ran[k] += 1
        for _ in range(k % 4):
            x = np.sin(x)
        return x * 0.5

    def last(x: Any, k: int) -> Any:
        ran[k] += 1
        return np.sum(x)

    report = run(schedule, Chain([Chain.uniform(9, f), last]), tmp_path)
    nodes = {k: N * (1 + k % 4) for k in range(9)} | {9: 1}
    assert report.work.forward == report.work.reverse == sum(nodes.values())
    assert report.work.unrecorded == sum((ran[k] - 1) * nodes[k] for k in nodes)
    assert report.work.total <= report.work.bound


def test_bytes_of_slots(schedule: Any, tmp_path: Any) -> None:
    report = run(schedule, Watched().chain, tmp_path)
    done = report.executed
    size = 8 * N
    saved = done.saves + done.disk_saves
    read = size * (done.restores + done.disk_restores)
    assert report.state_bytes == size
    if done.disk_saves:  # whole files, with their headers; each is read once
        assert done.disk_restores == done.disk_saves
        headers = report.bytes_written - size * saved
        assert report.bytes_read == read + headers
        assert report.bytes_written > saved * size
        assert report.peak_slot_bytes > done.peak_disk_slots * size
    else:
        assert report.bytes_read == read
        assert report.bytes_written == saved * size
        assert report.peak_slot_bytes == done.peak_slots * size


def test_the_bound_of_storage(schedule: Any, tmp_path: Any) -> None:
    report = run(schedule, Watched().chain, tmp_path)
    space, done = report.space, report.executed
    slots = done.peak_slots + done.peak_disk_slots
    size = 8 * N
    assert space.state == size
    assert space.fixed <= (done.peak_records + 1) * size
    assert space.bound == space.fixed + (slots + 1) * size
    assert slots * size <= space.peak <= space.bound


def test_the_bound_of_storage_with_states_of_many_sizes(
    schedule: Any, tmp_path: Any
) -> None:
    def f(x: Any, k: int) -> Any:
        return np.resize(x, 3 + (7 * k) % 11) * 0.5

    def rule(x: Any, ybar: Any, k: int) -> Any:
        xbar = np.zeros(x.size)
        np.add.at(xbar, np.arange(ybar.size) % x.size, 0.5 * ybar)
        return xbar

    step = Transition.from_vjp(f, rule)
    chain = Chain([Chain.uniform(20, step), lambda x, k: np.sum(x * x)])
    report = run(schedule, chain, tmp_path, np.ones(5))
    assert report.state_bytes == 8 * 13
    assert report.space.peak <= report.space.bound


def test_a_tape_is_weighed(tmp_path: Any) -> None:
    chain = Chain([lambda x, k: np.sin(x) * x] * 5 + [lambda x, k: np.sum(x)])
    small = run(Revolve(slots=2), chain, tmp_path, np.ones(10))
    large = run(Revolve(slots=2), chain, tmp_path, np.ones(1000))
    assert small.tape_bytes >= 3 * 80
    assert 3 * 8000 <= large.tape_bytes <= 30 * 8000
    assert large.space.fixed >= large.tape_bytes


def test_seconds(tmp_path: Any) -> None:
    seconds = run(Revolve(slots=3), Watched().chain, tmp_path).seconds
    assert all(s > 0.0 for s in seconds)
    assert sum(seconds) < 60.0
    none = run(StoreAll(), Watched().chain, tmp_path).seconds
    assert (none.advance, none.storage) == (0.0, 0.0)


def test_a_flag_counts_apart(tmp_path: Any) -> None:
    def f(x: Any, k: int) -> Any:
        return np.where(x > 0.0, np.log(x), x * 0.5)

    chain = Chain([f] * 12 + [lambda x, k: np.sum(x)])
    report = run(Revolve(slots=2), chain, tmp_path, -np.ones(4))
    assert report.rechecked == 12
    assert report.executed == report.predicted


def test_text_for_people(schedule: Any, tmp_path: Any) -> None:
    report = run(schedule, Watched().chain, tmp_path)
    text = str(report)
    done = report.executed
    assert f"{done.unrecorded} unrecorded" in text
    assert f"bound {report.work.bound}" in text
    assert ("on disk" in text) == (done.peak_disk_slots > 0)
    assert "PlanCost" in repr(report)


def test_no_steps(tmp_path: Any) -> None:
    report = run(Revolve(slots=3), Chain([]), tmp_path, 1.0)
    assert report.executed == report.predicted
    assert report.work.total == report.work.bound == 0


def test_nothing_is_kept_for_every_step() -> None:
    step = Transition.from_vjp(lambda x, k: x * 1.0, lambda x, ybar, k: ybar * 1.0)
    last = Transition.from_vjp(lambda x, k: x @ x, lambda x, ybar, k: 2 * ybar * x)

    def peak(steps: int) -> int:
        chain = Chain([Chain.uniform(steps, step), last])
        gc.collect()
        tracemalloc.start()
        reverse_sweep(chain, np.ones(2), schedule=Revolve(slots=30))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(200)
    least = min(peak(200) for _ in range(3))
    # A float a step would be more than the second.
    assert min(peak(5000) for _ in range(2)) < least + 4800 * 8 * 0.7


def test_a_result_prints_in_short() -> None:
    chain = Chain([Chain.uniform(3, lambda x, k: 2 * x), lambda x, k: np.sum(x)])
    found = reverse_sweep(chain, np.ones(100), schedule=StoreAll())
    title, head, first, *rest = repr(found).splitlines()
    assert title == "SweepResult: value=800"
    assert head.split() == ["cotangent"]
    assert first.endswith(" 8")
    assert "... 90 between" in rest
