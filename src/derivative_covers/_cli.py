"""The command line: ``python -m derivative_covers schedule --steps 100000 --slots 20``.

One command so far, which answers before a long sweep what each checkpoint schedule
costs. Exit status 0, or 2 with the usage and one sentence on the error stream for what
cannot be done.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from . import __version__
from .checkpoint import (
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
from .checkpoint.plans._render import many
from .errors import DerivativeError, ScheduleError

__all__ = ["main"]

PROGRAM = "python -m derivative_covers"
LARGEST = 2**63 - 1
DECIMAL = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
BINARY = {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
UNITS = DECIMAL | BINARY
UNIT_NAMES = "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"
DRAWN = ("revolve", "binomial", "uniform", "block", "two-level", "store-all")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Args:
        arguments: What stands behind the program's name; ``sys.argv`` by default.

    Returns:
        0. What cannot be done ends with ``SystemExit(2)``, as argparse has it.
    """
    parser, schedule = _parsers()
    asked = parser.parse_args(arguments)
    try:
        if asked.command is None:
            parser.print_help()
        else:
            try:
                answer = _answer(asked)
            except DerivativeError as error:
                schedule.error(str(error))
            sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, say) has enough; nothing is left to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parsers() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Derivative information that stays cheap when a program is large.",
    )
    parser.add_argument(
        "--version", action="version", version=f"derivative-covers {__version__}"
    )
    commands = parser.add_subparsers(dest="command", title="commands")
    text = "compare what checkpoint schedules cost"
    one = commands.add_parser(
        "schedule", help=text, description=f"{text.capitalize()}."
    )
    add = one.add_argument
    add("--steps", type=_count, required=True, metavar="T", help="steps of the chain")
    add(
        "--slots",
        type=_count,
        metavar="D",
        help="states saved at once; needed unless --memory is given, which then decides",
    )
    add(
        "--replays",
        type=_count,
        metavar="t",
        help="most unrecorded evaluations of a step by Binomial (default: the least that "
        "does)",
    )
    add(
        "--disk",
        type=_count,
        metavar="M",
        help="blocks of TwoLevel, all but one with a state on disk (default: ten times "
        "--slots); with --memory, the best schedule may use so much disk",
    )
    size = f"bytes, or with a unit: {UNIT_NAMES}"
    add("--state-bytes", type=_size, metavar="SIZE", help=f"of one state: {size}")
    add(
        "--tape-bytes",
        type=_size,
        metavar="SIZE",
        help="of one recorded step (default: as --state-bytes)",
    )
    add(
        "--memory",
        type=_size,
        metavar="SIZE",
        help="budget; names the schedule with the fewest evaluations that fits",
    )
    add(
        "--draw",
        nargs="?",
        const=DRAWN[0],
        choices=DRAWN,
        metavar="SCHEDULE",
        help=f"draw a plan as text: {', '.join(DRAWN)} (default: {DRAWN[0]})",
    )
    add("--json", action="store_true", help="print one JSON object instead")
    return parser, one


def _answer(asked: argparse.Namespace) -> str:
    """The text to print."""
    state, memory = asked.state_bytes, asked.memory
    if state is None and (memory is not None or asked.tape_bytes is not None):
        msg = "--memory and --tape-bytes need --state-bytes, the size of one state"
        raise ScheduleError(msg)
    if asked.slots is None and memory is None:
        msg = "give --slots, or --state-bytes and --memory to have them chosen"
        raise ScheduleError(msg)
    if asked.json and asked.draw:
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
    if asked.json:
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
            f"Best within {_bytes(memory)} {beside}: {chosen!r}, "
            f"{_number(total)} evaluations"
        )
    if asked.draw:
        if asked.draw not in plans:
            msg = f"{asked.draw} is not possible with {slots} slots; nothing to draw"
            raise ScheduleError(msg)
        parts.append(plans[asked.draw].render())
    return "\n\n".join(parts)


def _plans(asked: argparse.Namespace, slots: int) -> dict[str, Plan]:
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
            _number(cost.evaluations),
            f"{self.ratio:.3g}",
            slots,
            _number(cost.peak_records),
        ]
        if self.peak is not None:
            cells.append(_bytes(self.peak))
            if memory is not None:
                cells.append("yes" if self.peak <= memory else "no")
        return cells


def _table(rows: list[_Row], memory: int | None) -> str:
    heads = ["schedule", "evaluations", "ratio", "slots", "tapes", "memory", "fits"]
    lines = [row.cells(memory) for row in rows]
    lines.insert(0, heads[: len(lines[0])])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [first.ljust(widths[0])]
            + [cell.rjust(size) for cell, size in zip(rest, widths[1:], strict=True)]
        )
        for first, *rest in lines
    )


def _notes(asked: argparse.Namespace) -> str:
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
            f"memory       slots and one live state of {_bytes(state)}, tapes of "
            f"{_bytes(tape)}{guess};",
            "             what a step needs while it runs comes on top",
        ]
    return "\n".join(lines)


def _number(value: int) -> str:
    return f"{value:,}" if value < 10**12 else f"{value:.3e}"


def _bytes(size: int) -> str:
    for unit in ("TB", "GB", "MB", "kB"):
        scale = DECIMAL[unit.upper()]
        if size >= 1000 * scale:
            return f"{size / scale:,.0f} {unit}"
        if size >= scale:
            return f"{size / scale:.4g} {unit}"
    return f"{size} B"


def _count(text: str) -> int:
    """A nonnegative integer; ``1e6`` and ``1_000_000`` are integers too."""
    number = _decimal(text)
    if number is None or number != number.to_integral_value() or number < 0:
        msg = f"{text!r} is no nonnegative integer, such as 100000 or 1e5"
        raise argparse.ArgumentTypeError(msg)
    return int(number)


def _size(text: str) -> int:
    """A size in bytes."""
    digits = text.strip().rstrip("BbIiKkMmGgTt")
    unit = text.strip()[len(digits) :].upper()
    number = _decimal(digits)
    if number is None or number <= 0 or unit not in UNITS:
        msg = f"{text!r} is no size, such as 8e6, 8MB or 1.5GiB (units: {UNIT_NAMES})"
        raise argparse.ArgumentTypeError(msg)
    return math.ceil(number * UNITS[unit])


def _decimal(text: str) -> Decimal | None:
    """The number, exactly; None for no finite number."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    if number > LARGEST:
        msg = f"{text!r} is too large; {LARGEST} is the most"
        raise argparse.ArgumentTypeError(msg)
    return number
