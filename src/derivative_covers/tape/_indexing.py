"""What may stand in square brackets, and the flat view of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import UnsupportedOperationError
from ._storage import ArrayBase
from ._tvar import TVar

__all__ = ["Flat", "plain_index"]


def plain_index(key: Any) -> Any:
    """The index itself, refusing recorded variables in it."""
    if isinstance(key, tuple):
        return tuple(plain_index(k) for k in key)
    if isinstance(key, (ArrayBase, TVar)):
        if isinstance(key, ArrayBase) and key.is_constant:
            return key.v.astype(np.intp) if (key.v == np.floor(key.v)).all() else key.v
        msg = (
            "a recorded variable was used as an index, which has no derivative; index "
            "with derivative_covers.value(x) turned into an int."
        )
        raise UnsupportedOperationError(msg)
    return key


class Flat:
    """The entries of an array in C order, as ``numpy.ndarray.flat`` gives them."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return int(self._array.v.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._array.ravel())

    def __getitem__(self, key: Any) -> Any:
        found: Any = self._array.ravel()[plain_index(key)]
        return found if isinstance(found, TVar) else found.copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        array = self._array
        picked = np.arange(array.size)[plain_index(key)]
        array[np.unravel_index(picked, array.shape)] = value
