"""Unfinished sums on disk, so that one that was killed goes on where it was.

Shards are added in order, so what a tree holds (few partial sums) and how many shards it
has are the whole state. It is one file, replaced as the sum goes on.
"""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

import numpy as np

from ..checkpoint.states._nests import take_apart
from ..checkpoint.storage._files import pack, read, write
from ..elements import Interval
from ..errors import StorageError
from ..tape import Kink
from ._store import digest, opened
from ._tree import Terms, Tree, join

__all__ = ["NAME", "Sums", "fingerprint"]

NAME = "sum"
EVERY = 1.0  # seconds between two writes
SHARE = 10  # of the time, one part at most is spent on writing


class _Ends(NamedTuple):
    """An interval, in a form that files keep."""

    lo: Any
    hi: Any


class _Kept(NamedTuple):
    """A kink, in a form that files keep."""

    node: int
    elemental: str
    values: tuple[float, ...]


def fingerprint(nest: Any) -> str:
    """What tells nests of numbers from others: their structure and bits.

    Raises:
        StorageError: A part of it is of a type that files do not keep.
    """
    tree, arrays = take_apart(_plain(nest), "sum")
    return digest(json.dumps(tree), *arrays)


class Sums:
    """The folder of a sum.

    Args:
        folder: As for a :class:`Store`.
        header: What the sum is, for JSON.

    Attributes:
        tree: What it holds; empty in a new folder.

    Raises:
        StorageError, InputTypeError: As a :class:`Store`.
    """

    def __init__(self, folder: Any, header: dict[str, Any]) -> None:
        self._folder, names = opened(folder, header)
        self.tree = Tree(join)
        self._marks: dict[int, str] = {}  # of the first and the last shard
        self._latest: tuple[list[tuple[int, Terms]], Terms] | None = None
        self._due = 0.0  # at once: what cannot be kept is said early
        try:
            if NAME in names:
                self._load()
        except BaseException:
            self._folder.close()
            raise

    def _load(self) -> None:
        nest, _, _ = read(self._folder.join(NAME), NAME, writable=True)
        parts = [(size, _back(terms)) for size, terms in nest["parts"]]
        self.tree = Tree(join, parts)
        self._marks = dict(nest["marks"])

    def check(self, index: int, terms: Terms) -> None:
        """Refuse to go on where the first or the last shard has become another one.

        Raises:
            StorageError: It has.
        """
        if fingerprint(terms) != self._marks[index]:
            msg = (
                f"the folder {self._folder.path} holds the sum of other shards, or of "
                f"another function: shard {index} gives something else. Call as it was "
                "called, or give another folder."
            )
            raise StorageError(msg, self._folder.path)

    def keep(self, tree: Tree[Terms], last: Terms) -> None:
        """Keeps the sum up to a shard; it reaches the disk within seconds, or at the end.

        Raises:
            StorageError: It cannot be written.
        """
        if not self._latest and not self._marks:
            self._marks[0] = fingerprint(last)
        self._latest = (tree.parts, last)
        if time.monotonic() >= self._due:
            self._write()

    def _write(self) -> None:
        if self._latest is None:
            return
        begun = time.monotonic()
        parts, last = self._latest
        count = sum(size for size, _ in parts)
        self._marks = {0: self._marks[0], count - 1: fingerprint(last)}
        nest = {"parts": [(k, _plain(t)) for k, t in parts], "marks": self._marks}
        write(self._folder.join(NAME), pack(nest, {}, NAME), NAME, synced=True)
        self._latest = None
        now = time.monotonic()
        self._due = now + max(EVERY, SHARE * (now - begun))

    def close(self) -> None:
        """Writes what is left, and gives the folder free; what it holds stays."""
        try:
            self._write()
        finally:
            self._folder.close()


def _plain(nest: Any) -> Any:
    """A nest without the types that files do not keep."""
    if isinstance(nest, Interval):
        return _Ends(np.asarray(nest.lo), np.asarray(nest.hi))
    if isinstance(nest, Kink):
        return _Kept(nest.node, nest.elemental, nest.values)
    return _each(_plain, nest)


def _back(nest: Any) -> Any:
    """What :func:`_plain` was given."""
    if isinstance(nest, _Ends):
        return Interval(*nest)
    if isinstance(nest, _Kept):
        return Kink(*nest)
    return _each(_back, nest)


def _each(change: Any, nest: Any) -> Any:
    if isinstance(nest, dict):
        return {name: change(part) for name, part in nest.items()}
    if isinstance(nest, tuple):
        parts = map(change, nest)
        return type(nest)._make(parts) if hasattr(nest, "_make") else tuple(parts)
    return nest
