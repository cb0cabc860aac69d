"""Pictures of plans: what is drawn is what the plan does, at any size."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import process_time

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from derivative_covers.checkpoint import (
    Binomial,
    Revolve,
    Schedule,
    StoreAll,
    TwoLevel,
    UniformBlock,
)
from derivative_covers.checkpoint.plans._picture import strokes
from derivative_covers.errors import (
    InputTypeError,
    MissingPackageError,
    OptionError,
    ScheduleError,
)
from examples import schedule as example

ROW = re.compile(r" *(\d+)  (.*)")
SCHEDULES = [
    StoreAll(),
    UniformBlock(slots=3),
    UniformBlock(slots=3, record="block"),
    Binomial(slots=4),
    Revolve(slots=4),
    TwoLevel(memory=2, disk=4),
]
IDS = [type(schedule).__name__ for schedule in SCHEDULES]


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    mpl.use("agg")
    yield
    plt.close("all")


def rows(text: str) -> list[tuple[int, str]]:
    """The evaluations so far and the marks of each row, behind the line of numbers."""
    lines = text.split("\n\n")[1].splitlines()[1:]
    return [(int(found[1]), found[2]) for found in map(ROW.fullmatch, lines) if found]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=IDS)
@pytest.mark.parametrize("steps", [1, 2, 3, 11, 28])
def test_rows_show_every_evaluation_once(schedule: Schedule, steps: int) -> None:
    """Odd places are steps; their marks must add up to what the plan costs."""
    plan = schedule.plan(steps)
    drawn = rows(plan.render())
    before, reversed_down_to = 0, steps
    for _, line in drawn:
        recorded = [k for k, mark in enumerate(line[1::2]) if mark == "#"]
        assert recorded == list(range(recorded[0], reversed_down_to))
        reversed_down_to = recorded[0]
    assert reversed_down_to == 0
    assert drawn[-1][0] == plan.cost.unrecorded + plan.cost.recorded
    for done, line in drawn:
        advanced = line[1::2].count("-")
        # Only a row that runs over the same steps twice shows fewer marks.
        assert advanced + line[1::2].count("#") <= done - before
        before = done


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_marks_count_the_evaluations_of_revolve(slots: int) -> None:
    plan = Revolve(slots=slots).plan(20)
    counts = [0, *(done for done, _ in rows(plan.render()))]
    marks = [sum(m in "-#" for m in line[1::2]) for _, line in rows(plan.render())]
    assert [b - a for a, b in pairwise(counts)] == marks


@pytest.mark.parametrize("schedule", SCHEDULES, ids=IDS)
def test_slots_in_a_row_are_no_more_than_the_peak(schedule: Schedule) -> None:
    plan = schedule.plan(28)
    lines = [line for _, line in rows(plan.render())]
    most = max(line.count("o") for line in lines)
    on_disk = max(line.count("D") for line in lines)
    assert most <= plan.cost.peak_slots
    assert on_disk <= plan.cost.peak_disk_slots
    assert (on_disk > 0) == (plan.cost.peak_disk_slots > 0)
    assert ("D one on disk" in plan.render()) == (on_disk > 0)


def test_the_whole_picture() -> None:
    assert Revolve(slots=2).plan(5).render() == EXPECTED


EXPECTED = """\
Revolve(slots=2): 5 steps
evaluations: 6 unrecorded + 5 recorded = 11, 2.2 a step, at most 3 of
    one step
slots: at most 2 at once; 2 saves, 4 restores

       0         5
    5  o---o----#
    7  o   o--#
    8  o    #
   10  o--#
   11   #

