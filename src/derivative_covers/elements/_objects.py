"""Arrays of numbers of one registered type, and what is asked of them as a whole."""

from __future__ import annotations

from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derivative_covers.elements._contract import (
    converted,
    decided_sign,
    decided_zero,
    is_defined,
    magnitude,
    namespace,
)
from derivative_covers.elements._interval import Interval, pair
from derivative_covers.errors import InputTypeError, ShapeError

__all__ = [
    "all_finite",
    "as_elements",
    "element_class",
    "ends_of",
    "exact_float",
    "is_element",
    "upper",
    "upper_magnitudes",
]

Array = NDArray[Any]
_PLAIN = (bool, int, float, np.bool_, np.integer, np.floating)


def is_element(T: type[Any]) -> bool:
    """Whether a type is registered as one that a tape can hold as objects."""
    return not issubclass(T, (*_PLAIN, np.ndarray, complex)) and namespace.registered(T)


def element_class(x: Any) -> type[Any] | None:
    """The registered type of a number, or of those in a list or object array; or None.

    Raises:
        InputTypeError: If there are two.
    """
    if is_element(type(x)):
        return type(x)
    if not isinstance(x, (list, np.ndarray)):
        return None
    if isinstance(x, np.ndarray):
        if x.dtype != object:
            return None
        x = x.ravel().tolist()
    found: type[Any] | None = None
    for entry in x:
        T = element_class(entry)
        if T is None or T is found:
            continue
        if found is not None:
            message = (
                f"numbers of two types came together, {found.__name__} and {T.__name__}; "
                "convert them to one, since nothing is said of how they mix"
            )
            raise InputTypeError(message)
        found = T
    return found


def as_elements(value: Any, T: type[Any]) -> Any:
    """``value`` as numbers of type ``T``: an object array, or one number for a number.

    Integers and floats are converted exactly.

    Raises:
        InputTypeError: If an entry is of another type, or no finite number.
        ShapeError: If the rows of a nested list differ in length.
    """
    if isinstance(value, T):
        return value
    try:
        array = np.asarray(value)
    except ValueError as error:
        message = f"the value is not a rectangular array of numbers ({error})"
        raise ShapeError(message) from None
    if isinstance(value, (list, tuple)) and array.dtype != object:
        array = np.asarray(value, dtype=object)  # large integers beside floats
    found = np.empty(array.shape, dtype=object)
    for k, entry in enumerate(array.ravel().tolist()):
        found.ravel()[k] = _element(entry, T)
    return found if found.ndim else found[()]


def _element(x: Any, T: type[Any]) -> Any:
    if isinstance(x, T):
        return x
    if isinstance(x, (bool, np.bool_, Integral)):
        return converted(T, int(x))
    if isinstance(x, (float, np.floating)):
        if not np.isfinite(x):
            message = f"{x!r} is no finite number, and cannot become a {T.__name__}"
            raise InputTypeError(message)
        if float(x) == x:
            return converted(T, float(x))
    if isinstance(x, Fraction):
        return converted(T, x)
    message = (
        f"a {type(x).__name__} cannot become a {T.__name__}; give numbers of that type, "
        "integers or floats"
    )
    raise InputTypeError(message)


def exact_float(x: Any) -> float | None:
    """The float that a number is; None where it is none."""
    try:
        found = float(x)
    except OverflowError:
        return None
    if not np.isfinite(found) or not decided_zero(x - converted(type(x), found)):
        return None
    return found


def upper(m: Any) -> float:
    """A float that is surely no smaller than a magnitude; the least if ``float`` rounds well."""
    if isinstance(m, (float, int, np.floating)):
        return float(m)
    try:
        found = float(m)
    except OverflowError:
        return float("inf")
    T = type(m)
    if T is Fraction:  # compared without a common divisor
        while np.isfinite(found) and found < m:
            found = float(np.nextafter(found, np.inf))
        return found
    # Steps double, as float() of a type may be off by more than a rounding.
    found, step = max(found, 0.0), 0.0
    while np.isfinite(found) and decided_sign(m - converted(T, found)) > 0:
        step = max(2.0 * step, float(np.spacing(found)))
        found += step
    return found


def upper_magnitudes(a: Any) -> Any:
    """Floats no smaller than the magnitudes of an array of objects; other arrays exactly."""
    if not (isinstance(a, np.ndarray) and a.dtype == object):
        return magnitude(a)
    found = [upper(magnitude(e)) for e in a.ravel().tolist()]
    return np.array(found, dtype=np.float64).reshape(a.shape)


def ends_of(x: Any) -> tuple[float, float]:
    """Floats below and above a number, or all of a set."""
    try:
        middle = float(x)
    except OverflowError:
        return -np.inf, np.inf
    if not np.isfinite(middle):
        return -np.inf, np.inf
    if type(x) is Fraction:
        below, above = (float(np.nextafter(middle, s * np.inf)) for s in (-1, 1))
        return (below if x < middle else middle), (above if x > middle else middle)
    gap = x - converted(type(x), middle)
    sign = decided_sign(gap)
    if not sign and decided_zero(gap):
        return middle, middle
    radius = upper(magnitude(gap))
    below = float(np.nextafter(middle - radius, -np.inf))
    above = float(np.nextafter(middle + radius, np.inf))
    return (middle if sign > 0 else below), (middle if sign < 0 else above)


def all_finite(a: Any) -> bool:
    """Whether no number is NaN or infinite, or tells that it is none."""
    if isinstance(a, Interval):
        lo, hi = pair(a)
        return bool(np.isfinite(lo).all() and np.isfinite(hi).all())
    if not (isinstance(a, np.ndarray) and a.dtype == object):
        return bool(np.isfinite(a).all())
    return all(is_defined(x) for x in a.ravel().tolist())
