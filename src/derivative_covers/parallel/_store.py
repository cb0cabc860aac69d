"""Finished batches on disk, so that a map that was killed goes on where it was.

A folder is that of one call: ``call`` says of which, and every ``done-*`` has the arrays
of some batches. The format is that of saved states, with digests and without pickles.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checkpoint.storage._files import PART, pack, read, write
from ..checkpoint.storage._folder import Folder
from ..errors import InputTypeError, StorageError

__all__ = ["Store", "digest", "opened"]

Array = NDArray[Any]
HEADER, DONE = "call", "done-"
EVERY = 1.0  # seconds between two files
_PRINT = re.compile("[0-9a-f]{32}")  # what digest gives


def digest(*arrays: Any) -> str:
    """What tells arrays from others: their types, shapes and bits."""
    found = blake2b(digest_size=16)
    for array in map(np.ascontiguousarray, arrays):
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def opened(folder: Any, header: dict[str, Any]) -> tuple[Folder, list[str]]:
    """The folder of a call, in use from now on, and the names of what it holds.

    Args:
        folder: Its path. A folder that does not exist is made; one that exists is empty
            or of the same call.
        header: What the call is, for JSON.

    Raises:
        StorageError: The folder is in use, is another call's or something else, or a
            file in it is damaged.
        InputTypeError: ``folder`` is no path.
    """
    try:
        path = os.path.abspath(os.fspath(folder))
    except TypeError:
        msg = f"folder is of type {type(folder).__name__}; a path is needed."
        raise InputTypeError(msg) from None
    found = Folder(os.fsdecode(path), make=True)
    try:
        return found, _begin(found, header)
    except BaseException:
        found.close()
        raise


def _begin(folder: Folder, header: dict[str, Any]) -> list[str]:
    names = folder.names()
    path = folder.join(HEADER)
    if HEADER not in names:
        if [name for name in names if name != HEADER + PART]:
            msg = (
                f"the folder {folder.path} holds other files; give an empty one, or one "
                "of the same call."
            )
            raise StorageError(msg, folder.path)
        write(path, pack((), header, HEADER), HEADER, synced=True)
        return []
    _, theirs, _ = read(path, HEADER)
    for key in {**header, **theirs}:
        if header.get(key) != theirs.get(key):
            ends = [_shown(found.get(key)) for found in (theirs, header)]
            values = f": {ends[0]} there and {ends[1]} here" if all(ends) else ""
            msg = (
                f"the folder {folder.path} is that of another call, which differs in its "
                f"{key}{values}. Call as it was called, or give another folder."
            )
            raise StorageError(msg, folder.path)
    return names


def _shown(value: Any) -> str:
    """A value of a header, if it tells a reader something: fingerprints do not."""
    if value is None:
        return "unknown (an iterator)"
    parts = value if isinstance(value, list) else [value]
    told = not any(isinstance(part, str) and _PRINT.fullmatch(part) for part in parts)
    return f"{value!r:.80}" if told else ""


class Store:
    """The folder of a map.

    Args:
        folder: As for :func:`opened`.
        header: What the map is, for JSON.

    Raises:
        StorageError, InputTypeError: As :func:`opened`.
    """

    def __init__(self, folder: Any, header: dict[str, Any]) -> None:
        self._folder, names = opened(folder, header)
        self._names = [name for name in names if name.startswith(DONE)]
        self._waiting: list[tuple[int, int, tuple[Array, ...]]] = []
        self._written = time.monotonic()

    def found(self) -> Iterator[tuple[int, int, tuple[Array, ...]]]:
        """First cell, end and arrays of all batches that are kept."""
        for name in self._names:
            if name.endswith(PART):
                self._folder.remove(name)
                continue
            (spans, parts), _, _ = read(self._folder.join(name), name)
            for (first, last), arrays in zip(spans.tolist(), parts, strict=True):
                yield first, last, arrays
        self._names = [name for name in self._names if not name.endswith(PART)]

    def keep(self, first: int, last: int, arrays: tuple[Array, ...]) -> None:
        """Keeps a batch; it reaches the disk within a second of batches, or at the end.

        Raises:
            StorageError: It cannot be written.
        """
        self._waiting.append((first, last, arrays))
        if time.monotonic() - self._written >= EVERY:
            self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        spans = np.array([(first, last) for first, last, _ in self._waiting])
        parts = [arrays for *_, arrays in self._waiting]
        name = f"{DONE}{len(self._names):06d}"
        path = self._folder.join(name)
        write(path, pack((spans, parts), {}, name), name, synced=False)
        self._names.append(name)
        self._waiting = []
        self._written = time.monotonic()

    def close(self) -> None:
        """Writes what waits, and gives the folder free; what it holds stays."""
        try:
            self._write()
        finally:
            self._folder.close()
