"""A plan: a schedule for a number of steps, its actions made anew at each use."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import InputTypeError, ScheduleError
from ._actions import Action
from ._cost import PlanCost
from ._integers import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._schedule import Schedule

__all__ = ["Plan", "Walk"]

_FORMAT = "derivative-covers plan 1"
_PACKAGE = "derivative_covers.checkpoint"


class Walk:
    """One pass through the actions of a plan, which tells how deep they nest.

    Attributes:
        frames: Most intervals in work at once so far; see :class:`PlanCost`.
    """

    def __init__(self) -> None:
        """Begin before the first action."""
        self.frames = 0
        self._actions: Iterator[Action] = iter(())

    def __iter__(self) -> Iterator[Action]:
        """The actions that are left."""
        return self._actions


@dataclass(frozen=True)
class Plan:
    """The actions of one reverse sweep: a schedule for a number of steps.

    What :meth:`Schedule.plan` gives. A plan stores no action: each iteration makes them
    anew, at a fraction of a microsecond each. Plans are equal where schedule and steps
    are, and can be hashed, pickled and printed.

    Attributes:
        schedule: The schedule.
        steps: Number of steps, ``T``. Step ``k`` takes state ``k`` to state ``k + 1``.

    Raises:
        InputTypeError: If ``steps`` is no integer, or ``schedule`` no schedule.
        ScheduleError: If the schedule cannot reverse so many steps.

    Example:
        >>> from derivative_covers.checkpoint import Revolve
        >>> plan = Revolve(slots=1).plan(2)
        >>> [f"{kind} {start}" for kind, start, stop, level in plan]
        ['save 0', 'advance 0', 'record 1', 'reverse 1', 'restore 0', 'drop 0',
         'record 0', 'reverse 0']
        >>> plan.cost.unrecorded
        1
    """

    schedule: Schedule
    steps: int

    def __post_init__(self) -> None:
        given: Any = self.schedule
        if isinstance(given, type) or not callable(getattr(given, "walk", None)):
            msg = (
                f"schedule is {self.schedule!r:.80}; a Schedule is needed, such as "
                "Revolve(slots=10)."
            )
            raise InputTypeError(msg)
        object.__setattr__(self, "steps", count("steps", self.steps))
        self.schedule.check(self.steps)

    def __iter__(self) -> Iterator[Action]:
        """The actions, from the first."""
        return self.schedule.actions(self.steps)

    def walk(self) -> Walk:
        """The actions, from the first, with the number of intervals in work."""
        walk = Walk()
        walk._actions = self.schedule.walk(self.steps, walk)
        return walk

    @cached_property
    def cost(self) -> PlanCost:
        """What the plan does and holds, predicted without running through it."""
        return self.schedule.cost(self.steps)

    # -- text and pictures ---------------------------------------------------------

    def __str__(self) -> str:
        """The cost in words, and a picture where the plan is small."""
        text: str = import_module("._render", __package__).describe(self)
        return text

    def render(self, width: int = 72) -> str:
        """The cost in words and a picture: steps across, time downwards.

        Args:
            width: Longest line, in characters.

        Returns:
            The text, without a newline at its end.

        Raises:
            OptionError: If ``width`` is no integer of at least 40.

        Example:
            >>> from derivative_covers.checkpoint import StoreAll
            >>> print(StoreAll().plan(3).render())
            StoreAll(): 3 steps
            ...
        """
        text: str = import_module("._render", __package__).render(self, width)
        return text

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the plan with matplotlib: time across, steps upwards, slots as lines.

        Args:
            ax: Axes to draw on, new ones by default.

        Returns:
            The axes.

        Raises:
            MissingPackageError: If matplotlib is not installed.
            InputTypeError: If ``ax`` is something else than matplotlib's axes.
            ScheduleError: If the plan has too many actions for a picture.
        """
        axes: Axes = import_module("._picture", __package__).plot(self, ax)
        return axes

    # -- JSON ------------------------------------------------------------------------

    def to_json(self) -> str:
        """The schedule and the steps as JSON: a line of fixed length, no actions.

        Returns:
            The text, for :meth:`from_json`.

        Raises:
            ScheduleError: If the schedule is a third party's that is no dataclass of
                integers, strings, truth values and None.

        Example:
            >>> from derivative_covers.checkpoint import Plan, Revolve
            >>> plan = Revolve(slots=10).plan(1000)
            >>> Plan.from_json(plan.to_json()) == plan
            True
        """
        schedule: Any = self.schedule
        options = (
            {f.name: getattr(schedule, f.name) for f in fields(schedule) if f.init}
            if is_dataclass(schedule)
            else None
        )
        if options is None or not all(map(_plain, options.values())):
            msg = (
                f"{schedule!r:.80} cannot be written as JSON: a schedule must be a "
                "dataclass whose fields are integers, strings, truth values or None."
            )
            raise ScheduleError(msg)
        return json.dumps(
            {
                "format": _FORMAT,
                "schedule": _name(type(schedule)),
                "options": options,
                "steps": self.steps,
            }
        )

    @classmethod
    def from_json(cls, text: str, schedules: Sequence[type[Schedule]] = ()) -> Plan:
        """The plan that :meth:`to_json` wrote; validated as any other plan.

        Nothing is imported or run that the text names.

        Args:
            text: The text.
            schedules: Classes of a third party's schedules that may occur in it.

        Returns:
            The plan.

        Raises:
            InputTypeError: If ``text`` is no string, ``schedules`` no sequence of
                classes of schedules, or an option has a wrong type.
            ScheduleError: If it is no plan, or one that its schedule refuses.
        """
        raw: Any = text
        if not isinstance(raw, (str, bytes, bytearray)):
            msg = f"text is of type {type(raw).__name__}; a string of JSON is needed."
            raise InputTypeError(msg)
        try:
            given = json.loads(raw)
        except (ValueError, RecursionError) as error:
            msg = f"the text of the plan is no JSON: {error}."
            raise ScheduleError(msg) from None
        keys = {"format", "schedule", "options", "steps"}
        if (
            not isinstance(given, dict)
            or given.keys() != keys
            or given["format"] != _FORMAT
            or not isinstance(given["options"], dict)
        ):
            msg = (
                f"the JSON is no plan: an object with the keys {sorted(keys)} and the "
                f"format {_FORMAT!r} is needed, as Plan.to_json() gives it."
            )
            raise ScheduleError(msg)
        kind = _known(given["schedule"], schedules)
        names = {f.name for f in fields(kind) if f.init}  # type: ignore[arg-type]
        if not given["options"].keys() <= names:
            msg = (
                f"{given['schedule']} has the options {sorted(names)}; the JSON gives "
                f"{sorted(given['options'])}."
            )
            raise ScheduleError(msg)
        try:
            schedule = kind(**given["options"])
        except TypeError as error:
            if isinstance(error, InputTypeError):
                raise
            msg = f"the JSON leaves out an option of {given['schedule']}: {error}."
            raise ScheduleError(msg) from None
        return schedule.plan(given["steps"])


