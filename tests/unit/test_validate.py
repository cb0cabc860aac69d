"""The abstract machine refuses every plan that could give a wrong gradient."""

from __future__ import annotations

import pytest

from derivative_covers.checkpoint import (
    Action,
    Binomial,
    Revolve,
    StoreAll,
    TwoLevel,
    UniformBlock,
    validate,
)
from derivative_covers.errors import InputTypeError, ScheduleError


def parsed(text):
    """Actions from words such as ``record 0 2; reverse 0 2``."""
    actions = []
    for part in filter(None, map(str.strip, text.split(";"))):
        kind, *rest = part.split()
        level = rest.pop() if rest[-1].isalpha() else "memory"
        numbers = [int(n) for n in rest]
        actions.append(Action(kind, numbers[0], numbers[-1], level))
    return actions


GOOD = [
    ("", 0),
    ("record 0 1; reverse 0 1", 1),
    ("record 0 1; record 1 2; reverse 1 2; reverse 0 1", 2),
    ("record 0 1; record 1 2; reverse 0 2", 2),
    ("record 0 3; reverse 1 3; reverse 0 1", 3),
    ("save 0; advance 0 2; record 2 3; restore 0; record 0 2; reverse 0 3; drop 0", 3),
    (
        "save 0; advance 0 1; save 1; advance 1 2; record 2 3; restore 0; record 0 1; "
        "drop 0; restore 1; drop 1; record 1 2; reverse 0 3",
        3,
    ),
    ("save 0; save 0 disk; drop 0; drop 0 disk; record 0 1; reverse 0 1", 1),
    ("save 0; advance 0 1; restore 0; drop 0; record 0 2; reverse 0 2", 2),
]


@pytest.mark.parametrize(("text", "steps"), GOOD)
def test_good_plans(text, steps):
    assert validate(parsed(text), steps=steps).recorded == steps
    assert validate(parsed(text)).recorded == steps


BAD = [
    ("record 0 1", 1, "at its end, the cotangent of state 0"),
    ("", 2, "ends after 0 actions"),
    ("reverse 0 1", 1, "action 0, .* needs the records of step 0; .*: none"),
    (
        "record 0 1; reverse 0 1",
        2,
        "action 1, .* the cotangent of state 1; that of state 2",
    ),
    ("record 0 3; reverse 0 3", 2, "action 0, .* steps below 2"),
    (
        "record 0 2; reverse 0 1",
        2,
        "the cotangent of state 1; that of state 2 is known",
    ),
    (
        "advance 0 1; record 1 2; reverse 0 2",
        2,
        "the records of steps 0 .. 1; .*: step 1",
    ),
    ("advance 1 2", 2, "state 1 as the live state; it is state 0"),
    ("record 0 2; reverse 1 2; record 0 1", 2, "none after a reversal: restore one"),
    ("record 0 1; save 0", 1, "state 0 as the live state; it is state 1"),
    ("restore 0", 1, "state 0 in a slot on the level 'memory'; saved there: none"),
    ("save 0; restore 0 disk", 1, "on the level 'disk'; saved there: none"),
    ("drop 3", 5, "state 3 in a slot"),
    ("save 0; save 0", 1, "in no slot on the level 'memory' yet"),
    ("save 0; drop 0; restore 0", 1, "action 2.*saved there: none"),
    ("advance 0 0", 1, "at least one step"),
    ("record 0 0", 1, "at least one step"),
    ("record 0 1; reverse 1 1", 1, "at least one step"),
    ("record 0 1; reverse 1 0", 1, "at least one step"),
    (
        "save 0; advance 0 2; record 2 3; reverse 2 3; restore 0; advance 0 3",
        3,
        "reversed",
    ),
    ("save 0; record 0 2; restore 0; record 0 1", 2, "steps that have no record yet"),
    ("save 0; record 0 1; restore 0; record 0 2", 2, "steps that have no record yet"),
    ("save 0; record 0 1; reverse 0 1", 1, "free slots: 1 on the level 'memory'"),
    ("save 0 disk; record 0 1; reverse 0 1", 1, "free slots: 1 on the level 'disk'"),
    (
        "save 0; advance 0 1; record 1 2; reverse 1 2; restore 0; drop 0",
        2,
        "cotangent of",
    ),
    ("save 0 1", 1, "start == stop"),
    ("jump 0 1", 1, "one of the kinds advance, record"),
    ("save 0 tape", 1, "the level 'memory' or 'disk'"),
]


@pytest.mark.parametrize(("text", "steps", "says"), BAD)
def test_bad_plans(text, steps, says):
    with pytest.raises(ScheduleError, match=says):
        validate(parsed(text), steps=steps)


