"""From the arguments of a sweep to its execution, whatever it carries.

Here is what all kinds of sweeps share: which storage serves which level, that no two
sweeps use one at once, and that nothing stays behind when one fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from ...errors import InputTypeError, OptionError, ScheduleError, StorageError
from ..plans._plan import Plan
from ..plans._two_level import TwoLevel
from ..steps._chain import Chain
from ..storage._journal import Journal, Saved, sweep_header
from ..storage._storage import MemoryStorage, Storage
from ._events import Event, Listener
from ._execute import Execution
from ._modes import Mode
from ._progress import Bar
from ._report import SweepReport
from ._slots import OwnStorage

__all__ = ["Options", "check_chain", "check_options", "drive", "go_on"]

_RUNNING: set[int] = set()
_LOCK = Lock()


@dataclass(frozen=True)
class Options:
    """How a sweep watches and tells.

    Attributes:
        verify: Whether it keeps fingerprints of states.
        progress: Whether it shows a bar.
        on_event: The caller's listener, or None.
    """

    verify: bool = False
    progress: bool = False
    on_event: Callable[[Event], object] | None = None


def check_options(verify: object, progress: object, on_event: Any) -> Options:
    """The options of a sweep.

    Raises:
        OptionError: If ``verify`` or ``progress`` has no such value.
        InputTypeError: If ``on_event`` cannot be called.
    """
    if verify is not None and verify != "fingerprint":
        msg = f"verify is {verify!r:.80}; it must be None or 'fingerprint'."
        raise OptionError(msg)
    if not isinstance(progress, bool):
        msg = f"progress is {progress!r:.80}; it must be True or False."
        raise OptionError(msg)
    if on_event is not None and not callable(on_event):
        msg = f"on_event is {on_event!r:.80}; a function of an Event is needed."
        raise InputTypeError(msg)
    ear = None if on_event is None else _outside(on_event)
    return Options(verify is not None, progress, ear)


def _outside(on_event: Listener) -> Listener:
    """The listener with the caller's handling of floating-point flags, not the sweep's."""
    kept: dict[str, Any] = {**np.geterr(), "call": np.geterrcall()}

    def listener(event: Event) -> None:
        with np.errstate(**kept):
            on_event(event)

    return listener


def check_chain(chain: object, schedule: Any) -> Plan:
    """The plan of a sweep.

    Raises:
        InputTypeError: If the chain is no Chain, or the schedule neither Schedule nor
            Plan.
        ScheduleError: If it is a plan for another number of steps, or cannot reverse
            so many.
    """
    if not isinstance(chain, Chain):
        msg = (
            f"chain is of type {type(chain).__name__}; a Chain is needed: Chain([step0, step1, "
            "...]) or Chain.uniform(T, step)."
        )
        raise InputTypeError(msg)
    steps = len(chain)
    if isinstance(schedule, Plan):
        if schedule.steps != steps:
            msg = (
                f"the plan is one for {schedule.steps} steps and the chain has {steps}: "
                "give the schedule itself, which makes its own plan, or "
                f"schedule.plan({steps})."
            )
            raise ScheduleError(msg)
        return schedule
    if isinstance(schedule, type) or not callable(getattr(schedule, "plan", None)):
        msg = (
            f"schedule is {schedule!r:.80}; a Schedule or a Plan is needed, such as "
            "Revolve(slots=10)."
        )
        raise InputTypeError(msg)
    plan = schedule.plan(steps)
    if not isinstance(plan, Plan) or plan.steps != steps:
        msg = f"{schedule!r:.80} gave {plan!r:.80} in the place of a Plan for {steps} steps."
        raise ScheduleError(msg)
    return plan


def drive(
    kind: str,
    mode: Mode,
    plan: Plan,
    x0: Any,
    storage: Storage | None,
    *,
    params: Any,
    own: dict[str, Any],
    options: Options,
) -> SweepReport:
    """Runs a plan of at least one step from its start.

    Args:
        kind: Which sweep it is, for :func:`resume`.
        mode: What it carries; has its results afterwards.
        plan: The plan.
        x0: The point, canonical.
        storage: The caller's storage, or None for one in memory.
        params: Canonical or None, for the journal.
        own: What else this kind of sweep needs to be resumed, for JSON.
        options: How it watches and tells.
    """
    own = own | {"verify": options.verify}
    with (
        _levels(plan, storage) as (storages, journal),
        _listening(plan, options) as ears,
    ):
        header = None if journal is None else sweep_header(kind, plan, params, own)
        run = Execution(
            plan, mode, storages, verify=options.verify, listeners=ears, journal=journal
        )
        if journal is not None and header is not None:
            journal.begin(header)
        try:
            run.start(x0)
            report = run.run()
        except Exception as error:
            # Where the disk failed, the user may make room and resume.
            if journal is not None and isinstance(error, StorageError):
                journal.close()
            else:
                _clear(run, journal)
            raise
        except BaseException:
            if journal is not None:
                journal.close()
            else:
                run.abandon()
            raise
        if journal is not None:
            journal.end()
        return report


def go_on(mode: Mode, plan: Plan, saved: Saved, options: Options) -> SweepReport:
    """Runs the rest of a plan from a record of the journal; errors leave that as it is."""
    journal = saved.storage
    options = Options(
        options.verify or bool(saved.header["own"].get("verify")),
        options.progress,
        options.on_event,
    )
    storages: dict[str, Storage] = {"memory": journal}
    if _has_disk(plan):
        storages = {"memory": MemoryStorage(), "disk": journal}
    with _listening(plan, options) as ears:
        run = Execution(
            plan, mode, storages, verify=options.verify, listeners=ears, journal=journal
        )
        run.load(saved.position, saved.counts, saved.buffers, saved.live)
        report = run.run()
    journal.end()
    return report


def _clear(run: Execution, journal: Journal | None) -> None:
    """Leaves nothing behind; the error that is on its way matters more than one here."""
    try:
        if journal is None:
            run.abandon()
        else:
            journal.end()
    except StorageError:
        if journal is not None:
            journal.close()


def _has_disk(plan: Plan) -> bool:
    return isinstance(plan.schedule, TwoLevel) or plan.cost.disk_saves > 0


@contextmanager
def _levels(
    plan: Plan, storage: Storage | None
) -> Iterator[tuple[dict[str, Storage], Journal | None]]:
    """A storage for each level, and the one that keeps a journal."""
    if storage is not None:
        _check_storage(storage)
    two = _has_disk(plan)
    if two and (storage is None or isinstance(storage, MemoryStorage)):
        msg = (
            f"{plan.schedule!r:.80} keeps states on two levels, and storage is "
            f"{storage!r:.80}: give storage=DiskStorage(folder) for the second."
        )
        raise OptionError(msg)
    if storage is None:
        own = OwnStorage()
        try:
            yield {"memory": own}, None
        finally:
            own.close()
        return
    with _alone(storage):
        journal = storage if isinstance(storage, Journal) else None
        fast = OwnStorage() if two else storage
        yield ({"memory": fast, "disk": storage} if two else {"memory": fast}), journal


def _check_storage(storage: object) -> None:
    if isinstance(storage, type) or not isinstance(storage, Storage):
        msg = (
            f"storage is {storage!r:.80}; a Storage is needed: MemoryStorage() or "
            "DiskStorage(folder)."
        )
        raise InputTypeError(msg)


@contextmanager
def _alone(storage: Storage) -> Iterator[None]:
    """Keeps other sweeps of this process from the storage."""
    with _LOCK:
        if id(storage) in _RUNNING:
            msg = (
                f"another sweep is using {storage!r:.80}: give every sweep that runs at "
                "the same time a storage of its own."
            )
            raise StorageError(msg)
        if len(storage):
            msg = (
                f"{storage!r:.80} holds {len(storage)} states already: give a sweep an "
                "empty storage, or empty this one with close()."
            )
            raise StorageError(msg)
        _RUNNING.add(id(storage))
    try:
        yield
    finally:
        with _LOCK:
            _RUNNING.discard(id(storage))


@contextmanager
def _listening(plan: Plan, options: Options) -> Iterator[list[Listener]]:
    ears: list[Listener] = []
    bar = Bar(plan.cost.evaluations) if options.progress else None
    try:
        if bar is not None:
            ears.append(bar)
        if options.on_event is not None:
            ears.append(options.on_event)
        yield ears
    finally:
        if bar is not None:
            bar.close()
