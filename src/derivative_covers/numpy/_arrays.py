"""Arrays from what users have: lists, numbers, variables and other arrays."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from ..tape._active import active
from ..tape._call import check_dtype, real_values
from ..tape._convert import array_of, tape_of
from ..tape._decisions import by_finiteness
from ..tape._over_box import bounds, box_of
from ..tape._tarray import TArray
from ._names import replaces
from ._recorded import entries, holds, home, kept, recorded

__all__ = ["asarray"]


def _is_object(dtype: Any) -> bool:
    return dtype is not None and np.dtype(dtype).kind == "O"


def _from_recorded(
    obj: Any, dtype: Any, order: Any, *, copy: Any = None, ndmin: int = 0
) -> Any:
    """An array of recorded variables; ``copy`` as NumPy 2 has it, None: where needed."""
    if _is_object(dtype):
        return entries(obj)
    tape = tape_of(obj)
    if tape is None:  # constants outside of every recording
        return np.array(real_values(obj), dtype=dtype, ndmin=ndmin)
    made = array_of(tape, obj)
    if made.is_constant and dtype is not None and np.dtype(dtype) != made.dtype:
        return made.astype(dtype)
    check_dtype(dtype, made.tape)
    if made is obj and copy:
        made = made.copy(order or "K")
    if (order == "C" and not made.v.flags.c_contiguous) or (
        order == "F" and not made.v.flags.f_contiguous
    ):
        made = made.copy(order)
    if made.ndim < ndmin:
        made = made.reshape((1,) * (ndmin - made.ndim) + made.shape)
    return made


def _is_recorded(obj: Any, dtype: Any) -> bool:
    if obj.__class__ is np.ndarray:  # object arrays stay what they are
        return dtype is not None and recorded(obj)
    return recorded(obj)


@replaces(np.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    **kw: Any,
) -> Any:
    """As numpy.array; recorded entries keep their derivative."""
    kind = type(object)
    if (
        (kind is list or kind is tuple)
        and dtype is None
        and copy is True
        and order == "K"
        and not (kw or ndmin or holds(object))
    ):
        return home(np.array(object), active())
    if _is_recorded(object, dtype):
        return _from_recorded(object, dtype, order, copy=copy, ndmin=ndmin)
    r = np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **kw)
    return r if active() is None else kept(r, object, dtype)


def _as(function: Any) -> None:
    @replaces(function)
    def convert(a: Any, dtype: Any = None, order: Any = None, **kw: Any) -> Any:
        if _is_recorded(a, dtype):
            return _from_recorded(a, dtype, order, copy=kw.get("copy"))
        r = function(a, dtype, order, **kw)
        return r if active() is None else kept(r, a, dtype)


_as(np.asarray)
_as(np.asanyarray)


def asarray(a: Any) -> Any:
    """An array of what is given: recorded where it is recorded, plain where it is not."""
    return _from_recorded(a, None, None) if recorded(a) else np.asarray(a)


@replaces(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """As numpy.asarray_chkfinite, for the values of recorded arrays."""
    if not _is_recorded(a, dtype):
        return kept(np.asarray_chkfinite(a, dtype, order), a, dtype)
    made = _from_recorded(a, dtype, order)
    by_finiteness("numpy.asarray_chkfinite", made)
    parts = (made.v,) if box_of(made) is None else bounds(made)
    for part in parts:
        np.asarray_chkfinite(part)
    return made


def _laid_out(function: Any, order: str) -> None:
    @replaces(function)
    def convert(a: Any, dtype: Any = None, **kw: Any) -> Any:
        if _is_recorded(a, dtype):
            return _from_recorded(a, dtype, order, ndmin=1)
        return kept(function(a, dtype, **kw), a, dtype)


_laid_out(np.ascontiguousarray, "C")
_laid_out(np.asfortranarray, "F")


def _at_least(function: Any) -> None:
    @replaces(function)
    def convert(*arrays: Any) -> Any:
        if any(map(recorded, arrays)):
            return function(
                *(_from_recorded(a, None, None) if recorded(a) else a for a in arrays)
            )
        r = function(*arrays)
        if active() is None:
            return r
        if len(arrays) == 1:
            return kept(r, arrays[0])
        return r.__class__(kept(e, a) for e, a in zip(r, arrays, strict=True))


for _function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    _at_least(_function)


@replaces(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: int = -1, **kw: Any) -> Any:
    """As numpy.fromiter; recorded entries keep their derivative."""
    if active() is None and iter.__class__ is not TArray:
        return np.fromiter(iter, dtype, count, **kw)
    items = list(iter) if count < 0 else list(islice(iter, count))
    if recorded(items):
        return _from_recorded(items, dtype, None)
    return home(np.fromiter(items, dtype, count, **kw), active(), dtype)
