"""The support of a matrix as a graph: an entry joins its row and its column.

A symmetric matrix has one node for a row and the column of the same number; any other
one has a node for each row, followed by one for each column. Then an entry says of the
logarithms ``x`` of its cover that ``x[p] + x[q]`` must not lie below that of its size,
and all that follows is written once for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._entries import Entries

__all__ = ["Support"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Support:
    """A graph of entries.

    Attributes:
        count: How many nodes there are.
        p: One end of each entry.
        q: The other end; that of an entry on the diagonal of a symmetric matrix is ``p``.
        logs: Logarithms of sizes.
        weight: How often an entry stands in the matrix: 2 off the diagonal of a
            symmetric one, else 1.
    """

    count: int
    p: Array
    q: Array
    logs: Array
    weight: Array

    @classmethod
    def symmetric(cls, found: Entries) -> Support:
        """From the entries on and above the diagonal."""
        weight = np.where(found.i == found.j, 1.0, 2.0)
        return cls(found.shape[0], found.i, found.j, np.log(found.sizes), weight)

    @classmethod
    def general(cls, found: Entries) -> Support:
        """From all entries."""
        rows, columns = found.shape
        logs = np.log(found.sizes)
        weight = np.ones(logs.size)
        return cls(rows + columns, found.i, found.j + rows, logs, weight)

    @cached_property
    def _off(self) -> Array:
        found: Array = self.p != self.q
        return found

    def over(self, x: Array) -> Array:
        """By how much the sum at the ends of each entry exceeds its logarithm."""
        found: Array = x[self.p] + x[self.q] - self.logs
        return found

    def total(self, terms: Array) -> Array:
        """Sums at each node of terms of its entries; one on the diagonal counts once."""
        off = self._off
        return _sums(self.p, terms, self.count) + _sums(
            self.q[off], terms[off], self.count
        )

    def adjoint(self, terms: Array) -> Array:
        """Sums at each node of terms of its entries; one on the diagonal counts twice."""
        return _sums(self.p, terms, self.count) + _sums(self.q, terms, self.count)

    def loops(self, terms: Array) -> Array:
        """At each node, twice the term of its entry on the diagonal."""
        return _sums(self.p, np.where(self._off, 0.0, 2 * terms), self.count)

    def least(self, terms: Array) -> Array:
        """The least of the terms of the entries of each node; infinite where none is."""
        found = np.full(self.count, np.inf)
        np.minimum.at(found, self.p, terms)
        np.minimum.at(found, self.q, terms)
        return found

    @cached_property
    def degree(self) -> Array:
        """Number of entries in the row, or column, of each node."""
        return self.total(np.ones(self.p.size))

    @cached_property
    def _labels(self) -> tuple[Array, Array]:
        """Of each node, the components of its two copies.

        Where every entry joins two sides, a component has two copies; else it has one.
        """
        n = self.count
        found = _components(
            2 * n, np.append(self.p, self.p + n), np.append(self.q + n, self.q)
        )
        return found[:n], found[n:]

    @cached_property
    def component(self) -> Array:
        """A number for each node, the same for all that entries join."""
        least = np.minimum(*self._labels)
        found: Array = np.unique(least, return_inverse=True)[1]
        return found

    @cached_property
    def side(self) -> Array:
        """1 and -1 on the two sides of a component that has them, else 0.

        What is added on one side and subtracted on the other changes no sum ``x[p] + x[q]``.
        """
        found: Array = np.sign(self._labels[1] - self._labels[0])
        return found

    @cached_property
    def pins(self) -> Array:
        """One node of every component that has two sides."""
        first = np.unique(self.component, return_index=True)[1]
        found: Array = first[self.side[first] != 0]
        return found

    def balanced(self, x: Array, *, unit: float = 0.0) -> Array:
        """The same sums, with both sides of a component of the same weight.

        The weight of a side is the sum of ``x`` over its entries. With a unit, multiples
        of it are shifted from one side to the other.
        """
        mass = np.bincount(self.component, self.degree)
        heavy = np.bincount(self.component, self.side * self.degree * x)
        shift = -heavy / np.maximum(mass, 1.0)
        if unit:
            shift = unit * np.rint(shift / unit)
        found: Array = x + self.side * shift[self.component]
        return found


def _sums(places: Array, terms: Array, count: int) -> Array:
    """Sums of terms at their places."""
    # Of no terms, bincount makes integers.
    found: Array = np.bincount(places, terms, count).astype(np.float64, copy=False)
    return found


def _components(count: int, p: Array, q: Array) -> Array:
    """The least node that edges connect each node with."""
    label = np.arange(count)
    while p.size:
        a, b = label[p], label[q]
        low = np.minimum(a, b)
        np.minimum.at(label, a, low)
        np.minimum.at(label, b, low)
        while not np.array_equal(above := label[label], label):
            label = above
        apart = label[p] != label[q]
        p, q = p[apart], q[apart]
    return label
