"""States that are as expected: one look tells, where most of them need no more."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ._space import Entry, Nest
from ._states import SHORT, finite

__all__ = ["expected"]

_Array: Any = np.ndarray
_Double = np.float64
_DOUBLES = frozenset((_Double, float))
_FLOAT64 = np.dtype(np.float64)
_NUMBERS = tuple((Entry((), _FLOAT64),) * n for n in range(17))
_array = np.array


def _numbers(x: tuple[Any, ...]) -> Any:
    """The parts of the form of a tuple of numbers; None for a long one."""
    return _NUMBERS[len(x)] if len(x) < len(_NUMBERS) else None


def expected(x: Any, form: Entry | Nest) -> Any:
    """The state that ``x`` is, if it is clearly a finite one of that form; else None.

    None stands for whatever needs a closer look: ``canonical`` or ``matched``, and
    ``finite``, say what it is. Where this gives a state, it is the one that they give.
    """
    kind = type(x)
    if isinstance(form, Entry):
        shape, dtype = form
        if kind is _Array:
            if (
                x.dtype is dtype
                and x.shape == shape
                and x.base is None
                and x.flags.c_contiguous
            ):
                short = dtype is _FLOAT64 and len(shape) == 1 and shape[0] <= SHORT
                if short and isfinite(sum(x.tolist())):  # as finite does
                    return x
                if finite(x):
                    return x if shape else x.copy()
        elif (kind is _Double or kind is float) and not shape and dtype is _FLOAT64:
            return np.array(x) if isfinite(x) else None
        return None
    container, keys, parts = form
    if kind is not container or len(x) != len(parts):
        return None
    given = x
    if kind is tuple and _DOUBLES.issuperset(map(type, x)) and parts == _numbers(x):
        return tuple(map(_array, x)) if all(map(isfinite, x)) else None
    if keys is not None:
        if tuple(x) != keys:
            return None
        given = x.values()
    found = []
    for part, inner in zip(given, parts, strict=True):
        part = expected(part, inner)
        if part is None:
            return None
        found.append(part)
    if keys is not None:
        return dict(zip(keys, found, strict=True))
    return found if kind is list else tuple.__new__(kind, found)
