"""``derivative-covers schedule``: what each checkpoint schedule costs, before a sweep."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import click

from ..checkpoint import (
    Binomial,
    Plan,
    PlanCost,
    Revolve,
    Schedule,
    StoreAll,
    TwoLevel,
    UniformBlock,
    for_budget,
)
from ..checkpoint.plans._render import many
from ..errors import ScheduleError
from ..results import aligned
from ._numbers import UNIT_NAMES, bytes_text, count, count_text, size

__all__ = ["schedule"]

DRAWN = ("revolve", "binomial", "uniform", "block", "two-level", "store-all")


@click.command(short_help="compare what checkpoint schedules cost")
@click.option("--steps", type=count, required=True, help="Steps of the chain.")
@click.option(
    "--slots",
    type=count,
    help="States saved at once; needed unless --memory is given, which then decides.",
)
@click.option(
    "--replays",
    type=count,
    help="Most unrecorded evaluations of a step by Binomial (default: the least that "
    "does).",
)
@click.option(
    "--disk",
    type=count,
    help="Blocks of TwoLevel, all but one with a state on disk (default: ten times "
    "--slots); with --memory, the best schedule may use so much disk.",
)
@click.option(
    "--state-bytes",
    type=size,
    help=f"Of one state: bytes, or with a unit: {UNIT_NAMES}.",
)
@click.option(
    "--tape-bytes", type=size, help="Of one recorded step (default: as --state-bytes)."
)
@click.option(
    "--memory",
    type=size,
    help="Budget; names the schedule with the fewest evaluations that fits.",
)
@click.option(
    "--draw",
    type=click.Choice(DRAWN),
    is_flag=False,
    flag_value=DRAWN[0],
    metavar="[SCHEDULE]",
    help=f"Draw a plan as text: {', '.join(DRAWN)} (default: {DRAWN[0]}).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def schedule(**options: Any) -> None:
    """Compare what checkpoint schedules cost.

    A row each: evaluations of steps, states and recorded steps held at once, and, where
    the size of a state is given, memory.

    Example: derivative-covers schedule --steps 100000 --slots 20 --state-bytes 8MB
    """
    click.echo(_answer(_Asked(**options)))


@dataclass(frozen=True)
class _Asked:
    """The options."""

    steps: int
    slots: int | None
    replays: int | None
    disk: int | None
    state_bytes: int | None
    tape_bytes: int | None
    memory: int | None
    draw: str | None
    as_json: bool


def _answer(asked: _Asked) -> str:
    """The text to print."""
    state: Any = asked.state_bytes  # a number wherever it is computed with
    memory: Any = asked.memory
    if state is None and (memory is not None or asked.tape_bytes is not None):
        msg = "--memory and --tape-bytes need --state-bytes, the size of one state"
        raise ScheduleError(msg)
    if asked.slots is None and memory is None:
        msg = "give --slots, or --state-bytes and --memory to have them chosen"
        raise ScheduleError(msg)
    if asked.as_json and asked.draw:
        msg = "--draw is for people and --json for programs; leave one of them out"
        raise ScheduleError(msg)
    tape = state if asked.tape_bytes is None else asked.tape_bytes
    chosen = None
    if memory is not None:
        disk = None if asked.disk is None else max(0, asked.disk - 1) * state
        chosen = for_budget(asked.steps, state, tape, memory, disk_bytes=disk)
    slots = asked.slots
    if slots is None:
        slots = max(1, min((memory - tape) // state - 1, asked.steps))
    plans = _plans(asked, slots)
    rows = {
        name: _Row.of(plan, plans["revolve"], state, tape)
        for name, plan in plans.items()
    }
    if asked.as_json:
        facts = {
            "steps": asked.steps,
            "slots": slots,
            "state_bytes": state,
            "tape_bytes": tape,
            "memory": memory,
            "chosen": None if chosen is None else repr(chosen),
            "schedules": {name: row.facts() for name, row in rows.items()},
        }
        return json.dumps(facts, indent=2)
    parts = [_table(list(rows.values()), memory), _notes(asked)]
    if chosen is not None:
        total = chosen.plan(asked.steps).cost.evaluations
        others = max(0, (asked.disk or 0) - 1)
        beside = f"and {many(others, 'state')} on disk" if others else "without a disk"
        parts.append(
            f"Best within {bytes_text(memory)} {beside}: {chosen!r}, "
            f"{count_text(total)} evaluations"
        )
    if asked.draw:
        if asked.draw not in plans:
            msg = f"{asked.draw} is not possible with {slots} slots; nothing to draw"
            raise ScheduleError(msg)
        parts.append(plans[asked.draw].render())
    return "\n\n".join(parts)


def _plans(asked: _Asked, slots: int) -> dict[str, Plan]:
    """The alternatives by name; without those that so few slots do not allow."""
    disk = 10 * slots if asked.disk is None else asked.disk
    makers: dict[str, Callable[[], Schedule]] = {
        "revolve": lambda: Revolve(slots=slots),
        "binomial": lambda: Binomial(slots=slots, replays=asked.replays),
        "uniform": lambda: UniformBlock(slots=slots),
        "block": lambda: UniformBlock(slots=slots, record="block"),
        "two-level": lambda: TwoLevel(memory=slots, disk=disk),
        "store-all": StoreAll,
    }
    plans = {}
    for name, make in makers.items():
        try:
            plans[name] = make().plan(asked.steps)
        except ScheduleError:
            if name in ("revolve", "binomial") or slots:
                raise
    return plans


class _Row(NamedTuple):
    """One schedule of the comparison."""

    schedule: str
    cost: PlanCost
    ratio: float
    peak: int | None

    @classmethod
    def of(cls, plan: Plan, best: Plan, state: int | None, tape: int | None) -> _Row:
        least = best.cost.evaluations
        ratio = plan.cost.evaluations / least if least else 1.0
        peak = None
        if state is not None and tape is not None:
            peak = plan.cost.memory(state, tape)
        return cls(repr(plan.schedule), plan.cost, ratio, peak)

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schedule": self.schedule,
            "evaluations": self.cost.evaluations,
            "ratio": self.ratio,
            **asdict(self.cost),
            "peak_memory": self.peak,
        }

    def cells(self, memory: int | None) -> list[str]:
        """For people."""
        cost = self.cost
        slots = f"{cost.peak_slots:,}"
        if cost.peak_disk_slots:
            slots += f" + {cost.peak_disk_slots:,}"
        cells = [
            self.schedule,
            count_text(cost.evaluations),
            f"{self.ratio:.3g}",
            slots,
            count_text(cost.peak_records),
        ]
        if self.peak is not None:
            cells.append(bytes_text(self.peak))
            if memory is not None:
                cells.append("yes" if self.peak <= memory else "no")
        return cells


def _table(rows: list[_Row], memory: int | None) -> str:
    heads = ["schedule", "evaluations", "ratio", "slots", "tapes", "memory", "fits"]
    lines = [tuple(row.cells(memory)) for row in rows]
    return "\n".join(aligned([tuple(heads[: len(lines[0])]), *lines]))


def _notes(asked: _Asked) -> str:
    """What the columns mean."""
    state, tape = asked.state_bytes, asked.tape_bytes
    guess = " (no --tape-bytes: as a state)" if tape is None else ""
    lines = [
        f"evaluations  of {many(asked.steps, 'step')}, the recorded ones among them",
        "ratio        to Revolve: the least for these slots and one tape at a time",
        "slots        states saved at once, in memory + on disk",
        "tapes        recorded steps held at once",
    ]
    if state is not None:
        tape = state if tape is None else tape
        lines += [
            f"memory       slots and one live state of {bytes_text(state)}, tapes of "
            f"{bytes_text(tape)}{guess};",
            "             what a step needs while it runs comes on top",
        ]
    return "\n".join(lines)
