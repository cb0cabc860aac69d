"""States between two unrecorded steps, as steps receive them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..states._states import rewrapped, unprotect

__all__ = ["guarded", "ordinary"]

_Array: Any = np.ndarray
_Double = np.float64
_DOUBLE = np.dtype(np.float64)


def guarded(forward: Any, x: Any, k: int) -> Any:
    """Calls a step while nobody can write to its state."""
    locked: list[Any] = []
    try:
        _lock(x, locked)
        return forward(rewrapped(x), k)
    finally:
        unprotect(locked)


def _lock(x: Any, locked: list[Any]) -> None:
    if type(x) is _Array:
        if x.flags.writeable:
            x.setflags(False)
            locked.append(x)
    elif isinstance(x, (dict, list, tuple)):
        for part in x.values() if isinstance(x, dict) else x:
            if type(part) is not _Double:
                _lock(part, locked)


def ordinary(y: Any, kind: type[Any]) -> Any:
    """As a step receives it: a float, or a flat container of floats and ordinary arrays.

    None for everything else, which takes the way through canonical().
    """
    if kind is float:
        return _Double(y)
    if kind is tuple or kind is list:
        parts = y
    elif kind is dict and all(type(key) is str for key in y):
        parts = y.values()
    else:
        return None
    found = []
    for part in parts:
        leaf = type(part)
        if leaf is _Array:
            flags = part.flags
            if not (
                part.dtype is _DOUBLE
                and part.ndim
                and part.size
                and flags.owndata
                and flags.c_contiguous
            ):
                return None
            found.append(part)
        elif leaf is _Double:
            found.append(part)
        elif leaf is float:
            found.append(_Double(part))
        else:
            return None
    if not found:
        return None
    if kind is tuple:
        return tuple(found)
    return found if kind is list else dict(zip(y, found, strict=True))
