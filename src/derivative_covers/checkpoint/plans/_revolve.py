"""The fewest evaluations that some slots allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb

from ._actions import Action
from ._capacity import least_replays
from ._cost import PlanCost
from ._integers import count
from ._plan import Walk
from ._schedule import Schedule

__all__ = ["Revolve", "revolve_actions", "revolve_work"]

_new = tuple.__new__


@dataclass(frozen=True)
class Revolve(Schedule):
    """The least number of evaluations and, among those, the fewest saved states.

    With ``d`` slots and the least ``t`` with ``T <= C(d, t) = (d + t)! / (d! t!)``, the
    unrecorded evaluations are ``t T - (d + t)! / ((t - 1)! (d + 1)!)``, which no schedule
    of single records undercuts, and no step is replayed more than ``t`` times. A restored
    state from which steps are left stays in its slot; for ``T > 1``,
    ``max(C(d - 1, t - 1), T - C(d, t - 1))`` states are saved.

    Evaluations count, not seconds: steps are taken to cost the same.

    Attributes:
        slots: Saved states at once, ``d``. The start state of the interval in work
            occupies one of them, and the last step of an interval is recorded from the
            live state and needs none.

    Raises:
        InputTypeError: If ``slots`` is no integer.
        ScheduleError: If it is negative, or at ``plan(steps)`` with ``steps > 1`` if it
            is 0.

    Source:
        Griewank and Walther, Algorithm 799: revolve, ACM Transactions on Mathematical
        Software 26 (2000).

    Example:
        >>> from derivative_covers.checkpoint import Revolve
        >>> cost = Revolve(slots=10).plan(1_000_000).cost
        >>> cost.unrecorded, cost.max_replays
        (11647922, 13)
    """

    slots: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", count("slots", self.slots))

    def check(self, steps: int) -> None:
        """At least one slot, where there are two steps."""
        least_replays(steps, self.slots)

    def actions(self, steps: int) -> Iterator[Action]:
        """The recursion, on a stack of intervals that wait."""
        return self.walk(steps, Walk())

    def walk(self, steps: int, walk: Walk) -> Iterator[Action]:
        """As many intervals in work as wait for their left part, and the current one."""
        return revolve_actions(0, steps, self.slots, walk)

    def cost(self, steps: int) -> PlanCost:
        """O(log T)."""
        if not steps:
            return PlanCost()
        unrecorded, saves, replays = revolve_work(steps, self.slots)
        peak = min(self.slots, steps - 1)
        return PlanCost(
            unrecorded=unrecorded,
            recorded=steps,
            saves=saves,
            restores=steps - 1,
            peak_slots=peak,
            max_replays=replays,
            frames=peak + 1,
            peak_records=1,
        )


def revolve_work(n: int, d: int) -> tuple[int, int, int]:
    """Unrecorded evaluations, saves and replays of one step, for ``n >= 1`` steps."""
    if n == 1:
        return 0, 0, 0
    t = least_replays(n, d)
    work = t * n - comb(d + t, min(d + 1, t - 1))
    saves = max(_c(d - 1, t - 1), n - _c(d, t - 1))
    return work, saves, t


def revolve_actions(
    a: int, n: int, d: int, walk: Walk, outside: int = 0
) -> Iterator[Action]:
    """The actions for ``n`` steps from the live state ``a``, with ``d`` slots in memory.

    So many intervals are in work ``outside`` of this one.
    """
    if not n:
        return
    new = _new
    waiting: list[tuple[int, int, int]] = []
    push, pop = waiting.append, waiting.pop
    deepest = 0
    while True:
        while n > 1:
            yield new(Action, ("save", a, a, "memory"))
            left = n - 1 if d == 1 else _left(n, d)
            middle = a + left
            yield new(Action, ("advance", a, middle, "memory"))
            push((a, left, d))
            a = middle
            n -= left
            d -= 1
        if len(waiting) >= deepest:
            deepest = len(waiting) + 1
            walk.frames = max(walk.frames, outside + deepest)
        while True:
            yield new(Action, ("record", a, a + 1, "memory"))
            yield new(Action, ("reverse", a, a + 1, "memory"))
            if not waiting:
                return
            a, n, d = pop()
            yield new(Action, ("restore", a, a, "memory"))
            if n > 1:
                break
            yield new(Action, ("drop", a, a, "memory"))
        left = n - 1 if d == 1 else _left(n, d)
        middle = a + left
        yield new(Action, ("advance", a, middle, "memory"))
        push((a, left, d))
        a = middle
        n -= left
        d -= 1


@lru_cache(maxsize=1 << 14)
def _left(n: int, d: int) -> int:
    """Length of the left part for ``d > 1``: of the best ones, that with the fewest saves.

    Both parts then have between ``C(., t - 2)`` and ``C(., t - 1)`` steps, which makes
    the evaluations least. The left part is taken as short as that allows, which leaves
    the fewest saves: a start that is restored is not saved again.
    """
    t = least_replays(n, d)
    if t == 1:
        return 1
    whole = _c(d, t - 1)
    across = _c(d - 2, t - 1)
    if n <= whole + across:
        return _c(d, t - 2)
    return min(n - _c(d - 1, t - 1) - across, whole)


def _c(d: int, t: int) -> int:
    return comb(d + t, min(d, t))
