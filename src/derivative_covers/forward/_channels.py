"""How a variable holds its intermediate gradient and its squared cover."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["DenseStorage", "ForwardChannels", "SparseStorage", "Storage"]

Array = NDArray[Any]


class Storage(ABC):
    """A vector over the inputs, immutable: one channel of a variable."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def unit(cls, n: int, k: int, dtype: Any) -> Self:
        """The ``k``-th unit vector."""

    @classmethod
    @abstractmethod
    def combine(
        cls, n: int, terms: Iterable[tuple[Any, Self]], dtype: Any, *, upper: bool
    ) -> Self:
        """The sum of multiples; a zero factor times anything is exactly zero.

        Args:
            n: Number of inputs.
            terms: Pairs of a factor and a vector.
            dtype: Type of the result.
            upper: All is nonnegative and bounds something: a product of nonzero numbers
                must not underflow to zero.
        """

    @abstractmethod
    def map(self, f: Any) -> Self:
        """A function with ``f(0) = 0`` of every entry."""

    @abstractmethod
    def dense(self, n: int) -> Array:
        """All entries, shape (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseStorage(Storage):
    """All ``n`` entries in an array.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.extend import DenseStorage
        >>> DenseStorage.unit(3, 1, np.float64).dense(3)
        array([0., 1., 0.])
    """

    a: Array

    @classmethod
    def unit(cls, n: int, k: int, dtype: Any) -> Self:
        """The ``k``-th unit vector."""
        a = np.zeros(n, dtype=dtype)
        a[k] = 1
        return cls(a)

    @classmethod
    def combine(
        cls, n: int, terms: Iterable[tuple[Any, Self]], dtype: Any, *, upper: bool
    ) -> Self:
        """The sum of multiples; see :class:`Storage`."""
        total: Array | None = None
        for c, x in terms:
            if c != 0:
                part = _times(c, x.a, upper)
                total = part if total is None else total + part
        return cls(np.zeros(n, dtype=dtype) if total is None else total)

    def map(self, f: Any) -> Self:
        """A function of every entry."""
        return type(self)(f(self.a))

    def dense(self, n: int) -> Array:
        """The array itself."""
        return self.a


@dataclass(frozen=True, slots=True, eq=False)
class SparseStorage(Storage):
    """The entries that may be nonzero, with their positions in increasing order.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.extend import SparseStorage
        >>> e = SparseStorage.unit(1000, 7, np.float64)
        >>> e.at, e.a
        (array([7]), array([1.]))
    """

    at: Array
    a: Array

    @classmethod
    def unit(cls, n: int, k: int, dtype: Any) -> Self:
        """The ``k``-th unit vector."""
        return cls(np.array([k]), np.ones(1, dtype=dtype))

    @classmethod
    def combine(
        cls, n: int, terms: Iterable[tuple[Any, Self]], dtype: Any, *, upper: bool
    ) -> Self:
        """The sum of multiples; see :class:`Storage`."""
        parts = [(x.at, _times(c, x.a, upper)) for c, x in terms if c != 0]
        if not parts:
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=dtype))
        at, total = parts[0]
        for more, part in parts[1:]:
            if more.size == at.size and (more is at or np.array_equal(more, at)):
                total = total + part
                continue
            both, where = np.unique(np.concatenate([at, more]), return_inverse=True)
            merged = np.zeros(both.size, dtype=total.dtype)
            merged[where[: at.size]] = total
            merged[where[at.size :]] += part
            at, total = both, merged
        return cls(at, total)

    def map(self, f: Any) -> Self:
        """A function of every entry."""
        return type(self)(self.at, f(self.a))

    def dense(self, n: int) -> Array:
        """All entries, zeros included."""
        out = np.zeros(n, dtype=self.a.dtype)
        out[self.at] = self.a
        return out


@dataclass(frozen=True, slots=True, eq=False)
class ForwardChannels:
    """The two vectors that a variable carries, in one kind of storage.

    Attributes:
        gradient: The intermediate gradient, in the element type.
        square: ``q``, with ``|second derivative|_ab <= sqrt(q_a) sqrt(q_b)``, in the type
            of bounds.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.extend import ForwardChannels, DenseStorage
        >>> x = ForwardChannels.input(DenseStorage, 2, 0, np.float64, np.float64)
        >>> x.gradient.dense(2), x.square.dense(2)
        (array([1., 0.]), array([0., 0.]))
    """

    gradient: Storage
    square: Storage

    @classmethod
    def input(
        cls, storage: type[Storage], n: int, k: int, dtype: Any, bound: Any
    ) -> Self:
        """Those of the ``k``-th input: a unit vector and no curvature."""
        none = storage.combine(n, (), bound, upper=True)
        return cls(storage.unit(n, k, dtype), none)

    @classmethod
    def propagate(
        cls,
        n: int,
        parents: Sequence[ForwardChannels],
        d: Sequence[Any],
        sizes: Sequence[Any],
        atoms: Iterable[Sequence[tuple[Any, ForwardChannels]]],
        dtype: Any,
        bound: Any,
    ) -> Self:
        """Those of an elemental: ``q = sum |d_i| q_i + sum_atoms (sum rho_i |g_i|)^2``.

        Args:
            n: Number of inputs.
            parents: Channels of its parents, at least one.
            d: First partials.
            sizes: Their magnitudes.
            atoms: For each atom, pairs of a slot weight and the parent's channels.
            dtype: Element type.
            bound: Type of bounds.
        """
        storage = type(parents[0].gradient)
        slots = [p.gradient for p in parents]
        gradient = storage.combine(n, zip(d, slots, strict=True), dtype, upper=False)
        terms: list[tuple[Any, Storage]] = [
            (size, p.square) for size, p in zip(sizes, parents, strict=True)
        ]
        for atom in atoms:
            pairs = [(rho, p.gradient.map(np.abs)) for rho, p in atom]
            u = storage.combine(n, pairs, bound, upper=True)
            terms.append((bound(1), u.map(_squared)))
        return cls(gradient, storage.combine(n, terms, bound, upper=True))


def _times(c: Any, x: Array, upper: bool) -> Array:
    product = c * x
    if not np.isfinite(c):
        product = np.where(x == 0, 0, product).astype(product.dtype)
    return _kept(product, x) if upper else product


def _kept(product: Array, x: Array) -> Array:
    """A bound that underflowed is rounded up, so that it goes on bounding."""
    if np.count_nonzero(product) == np.count_nonzero(x):
        return product
    lost = (product == 0) & (x != 0)
    if lost.any():
        return np.where(lost, np.finfo(product.dtype).tiny, product)
    return product


def _squared(u: Array) -> Array:
    return _kept(u * u, u)
