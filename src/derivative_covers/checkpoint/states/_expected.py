"""States that are as expected: one look tells, where most of them need no more."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ._space import Entry, Nest
from ._states import finite

__all__ = ["expected"]

_Array: Any = np.ndarray
_Double = np.float64
_FLOAT64 = np.dtype(np.float64)


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
                and finite(x)
            ):
                return x if shape else x.copy()
        elif (kind is _Double or kind is float) and not shape and dtype is _FLOAT64:
            return np.array(x) if isfinite(x) else None
        return None
    container, keys, parts = form
    if kind is not container or len(x) != len(parts):
        return None
    given = x
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
