"""Where the rows of gradients and squared covers of all live nodes lie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sweeps.kernels import forward as kernels
from ._channels import DenseStorage, ForwardChannels, SparseStorage
from ._chunks import Chunk

__all__ = ["DenseStore", "RowStore", "SparseStore"]

Array = NDArray[Any]
START = (
    1 << 20
)  # entries for which room is made at first; what is not used costs nothing


class RowStore(ABC):
    """The rows of the nodes of a window, and of the nodes held from before.

    Args:
        n: Number of inputs, whose rows are unit vectors.
        dtype: Type of all rows.
    """

    def __init__(self, n: int, dtype: Any) -> None:
        self.n, self.dtype = n, dtype
        self.tiny = np.finfo(dtype).tiny

    @property
    @abstractmethod
    def cost(self) -> int:
        """Operations a node, roughly, by which the compiler's use is decided."""

    @abstractmethod
    def begin(self, nnodes: int) -> None:
        """Make room for the nodes of a window after those that are held."""

    @abstractmethod
    def run(self, chunk: Chunk, last: Array) -> None:
        """Propagate the nodes of a chunk; what nobody reads later is forgotten."""

    @abstractmethod
    def keep(self, nodes: Array) -> None:
        """Hold some nodes of the window, in order, and forget all others."""

    @abstractmethod
    def row(self, k: int) -> ForwardChannels:
        """The channels of a node, in storage of their own."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of all rows."""


class DenseStore(RowStore):
    """All ``n`` entries a row."""

    def __init__(self, n: int, dtype: Any) -> None:
        super().__init__(n, dtype)
        self.at = -2 - np.arange(n)
        self.G, self.Q = (np.empty((0, n), dtype=dtype) for _ in "GQ")
        self.free = np.empty(0, dtype=np.int64)
        self.nfree = 0
        self.u = np.empty(n, dtype=dtype)

    @property
    def cost(self) -> int:
        """Operations a node."""
        return 1 + self.n // 10

    def begin(self, nnodes: int) -> None:
        """Make room for the nodes of a window."""
        at = np.full(nnodes, -1, dtype=np.int64)
        at[: self.at.size] = self.at
        self.at = at
        if not self.free.size:
            self._grow(min(nnodes, max(START // self.n, 1)))

    def run(self, chunk: Chunk, last: Array) -> None:
        """Propagate the nodes of a chunk."""
        k, n = 0, chunk[1].size - 1
        while True:
            k, self.nfree = kernels.dense_rows(
                *chunk, last, self.at, self.free, self.nfree, self.G, self.Q, self.u,
                self.tiny, k,
            )  # fmt: skip
            if k >= n:
                return
            self._grow(2 * len(self.G))

    def _grow(self, size: int) -> None:
        old = len(self.G)
        for name in ("G", "Q"):
            grown = np.empty((size, self.n), dtype=self.dtype)
            grown[:old] = getattr(self, name)
            setattr(self, name, grown)
        self.free = np.empty(size, dtype=np.int64)
        self.nfree = size - old
        self.free[: self.nfree] = np.arange(size - 1, old - 1, -1)

    def keep(self, nodes: Array) -> None:
        """Hold some nodes."""
        self.at = self.at[nodes]
        left = np.ones(len(self.G), dtype=bool)
        left[self.at[self.at >= 0]] = False
        places = np.flatnonzero(left)[::-1]
        self.nfree = places.size
        self.free[: places.size] = places

    def row(self, k: int) -> ForwardChannels:
        """The channels of a node."""
        at = int(self.at[k])
        if at >= 0:
            g, q = self.G[at].copy(), self.Q[at].copy()
        else:
            g, q = np.zeros((2, self.n), dtype=self.dtype)
            if at < -1:
                g[-2 - at] = 1
        return ForwardChannels(DenseStorage(g), DenseStorage(q))

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return self.G.nbytes + self.Q.nbytes


class SparseStore(RowStore):
    """The entries of a row that may be nonzero."""

    def __init__(self, n: int, dtype: Any) -> None:
        super().__init__(n, dtype)
        self.at = np.arange(n)
        self.count = np.full(n, -1, dtype=np.int64)
        self.cols = np.empty(0, dtype=np.int64)
        self.G, self.Q = (np.empty(0, dtype=dtype) for _ in "GQ")
        self.used = self.serial = 0
        self.scratch = tuple(np.zeros(n, dtype=dtype) for _ in "gqu")
        self.stamps = tuple(np.zeros(n, dtype=np.int64) for _ in "gu")

    @property
    def cost(self) -> int:
        """Operations a node."""
        return 4

    def begin(self, nnodes: int) -> None:
        """Make room for the nodes of a window."""
        for name in ("at", "count"):
            held = getattr(self, name)
            a = np.zeros(nnodes, dtype=np.int64)
            a[: held.size] = held
            setattr(self, name, a)

    def run(self, chunk: Chunk, last: Array) -> None:
        """Propagate the nodes of a chunk."""
        k, n = 0, chunk[1].size - 1
        while True:
            k, self.used, self.serial = kernels.sparse_rows(
                *chunk, last, self.at, self.count, self.cols, self.G, self.Q,
                *self.scratch, *self.stamps, self.used, self.serial, self.tiny, k,
            )  # fmt: skip
            if k >= n:
                return
            rows = self.cols, self.G, self.Q
            self.used = kernels.compact(chunk[0] + k, last, self.at, self.count, *rows)
            if self.used > self.cols.size // 2 or self.cols.size < 2 * self.n:
                self._grow()

    def _grow(self) -> None:
        size = max(2 * self.cols.size, 2 * self.n, 256)
        for name in ("cols", "G", "Q"):
            old = getattr(self, name)
            grown = np.empty(size, dtype=old.dtype)
            grown[: self.used] = old[: self.used]
            setattr(self, name, grown)

    def keep(self, nodes: Array) -> None:
        """Hold some nodes."""
        last = np.full(self.at.size, -1, dtype=np.int64)
        last[nodes] = last.size
        rows = self.cols, self.G, self.Q
        self.used = kernels.compact(last.size, last, self.at, self.count, *rows)
        self.at, self.count = self.at[nodes], self.count[nodes]

    def row(self, k: int) -> ForwardChannels:
        """The channels of a node."""
        first, n = int(self.at[k]), int(self.count[k])
        if n < 0:
            at, g = np.array([first]), np.ones(1, dtype=self.dtype)
            q = np.zeros(1, dtype=self.dtype)
        else:
            held = slice(first, first + n)
            order = np.argsort(self.cols[held])
            at, g, q = (a[held][order] for a in (self.cols, self.G, self.Q))
        on = q != 0
        return ForwardChannels(SparseStorage(at, g), SparseStorage(at[on], q[on]))

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return self.cols.nbytes + self.G.nbytes + self.Q.nbytes
