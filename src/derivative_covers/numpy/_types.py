"""Types that recorded variables are instances of, too."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ..tape._active import active
from ..tape._call import check_dtype
from ..tape._tarray import TArray
from ..tape._tvar import TVar
from ._arrays import asarray
from ._names import NAMESPACE, REPLACED
from ._recorded import home, recorded

__all__ = ["ndarray", "ufunc"]


class _ArrayType(type):
    """Recorded arrays are instances; the rest is that of numpy.ndarray."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        actual = tuple(np.ndarray if b.__class__ is _ArrayType else b for b in bases)
        return type(name, actual, body)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, (np.ndarray, TArray))

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, (np.ndarray, TArray))

    def __call__(cls, *args: Any, **kw: Any) -> Any:
        r = np.ndarray(*args, **kw)
        return home(r, active()) if r.flags.owndata else r

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is np.ndarray or other is TArray

    def __hash__(cls) -> int:
        return hash(np.ndarray)

    def __getattr__(cls, name: str) -> Any:
        return getattr(np.ndarray, name)


class ndarray(metaclass=_ArrayType):
    """The type of arrays, plain and recorded; a subclass is one of numpy.ndarray."""

    __module__ = NAMESPACE


class _UfuncType(type):
    """The functions of the namespace that stand for ufuncs are instances."""

    def __instancecheck__(cls, x: object) -> bool:
        mine = getattr(x, "__module__", None) == NAMESPACE
        return isinstance(getattr(x, "__wrapped__", x) if mine else x, np.ufunc)

    def __getattr__(cls, name: str) -> Any:
        return getattr(np.ufunc, name)


class ufunc(metaclass=_UfuncType):
    """The type of functions that work entry by entry."""

    __module__ = NAMESPACE


def _type_of(x: TVar) -> type:
    if x.tape is not None:
        return x.tape.dtype.type
    kinds = (np.float32, np.complex64, complex)
    found = next((kind for kind in kinds if isinstance(x.v, kind)), np.float64)
    return np.complex128 if found is complex else found


class _ScalarType(type):
    """Scalar variables are instances; serves as a dtype as NumPy's type does."""

    def __instancecheck__(cls, x: object) -> bool:
        plain = _plain(cls)
        if x.__class__ is TVar:
            return issubclass(_type_of(x), plain)
        return isinstance(x, plain)

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, _plain(cls))

    def __call__(cls, *args: Any, **kw: Any) -> Any:
        plain = _plain(cls)
        if args and recorded(args[0]):
            return _converted(args[0], plain)
        return plain(*args, **kw)

    def __eq__(cls, other: object) -> bool:
        plain = _plain(cls)
        if other is TVar:  # which does not tell the type of its recording
            return plain is np.float64
        return other is cls or other is plain

    def __hash__(cls) -> int:
        return hash(_plain(cls))


def _plain(cls: type) -> Any:
    return next(c for c in cls.__mro__ if c.__class__ is type)


def _converted(x: Any, plain: Any) -> Any:
    """A recorded value in a type: the value itself, since the type must be its own."""
    if x.__class__ is not TVar:
        x = asarray(x)
        check_dtype(plain, x.tape)
        return x.copy() if x.ndim else x[()]
    if x.tape is None:
        return plain(x.v)
    check_dtype(plain, x.tape)
    return x


Real.register(TVar)
REPLACED["ndarray"] = ndarray
REPLACED["ufunc"] = ufunc
for _names, _scalar in (
    (("float64", "double"), np.float64),
    (("float32", "single"), np.float32),
    (("floating",), np.floating),
    (("inexact",), np.inexact),
    (("number",), np.number),
    (("generic",), np.generic),
):
    _made = _ScalarType(
        _names[0],
        (_scalar,),
        {"__module__": NAMESPACE, "__doc__": _scalar.__doc__, "__slots__": ()},
    )
    for _name in _names:
        REPLACED[_name] = _made
