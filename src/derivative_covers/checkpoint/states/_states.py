"""Operations on states: nests of C-contiguous float arrays (see :mod:`._canonical`).

All but :func:`canonical` and :func:`given` take states that are canonical already. Those
of a storage may hold integers and booleans, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._canonical import canonical, given
from ._nests import mapped
from ._protect import mutation, protect, read_only_copy, unprotect
from ._space import Space, matched, space

__all__ = [
    "Space",
    "canonical",
    "copy",
    "fingerprint",
    "finite",
    "flat",
    "given",
    "leaves",
    "matched",
    "mutation",
    "numbers",
    "present",
    "protect",
    "rebuild",
    "rewrapped",
    "space",
    "unprotect",
    "zeros_like",
]

Array = NDArray[Any]
_FLOAT64 = np.dtype(np.float64)
_FLOATS = _FLOAT64, np.dtype(np.float32)
_LEAVES = (np.ndarray, np.float64)
_NUMBER = frozenset((np.float64,))
_ARRAYS = frozenset((np.ndarray,))
SHORT = 16
_PIECE = 8192
_Array: Any = np.ndarray
_vdot = np.vdot


def present(state: Any) -> Any:
    """What a callback receives: new containers, 0-d leaves as NumPy scalars."""
    kind = type(state)
    if kind is _Array:
        return state if state.ndim else state[()]
    if kind is dict:
        return {key: present(part) for key, part in state.items()}
    if kind is tuple and _ARRAYS.issuperset(map(type, state)):
        return tuple([a if a.ndim else a[()] for a in state])
    if kind is list:
        return list(map(present, state))
    return (
        tuple.__new__(kind, map(present, state)) if isinstance(state, tuple) else state
    )


def rewrapped(x: Any) -> Any:
    """The leaves of what is presented, in containers that nobody else has.

    A step may put something else into a dict or list that it was given: arrays can be
    write-protected, containers cannot.
    """
    kind = type(x)
    if kind in _LEAVES:
        return x
    if kind is dict:
        return {k: v if type(v) in _LEAVES else rewrapped(v) for k, v in x.items()}
    if kind is list:
        return [v if type(v) in _LEAVES else rewrapped(v) for v in x]
    if isinstance(x, tuple):
        return tuple.__new__(kind, map(rewrapped, x))
    return x


def numbers(x: Any) -> bool:
    """Whether a presented state is a number, or a tuple of some: nobody can change it."""
    kind = type(x)
    return kind is np.float64 or (
        kind is tuple and bool(x) and _NUMBER.issuperset(map(type, x))
    )


def leaves(state: Any) -> list[Array]:
    """The arrays of a state, in order."""
    if type(state) is np.ndarray:
        return [state]
    found: list[Array] = []
    _collect(state, found)
    return found


def _collect(state: Any, found: list[Array]) -> None:
    if type(state) is np.ndarray:
        found.append(state)
        return
    for part in state.values() if isinstance(state, dict) else state:
        _collect(part, found)


def rebuild(like: Any, arrays: Iterable[Array]) -> Any:
    """The containers of ``like`` with other arrays, in order."""
    following = iter(arrays)
    return mapped(like, lambda _: next(following), "")


def flat(state: Any) -> Array:
    """All entries as one vector, leaf by leaf in C order; a view for a single array."""
    if type(state) is np.ndarray:
        return state.reshape(-1)
    return np.concatenate([a.reshape(-1) for a in leaves(state)])


def copy(state: Any) -> Any:
    """A copy in memory of its own that cannot be written to."""
    kind = type(state)
    if kind is _Array:
        return read_only_copy(state)
    if kind is dict:
        return {key: copy(part) for key, part in state.items()}
    if kind is list:
        return list(map(copy, state))
    return tuple.__new__(kind, map(copy, state)) if isinstance(state, tuple) else state


def zeros_like(state: Any) -> Any:
    """The zero of the state's space, in writable memory."""
    return mapped(state, np.zeros_like, "")


def finite(state: Any) -> bool:
    """Whether no entry is NaN or infinite."""
    if type(state) is not _Array:
        return all(map(finite, state.values() if type(state) is dict else state))
    # Where a sum is finite so are its parts, at a fraction of the cost; else one has to
    # look. Neither Python's sum nor vdot, unlike dot, warns of an overflow.
    total: Any = inf
    ndim, dtype = state.ndim, state.dtype
    if ndim == 1 and state.size <= SHORT and dtype in _FLOATS:
        total = sum(state.tolist())
    elif dtype is _FLOAT64:
        total = state
        if ndim:
            small = state.size <= _PIECE
            total = _vdot(state, state) if small else _squares(state.reshape(-1))
    if isfinite(total):
        return True
    return bool(np.isfinite(state).all())


def _squares(a: Array) -> float:
    """Sum of squares, piece by piece: on long vectors vdot may wait for other threads."""
    return sum(
        float(_vdot(b, b))
        for b in (a[k : k + _PIECE] for k in range(0, a.size, _PIECE))
    )


def fingerprint(state: Any) -> int:
    """Eight bytes that tell states of other bits, shapes or types apart."""
    digest = blake2b(digest_size=8)
    for a in leaves(state):
        digest.update(f"{a.dtype.str}{a.shape}".encode())
        digest.update(_content(a).data)
    return int.from_bytes(digest.digest(), "little")


def _content(a: Array) -> Array:
    """The bytes that make up the numbers of an array, without padding."""
    raw = a.reshape(-1).view(np.uint8)
    if a.dtype.char == "g" and np.finfo(a.dtype).nmant == 63 and a.itemsize > 10:
        return np.ascontiguousarray(raw.reshape(-1, a.itemsize)[:, :10])
    return raw
