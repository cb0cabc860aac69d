"""What the sweeps ask of the numbers that a tape holds.

Each function chooses its implementation by the type of a value, or by the type given;
a new element type registers its own with ``function.register(Type)``. Implementations
for plain numbers and arrays of them are in :mod:`._float`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch, update_wrapper
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

import numpy as np

from derivative_covers.errors import InputTypeError

__all__ = [
    "ByType",
    "as_type",
    "boundtype",
    "by_type",
    "decided_one",
    "decided_sign",
    "decided_zero",
    "magnitude",
    "magtype",
    "separation",
]

P = ParamSpec("P")
R = TypeVar("R")


class ByType(Generic[P, R]):
    """A function whose implementation is chosen by a type, and can be added to.

    Args:
        fallback: Implementation for types that registered none.
        key: ``key(*args)`` gives the type to choose by.
    """

    def __init__(self, fallback: Callable[P, R], key: Callable[..., type[Any]]) -> None:
        self._table = singledispatch(fallback)
        self._key = key
        update_wrapper(self, fallback)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the implementation registered for the type of these arguments."""
        chosen: Callable[P, R] = self._table.dispatch(self._key(*args))
        return chosen(*args, **kwargs)

    def register(
        self, *types: type[Any]
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator that registers an implementation for some types."""

        def add(implementation: Callable[..., Any]) -> Callable[..., Any]:
            for cls in types:
                self._table.register(cls, implementation)
            return implementation

        return add

    def registered(self, cls: type[Any]) -> bool:
        """Whether ``cls`` or a base of it registered an implementation."""
        return self._table.dispatch(cls) is not self._table.registry[object]


def by_type(
    key: Callable[..., type[Any]],
) -> Callable[[Callable[P, R]], ByType[P, R]]:
    """Decorator that makes a function choose its implementation by ``key(*args)``."""
    return lambda fallback: ByType(fallback, key)


def as_type(T: Any) -> type[Any]:
    """The Python type that an element type is named by: a dtype's scalar type, or T.

    Args:
        T: A type, a ``numpy.dtype``, or a dtype's name.

    Returns:
        The type.

    Raises:
        InputTypeError: If ``T`` names no type.

    Example:
        >>> as_type(np.dtype("float32")).__name__
        'float32'
    """
    if isinstance(T, type):
        return T
    try:
        cls: type[Any] = np.dtype(T).type
    except TypeError:
        message = (
            f"{T!r} is not an element type; give a type or a numpy dtype, "
            "such as numpy.float64"
        )
        raise InputTypeError(message) from None
    return cls


def _value_type(x: object, *_: object) -> type[Any]:
    return type(x)


def _pair_type(x: object, y: object) -> type[Any]:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, np.ndarray):
            # an array type of its own answers for its entries
            own = hasattr(other, "__array_ufunc__") and not isinstance(
                other, np.generic
            )
            return type(other) if own else np.ndarray
    return type(y) if isinstance(x, (float, int, complex, np.generic)) else type(x)


def _refuse(function: str, cls: type[Any]) -> NoReturn:
    message = (
        f"{function} is not defined for {cls.__name__}; numbers on a tape are float64, "
        "float32, complex128 or complex64: convert first, or register the type with "
        f"{function}.register"
    )
    raise InputTypeError(message)


@by_type(_value_type)
def magnitude(x: Any) -> Any:
    """The largest absolute value that ``x`` can take: ``abs(x)`` for a number.

    Covers use it wherever they need the size of a value, partial or adjoint. A type
    whose values stand for sets registers the largest absolute value over the set, so
    that covers hold at every point of it.

    Args:
        x: A number, or an array of them (elementwise).

    Returns:
        The magnitude, of type ``magtype(type(x))``, in the shape of ``x``.

    Raises:
        InputTypeError: If the type of ``x`` registered no magnitude.

    Example:
        >>> magnitude(-2.0)
        2.0
    """
    _refuse("magnitude", type(x))


@by_type(as_type)
def magtype(T: Any) -> type[Any]:
    """The type of the magnitudes of an element type, which covers are returned in.

    Args:
        T: A type or a dtype.

    Returns:
        The type: ``T`` itself for float64 and float32, that of the parts for complex.

    Raises:
        InputTypeError: If ``T`` is not an element type.

    Example:
        >>> magtype(np.dtype("float32")).__name__
        'float32'
    """
    _refuse("magtype", as_type(T))


@by_type(as_type)
def boundtype(T: Any) -> type[Any]:
    """The type that sweeps over elements of type ``T`` accumulate their bounds in.

    It is ``magtype(T)`` unless a type registers another, and covers then hold up to the
    rounding of the sweeps. A type whose values stand for sets registers one whose
    arithmetic rounds upward. Covers are returned in ``magtype(T)`` either way.

    Args:
        T: A type or a dtype.

    Returns:
        The type.

    Raises:
        InputTypeError: If ``T`` is not an element type.

    Example:
        >>> boundtype(np.float64).__name__
        'float64'
    """
    return magtype(T)


@by_type(_value_type)
def decided_sign(x: Any) -> int:
    """The sign of ``x`` where it is certain.

    A type whose values stand for sets registers a version that gives 1 or -1 only where
    every member has that sign.

    Args:
        x: A number.

    Returns:
        1 if ``x`` is positive, -1 if it is negative, 0 otherwise: at zero, at NaN and for
        complex numbers.

    Raises:
        InputTypeError: If the type of ``x`` registered no sign.

    Example:
        >>> decided_sign(-0.5), decided_sign(float("nan"))
        (-1, 0)
    """
    _refuse("decided_sign", type(x))


@by_type(_value_type)
def decided_one(c: Any) -> bool:
    """Whether the constant ``c`` is certainly one.

    Operations with a constant use it to skip work. A type whose values stand for sets
    answers True only for the set that holds nothing else, and False, never an error,
    where the comparison is undecided. False keeps the general form, always valid.

    Args:
        c: A number.

    Returns:
        True if ``c`` is one.

    Raises:
        InputTypeError: If the type of ``c`` registered no answer.

    Example:
        >>> decided_one(1.0)
        True
    """
    _refuse("decided_one", type(c))


@by_type(_value_type)
def decided_zero(c: Any) -> bool:
    """Whether the constant ``c`` is certainly zero; see :func:`decided_one`.

    Args:
        c: A number.

    Returns:
        True if ``c`` is zero.

    Raises:
        InputTypeError: If the type of ``c`` registered no answer.

    Example:
        >>> decided_zero(-0.0)
        True
    """
    _refuse("decided_zero", type(c))


@by_type(_pair_type)
def separation(x: Any, y: Any) -> Any:
    """How far apart ``x`` and ``y`` are: ``abs(x - y)`` for numbers.

    A type whose values stand for sets registers the smallest distance between members,
    which is zero where the sets overlap; its version is chosen if either argument is of
    that type. Covers compare two computations of one gradient by it.

    Args:
        x: A number, or an array of them (elementwise).
        y: Another.

    Returns:
        The distance, in the broadcast shape.

    Raises:
        InputTypeError: If neither type registered a distance.

    Example:
        >>> separation(1.0, -2.0)
        3.0
    """
    _refuse("separation", _pair_type(x, y))
