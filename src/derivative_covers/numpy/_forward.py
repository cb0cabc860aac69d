"""NumPy's functions and ufuncs, with lists of recorded variables as operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tape._protocol import ArrayLayer
from ..tape._storage import held
from ..tape._tarray import TArray
from ..tape._tvar import TVar
from ._names import NAMESPACE, named_as
from ._recorded import holds, lifted

__all__ = ["forwarded", "with_lists"]

_Dispatched = type(np.sum)
_PLAIN = frozenset((np.ndarray, float, int, np.float64))


def with_lists(function: Any) -> Callable[..., Any]:
    """A function of NumPy's that finds recorded variables in lists as well."""
    layer = ArrayLayer.function

    def call(*args: Any, **kw: Any) -> Any:
        for a in args:
            kind = type(a)
            if kind is TArray:
                return a.__array_function__(function, (), args, kw)
            if kind is TVar or ((kind is list or kind is tuple) and holds(a)):
                return layer(function, args, kw)
        if kw:
            for a in kw.values():
                kind = a.__class__
                if (
                    kind is TVar
                    or kind is TArray
                    or ((kind is list or kind is tuple) and holds(a))
                ):
                    return layer(function, args, kw)
        return function(*args, **kw)

    return call


def _of_one(ufunc: Any) -> Callable[..., Any]:
    def call(x: Any, /, *args: Any, **kw: Any) -> Any:
        kind = type(x)
        if kind is TArray:
            if x.s.tape is None and not args and not kw:
                return held(ufunc(x.v)) if ufunc.nout == 1 else ufunc(x)
        elif kind is TVar:
            if not args:
                return x.__array_ufunc__(ufunc, "__call__", x, **kw)
        elif kind is list or kind is tuple:
            x = lifted(x)
        return ufunc(x, *args, **kw)

    return call


def _of_two(ufunc: Any) -> Callable[..., Any]:
    def call(x: Any, y: Any, /, *args: Any, **kw: Any) -> Any:
        left, right = type(x), type(y)
        if (
            (left is TArray or right is TArray)
            and (x.s.tape is None if left is TArray else left in _PLAIN)
            and (y.s.tape is None if right is TArray else right in _PLAIN)
            and not (args or kw)
        ):
            v = x.v if left is TArray else x
            w = y.v if right is TArray else y
            return held(ufunc(v, w)) if ufunc.nout == 1 else ufunc(x, y)
        if left is list or left is tuple:
            x = lifted(x)
        if right is list or right is tuple:
            y = lifted(y)
        return ufunc(x, y, *args, **kw)

    return call


def _method(function: Any) -> Callable[..., Any]:
    def call(*args: Any, **kw: Any) -> Any:
        operands = (lifted(a) if a.__class__ in (list, tuple) else a for a in args)
        return function(*operands, **kw)

    return call


def _ufunc(ufunc: Any) -> Any:
    """A function with the methods and attributes of a ufunc."""
    if ufunc.nin > 2:
        return ufunc
    made = named_as(ufunc, (_of_one if ufunc.nin == 1 else _of_two)(ufunc))
    for name in dir(ufunc):
        if not name.startswith("_"):
            value = getattr(ufunc, name)
            setattr(made, name, _method(value) if callable(value) else value)
    return made


def forwarded(value: Any, module: str = NAMESPACE) -> Any:
    """What the namespace has in the place of an attribute of NumPy's."""
    if isinstance(value, np.ufunc):
        return _ufunc(value)
    if isinstance(value, _Dispatched):
        return named_as(value, with_lists(value), module)
    return value
