"""The abstract machine: runs a plan on indices alone, checks and counts it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from typing import Any, NoReturn

from ...errors import InputTypeError, ScheduleError
from ._actions import Action
from ._cost import PlanCost
from ._integers import count
from ._plan import Plan

__all__ = ["validate"]


def validate(
    plan: Plan | Iterable[Action],
    *,
    steps: int | None = None,
    slots: int | None = None,
    replays: int | None = None,
) -> PlanCost:
    """Prove that a plan reverses a chain of steps, and count what it does.

    The plan is run on a machine that knows the indices of states alone. Every action
    must find what it needs (the live state, the slot, the records, the cotangent), and
    the end must leave the cotangent of state 0, no slot in use and no record. That proves
    that the sweep gives the gradient whatever the steps compute. Useless work is refused
    where it cannot matter: empty actions, and steps evaluated after they were reversed.

    Args:
        plan: A plan, or its actions: :class:`Action` or plain tuples
            ``(kind, start, stop)`` or ``(kind, start, stop, level)``.
        steps: Number of steps. None takes that of the plan, and for plain actions the
            end of the first reversal.
        slots: Most slots in memory that the plan may use at once.
        replays: Most unrecorded evaluations of one step that it may make.

    Returns:
        The counted cost, which equals ``plan.cost``.

    Raises:
        InputTypeError: If ``plan`` is nothing to iterate, or a limit no integer.
        ScheduleError: If an action breaks the rules, with its index, the action and
            what it needed; if a limit is exceeded, or a plan's predicted cost is not what
            was counted.

    Cost:
        O(number of actions), some 1 us each; memory O(slots in use).

    Example:
        >>> from derivative_covers.checkpoint import Revolve, validate
        >>> validate(Revolve(slots=3).plan(20), slots=3).unrecorded
        45
        >>> validate([("record", 0, 2), ("reverse", 1, 2), ("reverse", 0, 1)]).recorded
        2
        >>> validate([("record", 1, 2)], steps=2)
        Traceback (most recent call last):
        ...
        derivative_covers.errors.ScheduleError: action 0, Action(kind='record', start=1,
        stop=2, level='memory'), needs state 1 as the live state; it is state 0.
    """
    planned = isinstance(plan, Plan)
    if isinstance(plan, Plan):
        own = plan.steps
        if steps is not None and count("steps", steps) != own:
            msg = f"the plan is one of {own} steps, and steps={steps} was given."
            raise ScheduleError(msg)
        steps = own
    elif steps is not None:
        steps = count("steps", steps)
    machine = _Machine(
        steps,
        None if slots is None else count("slots", slots),
        None if replays is None else count("replays", replays),
    )
    actions: Any = plan.walk() if isinstance(plan, Plan) else plan
    try:
        iterator = iter(actions)
    except TypeError:
        msg = (
            f"plan is of type {type(plan).__name__}; a Plan or an iterable of actions is "
            "needed, such as schedule.plan(steps)."
        )
        raise InputTypeError(msg) from None
    machine.run(iterator)
    found = machine.cost(actions.frames if planned else None)
    if isinstance(plan, Plan) and plan.cost != found:
        msg = f"{plan.schedule!r:.80} predicts {plan.cost}, and its actions do {found}."
        raise ScheduleError(msg)
    return found


def _steps(start: int, stop: int) -> str:
    """Steps in words."""
    return f"step {start}" if stop == start + 1 else f"steps {start} .. {stop - 1}"


class _Machine:
    """Indices of what is held while a plan runs."""

    def __init__(
        self, steps: int | None, slots: int | None, replays: int | None
    ) -> None:
        self.steps = steps
        self.limit = slots
        self.replays = replays
        self.live: int | None = 0
        self.end = steps  # state whose cotangent is known; None until that is told
        self.reach = 0  # largest state met while the end is not known
        self.held: dict[str, set[int]] = {"memory": set(), "disk": set()}
        self.records: list[list[int]] = []  # disjoint [start, stop], ascending
        # Unrecorded evaluations of step k: the sum of rise[j] over j <= k; `last` is
        # that of step end - 1.
        self.rise: dict[int, int] = {}
        self.last = 0
        self.index = -1
        self.action: Any = None
        self.saves = {"memory": 0, "disk": 0}
        self.restores = {"memory": 0, "disk": 0}
        self.peak = {"memory": 0, "disk": 0}
        self.in_use = self.most_in_use = 0
        self.unrecorded = self.recorded = 0
        self.most_replays = self.taped = self.peak_records = 0

    def run(self, actions: Iterable[Any]) -> None:
        """Every action, and then the end."""
        does = {
            "advance": self.advance,
            "record": self.record,
            "reverse": self.reverse,
            "save": self.save,
            "restore": self.restore,
            "drop": self.drop,
        }
        for self.index, self.action in enumerate(actions):
            action = self.action
            if type(action) is not Action:
                action = self.action = self.as_action(action)
            kind, start, stop, level = action
            if type(start) is not int or type(stop) is not int or start < 0:
                self.fail("integers (int) from 0 on as start and stop")
            if level not in ("memory", "disk"):
                self.fail("the level 'memory' or 'disk'")
            if type(kind) is not str or kind not in does:
                self.fail(f"one of the kinds {', '.join(does)}")
            does[kind](start, stop, level)
        self.finish()

    def as_action(self, given: Any) -> Any:
        """A plain tuple as an action."""
        if isinstance(given, (tuple, list)) and len(given) in (3, 4):
            kind, *rest = given
            if isinstance(kind, str):
                return Action(kind, *rest)  # type: ignore[arg-type]
        return self.fail("to be an Action or a tuple (kind, start, stop, level)")

    def fail(self, need: str, found: str = "") -> NoReturn:
        """Raise with the action and what it needed."""
        tail = f"; {found}" if found else ""
        msg = f"action {self.index}, {self.action!r:.200}, needs {need}{tail}."
        raise ScheduleError(msg)

    # -- steps -----------------------------------------------------------------------

    def span(self, start: int, stop: int) -> None:
        """What an advance or a recording needs."""
        if start >= stop:
            self.fail("at least one step: start < stop")
        if start != self.live:
            self.fail(f"state {start} as the live state", self.living())
        if self.end is None:
            self.reach = max(self.reach, stop)
        elif stop > self.end:
            self.fail(
                f"steps below {self.end}",
                f"the chain has {self.steps} steps, and those from {self.end} on are "
                "reversed"
                if self.end != self.steps
                else f"the chain has {self.steps} steps",
            )
        self.live = stop

    def living(self) -> str:
        """The live state in words."""
        if self.live is None:
            return "there is none after a reversal: restore one"
        return f"it is state {self.live}"

    def advance(self, start: int, stop: int, level: str) -> None:
        self.span(start, stop)
        self.unrecorded += stop - start
        rise = self.rise
        rise[start] = rise.get(start, 0) + 1
        if stop == self.end:
            self.last += 1
        else:
            rise[stop] = rise.get(stop, 0) - 1

    def record(self, start: int, stop: int, level: str) -> None:
        self.span(start, stop)
        records = self.records
        place = bisect(records, [start, stop])
        if (place and records[place - 1][1] > start) or (
            place < len(records) and records[place][0] < stop
        ):
            self.fail("steps that have no record yet")
        if place and records[place - 1][1] == start:
            place -= 1
            records[place][1] = stop
        else:
            records.insert(place, [start, stop])
        if place + 1 < len(records) and records[place + 1][0] == stop:
            records[place][1] = records.pop(place + 1)[1]
        self.recorded += stop - start
        self.taped += stop - start
        self.peak_records = max(self.peak_records, self.taped)

    def reverse(self, start: int, stop: int, level: str) -> None:
        if start >= stop:
            self.fail("at least one step: start < stop")
        if self.end is None:
            self.know_end(stop)
        if stop != self.end:
            self.fail(
                f"the cotangent of state {stop}", f"that of state {self.end} is known"
            )
        records = self.records
        if not records or records[-1][1] != stop or records[-1][0] > start:
            self.fail(
                f"the records of {_steps(start, stop)}",
                f"recorded and not reversed: {self.recorded_words()}",
            )
        if records[-1][0] == start:
            records.pop()
        else:
            records[-1][1] = start
        self.taped -= stop - start
        self.live = None
        self.end = start
        self.count_replays(start, stop)

    def recorded_words(self) -> str:
        words = [_steps(a, b) for a, b in self.records[-3:]]
        return ("..., " if len(self.records) > 3 else "") + (", ".join(words) or "none")

    def know_end(self, stop: int) -> None:
        """The first reversal ends at the end of the chain."""
        if self.reach > stop:
            self.fail(
                f"the cotangent of state {stop}",
                f"the steps go up to state {self.reach}, and the last is reversed first",
            )
        self.steps = self.end = stop
        self.last = -self.rise.pop(stop, 0)

    def count_replays(self, start: int, stop: int) -> None:
        """Unrecorded evaluations of steps that were just reversed, last to first."""
        rise = self.rise
        short = stop - start <= len(rise) + 1
        steps = (
            range(stop - 1, start - 1, -1)
            if short
            else sorted((k for k in rise if start <= k), reverse=True)
        )
        self.count_of(stop - 1)
        for k in steps:
            if k in rise:
                self.last -= rise.pop(k)
                if k > start:
                    self.count_of(k - 1)

    def count_of(self, step: int) -> None:
        if self.last <= self.most_replays:
            return
        self.most_replays = self.last
        if self.replays is not None and self.last > self.replays:
            self.fail(
                f"at most {self.replays} unrecorded evaluations of step {step} before",
                f"there were {self.last}",
            )

    # -- slots -----------------------------------------------------------------------

    def slot(self, start: int, stop: int) -> None:
        if start != stop:
            self.fail("start == stop, the state that is meant")

    def save(self, start: int, stop: int, level: str) -> None:
        self.slot(start, stop)
        if start != self.live:
            self.fail(f"state {start} as the live state", self.living())
        held = self.held[level]
        if start in held:
            self.fail(f"a state that is in no slot on the level {level!r} yet")
        held.add(start)
        self.saves[level] += 1
        size = len(held)
        if size > self.peak[level]:
            self.peak[level] = size
            if level == "memory" and self.limit is not None and size > self.limit:
                self.fail(f"more slots in memory than the limit of {self.limit}")
        self.in_use += 1
        self.most_in_use = max(self.most_in_use, self.in_use)

    def in_slot(self, start: int, stop: int, level: str) -> set[int]:
        self.slot(start, stop)
        held = self.held[level]
        if start not in held:
            states = ", ".join(map(str, sorted(held)[-5:])) or "none"
            dots = "..., " if len(held) > 5 else ""
            self.fail(
                f"state {start} in a slot on the level {level!r}",
                f"saved there: {dots}{states}",
            )
        return held

    def restore(self, start: int, stop: int, level: str) -> None:
        self.in_slot(start, stop, level)
        self.live = start
        self.restores[level] += 1

    def drop(self, start: int, stop: int, level: str) -> None:
        self.in_slot(start, stop, level).discard(start)
        self.in_use -= 1

    # -- the end ---------------------------------------------------------------------

    def finish(self) -> None:
        """What must hold after the last action."""
        if self.end is None:
            self.end = self.reach
        faults = []
        if self.end:
            faults.append(
                f"the cotangent of state 0: that of state {self.end} is known"
            )
        for level, held in self.held.items():
            if held:
                faults.append(
                    f"free slots: {len(held)} on the level {level!r} are in use, the "
                    f"first with state {min(held)}"
                )
        if self.records:
            faults.append(f"no record: left are those of {self.recorded_words()}")
        if faults:
            last = f" (the last is {self.action!r:.200})" if self.index >= 0 else ""
            msg = (
                f"the plan ends after {self.index + 1} actions{last} and needs, at its "
                f"end, {'; '.join(faults)}."
            )
            raise ScheduleError(msg)

    def cost(self, frames: int | None) -> PlanCost:
        """What was counted."""
        if frames is None:
            frames = self.most_in_use + 1 if self.index >= 0 else 0
        return PlanCost(
            unrecorded=self.unrecorded,
            recorded=self.recorded,
            saves=self.saves["memory"],
            restores=self.restores["memory"],
            peak_slots=self.peak["memory"],
            max_replays=self.most_replays,
            frames=frames,
            disk_saves=self.saves["disk"],
            disk_restores=self.restores["disk"],
            peak_disk_slots=self.peak["disk"],
            peak_records=self.peak_records,
        )