- advanced, # recorded and reversed, o a state in a slot; time runs
downwards, and the figures on the left count the evaluations so far."""


@pytest.mark.parametrize("schedule", SCHEDULES, ids=IDS)
@pytest.mark.parametrize("steps", [0, 1, 40, 3000])
@pytest.mark.parametrize("width", [40, 131])
def test_no_line_is_wider_than_asked(
    schedule: Schedule, steps: int, width: int
) -> None:
    text = schedule.plan(steps).render(width)
    assert max(map(len, text.splitlines())) <= width
    assert text == text.rstrip()


def test_long_plans_are_thinned_and_say_so() -> None:
    text = Revolve(slots=10).plan(20_000).render()
    words = " ".join(text.split())
    assert "One row in 512 is drawn, of 20,000." in words
    assert re.search(r"A mark stands for \d+ steps", words)
    assert 20 <= len(rows(text)) <= 40


def test_plans_beyond_drawing_get_their_cost_at_once() -> None:
    text = Revolve(slots=10).plan(10**12).render()
    assert "Not drawn" in text
    assert "evaluations:" in text


def test_one_action_over_many_steps_is_drawn() -> None:
    assert rows(StoreAll().plan(10**15).render(50))


def test_str_draws_small_plans_only() -> None:
    assert str(Revolve(slots=4).plan(20)) == Revolve(slots=4).plan(20).render()
    text = str(Revolve(slots=10).plan(10**6))
    assert "11,647,922 unrecorded + 1,000,000 recorded" in text
    assert text.count("\n") < 8


@pytest.mark.parametrize("width", [39, -1, 0, 72.0, "72", None, True])
def test_width_must_be_an_integer_of_forty(width: object) -> None:
    with pytest.raises(OptionError, match=r"at least 40.*got"):
        Revolve(slots=2).plan(5).render(width)  # type: ignore[arg-type]


# -- with matplotlib ---------------------------------------------------------------------


def length(lines: list[tuple[int, int, int, int]]) -> int:
    return sum(until - since for since, until, _, _ in lines)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=IDS)
@pytest.mark.parametrize("steps", [1, 2, 17, 60])
def test_strokes_are_the_plan(schedule: Schedule, steps: int) -> None:
    plan = schedule.plan(steps)
    drawn = strokes(plan)
    assert drawn.unit == 1
    assert drawn.merged == 0
    assert length(drawn.lines["advance"]) == plan.cost.unrecorded
    assert length(drawn.lines["record"]) == plan.cost.recorded == steps
    assert length(drawn.lines["reverse"]) == steps
    ends = [stroke[1] for lines in drawn.lines.values() for stroke in lines]
    assert max(ends) == drawn.end
    for kind, peak in (
        ("memory", plan.cost.peak_slots),
        ("disk", plan.cost.peak_disk_slots),
    ):
        held = drawn.lines[kind]
        for since, _, _, _ in held:
            assert sum(s <= since < e for s, e, _, _ in held) <= peak


@pytest.mark.parametrize("steps", [3, 40])
def test_a_slot_is_held_until_its_last_restore(steps: int) -> None:
    """Each advance but the first starts where a slot ends or lasts."""
    drawn = strokes(Revolve(slots=3).plan(steps))
    for since, _, first, _ in drawn.lines["advance"][1:]:
        assert any(
            state == first and begin <= since <= end
            for begin, end, state, _ in drawn.lines["memory"]
        ) or any(
            until == since and last == first
            for _, until, _, last in drawn.lines["advance"]
        )


def test_thinned_strokes_cover_the_same_ground() -> None:
    plan = Revolve(slots=10).plan(20_000)
    drawn = strokes(plan)
    assert drawn.unit > 1
    assert drawn.merged > 0
    assert sum(map(len, drawn.lines.values())) < 12_000
    for kind in ("advance", "record", "reverse"):
        reached = [step for *_, a, b in drawn.lines[kind] for step in (a, b)]
        assert min(reached) == 0
        assert max(reached) >= 19_999
    assert max(until for _, until, _, _ in drawn.lines["memory"]) <= drawn.end


@pytest.mark.parametrize("schedule", SCHEDULES, ids=IDS)
@pytest.mark.parametrize("steps", [0, 1, 40])
def test_plot_draws_on_new_axes(schedule: Schedule, steps: int) -> None:
    ax = schedule.plan(steps).plot()
    assert f"{steps} steps" in ax.get_title(loc="left")
    assert ax.get_ylabel() == "step"
    labels = [line.get_label() for line in ax.lines]
    assert ("recorded" in labels) == (steps > 0)
    ax.figure.canvas.draw()


def test_plot_draws_on_given_axes() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert Revolve(slots=3).plan(12).plot(ax=right) is right
    assert not left.lines
    assert len(plt.get_fignums()) == 1
    figure.canvas.draw()


def test_plot_of_a_million_steps_says_that_it_is_thinned() -> None:
    ax = UniformBlock(slots=100, record="block").plan(10**6).plot()
    assert "thinned" not in ax.get_title(loc="left")
    ax = Revolve(slots=100).plan(30_000).plot()
    assert "thinned" in ax.get_title(loc="left")


@pytest.mark.parametrize("schedule", SCHEDULES, ids=IDS)
@pytest.mark.parametrize("power", [63, 70, 100, 2000])
def test_any_number_of_steps_has_its_words(schedule: Schedule, power: int) -> None:
    """No float holds the last, and its figures would leave no room for a picture."""
    plan = schedule.plan(2**power)
    assert " a step, at most " in " ".join(str(plan).split())
    text = plan.render(40)
    assert max(map(len, text.splitlines())) <= 40
    one_pass = "StoreAll" in text or "block" in text
    if one_pass and power < 80:
        assert rows(text)
    else:
        assert re.search(
            r"\de\+\d+ (actions|evaluations) are too many", " ".join(text.split())
        )


def test_figures_too_long_to_read_are_rounded() -> None:
    words = " ".join(str(Revolve(slots=1).plan(10**400)).split())
    assert "5.000e+799 unrecorded + 1.000e+400 recorded" in words
    assert "5.000e+399 a step" in words
    words = " ".join(str(StoreAll().plan(10**24)).split())
    assert f"+ {10**24:,} recorded = {10**24:,}, 1 a step" in words


def test_steps_beyond_64_bits_are_plotted() -> None:
    ax = UniformBlock(slots=4, record="block").plan(2**70).plot()
    ax.figure.canvas.draw()
    assert ax.get_ylim()[1] > 2**70
    with pytest.raises(ScheduleError, match=r"\de\+602 evaluations are too many"):
        UniformBlock(slots=4, record="block").plan(2**2000).plot()


def test_many_slots_cost_no_more_than_few() -> None:
    """Rows that go through all slots took half a minute here."""
    plan = UniformBlock(slots=50_000, record="block").plan(10**18)
    start = process_time()
    assert len(rows(plan.render())) >= 20
    assert process_time() - start < 5


def test_plot_refuses_what_would_take_too_long() -> None:
    with pytest.raises(ScheduleError, match="fewer steps"):
        Revolve(slots=10).plan(10**12).plot()
    assert not plt.get_fignums()


@pytest.mark.parametrize("ax", [3, "axes", [1, 2]])
def test_plot_refuses_what_is_no_axes(ax: object) -> None:
    with pytest.raises(InputTypeError, match=f"got {type(ax).__name__}"):
        Revolve(slots=2).plan(3).plot(ax)  # type: ignore[arg-type]


def test_plot_names_the_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(MissingPackageError, match=r"pip install .\.\[plot\]"):
        Revolve(slots=2).plan(3).plot()


def test_the_example_draws_both_schedules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert example.main(["--out", str(tmp_path)]) == 0
    picture = tmp_path / "revolve-schedule.png"
    assert str(picture) in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")
