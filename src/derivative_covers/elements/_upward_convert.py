"""Conversion of numbers to floating-point ones that are not below them."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from derivative_covers.errors import InputTypeError, OptionError, ShapeError

__all__ = ["floats", "raised"]

_EXACT = 2**53  # integers up to here are numbers of float64
_NOT_REAL = "Upward got an entry of type {}; nonnegative real numbers are needed"
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def raised(v: Any, dtype: Any) -> Any:
    """An array or scalar of floats in another float type, never below ``v``."""
    target = np.dtype(dtype)
    if v.dtype == target:
        return v
    with np.errstate(all="ignore"):
        found = v.astype(target)
        return np.where(found < v, np.nextafter(found, target.type(np.inf)), found)[()]


def floats(x: Any, dtype: Any = None) -> Any:
    """Nonnegative numbers as a new array, or scalar, of floats that are not below them.

    Args:
        x: Real numbers of any kind.
        dtype: float64 or float32; None for the type of ``x`` where it is one of them,
            else float64.

    Raises:
        OptionError: If a number is negative or NaN.
        ShapeError: If rows differ in length.
        InputTypeError: If there is anything but real numbers, or for another ``dtype``.
    """
    target = None if dtype is None else np.dtype(dtype)
    if target is not None and target not in _FLOATS:
        message = f"Upward numbers are float64 or float32; got dtype {target}"
        raise InputTypeError(message)
    found: Any
    if _exact(x):
        found = _from_exact(x)
    else:
        try:
            a = np.asarray(x)
        except ValueError:
            message = "Upward got rows of different lengths; make them equally long"
            raise ShapeError(message) from None
        if a.dtype == object:
            flat = [_from_exact(e) for e in a.ravel()]
            found = np.array(flat, dtype=np.float64).reshape(a.shape)
        elif a.dtype.kind in "iu" and a.size and int(a.max()) > _EXACT:
            flat = [_from_exact(int(e)) for e in a.ravel()]
            found = np.array(flat, dtype=np.float64).reshape(a.shape)
        elif a.dtype.kind == "f" and a.dtype.itemsize > 8:
            found = raised(a, np.float64)
        elif a.dtype.kind == "f":
            found = a.astype(np.float32 if a.dtype.itemsize <= 4 else np.float64)
        elif a.dtype.kind in "iub":
            found = a.astype(np.float64)
        else:
            raise InputTypeError(_NOT_REAL.format(a.dtype))
    if target is not None:
        found = raised(found, target)
    found = np.asarray(found)
    if not (found >= 0).all():
        bad = found[~(found >= 0)].ravel()[0]
        message = f"Upward got {bad}; magnitudes are nonnegative, and NaN is none"
        raise OptionError(message)
    return (found + found.dtype.type(0))[()]  # a copy, without the sign of -0.0


def _exact(x: Any) -> bool:
    """Whether ``x`` is a number that Python compares exactly, such as a fraction."""
    return isinstance(x, Real) and type(x).__module__ != "numpy"


def _from_exact(x: Any) -> Any:
    """A float64 that is not below an exact number: an integer, a fraction, a float."""
    if not isinstance(x, Real | np.generic):
        raise InputTypeError(_NOT_REAL.format(type(x).__name__))
    exact: Any = x
    try:
        found = np.float64(float(exact))
    except OverflowError:
        return np.float64(np.inf if exact > 0 else -np.inf)
    return np.nextafter(found, np.inf) if float(found) < exact else found
