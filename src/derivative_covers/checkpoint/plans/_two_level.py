"""Blocks on disk, the fewest evaluations inside each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from ...errors import ScheduleError
from ._actions import Action
from ._cost import PlanCost
from ._integers import count
from ._plan import Walk
from ._revolve import revolve_actions, revolve_work
from ._schedule import Schedule
from ._uniform import block_length, blocks

__all__ = ["TwoLevel"]


@dataclass(frozen=True)
class TwoLevel(Schedule):
    """Starts of uniform blocks on disk, and :class:`Revolve` in memory inside each block.

    A forward pass saves the starts of blocks of ``q = ceil(T / disk)`` steps on disk, all
    but the last, which is worked on from the live state. A block start leaves the disk
    when its block is reversed.

    Attributes:
        memory: Slots in memory, ``d``.
        disk: Number of blocks at most; so many slots on disk, less one, are in use.

    Raises:
        InputTypeError: If an option is no integer.
        ScheduleError: If one is negative, or at ``plan(steps)`` if ``disk=0`` for a step,
            or ``memory=0`` for blocks of more than one step.

    Example:
        >>> from derivative_covers.checkpoint import Revolve, TwoLevel
        >>> Revolve(slots=10).plan(10_000).cost.unrecorded
        57624
        >>> TwoLevel(memory=10, disk=100).plan(10_000).cost.unrecorded
        32100
    """

    memory: int
    disk: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", count("memory", self.memory))
        object.__setattr__(self, "disk", count("disk", self.disk))

    def check(self, steps: int) -> None:
        """A block for a step, and a slot for a block of two."""
        if steps and not self.disk:
            msg = f"TwoLevel(disk=0) cannot reverse {steps} steps; take disk=1 or more."
            raise ScheduleError(msg)
        if not self.memory and steps > self.disk:
            msg = (
                f"{steps} steps in {self.disk} blocks cannot be reversed with memory=0: "
                "a block of more than one step needs a slot in memory. Take memory=1 or "
                f"more, or disk={steps}."
            )
            raise ScheduleError(msg)

    def actions(self, steps: int) -> Iterator[Action]:
        """The forward pass, then the blocks from the last to the first."""
        return self.walk(steps, Walk())

    def walk(self, steps: int, walk: Walk) -> Iterator[Action]:
        """One interval in work for each start on disk, and those inside the block."""
        return chain.from_iterable(self._parts(steps, walk)) if steps else iter(())

    def _parts(self, steps: int, walk: Walk) -> Iterator[Iterable[Action]]:
        q = block_length(steps, self.disk)
        on_disk = blocks(steps, q) - 1
        last = on_disk * q
        for a in range(0, last, q):
            yield Action("save", a, a, "disk"), Action("advance", a, a + q)
        yield revolve_actions(last, steps - last, self.memory, walk, on_disk)
        for a in range(last - q, -1, -q):
            yield (Action("restore", a, a, "disk"),)
            yield revolve_actions(a, q, self.memory, walk, on_disk)
            yield (Action("drop", a, a, "disk"),)
            on_disk -= 1

    def cost(self, steps: int) -> PlanCost:
        """O(log T)."""
        if not steps:
            return PlanCost()
        q = block_length(steps, self.disk)
        full = blocks(steps, q) - 1
        r = steps - full * q
        work, saves, replays = revolve_work(r, self.memory)
        longest = r
        if full:
            inside, own, most = revolve_work(q, self.memory)
            work += full * (q + inside)
            saves += full * own
            replays = max(replays, most + 1)
            longest = q
        peak = min(self.memory, longest - 1)
        return PlanCost(
            unrecorded=work,
            recorded=steps,
            saves=saves,
            restores=steps - full - 1,
            peak_slots=peak,
            max_replays=replays,
            frames=full + peak + 1,
            disk_saves=full,
            disk_restores=full,
            peak_disk_slots=full,
            peak_records=1,
        )
