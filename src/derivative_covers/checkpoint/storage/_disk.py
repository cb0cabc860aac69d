"""Saved states in files, and a journal from which a killed sweep goes on."""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
import time
from typing import Any, NamedTuple

from ...errors import OptionError, StorageError
from ._files import PART, examine, pack, read, sync, write
from ._folder import Folder, unusable
from ._journal import Saved
from ._storage import check_key, check_room, checked_capacity, frozen, missing

__all__ = ["DiskStorage", "load", "unfinished"]

_JOURNAL = "journal"
_ENDED = "ended"


class _Entry(NamedTuple):
    """The file of a saved state."""

    name: str
    digest: str
    size: int


class DiskStorage:
    """Saved states in the files of a folder; a sweep that uses it can be resumed.

    During a sweep the folder holds one file a saved state and the file ``journal``. A
    sweep that ends removes them all and leaves the folder empty; so does one that ends
    with an error, of a step or a callback. After a kill, an interrupt (Ctrl-C) or a
    StorageError, such as a full disk, they stay, and :func:`resume` goes on from them,
    to the same bits; :func:`unfinished` tells whether there is one. Files are written
    under a temporary name, carry digests of all of their bytes, and are verified before
    anything of them is used; none is a pickle.

    Args:
        folder: Path of the folder, made where there is none; a relative one counts from
            the working directory of now.
        capacity: Most bytes of the files of saved states at once; None for no limit.
            States that were dropped lie there until the next record, beyond the limit.
            A sweep that exceeds it stays in its folder, and :func:`resume` goes on with a
            storage of a larger capacity.
        journal_seconds: Least time between two records of the journal: what a kill can
            cost. With 0 there is one at every occasion.

    Attributes:
        folder: The folder's absolute path.
        capacity: As given.
        journal_seconds: As given.

    Raises:
        OptionError: ``capacity`` or ``journal_seconds`` is none of its values.
        StorageError: ``folder`` is something else than a folder. Later, with the key of
            the state (or the name of the file) as attribute ``key``: the folder holds
            other files or an unfinished sweep, or a running sweep uses it; the disk or
            the capacity is full; a file is missing or not as it was written.

    Guarantee:
        What is got has the bits, shapes, dtypes and containers of what was put. A
        namedtuple comes back as its own class if this process has that class, and else,
        after a kill, as a new namedtuple class of the same name and fields.

    Cost:
        A state is written and digested once, without a copy in memory. It is brought to
        the disk (``fsync``) when the next record of the journal names it. A record waits
        for the disk a few times: some milliseconds, whatever the states' size.

    Example:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from derivative_covers.checkpoint import DiskStorage
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     storage = DiskStorage(folder)
        ...     _ = storage.put(0, (np.arange(3.0), np.array(1.5)))
        ...     state = storage.get(0)
        ...     storage.close()
        ...     state, os.listdir(folder)
        ((array([0., 1., 2.]), array(1.5)), [])
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        capacity: int | None = None,
        journal_seconds: float = 5.0,
    ) -> None:
        """See the class."""
        self.folder = _absolute(folder)
        self.capacity = checked_capacity(capacity)
        self.journal_seconds = _seconds(journal_seconds)
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise unusable(self.folder, "it is a file; give the path of a folder")
        self._open: Folder | None = None
        self._forget()

    def _forget(self) -> None:
        self._states: dict[int, _Entry] = {}
        self._nbytes = 0
        self._header: dict[str, Any] | None = None
        self._sweep = ""
        self._serial = 0
        self._recorded: set[str] = set()
        self._dropped: list[str] = []
        self._unsynced: dict[str, int] = {}
        self._last = -math.inf

    # States -------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """Bytes of the files of the states that lie in it now."""
        return self._nbytes

    def put(self, key: int, state: Any) -> int:
        """Writes the state and returns the bytes of its file.

        Raises:
            StorageError: It cannot be written, exceeds the capacity, or has a part that
                no storage keeps; nothing of it is left and all else is as before.
        """
        check_key(key)
        folder = self._opened()
        packed = pack(state, self._label(key), key)
        old = self._states.get(key)
        used = self._nbytes - (old.size if old else 0)
        check_room(key, packed.size, used, self.capacity, *self._remedy())
        name = f"state-{key}-{self._serial}-{self._sweep}"
        digest = write(folder.join(name), packed, key, synced=False)
        self._serial += 1
        if old:
            self.drop(key)
        self._states[key] = _Entry(name, digest, packed.size)
        self._nbytes += packed.size
        self._unsynced[name] = key
        return packed.size

    def get(self, key: int) -> Any:
        """The state of that key, verified; its arrays are new and read-only.

        Raises:
            StorageError: There is none, or its file is not what was written.
        """
        entry = self._found(key)
        path = self._opened().join(entry.name)
        state, label, digest = read(path, key)
        self._check_label(path, key, label, digest == entry.digest)
        return state

    def drop(self, key: int) -> None:
        """Forgets a state; a file that the last record names goes after the next one.

        Raises:
            StorageError: There is none, or its file cannot be removed.
        """
        entry = self._found(key)
        if entry.name in self._recorded:
            self._dropped.append(entry.name)
        else:
            self._opened().remove(entry.name)
        self._unsynced.pop(entry.name, None)
        self._nbytes -= entry.size
        del self._states[key]

    def close(self) -> None:
        """Gives the folder free; may be repeated.

        The files of an unfinished sweep stay for :func:`resume`, as its last record has
        them; without a sweep, or before its first record, all are removed.
        """
        folder, self._open = self._open, None
        try:
            for entry in self._states.values():
                if folder and entry.name not in self._recorded:
                    folder.remove(entry.name)
        finally:
            if folder:
                folder.close()
            self._forget()

    def __len__(self) -> int:
        """How many states lie in it."""
        return len(self._states)

    def __repr__(self) -> str:
        """Where it is and what lies in it."""
        text = f"{len(self)} states, {self._nbytes} bytes"
        return f"<DiskStorage {self.folder!r}: {text}>"

    # Journal ------------------------------------------------------------------------

    def begin(self, header: dict[str, Any]) -> None:
        """Starts a sweep in the folder, which must be empty.

        Raises:
            StorageError: The folder holds an unfinished sweep, other files, or states
                that were put before; or another storage uses it.
        """
        if self._open is not None:
            why = "this storage is in use: close it first, or give the sweep its own"
            raise unusable(self.folder, why)
        self._opened()
        self._header = header

    def due(self) -> bool:
        """Whether the last record is at least ``journal_seconds`` old."""
        return (
            self._header is not None
            and time.monotonic() - self._last >= self.journal_seconds
        )

    def commit(
        self, position: int, counts: dict[str, Any], buffers: Any, live: Any = None
    ) -> None:
        """Writes a record; then files of states that were dropped before it go.

        Raises:
            StorageError: It, or a state that it names, could not be brought to the disk;
                the record before it holds on.
        """
        folder = self._opened()
        if self._header is None:
            message = "a record belongs to a sweep: call begin first"
            raise StorageError(message, _JOURNAL)
        record = self._label(_JOURNAL) | {
            "header": self._header,
            "position": position,
            "counts": counts,
            "states": [[key, *entry] for key, entry in self._states.items()],
            "capacity": self.capacity,
            "journal_seconds": self.journal_seconds,
        }
        packed = pack({"buffers": buffers, "live": live}, record, _JOURNAL)
        for name, key in self._unsynced.items():
            sync(folder.join(name), key)
        folder.sync()
        write(folder.join(_JOURNAL), packed, _JOURNAL, synced=True)
        folder.sync()
        self._unsynced.clear()
        self._recorded = {entry.name for entry in self._states.values()}
        while self._dropped:
            folder.remove(self._dropped[-1])
            self._dropped.pop()
        self._last = time.monotonic()

    def end(self) -> None:
        """Removes every file of the sweep and gives the folder free.

        Raises:
            StorageError: A file cannot be removed.
        """
        folder = self._opened()
        last = _JOURNAL
        if self._recorded:
            # A record whose states go one by one is none: a kill must not leave it.
            last = f"{_ENDED}-{self._sweep}"
            folder.rename(_JOURNAL, last)
        for entry in self._states.values():
            folder.remove(entry.name)
        for name in self._dropped:
            folder.remove(name)
        self._states.clear()
        # Last: as long as any other file is there, it says whose they are.
        folder.remove(last)
        folder.sync()
        self.close()

    # Files --------------------------------------------------------------------------

    def _opened(self) -> Folder:
        """The folder, locked and looked through at the first use."""
        if self._open is not None:
            return self._open
        folder = Folder(self.folder, make=True)
        try:
            folder.remove(_JOURNAL + PART)
            names = _without_ended(folder)
            if _JOURNAL in names:
                why = (
                    "it holds an unfinished sweep; checkpoint.resume goes on with it; "
                    "to give it up, remove the files"
                )
                raise unusable(self.folder, why)
            if names:
                raise _foreign(self.folder, names[0])
        except BaseException:
            folder.close()
            raise
        self._open = folder
        self._sweep = secrets.token_hex(8)
        return folder

    def _remedy(self) -> tuple[str, ...]:
        """What to do where the capacity is exceeded, if that is anything special."""
        if self._header is None:
            return ()
        return (
            "the sweep waits in the folder; to go on, give resume a larger one, "
            f"checkpoint.resume({self.folder!r}, chain, ..., "
            f"storage=DiskStorage({self.folder!r}, capacity=...))",
        )

    def _label(self, key: int | str) -> dict[str, Any]:
        return {"key": key, "sweep": self._sweep}

    def _check_label(
        self, path: str, key: object, label: dict[str, Any], same: bool
    ) -> None:
        if not same or label != {"key": key, "sweep": self._sweep}:
            message = (
                f"the file {path} is not the one that was written for state {key}: "
                f"another file of a sweep stands in its place"
            )
            raise StorageError(message, key)

    def _found(self, key: int) -> _Entry:
        try:
            return self._states[key]
        except (KeyError, TypeError):
            raise missing(key, self._states) from None

    def _adopt(self, folder: Folder, record: dict[str, Any]) -> None:
        """Takes over the files that a record names, each verified; removes the rest."""
        self._open = folder
        self._header = record["header"]
        self._sweep = record["sweep"]
        for key, *entry in record["states"]:
            found = _Entry(*entry)
            path = folder.join(found.name)
            label, digest = examine(path, key)
            self._check_label(path, key, label, digest == found.digest)
            self._states[key] = found
            self._nbytes += found.size
            self._recorded.add(found.name)
        known = {_JOURNAL, *self._recorded}
        others = [name for name in folder.names() if name not in known]
        ours = [n for n in others if n.removesuffix(PART).endswith(f"-{self._sweep}")]
        for name in others:
            if name not in ours and name != _JOURNAL + PART:
                raise _foreign(self.folder, name)
        for name in others:
            folder.remove(name)
        serials = [int(name.split("-")[2]) for name in self._recorded]
        self._serial = 1 + max(serials, default=-1)
        self._last = time.monotonic()


def unfinished(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a sweep that :func:`resume` goes on with.

    So a program that may be killed and started anew is written once: it resumes where
    this is true, and begins elsewhere. False where there is no such folder, where it is
    empty, and where a sweep has ended or was killed before its first record. A sweep that
    is still running is unfinished, too; ``resume`` refuses it then.

    Args:
        folder: The folder of a :class:`DiskStorage`.

    Raises:
        OptionError: (a ValueError) if ``folder`` is no path.

    Cost:
        One look at the disk; nothing is read or locked.

    Example:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from derivative_covers import checkpoint as cp
        >>> chain = cp.Chain([cp.Chain.uniform(9, lambda x, k: np.sin(x)), lambda x, k: x])
        >>> def work(folder):
        ...     if cp.unfinished(folder):
        ...         return cp.resume(folder, chain)
        ...     disk = cp.DiskStorage(folder)
        ...     return cp.reverse_sweep(chain, 1.0, schedule=cp.Revolve(3), storage=disk)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     float(work(os.path.join(folder, "sweep")).value.round(6))
        0.481329
    """
    return os.path.lexists(os.path.join(_absolute(folder), _JOURNAL))


