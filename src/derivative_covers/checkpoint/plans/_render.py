"""A plan as text: its cost in words, and its course with time running downwards."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from decimal import Decimal
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import OptionError

if TYPE_CHECKING:
    from ._actions import Action, Level
    from ._plan import Plan

__all__ = [
    "about",
    "count_of_actions",
    "describe",
    "many",
    "render",
    "summary",
    "too_long",
]

# `str` draws no more steps than this: two characters each, at the usual width.
STEPS_OF_STR = 28
LEAST_WIDTH = 40
ROWS = 40
SHORTER = "Draw the same schedule for fewer steps."
# Some ten seconds of iterating.
ACTIONS = 20_000_000
# Longer figures leave no room for a picture, and tell nobody more than their size does.
LONGEST = 10**24

ADVANCED, RECORDED = "-", "#"
SLOTS: dict[Level, str] = {"memory": "o", "disk": "D"}


def describe(plan: Plan) -> str:
    """What ``str(plan)`` gives: the cost, and the picture where it is small."""
    return render(plan) if plan.steps <= STEPS_OF_STR else summary(plan)


def summary(plan: Plan, width: int = 72) -> str:
    """The cost of a plan in a few lines; takes no look at its actions."""
    cost, steps = plan.cost, plan.steps
    lines = [f"{plan.schedule!r}: {many(steps, 'step')}"]
    if steps:
        lines.append(
            f"evaluations: {figure(cost.unrecorded)} unrecorded + "
            f"{figure(cost.recorded)} recorded = {figure(cost.evaluations)}, "
            f"{about(cost.evaluations, steps)} a step, "
            f"at most {figure(cost.max_replays + 1)} of one step"
        )
        slots = (
            f"at most {figure(cost.peak_slots)} at once; "
            if cost.peak_slots
            else "none; "
        )
        moves = f"{many(cost.saves, 'save')}, {many(cost.restores, 'restore')}"
        lines.append(f"slots: {slots}{moves}")
    if cost.peak_disk_slots:
        lines.append(
            f"on disk: at most {figure(cost.peak_disk_slots)} at once; "
            f"{many(cost.disk_saves, 'save')}, "
            f"{many(cost.disk_restores, 'restore')}"
        )
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent="    ") for line in lines
    )


def render(plan: Plan, width: int = 72) -> str:
    """Draw a plan as text: steps across, time downwards, a row for each reversal.

    A row shows the way from one reversal to the next: ``-`` for steps that were
    advanced, ``#`` for those recorded and then reversed, ``o`` and ``D`` for states in
    slots in memory and on disk. The figure on its left counts the evaluations so far,
    recorded or not.
    Where the plan is too long for that, a mark stands for several steps and some rows
    are left out; the text says how many. Costs one pass over the actions, about a
    second a million, and is left out above twenty million, or ``10**24`` evaluations.

    Args:
        plan: The plan.
        width: Longest line, in characters; at least 40.

    Returns:
        Several lines without a newline at the end.

    Raises:
        OptionError: ``width`` is no integer of at least 40.
    """
    width = _checked(width)
    head = summary(plan, width)
    if not plan.steps:
        return head
    if too_long(plan):
        note = f"Not drawn: {too_long(plan)} are too many. {SHORTER}"
        return f"{head}\n{textwrap.fill(note, width)}"
    scale = _Scale.fitting(plan, width)
    rows, every, number = _rows(plan, scale)
    notes = [
        f"{ADVANCED} advanced, {RECORDED} recorded and reversed, {SLOTS['memory']} a "
        f"state in a slot"
        + (f", {SLOTS['disk']} one on disk" if plan.cost.peak_disk_slots else "")
        + "; time runs downwards, and the figures on the left count the evaluations so far."
    ]
    if scale.steps > 1:
        notes.append(f"A mark stands for {scale.steps:,} steps.")
    if every > 1:
        notes.append(f"One row in {every:,} is drawn, of {number:,}.")
    foot = textwrap.fill(" ".join(notes), width)
    return "\n".join([head, "", scale.ruler(plan.steps), *rows, "", foot])


def count_of_actions(plan: Plan) -> int:
    """How many actions a plan has, about, by its cost alone."""
    cost = plan.cost
    records = -(-cost.recorded // max(1, cost.peak_records))
    moves = cost.saves + cost.restores + cost.disk_saves + cost.disk_restores
    return 2 * records + 3 * moves


def too_long(plan: Plan) -> str:
    """What makes a plan too long for a picture; empty where nothing does."""
    actions, evaluations = count_of_actions(plan), plan.cost.evaluations
    if actions > ACTIONS:
        return f"about {about(actions)} actions"
    return f"{about(evaluations)} evaluations" if evaluations > LONGEST else ""


def figure(number: int) -> str:
    """A number with all its digits where these can be read."""
    return f"{number:,}" if number <= LONGEST else about(number)


def about(number: int, per: int = 1) -> str:
    """``number / per`` in four digits, beyond the range of floats as well."""
    try:
        return f"{number / per:.4g}"
    except OverflowError:
        return f"{Decimal(number) / per:.3e}"


class _Scale(NamedTuple):
    """Where a step stands in a line: two characters for each ``steps`` of them."""

    label: int
    cells: int
    steps: int

    @classmethod
    def fitting(cls, plan: Plan, width: int) -> _Scale:
        label = max(5, len(str(plan.cost.evaluations)))
        most = (width - label - 3) // 2
        steps = -(-plan.steps // most)
        return cls(label, -(-plan.steps // steps), steps)

    def ruler(self, last: int) -> str:
        """Numbers of steps over their places."""
        every = 5 * (1 + len(str(last)) // 9)
        line = [" "] * (2 * self.cells + 1)
        for cell in range(0, self.cells + 1, every):
            mark = str(cell * self.steps)
            if cell * self.steps <= last and 2 * cell + len(mark) <= len(line):
                line[2 * cell : 2 * cell + len(mark)] = mark
        return f"{'':>{self.label}}  {''.join(line)}".rstrip()

    def row(self, done: int, sweep: _Sweep) -> str:
        """One line: first the steps, and over them the slots."""
        line = [" "] * (2 * self.cells + 1)
        for mark, spans, shift in (
            (ADVANCED, sweep.advanced, 0),
            (RECORDED, sweep.recorded, 1),
        ):
            for start, stop in spans:
                first = 2 * (start // self.steps) + shift
                end = 2 * ((stop - 1) // self.steps) + 3 - shift
                line[first:end] = mark * (end - first)
        for cell, level in sweep.held:
            line[2 * cell] = SLOTS[level]
        return f"{done:>{self.label}}  {''.join(line)}".rstrip()


class _Sweep(NamedTuple):
    """What happens between two reversals; its parts change while a plan is read."""

    advanced: list[tuple[int, int]]
    recorded: list[tuple[int, int]]
    # How many states stand in each cell, so that many slots cost no more than the width.
    held: dict[tuple[int, Level], int]


def _sweeps(actions: Iterator[Action], unit: int) -> Iterator[tuple[int, _Sweep]]:
    """Evaluations so far and what led there, at each reversal after an evaluation."""
    advanced, recorded, held = sweep = _Sweep([], [], {})
    done = 0
    for kind, start, stop, level in actions:
        if kind == "advance":
            done += stop - start
            advanced.append((start, stop))
        elif kind == "record":
            done += stop - start
            recorded.append((start, stop))
        elif kind == "save":
            place = start // unit, level
            held[place] = held.get(place, 0) + 1
        elif kind == "drop":
            place = start // unit, level
            if held[place] == 1:
                del held[place]
            else:
                held[place] -= 1
        elif kind == "reverse" and (advanced or recorded):
            yield done, sweep
            advanced.clear()
            recorded.clear()


def _rows(plan: Plan, scale: _Scale) -> tuple[list[str], int, int]:
    """Rows, thinned evenly to at most ``ROWS``; one in how many, of how many."""
    rows: list[str] = []
    every, number = 1, 0
    for number, (done, sweep) in enumerate(_sweeps(iter(plan), scale.steps), 1):
        if (number - 1) % every == 0:
            if len(rows) == ROWS:
                del rows[1::2]
                every *= 2
            if (number - 1) % every == 0:
                rows.append(scale.row(done, sweep))
    return rows, every, number


def _checked(width: Any) -> int:
    try:
        found = -1 if isinstance(width, bool) else index(width)
    except TypeError:
        found = -1
    if found < LEAST_WIDTH:
        msg = (
            f"width must be an integer of at least {LEAST_WIDTH}, the characters of a "
            f"line; got {width!r}"
        )
        raise OptionError(msg)
    return found


def many(number: int, noun: str) -> str:
    """A number and its noun, which has an s unless there is one."""
    return f"{figure(number)} {noun}{'' if number == 1 else 's'}"
