"""Schedules of somebody else's, on the public machine and through the conformance check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from derivative_covers.checkpoint import (
    Action,
    Binomial,
    Plan,
    PlanCost,
    Revolve,
    Schedule,
    StoreAll,
    TwoLevel,
    UniformBlock,
    validate,
)
from derivative_covers.errors import InputTypeError, OptionError, ScheduleError
from derivative_covers.testing import ConformanceError, check_schedule


@dataclass(frozen=True)
class Powers(Schedule):
    """Halve every interval; its start stays in its slot while the right half is done."""

    label: str = "halves"

    def actions(self, steps: int) -> Iterator[Action]:
        waiting = [(0, steps, False)] if steps else []
        while waiting:
            a, n, saved = waiting.pop()
            if saved:
                yield Action("restore", a, a)
                yield Action("drop", a, a)
            if n == 1:
                yield Action("record", a, a + 1)
                yield Action("reverse", a, a + 1)
            else:
                half = n // 2
                yield Action("save", a, a)
                yield Action("advance", a, a + half)
                waiting += [(a, half, True), (a + half, n - half, False)]


@dataclass(frozen=True)
class Limited(Powers):
    """The same, for at most some steps, with a cost in closed form."""

    most: int = 64
    wrong: str = ""

    def check(self, steps):
        if steps > self.most:
            msg = f"{steps} steps; at most {self.most} are possible"
            raise ScheduleError(msg)

    def cost(self, steps):
        cost = super().cost(steps)
        return replace(cost, **{self.wrong: 99}) if self.wrong else cost


class Bare(Powers):
    """No dataclass of its own, and fields that JSON cannot hold."""


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 17, 64, 1000])
def test_a_third_party_plan_on_the_machine(steps):
    plan = Powers().plan(steps)
    cost = validate(plan)
    assert cost == plan.cost == validate(list(plan))
    assert cost.recorded == steps
    assert cost.max_replays <= steps.bit_length()
    walk = plan.walk()
    assert list(walk) == list(plan)
    assert walk.frames == cost.frames


@pytest.mark.parametrize(
    "schedule",
    [
        Powers(),
        Limited(),
        Bare(),
        StoreAll(),
        UniformBlock(3),
        UniformBlock(4, record="block"),
        Binomial(3),
        Binomial(2, replays=5),
        Revolve(0),
        Revolve(3),
        TwoLevel(memory=2, disk=3),
    ],
)
def test_good_schedules_conform(schedule):
    check_schedule(schedule)


def test_json_of_a_third_party():
    plan = Limited(most=30).plan(20)
    text = plan.to_json()
    assert Plan.from_json(text, schedules=[Limited]) == plan
    with pytest.raises(ScheduleError, match="schedules="):
        Plan.from_json(text)
    with pytest.raises(ScheduleError, match="at most 30"):
        Plan.from_json(text.replace('"steps": 20', '"steps": 31'), schedules=[Limited])
    with pytest.raises(InputTypeError, match="subclasses of Schedule"):
        Plan.from_json(text, schedules=[dict])


@dataclass(frozen=True)
class Listed(Schedule):
    """Actions by heart, a fault among them perhaps."""

    known: tuple[Action, ...] = ()

    def actions(self, steps):
        return iter(self.known if steps == 2 else Powers().actions(steps))


def test_json_that_cannot_be_written():
    with pytest.raises(ScheduleError, match="cannot be written as JSON"):
        Listed((Action("record", 0, 1),)).plan(2).to_json()


def test_a_faulty_plan_names_the_action():
    plan = Listed((Action("record", 0, 1), Action("reverse", 0, 2))).plan(2)
    with pytest.raises(
        ScheduleError, match=r"action 1, .*needs the records of steps 0 \.\. 1"
    ):
        validate(plan)


@dataclass(frozen=True)
class Broken(Powers):
    """A subclass with one fault."""

    fault: str = ""

    def plan(self, steps):
        if self.fault == "accepts all" and not isinstance(steps, str):
            return super().plan(abs(int(steps or 0)))
        if self.fault == "crashes" and steps == 3:
            return 1 // 0
        if self.fault == "refuses all":
            msg = "no"
            raise ScheduleError(msg)
        if self.fault == "no plan" and steps == 2:
            return list(self.actions(2))
        return super().plan(steps)

    def actions(self, steps):
        actions = super().actions(steps)
        if self.fault == "forgets" and steps > 2:
            return iter(list(actions)[:-1])
        if self.fault == "grows" and steps == 2:
            count = self.__dict__.setdefault("seen", [])
            count.append(1)
            if len(count) % 2:
                return StoreAll().actions(2)
        return actions


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        (Limited(wrong="unrecorded"), "predicts unrecorded = 99"),
        (Limited(wrong="saves"), "predicts saves = 99"),
        (Limited(wrong="frames"), "predicts frames = 99"),
        (Limited(wrong="peak_records"), "predicts peak_records = 99"),
        (Broken(fault="accepts all"), "plan(-1) gives"),
        (Broken(fault="crashes"), "plan(3) raises ZeroDivisionError"),
        (Broken(fault="refuses all"), "refuses all of the steps"),
        (Broken(fault="no plan"), "gives a list, not a Plan"),
        (Broken(fault="forgets"), "at its end, the cotangent"),
        (Broken(fault="grows"), "other actions when it is iterated again"),
        (Listed((Action("record", 0, 2),)), "plan(2)"),
    ],
)
def test_faults_are_found(schedule, says):
    with pytest.raises(ConformanceError) as caught:
        check_schedule(schedule)
    assert any(says in fault for fault in caught.value.faults), caught.value


def test_a_cost_that_is_none():
    class Costless(Powers):
        def cost(self, steps):
            return None

    with pytest.raises(ConformanceError, match="no PlanCost"):
        check_schedule(Costless(), steps=[3])


def test_the_machine_holds_a_plan_against_its_cost():
    plan = Limited(wrong="restores").plan(5)
    assert plan.cost.restores == 99
    with pytest.raises(ScheduleError, match="predicts PlanCost"):
        validate(plan)
    assert isinstance(validate(iter(plan)), PlanCost)


def test_what_cannot_be_checked():
    with pytest.raises(InputTypeError, match="a Schedule is needed"):
        check_schedule(Revolve)
    with pytest.raises(OptionError, match="steps is empty"):
        check_schedule(Revolve(2), steps=[])
