"""How many steps fit some slots and replays, in integers of any size."""

from __future__ import annotations

from math import comb

from ...errors import ScheduleError
from ._integers import count, first_where

__all__ = ["capacity", "fits", "full_work", "least_replays"]


def capacity(slots: int, replays: int) -> int:
    """The most steps that can be reversed with some slots and replays.

    ``C(d, t) = C(d - 1, t) + C(d, t - 1)`` with ``C(d, 0) = C(0, t) = 1``, which is the
    binomial coefficient ``(d + t)! / (d! t!)``. A slot holds one saved state; the start
    state of the interval in work occupies one of them.

    Args:
        slots: Saved states at once, ``d``.
        replays: Unrecorded evaluations of one step, ``t``, beside the recorded one.

    Returns:
        ``C(d, t)``, exact.

    Raises:
        InputTypeError: If an argument is no integer.
        ScheduleError: If one is negative.

    Example:
        >>> from derivative_covers.checkpoint import capacity
        >>> capacity(slots=10, replays=4)
        1001
    """
    d, t = count("slots", slots), count("replays", replays)
    return comb(d + t, min(d, t))


def fits(steps: int, d: int, t: int) -> bool:
    """Whether ``steps <= C(d, t)``, without forming a number much larger than needed."""
    least = min(d, t)
    # C(d, t) >= 2 ** min(d, t)
    return least >= steps.bit_length() or steps <= comb(d + t, least)


def least_replays(steps: int, d: int) -> int:
    """The least ``t`` with ``steps <= C(d, t)``; with ``d`` and ``t`` swapped as well.

    Raises:
        ScheduleError: If there are no slots for more than one step.
    """
    if steps <= 1:
        return 0
    if d == 0:
        msg = (
            f"{steps} steps cannot be reversed with 0 slots: 1 step is the most. The "
            "start state of the interval in work needs a slot; take slots=1 or more."
        )
        raise ScheduleError(msg)
    if steps <= d + 1:
        return 1
    high = 2
    while not fits(steps, d, high):
        high *= 2
    return first_where(lambda t: fits(steps, d, t), high // 2 + 1, high)


def full_work(d: int, t: int) -> int:
    """Unrecorded evaluations for ``C(d, t)`` steps, ``t >= 0``; 0 where ``d = 0``.

    The sum over the steps of their replays, ``t C(d, t) - C(d + 1, t - 1)``.
    """
    if d == 0 or t == 0:
        return 0
    return t * comb(d + t, min(d, t)) - comb(d + t, min(d + 1, t - 1))
