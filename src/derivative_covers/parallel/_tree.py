"""Sums in a fixed order: terms are joined in pairs, as their indices say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..elements import Interval, Upward, all_finite
from ..errors import DomainError
from ..tape import Kink

__all__ = ["Terms", "Tree", "check_finite", "join", "merged"]

T = TypeVar("T")


class Tree(Generic[T]):
    """What terms that come in order add up to; of ``s`` terms it holds ``log2(s) + 1``.

    Which terms are joined depends on their number alone, so the bits do as well.

    Args:
        join: Joins two neighbours.
        parts: The parts of a tree to go on from.
    """

    def __init__(
        self, join: Callable[[T, T], T], parts: Iterable[tuple[int, T]] = ()
    ) -> None:
        self._join = join
        self._whole = list(parts)  # sizes fall, as in a binary number

    @property
    def parts(self) -> list[tuple[int, T]]:
        """Sums of neighbours, with their numbers of terms: all that the tree holds."""
        return list(self._whole)

    def __len__(self) -> int:
        """How many terms were added."""
        return sum(size for size, _ in self._whole)

    def add(self, term: T) -> None:
        """Takes the next term."""
        size = 1
        while self._whole and self._whole[-1][0] == size:
            term = self._join(self._whole.pop()[1], term)
            size *= 2
        self._whole.append((size, term))

    def total(self) -> T | None:
        """The sum; None of no terms."""
        if not self._whole:
            return None
        *others, (_, found) = self._whole
        for _, left in reversed(others):
            found = self._join(left, found)
        return found


class Terms(NamedTuple):
    """What a shard contributes; nests have the structure of the inputs.

    Attributes:
        value: Value; added.
        gradient: Its gradient, or None where the shard depends on nothing; added.
        added: Magnitudes that are added.
        covers: Covers that are merged by quadrature.
        asked: Whether declared scales were read.
        upward: Whether magnitudes hold exactly and are rounded upward.
        kinks: Where branches were taken at kinks.
    """

    value: Any
    gradient: Any = None
    added: tuple[Any, ...] = ()
    covers: tuple[Any, ...] = ()
    asked: bool = False
    upward: bool = False
    kinks: tuple[Kink, ...] = ()


def join(a: Terms, b: Terms) -> Terms:
    """The terms of two neighbours together."""
    with np.errstate(all="ignore"):
        value = a.value + b.value
        if a.gradient is None or b.gradient is None:
            return (a if b.gradient is None else b)._replace(value=value)
        upward = a.upward or b.upward
        plus, hypot = (_rounded_up(np.add), _rounded_up(np.hypot)) if upward else _PLAIN
        return Terms(
            value,
            _nest(np.add, a.gradient, b.gradient),
            tuple(_nest(plus, x, y) for x, y in zip(a.added, b.added, strict=True)),
            tuple(_nest(hypot, x, y) for x, y in zip(a.covers, b.covers, strict=True)),
            a.asked or b.asked,
            upward,
            a.kinks + b.kinks,
        )


def merged(a: Any, b: Any, *, upward: bool) -> Any:
    """Two covers by quadrature."""
    return _nest(_rounded_up(np.hypot) if upward else np.hypot, a, b)


def check_finite(terms: Terms) -> None:
    """Refuse sums that overflow: every shard was finite.

    Raises:
        DomainError: One is not finite.
    """
    for part in (terms.value, terms.gradient, *terms.added, *terms.covers):
        if not _finite(part):
            msg = (
                "every shard is finite, and their sum is not: it overflows. Measure the "
                "function in larger units."
            )
            raise DomainError(msg)


def _rounded_up(op: Any) -> Callable[[Any, Any], Any]:
    def found(a: Any, b: Any) -> Any:
        if np.asarray(a).dtype == object:  # numbers that are exact
            return op(a, b)
        return np.asarray(op(Upward(a), Upward(b)))

    return found


_PLAIN: tuple[Any, Any] = (np.add, np.hypot)


def _nest(op: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """An operation leaf by leaf of dictionaries and tuples."""
    if isinstance(a, Mapping):
        return {key: _nest(op, part, b[key]) for key, part in a.items()}
    if isinstance(a, tuple):
        parts = [_nest(op, x, y) for x, y in zip(a, b, strict=True)]
        return type(a)._make(parts) if hasattr(a, "_make") else tuple(parts)
    return op(a, b)


def _finite(part: Any) -> bool:
    if isinstance(part, Mapping):
        return all(map(_finite, part.values()))
    if isinstance(part, tuple):
        return all(map(_finite, part))
    if isinstance(part, Interval):
        return bool(np.isfinite(part.lo).all() and np.isfinite(part.hi).all())
    return part is None or all_finite(np.asarray(part))
