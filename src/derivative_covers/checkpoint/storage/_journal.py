"""Resumable sweeps: what a storage keeps of a sweep besides its saved states.

The state of a sweep is a position in its plan, the cotangents, and the saved states. A
storage with a *journal* writes a record of it now and then, so that a sweep whose process
was killed goes on from the last record. A record names the states that it needs; these
stay where they are until the next record, whatever is dropped in between.

A sweep with such a storage calls

1. ``begin(header)``, then ``commit`` with position 0 and state 0 as ``live``;
2. at its commit points ``if due(): commit(position, counts, buffers, live)``, where
   ``position`` counts the actions of the plan that are done, and ``live`` is the live
   state where the next action needs one that lies in no slot, else None. With two levels
   there is a commit point only where no state lies in memory;
3. at the end ``commit`` once more, with no state left in any slot, and ``end()``, which
   removes everything that the sweep wrote. After an interrupt or a StorageError it calls
   ``close()``, which keeps it, and after any other error ``end()``.

The header is a dict that JSON keeps, made by :func:`sweep_header`; :func:`resume` compares
it with what it is given:

| entry | meaning |
|---|---|
| ``kind`` | ``"gradient"``, ``"cover"`` or ``"hvp"``: which sweep goes on |
| ``steps`` | length of the chain |
| ``plan`` | text of ``plan.to_json()``, or None for a schedule that has none |
| ``cost`` | ``plan.cost`` as a dict |
| ``params`` | space and fingerprint of the parameters, or None |
| ``own`` | what the kind of sweep needs besides, such as its options |
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from ...errors import ScheduleError
from ..states._states import fingerprint, space
from ._storage import Storage

if TYPE_CHECKING:
    from ..plans._plan import Plan

__all__ = ["Journal", "Saved", "sweep_header"]


@runtime_checkable
class Journal(Storage, Protocol):
    """A storage whose sweeps can be resumed; the protocol for third parties.

    A sweep calls ``begin`` and ``commit`` with its first state; then ``commit`` wherever
    ``due`` says so and it could go on from the saved states alone; at its end ``commit``
    without any state, and ``end``. After an interrupt or a StorageError it calls ``close``
    instead, and after any other error ``end`` at once. States that the last record counts on must stay until the next, even if they are dropped.

    Example:
        >>> import tempfile
        >>> from derivative_covers.checkpoint import DiskStorage, Journal, MemoryStorage
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     isinstance(DiskStorage(folder), Journal)
        True
        >>> isinstance(MemoryStorage(), Journal)
        False
    """

    def begin(self, header: dict[str, Any]) -> None:
        """Starts a sweep.

        Raises:
            StorageError: The place is in use, or holds something else.
        """

    def due(self) -> bool:
        """Whether the last record is old enough for another."""

    def commit(
        self, position: int, counts: dict[str, Any], buffers: Any, live: Any = None
    ) -> None:
        """Writes a record: from now on a killed sweep goes on from here.

        Raises:
            StorageError: It cannot be written; the record before it is still there.
        """

    def end(self) -> None:
        """Removes everything that the sweep wrote."""


class Saved(NamedTuple):
    """A sweep as its last record has it.

    Attributes:
        storage: The storage, with the saved states of the record, ready to go on.
        header: As given to ``begin``.
        position: How many actions of the plan are done.
        counts: As given to ``commit``; JSON turned tuples into lists.
        buffers: The nest that was given to ``commit``, in arrays that can be written to.
        live: The live state that was given to ``commit``, read-only, or None.
    """

    storage: Journal
    header: dict[str, Any]
    position: int
    counts: dict[str, Any]
    buffers: Any
    live: Any


def sweep_header(
    kind: str, plan: Plan, params: Any, own: dict[str, Any]
) -> dict[str, Any]:
    """The header of a sweep; ``params`` are canonical or None, ``own`` is for JSON."""
    try:
        text = plan.to_json()
    except ScheduleError:
        text = None
    found = None if params is None else [space(params).describe(), fingerprint(params)]
    return {
        "kind": kind,
        "steps": plan.steps,
        "plan": text,
        "cost": asdict(plan.cost),
        "params": found,
        "own": own,
    }