def load(folder: str | os.PathLike[str], storage: DiskStorage | None = None) -> Saved:
    """The sweep that lies in a folder, every file verified.

    Args:
        folder: The folder.
        storage: One of that folder that is not in use, whose limits hold from now on;
            None: the limits of before.

    Raises:
        StorageError: None lies there, it is still running, or a file of it is missing,
            damaged or foreign; the record and what it names are left as they are.
        OptionError: ``storage`` is one of another folder.
    """
    own = DiskStorage(folder)
    if storage is None:
        storage, given = own, False
    else:
        given = True
        if os.path.realpath(storage.folder) != os.path.realpath(own.folder):
            message = (
                f"storage is one of the folder {storage.folder}, and the sweep to resume "
                f"lies in {own.folder}: give a DiskStorage of that folder"
            )
            raise OptionError(message)
    opened = Folder(storage.folder, make=False)
    try:
        if _JOURNAL not in _without_ended(opened):
            why = (
                "no unfinished sweep lies there. It has ended, which leaves nothing "
                "behind, or it was killed before its first record (a cover also between "
                "its two attempts): start it again, with "
                "storage=DiskStorage(folder). checkpoint.unfinished(folder) tells beforehand"
            )
            raise unusable(storage.folder, why)
        nest, record, _ = read(opened.join(_JOURNAL), _JOURNAL, writable=True)
        if not _complete(record):
            message = f"the file {opened.join(_JOURNAL)} is no journal but another file"
            raise StorageError(message, _JOURNAL)
        if not given:
            storage.capacity = record["capacity"]
            storage.journal_seconds = record["journal_seconds"]
        storage._adopt(opened, record)
    except BaseException:
        opened.close()
        if storage._open is opened:  # a next try with it begins anew
            storage._open = None
            storage._forget()
        raise
    return Saved(
        storage,
        record["header"],
        record["position"],
        record["counts"],
        nest["buffers"],
        frozen(nest["live"], _JOURNAL),
    )


