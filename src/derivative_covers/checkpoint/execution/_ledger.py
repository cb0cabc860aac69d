"""What was done: the counts of a running sweep, and the rules that no plan may break.

The ledger knows step numbers only. It is told of every action before the executor does
it, raises where the machine of :mod:`._actions` has not what the action needs, and counts
from what happened, never from a formula. So whoever wrote a plan, the sweep either follows
the machine's rules to the end, or stops with the number of the action that broke them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import ScheduleError
from ..plans._actions import Action
from ..plans._cost import PlanCost

__all__ = ["Ledger"]

_LEVELS = ("memory", "disk")


class Ledger:
    """Live state, slots, records and cotangent of a sweep over ``steps`` steps.

    Attributes:
        position: How many actions are done.
        live: Number of the live state, or None.
        cotangent: Number of the state whose cotangent is known; ``steps`` at first.
        slots: The saved states of every level.
        records: Steps that were recorded and not yet reversed.
        replays: How often steps have been run without recording, so far. Whoever
            reverses a step leaves it.
    """

    __slots__ = (
        "cotangent",
        "counts",
        "live",
        "position",
        "records",
        "replays",
        "slots",
        "steps",
    )

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.position = 0
        self.live: int | None = 0
        self.cotangent = steps
        self.slots: dict[str, set[int]] = {level: set() for level in _LEVELS}
        self.records: set[int] = set()
        self.counts = dict.fromkeys(_COUNTED, 0)
        self.replays = Replays()

    def advance(self, start: int, stop: int) -> None:
        """Counts an advance."""
        if self.live != start or not start < stop <= self.cotangent:
            raise self._error(start, stop, "advance")
        self.live = stop
        self.counts["unrecorded"] += stop - start
        self.replays.add(start, stop, stop == self.cotangent)
        self.position += 1

    def record(self, start: int, stop: int) -> None:
        """Counts a recording."""
        if self.live != start or not start < stop <= self.cotangent:
            raise self._error(start, stop, "record")
        records = self.records
        if stop == start + 1 and start not in records:  # as nearly always
            records.add(start)
        else:
            self._add_records(start, stop)
        self.live = stop
        counts = self.counts
        counts["recorded"] += stop - start
        if len(records) > counts["peak_records"]:
            counts["peak_records"] = len(records)
        self.position += 1

    def reverse(self, start: int, stop: int) -> None:
        """Takes the cotangent from state ``stop`` to state ``start``."""
        if self.cotangent != stop or not 0 <= start < stop:
            raise self._error(start, stop, "reverse")
        records = self.records
        if stop == start + 1 and start in records:
            records.remove(start)
        else:
            self._take_records(start, stop)
        self.live = None
        self.cotangent = start
        self.position += 1

    def _add_records(self, start: int, stop: int) -> None:
        steps, records = range(start, stop), self.records
        if not records.isdisjoint(steps):
            k = min(records.intersection(steps))
            why = f"step {k} has a record already"
            raise self._error(start, stop, "record", why)
        records.update(steps)

    def _take_records(self, start: int, stop: int) -> None:
        steps, records = range(start, stop), self.records
        if not records.issuperset(steps):
            k = min(set(steps) - records)
            raise self._error(start, stop, "reverse", f"step {k} has no record")
        records.difference_update(steps)

    def save(self, k: int, stop: int, level: str) -> None:
        """Puts the live state into a slot."""
        if self.live != k or stop != k or level not in _LEVELS:
            raise self._error(k, stop, "save", level=level)
        slots, counts = self.slots[level], self.counts
        if k in slots:
            why = f"state {k} lies in a slot already"
            raise self._error(k, stop, "save", why, level)
        slots.add(k)
        saves, _, peak = _NAMES[level]
        counts[saves] += 1
        if len(slots) > counts[peak]:
            counts[peak] = len(slots)
        self.position += 1

    def restore(self, k: int, stop: int, level: str) -> None:
        """Makes the state of a slot the live one."""
        if stop != k or level not in _LEVELS or k not in self.slots[level]:
            raise self._error(k, stop, "restore", level=level)
        self.live = k
        self.counts[_NAMES[level][1]] += 1
        self.position += 1

    def drop(self, k: int, stop: int, level: str) -> None:
        """Frees a slot."""
        if stop != k or level not in _LEVELS or k not in self.slots[level]:
            raise self._error(k, stop, "drop", level=level)
        self.slots[level].remove(k)
        self.position += 1

    @property
    def evaluations(self) -> int:
        """Evaluations of steps so far, recorded or not."""
        return self.counts["unrecorded"] + self.counts["recorded"]

    def finish(self) -> None:
        """Raises unless the plan is complete: all reversed, nothing left over."""
        if self.cotangent:
            what = f"before steps 0 .. {self.cotangent - 1} were reversed"
        elif left := set().union(*self.slots.values()):
            what = f"with states {_some(left)} in slots that nobody dropped"
        else:
            return
        msg = (
            f"the plan ended after {self.position} actions {what}; a plan ends with the "
            "cotangent of state 0 and no slot in use. checkpoint.validate finds such "
            "faults without running a step."
        )
        raise ScheduleError(msg)

    def executed(self, frames: int) -> PlanCost:
        """The counts, in the form of a predicted cost."""
        return PlanCost(**self.counts, max_replays=self.replays.most(), frames=frames)

    def export(self) -> dict[str, Any]:
        """All of it as a dict that JSON keeps; :meth:`load` is the inverse."""
        return {
            "live": self.live,
            "cotangent": self.cotangent,
            "slots": {level: sorted(held) for level, held in self.slots.items()},
            "records": sorted(self.records),
            "counts": self.counts,
            "replays": self.replays.export(),
        }

    def load(self, position: int, found: dict[str, Any]) -> None:
        """Goes on from what :meth:`export` gave."""
        self.position = position
        self.live = found["live"]
        self.cotangent = found["cotangent"]
        self.slots = {level: set(held) for level, held in found["slots"].items()}
        self.records = set(found["records"])
        self.counts = dict(found["counts"])
        self.replays.load(found["replays"])

    def unknown(self, action: object) -> ScheduleError:
        """The error of what is no action at all."""
        msg = (
            f"action {self.position} of the plan is {action!r}; an action is an "
            "Action(kind, start, stop, level) with kind 'advance', 'record', 'reverse', "
            "'save', 'restore' or 'drop' and integers start and stop."
        )
        return ScheduleError(msg)

    def _error(
        self, start: int, stop: int, kind: str, why: str = "", level: str = "memory"
    ) -> ScheduleError:
        wrong = type(start) is not int or type(stop) is not int or level not in _LEVELS
        if wrong:
            return self.unknown(Action(kind, start, stop, level))  # type: ignore[arg-type]
        where = f"action {self.position} of the plan, {kind} {start} {stop}"
        where += f" ({level})" if level != "memory" else ""
        live = "no state is live" if self.live is None else f"state {self.live} is live"
        held = "; ".join(
            f"{v} slots hold {_some(s)}" for v, s in self.slots.items() if s
        )
        msg = (
            f"{where}, cannot be done{': ' + why if why else ''}. There {live}; "
            f"{held or 'no slot is in use'}; the cotangent is that of state "
            f"{self.cotangent}; {len(self.records)} steps have records; the chain has "
            f"{self.steps} steps. {_NEEDS[kind]}"
        )
        return ScheduleError(msg)


class Replays:
    """How often each step was run without recording, while steps are left one by one.

    The last step is left first. So the count of the last one that is not yet left is
    kept, and where counts differ from those of the step before: as few numbers as there
    are ends of intervals.

    Attributes:
        last: Evaluations of the last step.
        changes: Those of a step less those of the step before, where that is not 0.
        left: The most that any step has had which was left.
    """

    __slots__ = ("changes", "last", "left")

    def __init__(self) -> None:
        self.last = 0
        self.left = 0
        self.changes: dict[int, int] = {}

    def add(self, a: int, b: int, to_the_end: bool) -> None:
        """One more evaluation of the steps ``a .. b-1``."""
        changes = self.changes
        more = changes.get(a, 0) + 1
        if more:
            changes[a] = more
        else:
            del changes[a]
        if to_the_end:
            self.last += 1
            return
        more = changes.get(b, 0) - 1
        if more:
            changes[b] = more
        else:
            del changes[b]

    def leave(self, k: int) -> int:
        """Evaluations of the last step ``k``, which will not come again."""
        count = self.last
        if count > self.left:
            self.left = count
        self.last = count - self.changes.pop(k, 0)
        return count

    def most(self) -> int:
        """The most that any step has had."""
        count, most = self.last, max(self.last, self.left)
        for k in sorted(self.changes, reverse=True):
            count -= self.changes[k]
            most = max(most, count)
        return most

    def export(self) -> list[Any]:
        """All of it, for JSON."""
        return [self.last, self.left, sorted(self.changes.items())]

    def load(self, found: list[Any]) -> None:
        """Goes on from what :meth:`export` gave."""
        self.last, self.left, changes = found
        self.changes = dict(changes)


_NAMES = {
    "memory": ("saves", "restores", "peak_slots"),
    "disk": ("disk_saves", "disk_restores", "peak_disk_slots"),
}
_COUNTED = (
    "unrecorded",
    "recorded",
    "peak_records",
    *_NAMES["memory"],
    *_NAMES["disk"],
)
_NEEDS = {
    "advance": "An advance a b needs the live state a, and a < b <= the cotangent's state.",
    "record": "A record a b needs the live state a, and a < b <= the cotangent's state.",
    "reverse": "A reverse a b needs records of a .. b-1 and the cotangent of state b.",
    "save": "A save k k needs the live state k and a level 'memory' or 'disk'.",
    "restore": "A restore k k needs a slot of that level with state k.",
    "drop": "A drop k k needs a slot of that level with state k.",
}


def _some(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    return ", ".join(map(str, found[:10])) + (", ..." if len(found) > 10 else "")
