"""The classical picture of a plan: steps against time, with what each slot holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...errors import ScheduleError
from ...results import new_axes
from ._render import SHORTER, count_of_actions, too_long

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._plan import Plan

__all__ = ["Strokes", "plot", "strokes"]

# A plan of at most so many actions is drawn stroke by stroke.
ALL_DRAWN = 4000
# Otherwise time is cut into so many columns, finer than a screen shows.
COLUMNS = 1500

# Colours that the colour-blind can tell apart (Okabe & Ito), widths and labels.
LOOKS = {
    "memory": ("#009E73", 1.0, "state in a slot"),
    "disk": ("#E69F00", 1.0, "state on disk"),
    "advance": ("#0072B2", 1.4, "advanced"),
    "record": ("#D55E00", 2.4, "recorded"),
    "reverse": ("#222222", 1.4, "reversed"),
}

Stroke = tuple[int, int, int, int]


@dataclass
class Strokes:
    """Lines of a picture, as (time, time, step, step).

    Attributes:
        lines: Lines of each kind of :data:`LOOKS`.
        end: When the plan ends, in steps evaluated or reversed.
        unit: Steps in a column of time; 1 where every action has a line.
        merged: How many evaluations and reversals share the line of their column.
    """

    end: int
    unit: int
    lines: dict[str, list[Stroke]] = field(
        default_factory=lambda: {k: [] for k in LOOKS}
    )
    merged: int = 0


def strokes(plan: Plan) -> Strokes:
    """Go once through the actions of a plan and collect its lines.

    Actions shorter than a column of time are merged: a column gets one line of each
    kind, over the range of steps that they reach. A slot that is held for less than a
    column is left out.
    """
    end = plan.cost.evaluations + plan.cost.recorded
    unit = 1 if count_of_actions(plan) <= ALL_DRAWN else -(-end // COLUMNS)
    drawn = Strokes(end, unit)
    held: dict[tuple[str, int], int] = {}
    reach: dict[tuple[str, int], tuple[int, int]] = {}
    now = 0
    for kind, start, stop, level in plan:
        if kind == "save":
            held[level, start] = now
        elif kind == "drop":
            since = held.pop((level, start), now)
            if now - since >= unit:
                drawn.lines[level].append((since, now, start, start))
        elif kind != "restore":
            until = now + stop - start
            if stop - start >= unit:
                ends = (stop, start) if kind == "reverse" else (start, stop)
                drawn.lines[kind].append((now, until, *ends))
            else:
                key = kind, now // unit
                low, high = reach.get(key, (start, stop))
                reach[key] = min(low, start), max(high, stop)
                drawn.merged += 1
            now = until
    for (shared, column), (low, high) in reach.items():
        middle = column * unit + unit // 2
        drawn.lines[shared].append((middle, middle, low, high))
    return drawn


def plot(plan: Plan, ax: Axes | None = None) -> Axes:
    """Draw a plan with matplotlib: steps on the vertical axis, time on the other one.

    A step that is evaluated or reversed takes one unit of time. Rising lines are
    advances and recorded steps, the falling ones reversals; a horizontal line lasts as
    long as its state stays in a slot. A plan of more than some thousand actions is
    drawn thinned, and its title says so: columns of time show the range of steps that
    they work on, and slots held for less than a column are left out. Costs one pass
    over the actions, about a second a million.

    Args:
        plan: The plan.
        ax: Axes to draw on, new ones by default.

    Returns:
        The axes, for titles and limits of your own and ``ax.figure.savefig(...)``.

    Raises:
        MissingPackageError: matplotlib is not installed.
        InputTypeError: ``ax`` is something else than matplotlib's axes.
        ScheduleError: The plan has more than twenty million actions, or more than
            ``10**24`` evaluations.
    """
    if too_long(plan):
        msg = f"{too_long(plan)} are too many for a picture. {SHORTER}"
        raise ScheduleError(msg)
    ax = new_axes(ax, size=(9.0, 5.0), instead=", or print plan.render()")
    drawn = strokes(plan)
    for kind, (colour, width, label) in LOOKS.items():
        if drawn.lines[kind]:
            times, steps = _path(drawn.lines[kind])
            ax.plot(times, steps, color=colour, linewidth=width, label=label)
    ax.set_xlim(0, max(1.0, float(drawn.end)))
    top = max(1.0, float(plan.steps))
    ax.set_ylim(-0.02 * top, 1.02 * top)
    ax.set_xlabel("time: steps evaluated or reversed")
    ax.set_ylabel("step")
    ax.set_title("\n".join(_title(plan, drawn)), loc="left", fontsize="medium")
    if plan.steps:
        ax.legend(loc="upper right")
    return ax


def _path(lines: list[Stroke]) -> tuple[list[float], list[float]]:
    """One broken line through all: a single artist draws fast."""
    gap = float("nan")
    times: list[float] = []
    steps: list[float] = []
    for since, until, first, last in lines:
        # As floats: NumPy makes objects of integers beyond 64 bits.
        times += float(since), float(until), gap
        steps += float(first), float(last), gap
    return times, steps


def _title(plan: Plan, drawn: Strokes) -> Iterator[str]:
    cost = plan.cost
    yield f"{plan.schedule!r}, {plan.steps:,} steps"
    yield f"{cost.unrecorded:,} evaluations unrecorded, {cost.recorded:,} recorded"
    if drawn.unit > 1:
        yield (
            f"thinned: {drawn.merged:,} actions shorter than {drawn.unit:,} units of time "
            f"are merged"
        )
