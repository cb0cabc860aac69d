"""Choosing the element type of a tape, and converting what a caller supplies to it."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from derivative_covers.elements._interval import Interval
from derivative_covers.elements._interval_convert import refuse_masked
from derivative_covers.elements._objects import as_elements, is_element
from derivative_covers.errors import InputTypeError, ShapeError

__all__ = ["as_element", "element_type"]

_TYPES = tuple(map(np.dtype, (np.float64, np.float32, np.complex128, np.complex64)))


def element_type(x0: Any) -> np.dtype[Any]:
    """The element type of a tape recorded at ``x0``.

    Args:
        x0: A number, an array, or a nested sequence of numbers.

    Returns:
        The dtype of ``x0`` where that is float64, float32, complex128 or complex64, and
        float64 for integers, booleans and intervals.

    Raises:
        InputTypeError: For every other type (float16, longdouble, strings, objects).
        ShapeError: If the rows of a nested sequence differ in length.

    Example:
        >>> element_type([1, 2, 3])
        dtype('float64')
    """
    if isinstance(x0, Interval):
        return np.dtype(np.float64)  # of the ends
    dtype: np.dtype[Any] = _array(x0, "x0").dtype.newbyteorder("=")
    if dtype in _TYPES:
        return np.dtype(dtype.type)  # NumPy's own object: programs compare with `is`
    if dtype.kind in "iub":
        return np.dtype(np.float64)
    message = (
        f"x0 holds {_named(x0, dtype)}; inputs must be float64 or float32, or complex128 "
        f"or complex64 (integers and booleans become float64): {_remedy(dtype)}"
    )
    raise InputTypeError(message)


def as_element(value: Any, dtype: Any) -> Any:
    """``value`` as numbers of the element type ``dtype``.

    Args:
        value: A number, an array, or a nested sequence of numbers; real ones unless
            ``dtype`` is complex.
        dtype: Element type to convert to: float64, float32, complex128 or complex64, or
            a type that registered :func:`namespace`, such as ``fractions.Fraction``.

    Returns:
        A scalar of that type for a scalar, else an array (``value`` itself where it
        already is one of that type).

    Raises:
        InputTypeError: If ``value`` holds anything but numbers, or complex ones for a
            real type, or an integer too large for a float, or is a masked array.
        ShapeError: If the rows of a nested sequence differ in length.

    Example:
        >>> as_element([1, 2], np.float32).dtype
        dtype('float32')
    """
    if isinstance(dtype, type) and is_element(dtype):
        return as_elements(value, dtype)
    target = np.dtype(dtype)
    if type(value).__module__ != "numpy" and isinstance(value, Real):
        try:
            with np.errstate(over="ignore", under="ignore"):
                return target.type(float(value))
        except OverflowError:
            message = (
                f"{_short(value)} does not fit in {target}; give a smaller number, "
                "or float('inf')"
            )
            raise InputTypeError(message) from None
    array = _array(value, "the value")
    complex_too = target.kind == "c"
    if array.dtype.kind not in ("fiubc" if complex_too else "fiub"):
        message = (
            f"the value holds {_named(value, array.dtype)}, but "
            f"{'numbers' if complex_too else 'real numbers'} are needed, to convert to "
            f"{target}: {_remedy(array.dtype)}"
        )
        raise InputTypeError(message)
    with np.errstate(over="ignore", under="ignore"):
        converted = array.astype(target, copy=False)
    return converted if converted.ndim else converted[()]


def _array(value: Any, name: str) -> np.ndarray[Any, Any]:
    refuse_masked(value, name)
    try:
        return np.asarray(value)
    except ValueError as error:
        message = (
            f"{name} is not a rectangular array of numbers ({error}); make the rows "
            "equally long"
        )
        raise ShapeError(message) from None


def _named(value: Any, dtype: np.dtype[Any]) -> str:
    if dtype.kind != "O":
        return f"values of type {dtype}"
    first = next(iter(np.asarray(value).flat), None)
    return f"Python objects ({type(first).__name__})"


def _short(value: Any) -> str:
    text = f"{type(value).__name__} {value}"
    return text if len(text) < 50 else f"{text[:40]}..."


def _remedy(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "c":
        return "take the real and imaginary parts apart"
    if dtype.kind == "O":
        return "give plain numbers; convert with numpy.asarray(x, dtype=float)"
    if dtype.kind == "f":
        return "convert with numpy.asarray(x, dtype=numpy.float64)"
    return "give numbers"
