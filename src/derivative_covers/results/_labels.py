"""Names of the entries of a result, from the structure of the inputs or from the user."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import accumulate
from math import prod
from typing import Any, overload

import numpy as np

from ..errors import InputTypeError, OptionError, ShapeError

__all__ = ["Labels", "labels", "names_for"]

ROOT = "x"  # what an array is called that has no name


class Labels(Sequence[str]):
    """One name an entry, such as ``w[1, 2]``, made when it is asked for.

    Args:
        parts: Name and shape of each array, in order; () for a number.

    Example:
        >>> from derivative_covers.results import Labels
        >>> list(Labels([("k", ()), ("w", (2,))]))
        ['k', 'w[0]', 'w[1]']
    """

    def __init__(self, parts: Sequence[tuple[str, tuple[int, ...]]]) -> None:
        self._parts = list(parts)
        self._starts = [0, *accumulate(prod(shape) for _, shape in self._parts)]

    @property
    def arrays(self) -> list[str]:
        """Names of the arrays."""
        return [name for name, _ in self._parts]

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, k: int) -> str: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[str]: ...
    def __getitem__(self, k: int | slice) -> str | Sequence[str]:
        if isinstance(k, slice):
            return [self[j] for j in range(*k.indices(len(self)))]
        n = len(self)
        if not -n <= k < n:
            msg = f"there is no entry {k} among {n}."
            raise IndexError(msg)
        k %= n
        at = bisect_right(self._starts, k) - 1
        name, shape = self._parts[at]
        if not shape:
            return name
        index = np.unravel_index(k - self._starts[at], shape)
        return f"{name}[{', '.join(str(int(i)) for i in index)}]"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(
            a == b for a, b in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        more = f", ... {len(self)} names" if len(self) > 8 else ""
        return f"[{', '.join(map(repr, self[:8]))}{more}]"


def labels(tree: Any, lead: int = 0, root: str = ROOT) -> Labels:
    """Names of the entries of an array, or of a nest of dictionaries and tuples.

    Args:
        tree: The array or nest.
        lead: Leading axes of every array, which do not run through the inputs.
        root: What an array is called that stands in no dictionary.
    """
    return Labels([(name, shape[lead:]) for name, shape in _walk(tree, "", root)])


def _walk(tree: Any, name: str, root: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    if isinstance(tree, Mapping):
        for key, entry in tree.items():
            yield from _walk(entry, _below(name, key, root), root)
    elif isinstance(tree, tuple):
        keys = getattr(tree, "_fields", range(len(tree)))
        for key, entry in zip(keys, tree, strict=True):
            yield from _walk(entry, _below(name, key, root), root)
    else:
        yield name or root, tuple(np.shape(tree))


def _below(name: str, key: Any, root: str) -> str:
    if isinstance(key, str):
        return f"{name}.{key}" if name else key
    return f"{name or root}[{key!r}]"


def names_for(given: Any, count: int) -> Sequence[str]:
    """Names that a user gave, one for each of ``count`` entries.

    Raises:
        InputTypeError: If they are no sequence of strings and no dictionary or tuple of
            parameters.
        ShapeError: If there are more or fewer.
        OptionError: If two are equal.
    """
    nest = isinstance(given, Mapping) or hasattr(given, "_fields")
    if nest:
        found: Sequence[str] = labels(given)
    elif isinstance(given, Labels):
        found = given
    else:
        found = _listed(given)
    if len(found) != count:
        what = "the parameters have" if nest else "names has"
        msg = f"{what} {len(found)} entries; {count} are needed, one for each variable."
        raise ShapeError(msg)
    each = found.arrays if isinstance(found, Labels) else found
    if len(set(each)) < len(each):
        seen: set[str] = set()
        twice = next(n for n in each if n in seen or seen.add(n))  # type: ignore[func-returns-value]
        msg = f"the name {twice!r} stands for two variables; names must differ."
        raise OptionError(msg)
    return found


def _listed(given: Any) -> Sequence[str]:
    if not isinstance(given, (str, Set)):  # sets have no order
        try:
            found = tuple(given)
        except TypeError:
            found = (None,)
        if all(isinstance(name, str) for name in found):
            return tuple(map(str, found))
    msg = (
        f"names is {given!r:.80}; a list of strings is needed, one for each variable, or "
        "the dictionary of parameters."
    )
    raise InputTypeError(msg)