def _without_ended(folder: Folder) -> list[str]:
    """The names in a folder, once what is left of an ended sweep has been removed."""
    names = folder.names()
    for last in names:
        if found := re.fullmatch(rf"{_ENDED}-([0-9a-f]{{16}})", last):
            state = re.compile(rf"state-\d+-\d+-{found[1]}({re.escape(PART)})?")
            for name in names:
                if state.fullmatch(name):
                    folder.remove(name)
            folder.remove(last)
            return _without_ended(folder)
    return names


def _complete(record: dict[str, Any]) -> bool:
    """Whether it is a record, and names files of its own folder and sweep alone."""
    entries = "sweep", "header", "position", "counts", "states"
    return (
        record.get("key") == _JOURNAL
        and record.keys() >= {*entries, "capacity", "journal_seconds"}
        and all(
            re.fullmatch(rf"state-{key}-\d+-{record['sweep']}", name)
            for key, name, *_ in record["states"]
        )
    )


def _absolute(folder: object) -> str:
    with contextlib.suppress(TypeError, ValueError):
        text = os.fsdecode(folder)  # type: ignore[arg-type]
        if text and "\0" not in text:
            return os.path.abspath(text)
    message = f"folder is the path of a folder, not {folder!r}"
    raise OptionError(message)


def _seconds(seconds: object) -> float:
    if (
        isinstance(seconds, (int, float))
        and not isinstance(seconds, bool)
        and seconds >= 0
    ):
        return seconds
    message = f"journal_seconds is a number of at least 0, not {seconds!r}"
    raise OptionError(message)


def _foreign(folder: str, name: str) -> StorageError:
    message = (
        f"the folder {folder} holds {name!r}, which is not of this sweep: give a sweep "
        f"a folder of its own, or move that file away"
    )
    return StorageError(message, name)
