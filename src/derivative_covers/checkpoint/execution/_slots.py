"""Slots in memory while nobody watches: states of one space, as steps receive them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..states._protect import read_only_copy
from ..states._space import fits
from ..states._states import canonical, present
from ..storage._storage import MemoryStorage

if TYPE_CHECKING:
    from ._by_hand import ByHand
    from ._execute import Execution

__all__ = ["OwnStorage", "Slots"]


class OwnStorage(MemoryStorage):
    """The storage of a sweep that was given none: nobody else sees what lies in it."""


class Slots:
    """Slots whose storage is told of every action.

    Attributes:
        more: States in slots, less those at the beginning.
        least: What ``more`` would be if all were dropped.
    """

    def __init__(self, run: Execution, hand: ByHand) -> None:
        self._run, self._form, self._arrays = run, hand.target.form, hand.arrays
        self._size = hand.target.nbytes
        self._held = run.ledger.slots["memory"]
        self._storage = run._storages["memory"]
        self._known: dict[int, int] = {}  # bytes of states that are of this space
        self._stored = self._full = run._stored_bytes
        self._written = self._read = self._saves = self._restores = self.more = 0
        self._most = self.least = -len(self._held)

    @staticmethod
    def of(run: Execution, hand: ByHand) -> Slots:
        """The slots of an execution."""
        own = type(run._storages["memory"]) is OwnStorage
        return (_OwnSlots if own else Slots)(run, hand)

    def save(self, k: int, x: Any) -> None:
        """Keeps a copy in a free slot."""
        self._held.add(k)
        put = self._storage.put(k, x if self._arrays else canonical(x, "the state"))
        self._run._slots["memory", k] = put, self._size
        self._known[k] = put
        self._written += put
        self._stored += put
        if self._stored > self._full:
            self._full = self._stored
        self._count()

    def _count(self) -> None:
        self._saves += 1
        self.more += 1
        if self.more > self._most:
            self._most = self.more

    def restore(self, k: int) -> Any:
        """The state of a slot; None, and nothing is counted, if it is of another space."""
        state = self._storage.get(k)
        put = self._known.get(k)
        if put is None:
            if not fits(state, self._form):
                return None
            self._known[k] = put = self._run._slots["memory", k][0]
        self._restores += 1
        self._read += put
        return state if self._arrays else present(state)

    def drop(self, k: int) -> bool:
        """Frees a slot; False, and nothing is done, if its state has another size."""
        put, size = self._run._slots["memory", k]
        if size != self._size:
            return False
        self._held.remove(k)
        self._known.pop(k, None)
        self._storage.drop(k)
        del self._run._slots["memory", k]
        self._stored -= put
        self.more -= 1
        return True

    def close(self, fixed: int) -> None:
        """Writes down all that was done; ``fixed`` bytes were held beside states."""
        run, measured, counts = self._run, self._run.measured, self._run.ledger.counts
        counts["restores"] += self._restores
        measured.written += self._written
        measured.read += self._read
        measured.peak_slots = max(measured.peak_slots, self._full)
        if self._saves:
            counts["saves"] += self._saves
            peak = self._most - self.least
            counts["peak_slots"] = max(counts["peak_slots"], peak)
            top = run._slot_bytes + self._most * self._size
            measured.weigh(fixed, self._size, top)
        run._stored_bytes = self._stored
        run._slot_bytes += self.more * self._size


class _OwnSlots(Slots):
    """Slots whose storage is told at the end alone of what was saved."""

    def __init__(self, run: Execution, hand: ByHand) -> None:
        super().__init__(run, hand)
        self._kept: dict[int, Any] = {}
        self._before = self._stored

    def save(self, k: int, x: Any) -> None:
        self._held.add(k)
        self._kept[k] = read_only_copy(x) if self._arrays else x
        self._count()

    def restore(self, k: int) -> Any:
        x = self._kept.get(k)
        if x is None:
            return super().restore(k)
        self._restores += 1
        self._read += self._size
        return x

    def drop(self, k: int) -> bool:
        if self._kept.pop(k, None) is None:
            return super().drop(k)
        self._held.remove(k)
        self.more -= 1
        return True

    def close(self, fixed: int) -> None:
        size, sizes = self._size, self._run._slots
        self._written = self._saves * size
        self._stored = self._before + self.more * size
        if self._saves:
            self._full = self._before + self._most * size
        for k in list(self._kept):
            x = self._kept.pop(k)  # so that no two copies of all lie in memory
            put = self._storage.put(k, x if self._arrays else canonical(x, "the state"))
            sizes["memory", k] = put, size
        super().close(fixed)
