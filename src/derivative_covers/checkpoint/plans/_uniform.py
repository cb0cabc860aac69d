"""Blocks of equal length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import OptionError, ScheduleError
from ._actions import Action
from ._cost import PlanCost
from ._integers import count
from ._plan import Walk
from ._schedule import Schedule

__all__ = ["UniformBlock", "block_length", "blocks"]

_new = tuple.__new__


def block_length(steps: int, slots: int) -> int:
    """``ceil(steps / slots)``."""
    return -(-steps // slots)


def blocks(steps: int, q: int) -> int:
    """Number of blocks of length ``q``, the last one shorter where it must be."""
    return -(-steps // q)


@dataclass(frozen=True)
class UniformBlock(Schedule):
    """Save the start of every block of ``q = ceil(T / slots)`` steps.

    ``record="step"`` holds one record at a time. A forward pass evaluates all ``T`` steps
    and saves the block starts. Blocks are then processed from the last to the first, and
    for each step of a block, from the last to the first, the block start is restored and
    the steps before are replayed: ``r (r - 1) / 2`` replays for a block of ``r`` steps,
    beside the ``T`` evaluations of the forward pass.

    ``record="block"`` holds the records of one block at a time and replays nothing inside
    it. The forward pass ends at the start of the last block, which is recorded from the
    live state and needs no slot: ``T - r`` unrecorded evaluations for a last block of
    ``r`` steps, and at most ``slots - 1`` saved states.

    Neither claims to be optimal; see :class:`Revolve`.

    Attributes:
        slots: Number of blocks at most, and of saved states.
        record: ``"step"`` or ``"block"``.

    Raises:
        InputTypeError: If ``slots`` is no integer.
        OptionError: If ``record`` is something else.
        ScheduleError: If ``slots`` is negative, or at ``plan(steps)`` with ``steps > 0``
            if it is 0.

    Example:
        >>> from derivative_covers.checkpoint import UniformBlock
        >>> UniformBlock(slots=32).plan(1000).cost.unrecorded
        16404
        >>> UniformBlock(slots=32, record="block").plan(1000).cost.unrecorded
        992
    """

    slots: int
    record: Literal["step", "block"] = "step"

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", count("slots", self.slots))
        given: Any = self.record
        if not isinstance(given, str) or given not in ("step", "block"):
            msg = f"record is {given!r:.80}; 'step' or 'block' is needed."
            raise OptionError(msg)

    def check(self, steps: int) -> None:
        """At least one slot, where there is a step."""
        if steps and not self.slots:
            msg = f"UniformBlock(slots=0) cannot reverse {steps} steps; take slots=1 or more."
            raise ScheduleError(msg)

    def actions(self, steps: int) -> Iterator[Action]:
        """The forward pass, then the blocks from the last to the first."""
        return self.walk(steps, Walk())

    def walk(self, steps: int, walk: Walk) -> Iterator[Action]:
        """One interval in work for the chain, and one for each saved block start."""
        if not steps:
            return iter(())
        whole = self.record == "block"
        return (self._by_block if whole else self._by_step)(steps, walk)

    def _forward(self, q: int, starts: range, walk: Walk) -> Iterator[Action]:
        """Save each start and advance by ``q``."""
        walk.frames = 1
        for a in starts:
            walk.frames += 1
            yield _new(Action, ("save", a, a, "memory"))
            yield _new(Action, ("advance", a, a + q, "memory"))

    def _by_step(self, steps: int, walk: Walk) -> Iterator[Action]:
        new = _new
        q = block_length(steps, self.slots)
        last = (blocks(steps, q) - 1) * q
        yield from self._forward(q, range(0, last, q), walk)
        walk.frames += 1
        yield new(Action, ("save", last, last, "memory"))
        yield new(Action, ("advance", last, steps, "memory"))
        b = steps
        for a in range(last, -1, -q):
            for k in range(b - 1, a, -1):
                yield new(Action, ("restore", a, a, "memory"))
                yield new(Action, ("advance", a, k, "memory"))
                yield new(Action, ("record", k, k + 1, "memory"))
                yield new(Action, ("reverse", k, k + 1, "memory"))
            yield new(Action, ("restore", a, a, "memory"))
            yield new(Action, ("record", a, a + 1, "memory"))
            yield new(Action, ("reverse", a, a + 1, "memory"))
            yield new(Action, ("drop", a, a, "memory"))
            b = a

    def _by_block(self, steps: int, walk: Walk) -> Iterator[Action]:
        new = _new
        q = block_length(steps, self.slots)
        last = (blocks(steps, q) - 1) * q
        yield from self._forward(q, range(0, last, q), walk)
        yield new(Action, ("record", last, steps, "memory"))
        yield new(Action, ("reverse", last, steps, "memory"))
        for a in range(last - q, -1, -q):
            yield new(Action, ("restore", a, a, "memory"))
            yield new(Action, ("drop", a, a, "memory"))
            yield new(Action, ("record", a, a + q, "memory"))
            yield new(Action, ("reverse", a, a + q, "memory"))

    def cost(self, steps: int) -> PlanCost:
        """O(1)."""
        if not steps:
            return PlanCost()
        q = block_length(steps, self.slots)
        full = blocks(steps, q) - 1
        r = steps - full * q
        if self.record == "block":
            return PlanCost(
                unrecorded=steps - r,
                recorded=steps,
                saves=full,
                restores=full,
                peak_slots=full,
                max_replays=min(full, 1),
                frames=full + 1,
                peak_records=q,
            )
        return PlanCost(
            unrecorded=steps + full * (q * (q - 1) // 2) + r * (r - 1) // 2,
            recorded=steps,
            saves=full + 1,
            restores=steps,
            peak_slots=full + 1,
            max_replays=q,
            frames=full + 2,
            peak_records=1,
        )
