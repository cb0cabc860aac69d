"""Whether a schedule's plans reverse a chain and cost what they say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

from ..checkpoint import Plan, PlanCost, Schedule, validate
from ..errors import InputTypeError, OptionError, ScheduleError
from ._faults import Faults

__all__ = ["check_schedule"]

_STEPS = (0, 1, 2, 3, 4, 5, 7, 8, 13, 20, 21, 30, 100)


def check_schedule(schedule: Schedule, *, steps: Iterable[int] = _STEPS) -> None:
    """Check that a schedule keeps its contract.

    For each number of steps, the plan must reverse the chain on the abstract machine of
    :func:`~derivative_covers.checkpoint.validate`, cost what it predicts, give the same
    actions at each iteration, two at a time as well, and be equal to a second plan. A
    schedule that is a dataclass must survive JSON. Numbers that a schedule cannot reverse
    must be refused by ``plan`` with a :class:`ScheduleError`, as must negative ones;
    what is no integer is an :class:`InputTypeError`.

    Args:
        schedule: The schedule.
        steps: Numbers of steps to try.

    Raises:
        ConformanceError: An AssertionError with all faults found.
        InputTypeError: If this is no :class:`Schedule`.
        OptionError: If ``steps`` is empty.

    Cost:
        Some passes over the actions of each plan.

    Example:
        >>> from derivative_covers.checkpoint import Revolve
        >>> from derivative_covers.testing import check_schedule
        >>> check_schedule(Revolve(slots=3))
    """
    given: Any = schedule
    if not isinstance(given, Schedule):
        msg = f"check_schedule got a {type(given).__name__}; a Schedule is needed."
        raise InputTypeError(msg)
    numbers = tuple(steps)
    if not numbers:
        msg = "steps is empty; give some numbers of steps to try."
        raise OptionError(msg)
    faults = Faults(f"schedule {schedule!r:.80}")
    accepted = 0
    for number in numbers:
        try:
            plan: Any = schedule.plan(number)
        except ScheduleError:
            continue
        except Exception as error:
            faults.add(
                f"plan({number}) raises {type(error).__name__} ({error}), no ScheduleError"
            )
            continue
        accepted += 1
        if faults.expect(
            isinstance(plan, Plan),
            f"plan({number}) gives a {type(plan).__name__}, not a Plan",
        ):
            _check(schedule, plan, number, faults)
    faults.expect(accepted or faults.found, f"plan refuses all of the steps {numbers}")
    for bad in (True, 2.0, "3", None):
        faults.refuses(
            f"plan({bad!r})",
            (InputTypeError,),
            lambda bad=bad: schedule.plan(bad),  # type: ignore[misc]
        )
    faults.refuses("plan(-1)", (ScheduleError,), lambda: schedule.plan(-1))
    faults.report()


def _check(schedule: Schedule, plan: Plan, steps: int, faults: Faults) -> None:
    """One plan."""
    what = f"plan({steps})"
    faults.expect(plan.steps == steps, f"{what} is one of {plan.steps} steps")
    with faults.step(f"{what}, run on the machine,"):
        counted = validate(iter(plan), steps=steps)
        walk = plan.walk()
        walked = list(walk)
        with faults.step(f"the cost of {what}"):
            faults.expect(
                isinstance(plan.cost, PlanCost), f"the cost of {what} is no PlanCost"
            )
            _compare(what, plan.cost, counted, walk.frames, faults)
        faults.expect(
            walked == list(plan), f"{what} and its walk give different actions"
        )
    with faults.step(f"{what}, iterated twice,"):
        first, second = iter(plan), iter(plan)
        head = list(islice(first, 3))
        actions = list(second)
        faults.expect(
            actions == head + list(first) == list(plan),
            f"{what} gives other actions when it is iterated again, or twice at a time",
        )
    with faults.step(f"comparing {what}"):
        again = schedule.plan(steps)
        if faults.expect(again == plan, f"{what} does not equal a second one"):
            faults.expect(
                hash(again) == hash(plan), f"equal plans {what} have other hashes"
            )
    if is_dataclass(type(schedule)):
        with faults.step(f"{what} in JSON"):
            copy = Plan.from_json(plan.to_json(), schedules=[type(schedule)])
            faults.expect(
                copy == plan and list(copy) == list(plan), f"JSON changes {what}"
            )


def _compare(
    what: str, predicted: PlanCost, counted: PlanCost, frames: int, faults: Faults
) -> None:
    """Every figure of a cost."""
    for field in fields(PlanCost):
        says, does = getattr(predicted, field.name), getattr(counted, field.name)
        if field.name == "frames":
            does = frames
        faults.expect(
            type(says) is int and says == does,
            f"{what} predicts {field.name} = {says!r}, and its actions do {does}",
        )
