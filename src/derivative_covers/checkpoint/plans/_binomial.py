"""Recursive halves by binomial capacities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb

from ...errors import ScheduleError
from ._actions import Action
from ._capacity import fits, full_work, least_replays
from ._cost import PlanCost
from ._integers import count, first_where
from ._plan import Walk
from ._schedule import Schedule

__all__ = ["Binomial"]

_new = tuple.__new__


@dataclass(frozen=True)
class Binomial(Schedule):
    """Split ``N`` steps after ``min(N - 1, C(d, t - 1))``, again and again.

    An interval of one step is recorded from the live state. For a longer one, with ``d``
    slots and ``t`` replays, its start is saved and the first ``L = min(N - 1, C(d, t - 1))``
    steps are run unrecorded; the right part is processed with ``d - 1`` and ``t``; the
    start is restored, its slot released, and the left part is processed with ``d`` and
    ``t - 1``. No more than ``slots`` states are saved at once, no step is evaluated
    unrecorded more than ``replays`` times, and ``T <= C(slots, replays)`` steps can be
    reversed, ``C(d, t) = (d + t)! / (d! t!)``.

    The number of evaluations is optimal at ``T = C(d, t)``, at one step less, and for
    ``T <= d + 1`` with the least ``t``; elsewhere it is up to twice as many. Take
    :class:`Revolve` for the least.

    Attributes:
        slots: Saved states at once, ``d``. The start state of the interval in work
            occupies one of them.
        replays: Unrecorded evaluations of a step, ``t``; None takes the least that does.

    Raises:
        InputTypeError: If an option is no integer.
        ScheduleError: If one is negative, or at ``plan(steps)`` if ``steps`` exceeds the
            capacity; the message names the least options that would do.

    Example:
        >>> from derivative_covers.checkpoint import Binomial
        >>> Binomial(slots=10).plan(10_000).cost.unrecorded
        64637
        >>> Binomial(slots=2, replays=3).plan(11)
        Traceback (most recent call last):
        ...
        derivative_covers.errors.ScheduleError: 11 steps exceed the capacity C(2, 3) = 10
        of 2 slots with 3 replays; take replays=4 or more, or slots=3 or more.
    """

    slots: int
    replays: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", count("slots", self.slots))
        if self.replays is not None:
            object.__setattr__(self, "replays", count("replays", self.replays))

    def check(self, steps: int) -> None:
        """No more steps than the capacity."""
        d, t = self.slots, self.replays
        if t is None:
            least_replays(steps, d)  # raises without slots
        elif not fits(steps, d, t):
            does = [
                f"{name}={least_replays(steps, other)} or more"
                for name, other in (("replays", d), ("slots", t))
                if other
            ]
            need = ", or ".join(does) or "slots=1 or more without a limit on replays"
            msg = (
                f"{steps} steps exceed the capacity C({d}, {t}) = "
                f"{comb(d + t, min(d, t))} of {d} slots with {t} replays; take {need}."
            )
            raise ScheduleError(msg)

    def _replays(self, steps: int) -> int:
        t = self.replays
        return least_replays(steps, self.slots) if t is None else t

    def actions(self, steps: int) -> Iterator[Action]:
        """The recursion, on a stack of left parts that wait."""
        return self.walk(steps, Walk())

    def walk(self, steps: int, walk: Walk) -> Iterator[Action]:
        """As many intervals in work as left parts wait, and the current one."""
        if not steps:
            return
        new = _new
        a, n, d, t = 0, steps, self.slots, self._replays(steps)
        waiting: list[tuple[int, int, int, int]] = []
        push, pop = waiting.append, waiting.pop
        frames = 0
        while True:
            while n > 1:
                yield new(Action, ("save", a, a, "memory"))
                left = n - 1 if d == 1 else _left(n, d, t)
                middle = a + left
                yield new(Action, ("advance", a, middle, "memory"))
                push((a, left, d, t - 1))
                a = middle
                n -= left
                d -= 1
            if len(waiting) >= frames:
                frames = walk.frames = len(waiting) + 1
            yield new(Action, ("record", a, a + 1, "memory"))
            yield new(Action, ("reverse", a, a + 1, "memory"))
            if not waiting:
                return
            a, n, d, t = pop()
            yield new(Action, ("restore", a, a, "memory"))
            yield new(Action, ("drop", a, a, "memory"))

    def cost(self, steps: int) -> PlanCost:
        """O(min(d, t)) bisections: whole subtrees in closed form, runs at once."""
        if not steps:
            return PlanCost()
        unrecorded, peak, replays = _work(steps, self.slots, self._replays(steps))
        return PlanCost(
            unrecorded=unrecorded,
            recorded=steps,
            saves=steps - 1,
            restores=steps - 1,
            peak_slots=peak,
            max_replays=replays,
            frames=peak + 1,
            peak_records=1,
        )


@lru_cache(maxsize=1 << 14)
def _left(n: int, d: int, t: int) -> int:
    """Length of the left part."""
    return n - 1 if fits(n - 1, d, t - 1) else comb(d + t - 1, min(d, t - 1))


def _work(n: int, d: int, t: int) -> tuple[int, int, int]:
    """Unrecorded evaluations, slots at once and replays of one step, for ``n`` steps.

    Walks down the one path of subtrees that are not full, run by run. To the right of a
    run of full left parts of ``(d, t - 1), (d - 1, t - 1), ...`` lies a subtree that
    misses as many steps as ``n`` misses of ``C(d, t)``. To the left of a run of single
    steps, ``n`` and ``t`` are smaller by the length of the run.
    """
    unrecorded = peak = held = 0
    limit, singles, whole = t, 0, False
    while n > 1:
        if fits(n - 1, d, t - 1):
            run = _single_steps(n, d, t)
            unrecorded += run * n - run * (run + 1) // 2
            peak = max(peak, held + 1)
            singles += run
            n, t = n - run, t - run
        else:
            missing = comb(d + t, min(d, t)) - n
            run = _full_parts(missing, d, t)
            unrecorded += full_work(d, t) - full_work(d - run, t)
            # A full left part of two steps or more uses all slots that are left.
            peak = max(peak, held + (d if t > 1 else run))
            whole = True
            held, d = held + run, d - run
            n = comb(d + t, min(d, t)) - missing
    return unrecorded, peak, limit if whole else singles


def _single_steps(n: int, d: int, t: int) -> int:
    """How often in a row the right part is one step."""
    return first_where(lambda k: not fits(n - 1 - k, d, t - 1 - k), 1, min(n - 1, t))


def _full_parts(missing: int, d: int, t: int) -> int:
    """How often in a row the left part is full and the right one longer than a step."""
    return first_where(
        lambda k: missing + 1 >= comb(d - k - 1 + t, min(d - k - 1, t)), 1, d - 1
    )
