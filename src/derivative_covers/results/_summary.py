"""What text and HTML of a result are made from: a title, notes and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEW", "Summary", "Table"]

FEW = 12  # entries that are all shown
ENDS = 5  # largest, and smallest, that are shown of more


class Table(NamedTuple):
    """A row an entry; of many entries the largest and the smallest ones.

    Attributes:
        names: What each entry is called.
        heads: What each column holds.
        cells: The text of one entry, a column a string.
        sizes: What orders the entries, as one flat vector.
    """

    names: Sequence[str]
    heads: tuple[str, ...]
    cells: Callable[[int], tuple[str, ...]]
    sizes: NDArray[Any]

    def rows(self) -> list[tuple[str, ...]]:
        """Heads, then rows; one of dots stands for those that are left out."""
        found = [("", *self.heads)]
        n = len(self.names)
        if n <= FEW:
            return found + [self._row(i) for i in range(n)]
        order = self._ends()
        found += [self._row(i) for i in order[:ENDS]]
        found.append((f"... {n - 2 * ENDS:,} between", *("" for _ in self.heads)))
        return found + [self._row(i) for i in order[ENDS:]]

    def _row(self, i: int) -> tuple[str, ...]:
        return (self.names[i], *self.cells(i))

    def _ends(self) -> list[int]:
        """The largest entries and the smallest ones, from large to small."""
        try:
            sizes = np.asarray(self.sizes, dtype=np.float64)
        except (TypeError, ValueError):  # numbers of a type that floats do not take
            sizes = -np.arange(len(self.names), dtype=np.float64)
        near = np.argpartition(-sizes, (ENDS, sizes.size - ENDS))
        ends = np.concatenate([near[:ENDS], near[-ENDS:]])
        return [int(i) for i in ends[np.argsort(-sizes[ends], kind="stable")]]


class Summary(NamedTuple):
    """A result for people.

    Attributes:
        title: What it is, and its few single numbers.
        tables: What it holds for every entry.
        notes: Sentences below.
    """

    title: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
