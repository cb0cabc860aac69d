"""Functions that write into their first argument, which must be recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementals import answers
from ._call import refuse_plain
from ._indexing import plain_index
from ._protocol import UFUNC_METHODS, as_array, implements
from ._select import truth
from ._storage import ArrayBase

__all__: list[str] = []


def _target(a: Any, name: str) -> Any:
    if not isinstance(a, ArrayBase):
        refuse_plain(name)
    return a


@implements(np.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Store ``src`` where the condition holds."""
    target = _target(dst, "np.copyto")
    target[...] = src if where is True else np.where(truth(where), src, target)


@implements(np.put)
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Store at flat positions, repeating the values as needed."""
    target = _target(a, "np.put")
    at = np.ravel(ind)
    if not at.size:
        return
    if mode == "raise":
        at = np.arange(target.size)[at]
    elif mode == "wrap":
        at = at % target.size
    else:
        at = np.clip(at, 0, target.size - 1)
    values = as_array(v, target).ravel()
    target[np.unravel_index(at, target.shape)] = values[
        np.arange(at.size) % values.size
    ]


@implements(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Store where the mask holds, the values repeated over the whole array."""
    target = _target(a, "np.putmask")
    chosen = np.asarray(truth(mask), dtype=bool)
    target[chosen] = np.resize(as_array(values, target), target.shape)[chosen]


@implements(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Store the values one after the other where the mask holds."""
    target = _target(arr, "np.place")
    chosen = np.asarray(truth(mask), dtype=bool)
    values = as_array(vals, target).ravel()
    target[chosen] = values[np.arange(np.count_nonzero(chosen)) % values.size]


@implements(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Store at positions along an axis."""
    target = _target(arr, "np.put_along_axis")
    places = np.arange(target.size).reshape(target.shape)
    if axis is None:
        at = places.ravel()[indices]
    else:
        at = np.take_along_axis(places, indices, axis)
    target[np.unravel_index(at, target.shape)] = values


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Store on the main diagonal."""
    target = _target(a, "np.fill_diagonal")
    marks = np.zeros(target.shape, dtype=bool)
    np.fill_diagonal(marks, val=True, wrap=wrap)
    at = np.flatnonzero(marks)
    values = as_array(val, target).ravel()
    target[np.unravel_index(at, target.shape)] = values[
        np.arange(at.size) % values.size
    ]


def _at(ufunc: Any) -> None:
    """Unbuffered updates: entries that are met several times are updated in rounds."""

    def update(a: Any, indices: Any, *operand: Any) -> None:
        target = _target(a, f"np.{ufunc.__name__}.at")
        at = np.arange(target.size).reshape(target.shape)[plain_index(indices)]
        values = [
            np.broadcast_to(as_array(b, target), at.shape).ravel() for b in operand
        ]
        at = np.ravel(at)
        order = np.argsort(at, kind="stable")
        _, first, count = np.unique(at[order], return_index=True, return_counts=True)
        turn = np.empty_like(at)
        turn[order] = np.arange(at.size) - np.repeat(first, count)
        for k in range(int(count.max(initial=0))):
            now = np.flatnonzero(turn == k)
            key = np.unravel_index(at[now], target.shape)
            target[key] = ufunc(target[key], *(v[now] for v in values))

    UFUNC_METHODS[ufunc, "at"] = update


for _name in sorted(vars(np)):
    _ufunc = vars(np)[_name]
    if isinstance(_ufunc, np.ufunc) and answers(_ufunc.__name__):
        _at(_ufunc)