@pytest.mark.parametrize(
    "text",
    [
        "record 0 3; reverse 1 2; reverse 0 1",
        "save 0; advance 0 3; restore 0; drop 0; record 0 2; reverse 0 2",
        "advance 0 3",
        "record 0 3",
    ],
)
def test_bad_plans_without_the_number_of_steps(text):
    with pytest.raises(ScheduleError):
        validate(parsed(text))


def test_the_index_and_the_action_are_named():
    actions = list(Revolve(3).plan(20))
    where = next(k for k, a in enumerate(actions) if a.kind == "restore")
    del actions[where]
    with pytest.raises(ScheduleError) as caught:
        validate(actions)
    text = str(caught.value)
    assert text.startswith(f"action {where}, Action(")
    assert "after a reversal: restore one" in text


@pytest.mark.parametrize(
    "schedule",
    [
        StoreAll(),
        UniformBlock(3),
        UniformBlock(3, "block"),
        Binomial(2),
        Revolve(2),
        TwoLevel(1, 3),
    ],
)
def test_no_action_of_a_plan_can_be_left_out(schedule):
    actions = list(schedule.plan(11))
    for k, action in enumerate(actions):
        after = actions[k + 1].kind if k + 1 < len(actions) else ""
        if (action.kind, after) == ("advance", "restore"):
            continue  # the end of a forward pass, which gives the value alone
        with pytest.raises(ScheduleError):
            validate(actions[:k] + actions[k + 1 :], steps=11)


@pytest.mark.parametrize("schedule", [UniformBlock(3), Binomial(2), Revolve(2)])
def test_no_two_neighbours_can_be_swapped_to_another_reversal(schedule):
    actions = list(schedule.plan(11))
    reversals = [k for k, a in enumerate(actions) if a.kind == "reverse"]
    for k in reversals[1:]:
        moved = [*actions]
        moved.insert(0, moved.pop(k))
        with pytest.raises(ScheduleError):
            validate(moved, steps=11)


def test_limits():
    plan = Binomial(slots=3, replays=4).plan(30)
    assert validate(plan, slots=3, replays=4) == plan.cost
    with pytest.raises(ScheduleError, match="more slots in memory than the limit of 2"):
        validate(plan, slots=2)
    with pytest.raises(ScheduleError, match=r"at most 3 unrecorded .* there were 4"):
        validate(plan, replays=3)
    with pytest.raises(ScheduleError, match="steps=29"):
        validate(plan, steps=29)
    with pytest.raises(ScheduleError, match="unrecorded evaluations of step 0"):
        validate(UniformBlock(1).plan(4), replays=3)
    assert validate(UniformBlock(1).plan(4), replays=4).max_replays == 4
    assert validate(StoreAll().plan(9), slots=0, replays=0).peak_slots == 0


def test_replays_are_those_of_a_plain_count():
    for schedule in (UniformBlock(4), Binomial(2, 9), Revolve(3), TwoLevel(2, 4)):
        plan = schedule.plan(40)
        replays = [0] * 40
        for kind, start, stop, _ in plan:
            if kind == "advance":
                for k in range(start, stop):
                    replays[k] += 1
        found = validate(plan)
        assert found.max_replays == max(replays)
        assert found.unrecorded == sum(replays)


@pytest.mark.parametrize("bad", [5, None, 2.5, Revolve(2)])
def test_what_is_no_plan(bad):
    with pytest.raises(InputTypeError, match="a Plan or an iterable of actions"):
        validate(bad)


@pytest.mark.parametrize(
    "bad", [1, "record", ("record",), ("record", 0), (0, 1, 2), ("record", 0, 1, 2, 3)]
)
def test_what_is_no_action(bad):
    with pytest.raises(ScheduleError, match=r"action 0, .* needs to be an Action"):
        validate([bad])


@pytest.mark.parametrize(
    "bad",
    [("record", 0.0, 1), ("record", False, 1), ("record", "0", 1), ("save", -1, -1)],
)
def test_what_is_no_step(bad):
    with pytest.raises(ScheduleError, match="integers"):
        validate([bad])


@pytest.mark.parametrize("name", ["steps", "slots", "replays"])
@pytest.mark.parametrize("bad", [True, 1.5, "2"])
def test_limits_must_be_integers(name, bad):
    with pytest.raises(InputTypeError, match=name):
        validate(Revolve(2).plan(3), **{name: bad})


def test_plain_tuples_are_actions():
    assert validate([("record", 0, 2), ["reverse", 0, 2, "memory"]]).recorded == 2


def test_long_chains_of_few_actions():
    T = 2**63
    assert validate([("record", 0, T), ("reverse", 0, T)]).peak_records == T
    cost = validate(TwoLevel(memory=1, disk=T).plan(3))
    assert cost.disk_saves == 2
