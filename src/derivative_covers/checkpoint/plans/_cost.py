"""What a plan costs, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ._integers import nbytes

__all__ = ["PlanCost"]


@dataclass(frozen=True)
class PlanCost:
    """What a plan does and holds, predicted or counted; exact integers of any size.

    Where a plan has one level of slots, that level is called memory, whatever storage
    holds it. A step is evaluated ``1 + r`` times: recorded once, unrecorded ``r`` times.

    Attributes:
        unrecorded: Evaluations of steps without recording.
        recorded: Evaluations of steps that were recorded: one a step.
        saves: States copied into slots in memory.
        restores: States taken from slots in memory.
        peak_slots: Most slots in memory in use at once.
        max_replays: Most unrecorded evaluations of one step.
        frames: Most intervals in work at once: the chain, and one more for each saved
            start that the plan comes back to. A recursion would have as many calls.
        disk_saves: States copied into slots on disk.
        disk_restores: States taken from slots on disk.
        peak_disk_slots: Most slots on disk in use at once.
        peak_records: Most records (one-step tapes) held at once.

    Example:
        >>> from derivative_covers.checkpoint import Revolve
        >>> cost = Revolve(slots=10).plan(100_000).cost
        >>> cost.unrecorded, cost.recorded, cost.peak_slots
        (832040, 100000, 10)
    """

    unrecorded: int = 0
    recorded: int = 0
    saves: int = 0
    restores: int = 0
    peak_slots: int = 0
    max_replays: int = 0
    frames: int = 0
    disk_saves: int = 0
    disk_restores: int = 0
    peak_disk_slots: int = 0
    peak_records: int = 0

    @property
    def evaluations(self) -> int:
        """Evaluations of steps, recorded or not."""
        return self.unrecorded + self.recorded

    def memory(self, state_bytes: float, tape_bytes: float = 0) -> int:
        """Bytes of the slots in memory, the live state and the records at their peak.

        What a step itself needs while it runs is not in it.

        Args:
            state_bytes: Bytes of one state.
            tape_bytes: Bytes of one record.

        Returns:
            ``(peak_slots + 1) * state_bytes + peak_records * tape_bytes``.

        Raises:
            InputTypeError: If an argument is no whole number.
            ScheduleError: If one is negative.
        """
        state = nbytes("state_bytes", state_bytes)
        tape = nbytes("tape_bytes", tape_bytes)
        return (self.peak_slots + 1) * state + self.peak_records * tape
