"""A sweep that nobody watches does, and says, what one does that tells of every action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Action,
    Binomial,
    DiskStorage,
    MemoryStorage,
    PlanCost,
    Revolve,
    Schedule,
    StoreAll,
    UniformBlock,
    validate,
)
from derivative_covers.checkpoint.execution import _execute
from derivative_covers.checkpoint.execution._execute import Execution
from derivative_covers.checkpoint.execution._gradient import GradientMode
from tests.laws._noting_programs import (
    PROGRAMS,
    STEPS,
    VECTOR,
    Program,
    noted,
    plainly,
)

SCHEDULES = [
    StoreAll(),
    UniformBlock(slots=3),
    UniformBlock(slots=3, record="block"),
    Binomial(slots=3, replays=None),
    Revolve(slots=1),
    Revolve(slots=3),
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_calls_bits_counts_and_errors(name: str) -> None:
    for schedule in SCHEDULES:
        heard = PROGRAMS[name]().outcome(schedule, on_event=lambda event: None)
        for storage in (None, MemoryStorage()):
            quiet = PROGRAMS[name]().outcome(schedule, storage=storage)
            assert quiet == heard, (schedule, storage)


class Listed(Schedule):
    """A third party's schedule, right or wrong."""

    def __init__(self, actions: list[Any], cost: PlanCost) -> None:
        self.listed, self.believed = actions, cost

    def actions(self, steps: int) -> Iterator[Any]:
        return iter(self.listed)

    def cost(self, steps: int) -> PlanCost:
        return self.believed


def spoilt(actions: list[Any]) -> Iterator[list[Any]]:
    """Each action left out, done twice, done too early, or changed a little."""
    for k, action in enumerate(actions):
        rest = actions[:k], actions[k + 1 :]
        yield [*rest[0], *rest[1]]
        yield [*rest[0], action, *actions[k:]]
        yield [*actions[: k - 1], action, *actions[k - 1 : k], *rest[1]]
        kind, start, stop, level = action
        for other in (
            Action(kind, start + 1, stop, level),
            Action(kind, start, stop + 1, level),
            Action(kind, start, stop + 2, level),
            Action(kind, start, stop, "disk"),
            Action("save", stop, stop),
            Action("restore", 0, 0),
            (kind, start, stop, level),
            Action(kind, np.int64(start), stop, level),
            (kind, start),
            None,
        ):
            yield [*rest[0], other, *rest[1]]
        if kind == "restore":
            more = Action("record", start, start + 1), Action("reverse", start, 6)
            yield [*rest[0], action, *more, *rest[1]]


def wandering(rng: np.random.Generator, steps: int) -> Iterator[Action]:
    """A right plan, whatever it is good for."""
    live: int | None = 4
    cotangent, slots, records = steps, {0}, set[int]()
    ahead = rng.integers(2)  # whether steps are recorded long before they are reversed
    yield Action("save", 0, 0)
    for k in range(4):
        yield Action("advance", k, k + 1)
        yield Action("save", k + 1, k + 1)
    for k in range(4):
        yield Action("drop", k + 1, k + 1)
    while cotangent:
        choice = rng.integers(8)
        if cotangent - 1 in records and choice < 4:
            cotangent, live = cotangent - 1, None
            records.remove(cotangent)
            yield Action("reverse", cotangent, cotangent + 1)
        elif live is None or choice == 0:
            live = int(rng.choice([k for k in slots if k <= cotangent]))
            yield Action("restore", live, live)
        elif choice == 1 and live not in slots:
            slots.add(live)
            yield Action("save", live, live)
        elif choice == 2 and (slots - {0}):
            k = int(rng.choice(list(slots - {0})))
            slots.remove(k)
            yield Action("drop", k, k)
        elif (
            live < cotangent
            and choice < 6
            and live not in records
            and (ahead or live == cotangent - 1)
        ):
            records.add(live)
            yield Action("record", live, live + 1)
            live += 1
        elif live < cotangent:
            start, live = live, int(rng.integers(live, cotangent)) + 1
            yield Action("advance", start, live)
    for k in slots:
        yield Action("drop", k, k)


def test_right_plans_of_others() -> None:
    rng = np.random.default_rng(20)
    for _ in range(30):
        actions = list(wandering(rng, STEPS))
        cost = validate(actions, steps=STEPS)
        listed = Listed(actions, cost)
        for name in (
            "vector",
            "pair",
            "parameters",
            "another space on the way",
            "a smaller space",
        ):
            quiet = PROGRAMS[name]().outcome(listed, storage=None)
            heard = PROGRAMS[name]().outcome(listed, on_event=lambda event: None)
            assert quiet == heard, actions
            assert len(quiet) == 4  # no error


def test_wrong_plans_of_others() -> None:
    plan = Revolve(slots=2).plan(7)
    for actions in spoilt(list(plan)):
        listed = Listed(actions, plan.cost)
        quiet = Program(VECTOR).outcome(listed, 7, storage=None)
        heard = Program(VECTOR).outcome(listed, 7, on_event=lambda event: None)
        assert quiet == heard, actions


@pytest.mark.parametrize(
    "name", ["vector", "number", "pair", "single precision", "parameters"]
)
def test_quiet_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        pytest.fail("an action was told to the executor")

    for kind in ("advance", "save", "restore", "drop"):
        monkeypatch.setattr(Execution, f"_{kind}", refused)
    program = PROGRAMS[name]()
    value = noted(plainly(program.x0))
    assert program.outcome(Revolve(slots=3))[0] == value
    monkeypatch.setattr(GradientMode, "reverse", only_the_last(GradientMode.reverse))
    assert program.outcome(StoreAll())[0] == value


def only_the_last(reverse: Any) -> Any:
    def run(mode: GradientMode, record: Any, k: int) -> None:
        assert k == STEPS - 1, "a step of a block was reversed by itself"
        reverse(mode, record, k)

    return run


def test_whoever_watches_hears_of_every_action(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Program(VECTOR).outcome(Revolve(slots=3))

    def refused(*_: Any) -> None:
        pytest.fail("nobody hears of an action")

    monkeypatch.setattr(_execute, "quiet", refused)
    for options in (
        {"on_event": lambda event: None},
        {"verify": "fingerprint"},
        {"storage": DiskStorage(tmp_path)},
    ):
        heard = Program(VECTOR).outcome(Revolve(slots=3), **options)
        assert heard[:2] == found[:2]
