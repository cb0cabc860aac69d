"""The scale references of all slots of one node, made when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from derivative_covers.local._scales import ScaleSource, SplitScale, dead_slot

__all__ = ["SlotScales", "dead_slots"]


class SlotScales(Sequence[SplitScale]):
    """One :class:`SplitScale` a slot, for nodes with many of them.

    Args:
        values: Magnitudes of the parents' values, in slot order.
        parents: Their node ids.
        source: Declared scales and liveness of all nodes.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.extend import ScaleSource
        >>> source = ScaleSource(lambda: [1.0, 2.0], lambda: [False, True])
        >>> slots = SlotScales(np.array([3.0, 4.0]), np.array([1, 0]), source)
        >>> float(slots[1].value), slots.dead().tolist()
        (4.0, [True, False])
    """

    def __init__(
        self, values: NDArray[Any], parents: NDArray[Any], source: ScaleSource
    ) -> None:
        self.values, self.parents, self.source = values, parents, source

    def __len__(self) -> int:
        return len(self.parents)

    @overload
    def __getitem__(self, i: int) -> SplitScale: ...
    @overload
    def __getitem__(self, i: slice) -> list[SplitScale]: ...
    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        return SplitScale(self.values[i], self.source.reference(int(self.parents[i])))

    def dead(self) -> NDArray[np.bool_]:
        """Whether each slot is dead."""
        found: NDArray[np.bool_] = np.asarray(self.source.dead, bool)[self.parents]
        return found


def dead_slots(sl: Sequence[SplitScale]) -> NDArray[np.bool_]:
    """Whether each slot is dead, by one look-up where ``sl`` offers it."""
    if isinstance(sl, SlotScales):
        return sl.dead()
    return np.fromiter(map(dead_slot, sl), bool, len(sl))
