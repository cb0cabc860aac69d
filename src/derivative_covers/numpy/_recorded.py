"""What arguments hold, and what becomes of NumPy's results while recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tape._active import active
from ..tape._call import real_values
from ..tape._convert import array_of, tape_of
from ..tape._storage import held
from ..tape._tape import Tape
from ..tape._tarray import TArray
from ..tape._tvar import TVar

__all__ = ["entries", "holds", "home", "kept", "lifted", "recorded"]

_DOUBLE = np.dtype(np.float64)
_NUMBERS = frozenset((float, int, np.float64))
_VARIABLES = frozenset((TVar, TArray))
_OWN = (list, tuple, float, int, np.generic)  # what makes new memory for certain
_NESTS = frozenset((list, tuple, np.ndarray))


def holds(sequence: Any) -> bool:
    """Whether a list or tuple, nested or not, holds recorded variables."""
    kinds = {*map(type, sequence)}
    if kinds <= _NUMBERS:
        return False
    if not kinds.isdisjoint(_VARIABLES):
        return True
    return not kinds.isdisjoint(_NESTS) and any(
        e.__class__ not in _VARIABLES and recorded(e) for e in sequence
    )


def recorded(x: Any) -> bool:
    """Whether an argument is, or holds, a recorded variable."""
    kind = x.__class__
    if kind is TVar or kind is TArray:
        return True
    if kind is list or kind is tuple:
        return holds(x)
    if kind is np.ndarray and x.dtype == object:
        return holds(x.ravel().tolist())
    return False


def lifted(x: Any) -> Any:
    """A list of recorded variables as one array; anything else as it is."""
    if not holds(x):
        return x
    tape = tape_of(x)
    return np.asarray(real_values(x)) if tape is None else array_of(tape, x)


def home(r: Any, tape: Tape | None, dtype: Any = None) -> Any:
    """A new array of NumPy's as one that variables of the tape can be stored into.

    Only floats of the tape's type become one, and floats of NumPy's default type where
    the caller gave no ``dtype``.
    """
    if tape is None:
        return r
    kind = type(r)
    if kind is tuple or kind is list:
        return kind(home(e, tape, dtype) for e in r)
    if kind is not np.ndarray:
        return r
    if (r.dtype is _DOUBLE and tape.scalar is float) or r.dtype == tape.dtype:
        return held(r)
    if dtype is None and r.dtype == np.float64:  # of a recording in another type
        return held(r.astype(tape.dtype))
    return r


def kept(r: Any, given: Any, dtype: Any = None) -> Any:
    """Like :func:`home`, unless NumPy gave memory that somebody else has, too."""
    new = isinstance(given, _OWN) or (r is not given and r.flags.owndata)
    if not new:
        return r
    return home(r, active(), dtype)


def entries(x: Any) -> Any:
    """An object array of the entries, recorded ones as scalar variables."""
    if x.__class__ is not TArray:
        return np.array(x, dtype=object)
    out = np.empty(x.size, dtype=object)
    out[:] = x.ravel().tolist()
    return out.reshape(x.shape)
