"""Building and walking a checkpoint schedule, beside checkpoint-schedules' own."""

from __future__ import annotations

import time
from collections import deque
from math import comb
from statistics import median
from typing import TYPE_CHECKING, Any

from derivative_covers import checkpoint

from . import _pyrevolve
from ._peers import module
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "schedules"
LIMIT = 0.28  # 0.4 microseconds an action where checkpoint-schedules takes 1.4
HUGE = 2**63 - 1


def _walk(actions: Any) -> None:
    deque(actions, maxlen=0)


def _actions(peer: Any, slots: int, steps: int) -> Iterator[Any]:
    """The peer's optimal schedule, to the end of its only reverse sweep."""
    last = peer.EndReverse
    for action in peer.MultistageCheckpointSchedule(steps, slots, 0):
        if type(action) is last:
            return
        yield action


def _unrecorded(peer: Any, slots: int, steps: int) -> int:
    return sum(
        action.n1 - action.n0
        for action in _actions(peer, slots, steps)
        if type(action) is peer.Forward and not action.write_adj_deps
    )


def _least(slots: int, steps: int) -> int:
    """Griewank and Walther's count of unrecorded evaluations."""
    t = 0
    while comb(slots + t, t) < steps:
        t += 1
    return t * steps - comb(slots + t, t - 1) if t else 0


def _speed(steps: int, slots: int, rounds: int) -> Iterator[Row]:
    peer = module("checkpoint_schedules")
    schedule = checkpoint.Revolve(slots=slots)
    n = sum(1 for _ in schedule.plan(steps))
    calls = [lambda: _walk(schedule.plan(steps))]
    if peer:
        calls.append(lambda: _walk(_actions(peer, slots, steps)))
    ours, *others = interleaved(calls, rounds)
    each = [s / n * 1e6 for s in ours.seconds]
    note = f"{n} actions, least {min(each):.3g}, quartiles {spread(each)}"
    what = f"build and walk Revolve, an action, {slots} slots"
    yield Row(ITEM, what, median(each), "us", n=steps, note=note)
    what = f"the same, over checkpoint-schedules, {slots} slots"
    if not others:
        note = "checkpoint-schedules is missing"
        yield Row(ITEM, what, None, target=LIMIT, n=steps, note=note)
        return
    count = sum(1 for _ in _actions(peer, slots, steps))
    theirs = others[0]
    a_call = ours.over(theirs)
    a_step = [r * count / n for r in a_call]
    note = (
        f"its {count} actions take {theirs.median / count * 1e6:.3g} us each; "
        f"whole walks {median(a_call):.3g}, quartiles {spread(a_step)}"
    )
    yield Row(ITEM, what, median(a_step), target=LIMIT, n=steps, note=note)
    planned = schedule.plan(steps).cost.unrecorded
    note = f"{planned} unrecorded evaluations"
    what = f"evaluations, over checkpoint-schedules, {slots} slots"
    ratio = planned / _unrecorded(peer, slots, steps)
    yield Row(ITEM, what, ratio, target=1.0, n=steps, note=note)


def _costs(sizes: tuple[int, ...]) -> Iterator[Row]:
    """Planned evaluations over the least possible, and the time to plan and predict."""
    for slots in (10, 100):
        for steps in (*sizes, HUGE):
            start = time.perf_counter()
            cost = checkpoint.Revolve(slots=slots).plan(steps).cost
            seconds = time.perf_counter() - start
            ratio = cost.unrecorded / _least(slots, steps)
            what = f"planned evaluations over the least, {slots} slots"
            note = f"{cost.unrecorded} in {seconds * 1e3:.3g} ms"
            yield Row(ITEM, what, ratio, target=1.0, n=steps, note=note)
            what = f"plan and predict, {slots} slots"
            yield Row(ITEM, what, seconds * 1e3, "ms", 50.0, n=steps)


def rows(*, quick: bool, full: bool = False) -> Iterator[Row]:
    """Time an action, evaluations, the time that a prediction takes, whole sweeps."""
    sizes = (1_000,) if quick else (1_000, 10_000, 100_000)
    for steps in sizes if full else sizes[:2]:
        for slots in (10, 100):
            yield from _speed(steps, slots, 3 if quick else 7)
    yield from _costs(sizes if quick else (*sizes, 1_000_000))
    yield from _pyrevolve.rows(ITEM, 200 if quick else 1_000, 3 if quick else 7)
