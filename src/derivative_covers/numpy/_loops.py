"""Functions of NumPy's that call Python functions, or walk over entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import UnsupportedOperationError
from ..tape._active import active
from ..tape._call import check_dtype, real_values
from ..tape._convert import array_of, tape_of
from ..tape._tarray import TArray
from ..tape._tvar import TVar
from ._arrays import asarray
from ._names import NAMESPACE, REPLACED, replaces
from ._recorded import entries, holds, home, recorded

__all__ = ["frompyfunc", "ndenumerate", "vectorize"]


def _collected(values: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Results of single calls as one array."""
    if not holds(values):
        wanted = np.asarray(values[0]).dtype if dtype is None else dtype
        return home(np.array(values, dtype=wanted).reshape(shape), active())
    tape = tape_of(values)
    if tape is None:
        return np.array(real_values(values), dtype=dtype).reshape(shape)
    check_dtype(dtype, tape)
    return array_of(tape, values).reshape(shape)


class vectorize:
    """As numpy.vectorize; the function is called with scalar variables.

    Raises:
        UnsupportedOperationError: For recorded operands where there is a signature.
    """

    __module__ = NAMESPACE

    def __init__(self, *args: Any, **kw: Any) -> None:
        self._numpy: Any = np.vectorize(*args, **kw)
        self.__doc__ = self._numpy.__doc__
        self.__name__ = getattr(self._numpy, "__name__", "vectorize")

    def __getattr__(self, name: str) -> Any:
        if name == "_numpy":  # not there yet while a copy is made
            raise AttributeError(name)
        return getattr(self._numpy, name)

    def __call__(self, *args: Any, **kw: Any) -> Any:
        plain = self._numpy
        if not callable(plain.pyfunc):  # used as a decorator with options
            plain(*args, **kw)
            return self
        found = any(map(recorded, args)) or any(map(recorded, kw.values()))
        if not found and (active() is None or plain.signature is not None):
            return plain(*args, **kw)
        if plain.signature is not None:
            msg = (
                "np.vectorize with a signature has no rule for recorded variables; loop "
                "over the leading axes and np.stack the results."
            )
            raise UnsupportedOperationError(msg)
        return self._loop(args, kw)

    def _loop(self, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        function, excluded = self._numpy.pyfunc, self._numpy.excluded
        places: list[Any] = [k for k in range(len(args)) if k not in excluded]
        places += [name for name in kw if name not in excluded]
        operands = [entries(args[k] if isinstance(k, int) else kw[k]) for k in places]
        spread = np.broadcast_arrays(*operands)
        shape = spread[0].shape if spread else ()
        given, named = list(args), dict(kw)
        results = []
        for values in (
            zip(*(a.ravel() for a in spread), strict=True) if spread else [()]
        ):
            for k, value in zip(places, values, strict=True):
                if isinstance(k, int):
                    given[k] = value
                else:
                    named[k] = value
            results.append(function(*given, **named))
        if not results:
            return self._numpy(
                *map(real_values, args), **{k: real_values(v) for k, v in kw.items()}
            )
        kinds = self._numpy.otypes
        if not isinstance(results[0], tuple):
            return _collected(results, shape, kinds[0] if kinds else None)
        return tuple(
            _collected(list(column), shape, kinds[k] if kinds else None)
            for k, column in enumerate(zip(*results, strict=True))
        )


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **kw: Any) -> Any:
    """As numpy.frompyfunc; recorded operands give recorded results."""
    plain = np.frompyfunc(func, nin, nout, **kw)

    def call(*args: Any, **options: Any) -> Any:
        if not any(map(recorded, args)):
            return plain(*args, **options)
        r = plain(*(entries(a) for a in args), **options)
        return tuple(map(_gathered, r)) if nout > 1 else _gathered(r)

    call.__wrapped__ = plain  # type: ignore[attr-defined]
    call.__module__ = NAMESPACE
    return call


def _gathered(r: Any) -> Any:
    """An object array as a recorded one, where it holds variables."""
    return asarray(r) if recorded(r) else r


@replaces(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kw: Any) -> Any:
    """As numpy.fromfunction."""
    kw.pop("like", None)
    return function(*home(np.indices(shape, dtype=dtype), active(), dtype), **kw)


@replaces(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kw: Any) -> Any:
    """As numpy.apply_along_axis; the results are stacked."""
    if active() is None and not recorded(arr):
        return np.apply_along_axis(func1d, axis, arr, *args, **kw)
    a = asarray(arr)
    if not a.size:
        return home(
            np.apply_along_axis(func1d, axis, real_values(a), *args, **kw), active()
        )
    lanes = np.moveaxis(a, axis, -1)
    outer = lanes.shape[:-1]
    results = [
        asarray(func1d(lane, *args, **kw))
        for lane in lanes.reshape(-1, lanes.shape[-1])
    ]
    if not any(map(recorded, results)):
        stacked = home(np.stack(results), active())
    else:
        stacked = np.stack(results)
    stacked = stacked.reshape(outer + stacked.shape[1:])
    first, inner = len(outer), stacked.ndim - len(outer)
    at = axis % a.ndim
    return np.moveaxis(stacked, range(first, first + inner), range(at, at + inner))


@replaces(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """As numpy.apply_over_axes."""
    if not recorded(a):
        return np.apply_over_axes(func, a, axes)
    found = asarray(a)
    ndim = found.ndim
    for axis in np.ravel(axes).tolist():
        r = func(found, axis)
        found = r if np.ndim(r) == ndim else np.expand_dims(r, axis)
    return found


class ndenumerate:
    """As numpy.ndenumerate: pairs of an index and an entry."""

    __module__ = NAMESPACE

    def __init__(self, arr: Any) -> None:
        a = asarray(arr)
        self._pairs: Iterator[Any] = (
            zip(np.ndindex(a.shape), a.ravel(), strict=True)
            if a.__class__ is TArray
            else np.ndenumerate(a)
        )

    def __iter__(self) -> ndenumerate:
        return self

    def __next__(self) -> Any:
        return next(self._pairs)


@replaces(np.nditer)
def nditer(op: Any, *args: Any, **kw: Any) -> Any:
    """As numpy.nditer, for plain and constant arrays.

    Raises:
        UnsupportedOperationError: For recorded operands.
    """
    operands = op if isinstance(op, (list, tuple)) else [op]
    if any(
        recorded(x) and tape_of(x) is not None and not _constant(x) for x in operands
    ):
        msg = (
            "np.nditer walks over plain memory, where recorded variables have no "
            "derivative. Loop over np.ndindex(x.shape) or np.ndenumerate(x), or use "
            "operations of whole arrays."
        )
        raise UnsupportedOperationError(msg)
    return np.nditer(real_values(op), *args, **kw)


def _constant(x: Any) -> bool:
    return isinstance(x, (TArray, TVar)) and x.is_constant


@replaces(np.broadcast)
def broadcast(*args: Any) -> Any:
    """As numpy.broadcast; recorded arrays give their entries as scalar variables."""
    return np.broadcast(*(entries(a) if recorded(a) else a for a in args))


@replaces(np.isscalar)
def isscalar(element: Any) -> bool:
    """As numpy.isscalar: a scalar variable is one."""
    return element.__class__ is TVar or np.isscalar(element)


REPLACED["vectorize"] = vectorize
REPLACED["frompyfunc"] = frompyfunc
REPLACED["ndenumerate"] = ndenumerate