def _plain(option: Any) -> bool:
    return option is None or type(option) in (int, str, bool)


def _name(kind: type) -> str:
    """How JSON names a schedule: ours by their name, others by their module as well."""
    ours = kind.__module__.startswith(f"{_PACKAGE}.")
    return kind.__name__ if ours else f"{kind.__module__}.{kind.__qualname__}"


def _known(name: object, others: Sequence[type[Schedule]]) -> type[Schedule]:
    """The dataclass of a name in JSON."""
    package = import_module(_PACKAGE)
    given: Any = others
    if isinstance(given, (str, type)) or not hasattr(given, "__iter__"):
        msg = f"schedules is {given!r:.80}; a list of subclasses of Schedule is needed."
        raise InputTypeError(msg)
    table: dict[str, Any] = {}
    theirs = tuple(others)
    for thing in (*(getattr(package, public) for public in package.__all__), *theirs):
        if isinstance(thing, type) and issubclass(thing, package.Schedule):
            if is_dataclass(thing):
                table[_name(thing)] = thing
        elif thing in theirs:
            msg = f"schedules holds {thing!r:.80}; subclasses of Schedule are needed."
            raise InputTypeError(msg)
    if not isinstance(name, str) or name not in table:
        msg = (
            f"the JSON names the schedule {name!r:.80}, and known are "
            f"{', '.join(table)}; give other dataclasses as schedules=[...]."
        )
        raise ScheduleError(msg)
    found: type[Schedule] = table[name]
    return found
