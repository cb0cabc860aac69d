"""The schedule of an ordinary reverse sweep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ._actions import Action
from ._cost import PlanCost
from ._plan import Walk
from ._schedule import Schedule

__all__ = ["StoreAll"]


@dataclass(frozen=True)
class StoreAll(Schedule):
    """Record every step at once, as a single tape would: no slot, no replay, all records.

    Example:
        >>> from derivative_covers.checkpoint import StoreAll
        >>> StoreAll().plan(1000).cost.peak_records
        1000
    """

    def actions(self, steps: int) -> Iterator[Action]:
        """All steps recorded, all reversed."""
        if steps:
            yield Action("record", 0, steps)
            yield Action("reverse", 0, steps)

    def cost(self, steps: int) -> PlanCost:
        """O(1)."""
        return PlanCost(recorded=steps, frames=min(steps, 1), peak_records=steps)

    def walk(self, steps: int, walk: Walk) -> Iterator[Action]:
        """The chain is the one interval in work."""
        walk.frames = min(steps, 1)
        return self.actions(steps)
