"""Schedules as data: limits, wrong input, equality, JSON, huge chains, speed of planning."""

from __future__ import annotations

import json
import pickle
import time
from itertools import islice, pairwise

import numpy as np
import pytest

from derivative_covers.checkpoint import (
    Action,
    Binomial,
    Plan,
    PlanCost,
    Revolve,
    StoreAll,
    TwoLevel,
    UniformBlock,
    capacity,
    validate,
)
from derivative_covers.errors import InputTypeError, OptionError, ScheduleError

HUGE = (2**63 - 1, 2**63, 2**63 + 1, 2**200)


def all_of(d):
    return [
        StoreAll(),
        UniformBlock(d),
        UniformBlock(d, record="block"),
        Binomial(d),
        Revolve(d),
        TwoLevel(memory=d, disk=3),
        TwoLevel(memory=2, disk=d),
    ]


def words(plan):
    return [f"{a.kind} {a.start}:{a.stop}" for a in plan]


@pytest.mark.parametrize("d", range(1, 13))
def test_every_plan_reverses_its_chain_at_its_predicted_cost(d):
    schedules = [s for s in all_of(d) if d == 1 or s != StoreAll()]
    schedules[-2:] = [TwoLevel(memory=d, disk=1 + d // 2)]
    for steps in range(201):
        for schedule in schedules:
            plan = schedule.plan(steps)
            counted = validate(plan)
            assert counted == plan.cost, (schedule, steps)
            assert counted.recorded == steps
            assert (
                counted.frames == 1 + counted.peak_slots + counted.peak_disk_slots
                or (not steps)
            )


def test_a_plain_iterable_is_counted_like_its_plan():
    for schedule in all_of(3):
        for steps in (0, 1, 5, 23):
            plan = schedule.plan(steps)
            assert validate(list(plan)) == plan.cost
            assert validate(iter(plan), steps=steps) == plan.cost


def test_walk_counts_intervals_while_it_goes():
    walk = Revolve(3).plan(20).walk()
    seen = [walk.frames for _ in walk]
    assert seen == sorted(seen)
    assert seen[-1] == walk.frames == 4


@pytest.mark.parametrize("schedule", all_of(4))
def test_no_steps_do_nothing(schedule):
    plan = schedule.plan(0)
    assert list(plan) == []
    assert plan.cost == PlanCost()


def test_uniform_blocks_step_by_step():
    assert words(UniformBlock(2).plan(3)) == [
        *("save 0:0", "advance 0:2", "save 2:2", "advance 2:3"),
        *("restore 2:2", "record 2:3", "reverse 2:3", "drop 2:2"),
        *("restore 0:0", "advance 0:1", "record 1:2", "reverse 1:2"),
        *("restore 0:0", "record 0:1", "reverse 0:1", "drop 0:0"),
    ]
    assert words(UniformBlock(2, record="block").plan(3)) == [
        *("save 0:0", "advance 0:2", "record 2:3", "reverse 2:3"),
        *("restore 0:0", "drop 0:0", "record 0:2", "reverse 0:2"),
    ]


def test_binomial_releases_the_slot_and_saves_again():
    assert words(Binomial(slots=1).plan(3)) == [
        *("save 0:0", "advance 0:2", "record 2:3", "reverse 2:3"),
        *("restore 0:0", "drop 0:0", "save 0:0", "advance 0:1"),
        *("record 1:2", "reverse 1:2", "restore 0:0", "drop 0:0"),
        *("record 0:1", "reverse 0:1"),
    ]


def test_revolve_keeps_the_slot():
    assert words(Revolve(slots=1).plan(3)) == [
        *("save 0:0", "advance 0:2", "record 2:3", "reverse 2:3"),
        *("restore 0:0", "advance 0:1", "record 1:2", "reverse 1:2"),
        *("restore 0:0", "drop 0:0", "record 0:1", "reverse 0:1"),
    ]


def test_two_level_drops_a_disk_slot_when_its_block_is_reversed():
    plan = TwoLevel(memory=1, disk=2).plan(4)
    levels = [(a.kind, a.start) for a in plan if a.level == "disk"]
    assert levels == [("save", 0), ("restore", 0), ("drop", 0)]
    assert list(plan)[-1] == Action("drop", 0, 0, "disk")
    assert plan.cost.peak_disk_slots == 1


@pytest.mark.parametrize(
    ("steps", "slots", "unrecorded"),
    [
        (10**3, 10, 3636),
        (10**4, 10, 57624),
        (10**5, 10, 832040),
        (10**6, 10, 11647922),
        (10**3, 50, 1948),
        (10**6, 50, 4658945),
        (10**3, 100, 1898),
        (10**4, 100, 24747),
        (10**5, 100, 294747),
        (10**6, 100, 3817896),
    ],
)
def test_revolve_has_the_known_counts(steps, slots, unrecorded):
    assert Revolve(slots).plan(steps).cost.unrecorded == unrecorded


@pytest.mark.parametrize(
    ("steps", "slots", "saves"),
    [(10**3, 10, 714), (10**3, 50, 949), (10**3, 100, 899), (10**4, 10, 5005)],
)
def test_revolve_has_the_known_saves(steps, slots, saves):
    plan = Revolve(slots).plan(steps)
    assert plan.cost.saves == saves
    assert sum(a.kind == "save" for a in plan) == saves


def test_the_seed_rule_is_told_from_the_optimum():
    assert Binomial(10).plan(10**4).cost.unrecorded == 64637
    assert Binomial(10).plan(12).cost.unrecorded == 21
    assert Revolve(10).plan(12).cost.unrecorded == 12


@pytest.mark.parametrize("d", range(2, 13))
def test_the_seed_rule_is_optimal_where_the_documents_say(d):
    """Nowhere else: not at one step more than a capacity either."""
    most = 600
    full = {capacity(d, t) for t in range(most)}
    equal = {
        steps
        for steps in range(1, most)
        if Binomial(d).plan(steps).cost.unrecorded
        == Revolve(d).plan(steps).cost.unrecorded
    }
    claimed = {*range(1, d + 2), *full, *(steps - 1 for steps in full)}
    assert equal == {steps for steps in claimed if 1 <= steps < most}


# -- limits ------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [Binomial(0), Binomial(0, 0), Binomial(3, 0)])
def test_no_slots_or_no_replays_do_for_one_step(schedule):
    for steps in (0, 1):
        assert validate(schedule.plan(steps)).peak_slots == 0
    with pytest.raises(ScheduleError):
        schedule.plan(2)


def test_revolve_without_slots():
    assert validate(Revolve(0).plan(1)) == Revolve(0).plan(1).cost
    with pytest.raises(ScheduleError, match="slots=1 or more"):
        Revolve(0).plan(2)


def test_replays_beyond_the_least_are_legal():
    for replays in range(3, 40):
        plan = Binomial(slots=3, replays=replays).plan(20)
        assert validate(plan, slots=3, replays=replays) == plan.cost
    chain = Binomial(slots=3, replays=1000).plan(20).cost
    assert (chain.max_replays, chain.unrecorded, chain.peak_slots) == (19, 190, 1)


def test_the_capacity_is_exact_and_the_message_names_what_would_do():
    assert Binomial(2, 3).plan(10).steps == 10
    with pytest.raises(ScheduleError) as caught:
        Binomial(slots=4, replays=3).plan(1000)
    text = str(caught.value)
    assert "C(4, 3) = 35" in text
    assert "replays=10 or more" in text
    assert "slots=17 or more" in text
    Binomial(slots=4, replays=10).plan(1000)
    Binomial(slots=17, replays=3).plan(1000)
    for less in (Binomial(4, 9), Binomial(16, 3)):
        with pytest.raises(ScheduleError):
            less.plan(1000)


def test_the_message_leaves_out_what_cannot_help():
    with pytest.raises(ScheduleError, match=r"take replays=4 or more\.$"):
        Binomial(slots=1, replays=0).plan(5)
    with pytest.raises(ScheduleError, match=r"take slots=4 or more\.$"):
        Binomial(slots=0, replays=1).plan(5)
    with pytest.raises(ScheduleError, match="without a limit on replays"):
        Binomial(slots=0, replays=0).plan(5)


@pytest.mark.parametrize("schedule", [UniformBlock(0), UniformBlock(0, "block")])
def test_uniform_blocks_need_a_slot_for_a_step(schedule):
    with pytest.raises(ScheduleError, match="slots=1 or more"):
        schedule.plan(1)


def test_two_levels_need_blocks_and_slots():
    with pytest.raises(ScheduleError, match="disk=1 or more"):
        TwoLevel(memory=1, disk=0).plan(1)
    with pytest.raises(ScheduleError, match="disk=5"):
        TwoLevel(memory=0, disk=4).plan(5)
    assert validate(TwoLevel(memory=0, disk=5).plan(5)).peak_slots == 0


# -- wrong input -------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [True, False, 2.0, "3", None, [1], np.float64(2), 1j])
@pytest.mark.parametrize("make", [UniformBlock, Binomial, Revolve])
def test_slots_must_be_an_integer(make, bad):
    with pytest.raises(InputTypeError, match=r"slots is .* an integer is needed"):
        make(slots=bad)


@pytest.mark.parametrize("bad", [True, 2.0, "3", None, np.bool_(True)])
def test_steps_must_be_an_integer(bad):
    for schedule in all_of(2):
        with pytest.raises(InputTypeError, match="steps is"):
            schedule.plan(bad)


def test_other_options_must_be_integers():
    for make in (
        lambda: Binomial(2, 3.0),
        lambda: TwoLevel(memory=1.0, disk=2),
        lambda: TwoLevel(memory=1, disk="2"),
        lambda: capacity(2.0, 3),
        lambda: Plan(Revolve(2), 2.5),
        lambda: Plan("Revolve", 2),
    ):
        with pytest.raises(InputTypeError):
            make()


def test_negative_numbers():
    for make in (
        lambda: Revolve(-1),
        lambda: Binomial(1, -1),
        lambda: UniformBlock(-3),
        lambda: TwoLevel(1, -1),
        lambda: Revolve(1).plan(-1),
        lambda: capacity(-1, 2),
    ):
        with pytest.raises(ScheduleError, match="0 or more"):
            make()


@pytest.mark.parametrize("bad", ["blocks", None, 1, True])
def test_record_is_one_of_two_words(bad):
    with pytest.raises(OptionError, match="'step' or 'block'"):
        UniformBlock(2, record=bad)


def test_numpy_integers_are_integers():
    schedule = Revolve(np.int32(3))
    assert schedule == Revolve(3)
    plan = schedule.plan(np.int64(20))
    assert plan == Revolve(3).plan(20)
    assert type(plan.steps) is type(schedule.slots) is int
    assert json.loads(plan.to_json())["steps"] == 20


# -- plans as values -----------------------------------------------------------------------


def test_plans_are_equal_by_schedule_and_steps():
    assert Revolve(3).plan(9) == Revolve(3).plan(9)
    assert hash(Revolve(3).plan(9)) == hash(Revolve(3).plan(9))
    plans = {s.plan(9) for s in all_of(3)} | {s.plan(8) for s in all_of(3)}
    assert len(plans) == 14
    for first, second in pairwise(all_of(3)):
        assert first.plan(9) != second.plan(9)


@pytest.mark.parametrize("schedule", all_of(3))
def test_plans_are_iterated_anew_and_two_at_a_time(schedule):
    plan = schedule.plan(17)
    first, second = iter(plan), iter(plan)
    both = [pair for pair in zip(first, second, strict=True) if pair[0] == pair[1]]
    assert [a for a, _ in both] == list(plan) == list(plan.walk())
    assert all(type(a) is Action for a in plan)


@pytest.mark.parametrize("schedule", all_of(3))
def test_plans_survive_json_and_pickle(schedule):
    plan = schedule.plan(2**70)
    copy = Plan.from_json(plan.to_json())
    assert copy == plan
    assert copy.cost == plan.cost
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert eval(repr(plan)) == plan


def fields_of(**changed):
    given = json.loads(Revolve(2).plan(5).to_json())
    return json.dumps(given | changed)


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("", ScheduleError, "no JSON"),
        ("{", ScheduleError, "no JSON"),
        ("[" * 100_000, ScheduleError, "no JSON"),
        ("[]", ScheduleError, "no plan"),
        ("{}", ScheduleError, "no plan"),
        (fields_of(format="other"), ScheduleError, "no plan"),
        (fields_of(more=1), ScheduleError, "no plan"),
        (fields_of(options=[2]), ScheduleError, "no plan"),
        (fields_of(schedule="os.system"), ScheduleError, "os.system"),
        (fields_of(schedule="Plan"), ScheduleError, "known are"),
        (fields_of(schedule="Schedule"), ScheduleError, "known are"),
        (fields_of(schedule=["Revolve"]), ScheduleError, "known are"),
        (fields_of(options={}), ScheduleError, "leaves out"),
        (fields_of(options={"slots": 2, "x": 1}), ScheduleError, "has the options"),
        (fields_of(options={"slots": True}), InputTypeError, "slots"),
        (fields_of(options={"slots": 0}), ScheduleError, "slots=1"),
        (fields_of(steps=5.0), InputTypeError, "steps"),
        (fields_of(steps=-5), ScheduleError, "steps"),
        (None, InputTypeError, "NoneType"),
        (5, InputTypeError, "int"),
    ],
)
def test_json_that_is_no_plan(text, kind, says):
    with pytest.raises(kind, match=says):
        Plan.from_json(text)


