"""What a schedule is: the extension point for schedules of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from ._actions import Action
from ._cost import PlanCost
from ._plan import Plan, Walk
from ._validate import validate

__all__ = ["Schedule"]


class Schedule(ABC):
    """How a reverse sweep saves, restores and replays; a rule for any number of steps.

    A schedule of your own derives from this class and gives :meth:`actions`; its cost
    is then counted by running through them, unless :meth:`cost` predicts it. As a frozen
    dataclass it is comparable and can be written as JSON.
    ``derivative_covers.testing.check_schedule`` checks it.

    Example:
        >>> from dataclasses import dataclass
        >>> from derivative_covers.checkpoint import Action, Schedule, validate
        >>> @dataclass(frozen=True)
        ... class FromTheStart(Schedule):
        ...     def actions(self, steps):
        ...         yield Action("save", 0, 0)
        ...         for k in reversed(range(steps)):
        ...             yield Action("restore", 0, 0)
        ...             if k:
        ...                 yield Action("advance", 0, k)
        ...             yield Action("record", k, k + 1)
        ...             yield Action("reverse", k, k + 1)
        ...         yield Action("drop", 0, 0)
        >>> validate(FromTheStart().plan(10)).unrecorded
        45
    """

    def plan(self, steps: int) -> Plan:
        """The plan for a number of steps, validated at once.

        Args:
            steps: Number of steps, of any size.

        Returns:
            The plan, at a cost that does not grow with ``steps``.

        Raises:
            InputTypeError: If ``steps`` is no integer.
            ScheduleError: If it is negative, or more than the schedule can reverse.
        """
        return Plan(self, steps)

    def check(self, steps: int) -> None:
        """Refuse numbers of steps that the schedule cannot reverse; by default none.

        Args:
            steps: Number of steps, a nonnegative integer.

        Raises:
            ScheduleError: Saying what would do.
        """
        del steps

    @abstractmethod
    def actions(self, steps: int) -> Iterator[Action]:
        """The actions, from the first, made while they are asked for.

        Args:
            steps: Number of steps that :meth:`check` accepts.

        Returns:
            A new iterator.
        """

    def cost(self, steps: int) -> PlanCost:
        """What the actions do and hold; by default counted, in O(number of actions).

        Args:
            steps: Number of steps that :meth:`check` accepts.

        Returns:
            The cost.
        """
        return validate(self.actions(steps), steps=steps)

    def walk(self, steps: int, walk: Walk) -> Iterator[Action]:
        """The actions, keeping ``walk.frames`` up to date.

        By default every slot in use counts as the start of an interval in work.
        """
        held = 0
        for action in self.actions(steps):
            walk.frames = max(walk.frames, held + 1)
            kind = action[0] if isinstance(action, (tuple, list)) and action else None
            if kind == "save":
                held += 1
            elif kind == "drop":
                held -= 1
            yield action
