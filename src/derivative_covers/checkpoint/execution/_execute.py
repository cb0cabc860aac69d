"""Running a plan: one loop over its actions, for every kind of sweep and storage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from ...errors import ScheduleError
from ..plans._actions import Kind
from ..plans._cost import PlanCost
from ..plans._plan import Plan
from ..states._states import finite
from ..steps._blame import blame, not_finite
from ..storage._journal import Journal
from ..storage._storage import Storage
from ._carry import NeedsCarry
from ._events import Event, Listener
from ._fingerprints import Fingerprints
from ._ledger import Ledger
from ._measured import PHASES, Measured
from ._modes import Block, Blocks, Mode
from ._quiet import END, quiet, suited
from ._report import Seconds, SpaceUse, SweepReport, Work, check_costs

__all__ = ["Execution"]

_Array: Any = np.ndarray
_ARRAYS = frozenset((_Array,))
_CHUNK = 1000  # steps of an advance between two events


class Execution:
    """A plan on its way: live state, records, storages and everything counted.

    Args:
        plan: The plan.
        mode: What the sweep carries.
        storages: A storage for each level that the plan uses.
        verify: Whether to keep a fingerprint of every state.
        listeners: Called with every event.
        journal: The storage that keeps the sweep's progress, or None. It is begun.
    """

    def __init__(
        self,
        plan: Plan,
        mode: Mode,
        storages: dict[str, Storage],
        *,
        verify: bool = False,
        listeners: list[Listener] | None = None,
        journal: Journal | None = None,
    ) -> None:
        """Stands before the first action; :meth:`start` or :meth:`load` comes next."""
        self.plan = plan
        self.mode = mode
        self.ledger = Ledger(plan.steps)
        self.measured = Measured()
        self._storages = storages
        self._journal = journal
        self._listeners = listeners or []
        self._prints = Fingerprints(plan.steps) if verify else None
        self._seen = None if self._prints is None else self._prints.seen
        # Fingerprints are those of single steps.
        self._blocks: Any = None
        if not verify and getattr(mode, "blocks", False):
            self._blocks = mode
        self._live: list[Any] = []  # at most one: popped, so that callees can free it
        self._records: dict[int, Any] = {}  # a block stands at its last step
        self._slots: dict[tuple[str, int], tuple[int, int]] = {}  # bytes: stored, state
        self._stored_bytes = 0
        self._slot_bytes = 0
        self._live_bytes = 0
        self._record_bytes = 0
        self.unsuited: Any = False  # a space that quiet() leaves alone
        self._unsure = False  # whether nobody has looked at the live state yet
        self._total = plan.cost.evaluations
        self._began = self._clock = perf_counter()

    def start(self, x0: Any) -> None:
        """Makes the canonical point the live state."""
        self._live = [self.mode.start(x0)]
        self._live_bytes = _nbytes(self._live[0])
        self._weigh()
        if self._seen is not None:
            self._seen(0, self._live[0])
        if self._journal is not None:
            self._commit(self._journal, self._live[0])

    def load(
        self, position: int, counts: dict[str, Any], buffers: Any, live: Any
    ) -> None:
        """Goes on from a record of the journal."""
        self.ledger.load(position, counts["ledger"])
        self.measured = Measured(**counts["measured"])
        self.mode.load(buffers)
        self._slots = {
            (level, k): (stored, size) for level, k, stored, size in counts["slots"]
        }
        self._stored_bytes = sum(stored for stored, _ in self._slots.values())
        self._slot_bytes = sum(size for _, size in self._slots.values())
        if live is None and self.ledger.live is not None:
            found = self._nearest(self.ledger.live)
            live = None if found is None else found[1]
        self._live = [] if live is None else [live]
        self._live_bytes = 0 if live is None else _nbytes(live)

    def run(self) -> SweepReport:
        """All actions that are left.

        Raises:
            ScheduleError: If the plan breaks a rule, or its predicted cost.
        """
        walk = self.plan.walk()
        seconds, clock = self.measured.seconds, perf_counter
        does: dict[str, tuple[Callable[[int, int, str], None], str]] = {
            kind: (getattr(self, f"_{kind}"), phase) for kind, phase in PHASES.items()
        }
        self._clock = perf_counter()
        alone = self._prints is None and self._journal is None
        simple = suited(self) if alone and not self._listeners else None
        if simple is not None:
            simple.alone, self._blocks = True, simple
        actions = islice(walk, self.ledger.position, None)
        for given in actions:
            action: Any = given
            if simple is not None and simple.space is not self.unsuited:
                action = quiet(self, simple, actions, given)
            if action is END:
                break
            try:
                kind, start, stop, level = action
                do, phase = does[kind]
            except (TypeError, ValueError, KeyError):
                raise self.ledger.unknown(action) from None
            if type(start) is not int or type(stop) is not int:
                raise self.ledger.unknown(action)
            try:
                do(start, stop, level)
            except NeedsCarry as needs:
                needs.executed = self.ledger.executed(walk.frames)
                raise
            now = clock()
            seconds[phase] += now - self._clock
            self._clock = now
        self.ledger.finish()
        executed = self.ledger.executed(walk.frames)
        check_costs(executed, self.plan.cost)
        if self._journal is not None:
            self._commit(self._journal, None)
        return self._report(executed)

    # Actions ------------------------------------------------------------------------

    def _advance(self, start: int, stop: int, level: str) -> None:
        ledger = self.ledger
        ledger.advance(start, stop)
        live, advance = self._live, self.mode.advance
        if not self._listeners:
            live.append(advance(live.pop(), start, stop, self._seen))
        else:
            for a in range(start, stop, _CHUNK):
                b = min(a + _CHUNK, stop)
                live.append(advance(live.pop(), a, b, self._seen))
                self._tell("advance", b, ledger.evaluations - (stop - b))
        self._unsure = True

    def _record(self, start: int, stop: int, level: str) -> None:
        ledger, measured, live = self.ledger, self.measured, self._live
        ledger.record(start, stop)
        if self._unsure:
            self._look_at_live(start)
        k = start
        while k < stop:
            if stop > k + 1 and self._blocks is not None:
                done = self._record_block(self._blocks, k, stop)
                k += done
                if done:
                    continue
            before = None if self._prints is None else live[0]
            try:
                y, record = self.mode.record(live.pop(), k)
            except BaseException as error:
                blame(error, k, "record")
                raise
            live.append(y)
            if self._prints is not None:
                self._prints.kept(k, before, "while the step was recorded")
                self._prints.seen(k + 1, y)
            self._live_bytes = y.nbytes if type(y) is _Array else _nbytes(y)
            self._records[k] = record
            _, work, reverse, nbytes = record
            self._record_bytes += nbytes
            measured.forward += work
            measured.reverse += reverse
            if nbytes > measured.tape:
                measured.tape = nbytes
            del y, record, before, _
            held = self._record_bytes + self.mode.nbytes
            if (
                held > measured.fixed
                or self._live_bytes > measured.state
                or held + self._live_bytes + self._slot_bytes > measured.peak
            ):
                self._weigh()
            k += 1
            if self._listeners:
                self._tell("record", k, ledger.evaluations - (stop - k))

    def _record_block(self, mode: Blocks, k: int, stop: int) -> int:
        """Records steps from ``k`` on in one call; gives how many."""
        measured, live = self.measured, self._live
        found = mode.record_block(live[0], k, stop)
        if found is None:
            return 0
        live[0], block = found
        count = block.steps
        self._records[k + count - 1] = block
        self._live_bytes = _nbytes(live[0])
        self._record_bytes += count * block.nbytes
        measured.forward += count * block.work
        measured.reverse += count * block.reverse
        measured.tape = max(measured.tape, block.nbytes)
        self._weigh()
        if self._listeners:
            done = self.ledger.evaluations - (stop - k - count)
            self._tell("record", k + count, done)
        return count

    def _reverse(self, start: int, stop: int, level: str) -> None:
        self.ledger.reverse(start, stop)
        self._live.clear()
        self._live_bytes = 0
        records, reverse, before = self._records, self.mode.reverse, self.mode.nbytes
        measured, leave = self.measured, self.ledger.replays.leave
        k = stop - 1
        while k >= start:
            if type(records[k]) is Block:
                k = self._reverse_block(records.pop(k), start, k)
                continue
            _, work, _, nbytes = records[k]
            self._record_bytes -= nbytes
            measured.unrecorded += leave(k) * work
            try:
                reverse(records.pop(k), k)
            except BaseException as error:
                blame(error, k, "reverse")
                raise
            if self._listeners:
                self._tell("reverse", k, self.ledger.evaluations)
            k -= 1
        if self.mode.nbytes != before:  # else less is held than before
            self._weigh()
        if self._journal is not None:
            self._commit_if_due(self._journal, "reverse")

    def _reverse_block(self, block: Block, start: int, k: int) -> int:
        """Reverses the steps of a block up to ``k``; gives the step before them."""
        assert self._blocks is not None
        start = max(start, block.start)
        if start > block.start:
            self._records[start - 1] = block
        replays = self.ledger.replays
        count = sum([replays.leave(j) for j in range(k, start - 1, -1)])
        self._record_bytes -= (k + 1 - start) * block.nbytes
        self.measured.unrecorded += count * block.work
        self._blocks.reverse_block(block, start, k + 1)
        if self._listeners:
            self._tell("reverse", start, self.ledger.evaluations)
        return start - 1

    def _save(self, k: int, stop: int, level: str) -> None:
        self.ledger.save(k, stop, level)
        if self._unsure:
            self._look_at_live(k)
        measured, size = self.measured, self._live_bytes
        stored = self._storages[level].put(k, self._live[0])
        measured.written += stored
        self._slots[level, k] = stored, size
        self._slot_bytes += size
        self._stored_bytes += stored
        if self._stored_bytes > measured.peak_slots:
            measured.peak_slots = self._stored_bytes
        self._weigh()
        if self._listeners:
            self._tell("save", k, self.ledger.evaluations)
        if self._journal is not None:
            self._commit_if_due(self._journal, "storage")

    def _restore(self, k: int, stop: int, level: str) -> None:
        self.ledger.restore(k, stop, level)
        self._live.clear()
        state = self._storages[level].get(k)
        if self._prints is not None:
            self._prints.kept(k, state, "in its slot")
        self._live.append(state)
        self._unsure = False
        stored, self._live_bytes = self._slots[level, k]
        self.measured.read += stored
        if self._listeners:
            self._tell("restore", k, self.ledger.evaluations)

    def _drop(self, k: int, stop: int, level: str) -> None:
        self.ledger.drop(k, stop, level)
        self._storages[level].drop(k)
        stored, size = self._slots.pop((level, k))
        self._stored_bytes -= stored
        self._slot_bytes -= size
        if self._listeners:
            self._tell("drop", k, self.ledger.evaluations)

    def abandon(self) -> None:
        """Drops every state that it saved."""
        for level, k in list(self._slots):
            self._storages[level].drop(k)
            del self._slots[level, k]
        self._live.clear()
        self._records.clear()

    # What is measured and told --------------------------------------------------------

    def _weigh(self) -> None:
        """Bytes held now."""
        fixed = self._record_bytes + self.mode.nbytes
        self.measured.weigh(fixed, self._live_bytes, self._slot_bytes)

    def _tell(self, kind: Kind, step: int, done: int) -> None:
        now = perf_counter()
        event = Event(kind, step, done, self._total, now - self._began)
        for listener in self._listeners:
            listener(event)
        self._clock += perf_counter() - now  # what listeners take is in no phase

    def _rechecked(self) -> int:
        """Before the journal's last record, and since."""
        return self.measured.rechecked + self.mode.rechecked

    def _report(self, executed: PlanCost) -> SweepReport:
        m, cost = self.measured, self.plan.cost
        work = Work(
            m.forward,
            m.reverse,
            m.unrecorded,
            m.forward + m.reverse + cost.max_replays * m.forward,
        )
        slots = cost.peak_slots + cost.peak_disk_slots
        space = SpaceUse(m.peak, m.fixed, m.state, m.fixed + (slots + 1) * m.state)
        if work.total > work.bound or space.peak > space.bound:
            msg = (
                f"a sweep left its bounds: {work}, {space}. This is a bug of the "
                "package; please report it."
            )
            raise ScheduleError(msg)
        return SweepReport(
            executed=executed,
            predicted=cost,
            seconds=Seconds(**m.seconds),
            work=work,
            space=space,
            peak_slot_bytes=m.peak_slots,
            bytes_written=m.written,
            bytes_read=m.read,
            tape_bytes=m.tape,
            rechecked=self._rechecked(),
            carried=self.mode.recorded_forward,
        )

    # The journal ----------------------------------------------------------------------

    def _commit_if_due(self, journal: Journal, phase: str) -> None:
        """A record, where the sweep could go on from nothing but states on disk."""
        if self._records or not journal.due():
            return
        elsewhere = [
            level
            for level, storage in self._storages.items()
            if storage is not journal and self.ledger.slots[level]
        ]
        if not elsewhere:
            self._lap(phase)
            self._commit(journal, None)

    def _commit(self, journal: Journal, live: Any) -> None:
        counts = {
            "ledger": self.ledger.export(),
            "measured": asdict(self.measured) | {"rechecked": self._rechecked()},
            "slots": [[*slot, *sizes] for slot, sizes in self._slots.items()],
        }
        journal.commit(self.ledger.position, counts, self.mode.export(), live)
        self._lap("storage")

    def _lap(self, phase: str) -> None:
        """Counts the seconds since the last time."""
        now = perf_counter()
        self.measured.seconds[phase] += now - self._clock
        self._clock = now

    # States that are not finite -------------------------------------------------------

    def _look_at_live(self, k: int) -> None:
        """Raises if the live state is not finite, for the step that made it so."""
        self._unsure = False
        live = self._live[0]
        size = live.nbytes if type(live) is _Array else _nbytes(live)
        self._live_bytes = size
        if size > self.measured.state:
            self.measured.state = size
        if finite(live):
            return
        step, bad = k - 1, live
        found = self._nearest(k)
        if found is not None:
            at, state = found
            for j in range(at, k):
                state = self.mode.advance(state, j, j + 1, None)
                if not finite(state):
                    step, bad = j, state
                    break
        error = not_finite(bad, "its output")
        blame(error, step, "advance")
        raise error

    def _nearest(self, k: int) -> tuple[int, Any] | None:
        """The saved state that the live state ``k`` can be made from."""
        keys = [
            (key, level)
            for level, held in self.ledger.slots.items()
            for key in held
            if key <= k and level in self._storages
        ]
        # A save in progress stands in the ledger, not yet in the storage.
        keys = [(key, level) for key, level in keys if (level, key) in self._slots]
        if not keys:
            return None
        key, level = max(keys)
        return key, self._storages[level].get(key)


def _nbytes(state: Any) -> int:
    kind = type(state)
    if kind is _Array:
        return int(state.nbytes)
    if kind is tuple and _ARRAYS.issuperset(map(type, state)):
        return sum([a.nbytes for a in state])
    return sum(map(_nbytes, state.values() if type(state) is dict else state))
