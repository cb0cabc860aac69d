"""Rows through a task in batches of about equal time, kept on disk where wanted.

Rows are cut into *cells* of a fixed number of rows, and batches are runs of cells. What a
cell gives depends on its rows alone. So the bits do not depend on how long things took.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..bounds._progress import bar
from ._engines import Engine
from ._executors import results
from ._store import Store

__all__ = ["SECONDS", "Batch", "over_rows"]

Array = NDArray[Any]
_PLURAL = {"point": "points", "box": "boxes"}
SECONDS = 0.5  # of a batch: Dask spends some thousandths on one


class Batch(NamedTuple):
    """Some rows, on their way to a worker.

    Attributes:
        first: Index of the first one.
        rows: The rows themselves.
    """

    first: int
    rows: Any


class Task(Protocol):
    """Gives arrays with an entry for each row of a batch."""

    def __call__(self, batch: Batch, /) -> tuple[Array, ...]:
        """The arrays of a batch."""


class _Sizes:
    """How many cells a batch gets, by what cells have taken so far."""

    def __init__(self, cells: int, workers: int) -> None:
        self.left, self.workers = cells, workers
        self.cells, self.seconds = 0, 0.0

    def next(self) -> int:
        if not self.cells:
            return 1
        wanted = int(SECONDS * self.cells / self.seconds)
        share = -(-self.left // (2 * self.workers))  # so that all end together
        return max(min(wanted, share), wanted // 4, 1)

    def learn(self, cells: int, seconds: float) -> None:
        self.cells += cells
        self.seconds += max(seconds, 1e-9)


def over_rows(
    task: Task,
    rows: Any,
    count: int,
    cell: int,
    on: Engine,
    *,
    what: str,
    progress: bool,
    store: Store | None,
) -> tuple[Array, ...]:
    """The task's arrays for all rows.

    Args:
        task: What to do with a batch.
        rows: What can be sliced; a worker gets a slice.
        count: How many rows there are, at least one.
        cell: Rows of a cell.
        on: Where.
        what: What a row is: a point or a box.
        progress: Whether to draw a bar.
        store: Where finished batches are kept, with what is there already.

    Raises:
        WorkerError: As :func:`results`.
        StorageError: As :class:`Store`.
    """
    on.bundle = 1  # batches have the size that is wanted
    whole = _Whole(count)
    cells = -(-count // cell)
    todo = [(0, cells)]
    if store is not None:
        for first, last, arrays in store.found():
            whole.place(first * cell, arrays)
            todo = _without(todo, first, last)
    sizes = _Sizes(sum(last - first for first, last in todo), on.workers)
    spans: list[tuple[int, int]] = []  # of cells, by the index of the batch

    def batches() -> Iterator[Batch]:
        for first, last in todo:
            while first < last:
                size = min(sizes.next(), last - first)
                spans.append((first, first + size))
                sizes.left -= size
                yield Batch(first * cell, rows[first * cell : (first + size) * cell])
                first += size

    with (
        bar(progress, count, _PLURAL[what], "") as show,
        closing(results(task, batches(), on, what=what, ordered=False)) as found,
    ):
        show(whole.done)
        for done in found:
            first, last = spans[done.index]
            whole.place(first * cell, done.result)
            sizes.learn(last - first, done.seconds)
            if store is not None:
                store.keep(first, last, done.result)
            show(whole.done)
    return tuple(whole.arrays)


class _Whole:
    """The arrays of all rows, as far as they have come."""

    def __init__(self, count: int) -> None:
        self.count, self.done = count, 0
        self.arrays: list[Array] = []

    def place(self, first: int, parts: tuple[Array, ...]) -> None:
        if not self.arrays:
            self.arrays = [np.empty((self.count, *a.shape[1:]), a.dtype) for a in parts]
        size = len(parts[0])
        for whole, part in zip(self.arrays, parts, strict=True):
            whole[first : first + size] = part
        self.done += size


def _without(
    spans: list[tuple[int, int]], first: int, last: int
) -> list[tuple[int, int]]:
    """What is left of some spans without one."""
    left = []
    for a, b in spans:
        left += [(a, min(b, first)), (max(a, last), b)]
    return [(a, b) for a, b in left if a < b]