@pytest.mark.parametrize("schedules", [Revolve, "Revolve", 3, None])
def test_json_takes_a_list_of_schedules(schedules):
    text = Revolve(slots=3).plan(9).to_json()
    with pytest.raises(InputTypeError, match="a list of subclasses of Schedule"):
        Plan.from_json(text, schedules=schedules)


def test_json_takes_schedules_from_an_iterator():
    plan = Revolve(slots=3).plan(9)
    assert Plan.from_json(plan.to_json(), schedules=iter([StoreAll])) == plan
    with pytest.raises(InputTypeError, match="schedules holds 3"):
        Plan.from_json(plan.to_json(), schedules=iter([StoreAll, 3]))


@pytest.mark.parametrize("schedule", [Revolve, 10, None, "Revolve"])
def test_a_plan_needs_a_schedule_and_no_class(schedule):
    with pytest.raises(InputTypeError, match="a Schedule is needed, such as Revolve"):
        Plan(schedule, 3)


def test_plans_print():
    assert "11 unrecorded + 7 recorded" in str(Revolve(2).plan(7))
    assert repr(Revolve(2).plan(7)) == "Plan(schedule=Revolve(slots=2), steps=7)"


# -- huge chains ---------------------------------------------------------------------------


@pytest.mark.parametrize("steps", HUGE)
@pytest.mark.parametrize("d", [1, 2, 3, 10, 100, 10**6, 2**62, 2**200])
def test_huge_chains_are_planned_at_once(steps, d):
    schedules = [*all_of(d), Binomial(d, replays=steps), Binomial(d, replays=2**201)]
    for schedule in schedules:
        began = time.process_time()
        plan = schedule.plan(steps)
        cost = plan.cost
        head = list(islice(plan, 20))
        assert time.process_time() - began < 0.5  # some ms on an idle machine
        assert cost.recorded == steps
        assert all(type(n) is int for n in vars(cost).values())
        assert 1 <= len(head) <= 20


def test_costs_of_huge_chains_are_exact():
    T = 2**63
    assert Revolve(1).plan(T).cost.unrecorded == T * (T - 1) // 2
    assert Binomial(1).plan(T).cost.unrecorded == T * (T - 1) // 2
    assert Binomial(T).plan(T).cost.unrecorded == T - 1
    assert UniformBlock(1).plan(T).cost.unrecorded == T + T * (T - 1) // 2
    assert StoreAll().plan(T).cost.peak_records == T
    assert validate(StoreAll().plan(T)) == StoreAll().plan(T).cost
    assert validate(UniformBlock(3, "block").plan(T)).unrecorded == T - T // 3


def test_iterating_makes_no_list():
    plan = Revolve(10).plan(2**63)
    assert sum(1 for _ in islice(plan, 100_000)) == 100_000
