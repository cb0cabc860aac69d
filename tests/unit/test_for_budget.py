"""The schedule with the least evaluations that fits a memory, against all of them."""

from __future__ import annotations

import random
import re
import time
from fractions import Fraction

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    PlanCost,
    Revolve,
    StoreAll,
    TwoLevel,
    UniformBlock,
    for_budget,
)
from derivative_covers.errors import InputTypeError, ScheduleError


def everything(steps, disk):
    yield StoreAll()
    for m in range(1, steps + 1):
        yield UniformBlock(m, record="block")
    for d in range(max(1, steps)):
        yield Revolve(d)
        if disk is not None:
            for m in range(1, steps + 1):
                yield TwoLevel(d, m)


def costs(steps, state, disk):
    for schedule in everything(steps, disk):
        try:
            cost = schedule.plan(steps).cost
        except ScheduleError:
            continue
        if disk is None or cost.peak_disk_slots * state <= disk:
            yield cost


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_best_of_all(seed):
    rng = random.Random(seed)
    for _ in range(10):
        disk = rng.choice([None, rng.randint(0, 40)])
        steps = rng.randint(0, 40 if disk is None else 14)
        state, tape = rng.randint(0, 5), rng.randint(0, 9)
        memory = rng.randint(0, 80)
        all_costs = list(costs(steps, state, disk))
        fitting = [c for c in all_costs if c.memory(state, tape) <= memory]
        if fitting:
            found = for_budget(steps, state, tape, memory, disk_bytes=disk)
            cost = found.plan(steps).cost
            assert cost.memory(state, tape) <= memory
            assert cost.peak_disk_slots * state <= (disk or 0)
            assert cost.evaluations == min(c.evaluations for c in fitting)
        else:
            least = min(c.memory(state, tape) for c in all_costs)
            with pytest.raises(ScheduleError, match=f"would do is {least} bytes"):
                for_budget(steps, state, tape, memory, disk_bytes=disk)


def test_everything_fits_a_large_memory():
    assert for_budget(100, 8, 80, 8 + 8000) == StoreAll()
    assert for_budget(100, 8, 80, 8 + 7999) != StoreAll()
    assert for_budget(0, 8, 80, 8) == StoreAll()


def test_large_records_ask_for_revolve():
    found = for_budget(10_000, 10**6, 10**7, 10**8)
    assert found == Revolve(slots=89)
    assert found.plan(10_000).cost.memory(10**6, 10**7) == 10**8


def test_small_records_ask_for_blocks():
    found = for_budget(10_000, 10**6, 10**6, 300 * 10**6)
    assert isinstance(found, UniformBlock)
    assert found.record == "block"
    assert found.plan(10_000).cost.memory(10**6, 10**6) <= 300 * 10**6
    assert found.plan(10_000).cost.unrecorded < 10_000


def test_disk_is_used_only_where_asked():
    alone = for_budget(10_000, 10**6, 10**7, 5 * 10**7)
    assert alone == Revolve(39)
    both = for_budget(10_000, 10**6, 10**7, 5 * 10**7, disk_bytes=10**9)
    assert isinstance(both, TwoLevel)
    cost = both.plan(10_000).cost
    assert cost.unrecorded < alone.plan(10_000).cost.unrecorded
    assert cost.peak_disk_slots <= 1000


def test_the_least_memory_that_would_do_does():
    for disk in (None, 10**9):
        with pytest.raises(ScheduleError) as caught:
            for_budget(1000, 100, 7, 50, disk_bytes=disk)
        least = int(re.search(r"would do is (\d+) bytes", str(caught.value))[1])
        assert least == (207 if disk is None else 107)
        for_budget(1000, 100, 7, least, disk_bytes=disk).plan(1000)
        with pytest.raises(ScheduleError):
            for_budget(1000, 100, 7, least - 1, disk_bytes=disk)


@pytest.mark.parametrize("steps", [10**6, 2**63 - 1, 2**63, 2**200])
@pytest.mark.parametrize("disk", [None, 10**13])
def test_huge_chains(steps, disk):
    root = int(steps**0.5)
    for state, tape, memory in (
        (1, 1, 2 * root + 3),
        (1, 1, 3 * root),
        (1000, 1, 64 * root),
        (10**6, 10**6, 10**9),
        (8, 10**6, 10**9),
    ):
        began = time.process_time()
        found = for_budget(steps, state, tape, memory, disk_bytes=disk)
        assert time.process_time() - began < 2  # a tenth on an idle machine
        assert found.plan(steps).cost.memory(state, tape) <= memory


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("bad", [True, 1.5, "10", None])
def test_arguments_must_be_integers(place, bad):
    arguments = [10, 8, 8, 1000]
    arguments[place] = bad
    with pytest.raises(InputTypeError):
        for_budget(*arguments)
    arguments[place] = -1
    with pytest.raises(ScheduleError, match="0 or more"):
        for_budget(*arguments)


def test_bytes_on_disk_must_be_an_integer():
    with pytest.raises(InputTypeError, match="disk_bytes"):
        for_budget(10, 8, 8, 1000, disk_bytes=0.5)
    with pytest.raises(ScheduleError, match="disk_bytes"):
        for_budget(10, 8, 8, 1000, disk_bytes=-1)


@pytest.mark.parametrize("kind", [float, np.float32, np.int64, Fraction])
def test_bytes_may_be_floats_that_are_whole_numbers(kind):
    sizes = [1024, 4096, 2**20]
    found = for_budget(1000, *map(kind, sizes), disk_bytes=kind(2**24))
    assert found == for_budget(1000, *sizes, disk_bytes=2**24)


@pytest.mark.parametrize("bad", [8.5, np.nan, np.inf, -np.inf])
def test_other_floats_are_no_bytes(bad):
    with pytest.raises(InputTypeError, match="memory_bytes is"):
        for_budget(1000, 8, 8, bad)


def test_bytes_with_a_unit_are_told_how_to_be_written():
    with pytest.raises(
        InputTypeError, match=r"'8MB'; a number of bytes .* such as 8e6"
    ):
        for_budget(1000, 8, 8, "8MB")


def test_memory_of_a_cost():
    cost = PlanCost(peak_slots=3, peak_records=2)
    assert cost.memory(10, 7) == cost.memory(10.0, 7.0) == 54
    assert cost.memory(10) == 40
    with pytest.raises(InputTypeError):
        cost.memory(10.5)
    with pytest.raises(ScheduleError):
        cost.memory(10, -1)
