"""What the sweeps ask of the numbers that a tape holds.

Each function chooses its implementation by the type of a value, or by the type given;
a new element type registers its own with ``function.register(Type)``. Implementations
for plain numbers and arrays of them are in :mod:`._float`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch, update_wrapper
from importlib import import_module
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

import numpy as np

from derivative_covers.errors import InputTypeError

__all__ = [
    "ByType",
    "as_type",
    "boundtype",
    "by_type",
    "converted",
    "decided_one",
    "decided_sign",
    "decided_zero",
    "is_defined",
    "magnitude",
    "magtype",
    "namespace",
    "separation",
]

# Types of other packages that are known; their registration is imported when one is met.
_KNOWN = {"flint": "_flint", "mpmath": "_mpmath"}

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
        return self._chosen(self._key(*args))(*args, **kwargs)

    def _chosen(self, cls: type[Any]) -> Callable[P, R]:
        found: Callable[P, R] = self._table.dispatch(cls)
        if found is self._table.registry[object]:
            home = _KNOWN.get(cls.__module__.partition(".")[0])
            if home is not None:
                import_module(f"{__package__}.{home}")
                found = self._table.dispatch(cls)
        return found

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
        return self._chosen(cls) is not self._table.registry[object]


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
        f"{function} is not defined for {cls.__name__}: convert to float64 first, or "
        f"register the type with {function}.register"
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


@by_type(_value_type)
def is_defined(x: Any) -> bool:
    """Whether the result of an operation is a number, or a set on which it is defined.

    An operation of a type may flag what is undefined, as by NaN, instead of raising. A
    type that does so registers how to tell. Nothing needs to be registered for a type
    whose operations raise (ArithmeticError, ValueError).

    Args:
        x: What an operation gave.

    Returns:
        False if the program left a domain.

    Example:
        >>> is_defined(1.5), is_defined(float("nan"))
        (True, False)
    """
    return not isinstance(x, (float, np.floating)) or bool(np.isfinite(x))


@by_type(lambda T, x: as_type(T))
def converted(T: Any, x: Any) -> Any:
    """A plain number as an element of type ``T``.

    Constants of a program come to a tape so. A float or an integer must be converted
    exactly, whatever its size, or refused.

    Args:
        T: An element type.
        x: A finite float, or an integer.

    Returns:
        The same number, of type ``T``.

    Raises:
        InputTypeError: If ``T`` registered no conversion.

    Example:
        >>> from fractions import Fraction
        >>> converted(Fraction, 0.375)
        Fraction(3, 8)
    """
    _refuse("converted", as_type(T))


@by_type(as_type)
def namespace(T: Any) -> Mapping[str, Any]:
    """The elementary functions of an element type, under NumPy's names.

    A type that registers it can be recorded on a tape: ``tape_function(f, [T(...)])``.
    What follows from ``+ - * /``, integer powers, ``abs`` and :func:`decided_sign` needs
    no entry. Other elementals look up ``exp``, ``log``, ``sqrt``, ``sin`` and their kin,
    the constant ``pi`` and, where values stand for sets, ``maximum`` and ``minimum``; one
    that finds no entry raises UnsupportedOperationError. ``integer_power(x, n)`` stands in
    for ``x**n`` where there is one.

    Args:
        T: An element type.

    Returns:
        From names to functions of one or two elements (of none, for ``pi``).

    Raises:
        InputTypeError: If ``T`` registered none.

    Example:
        >>> import mpmath
        >>> namespace(mpmath.mpf)["exp"](mpmath.mpf(0))
        mpf('1.0')
    """
    _refuse("namespace", as_type(T))
