"""Conversion of numbers to the ends of intervals that contain them."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from derivative_covers.elements._outward import Pair
from derivative_covers.errors import InputTypeError, OptionError, ShapeError

__all__ = ["checked", "converted", "refuse_masked"]

_EXACT = 2**53  # integers up to here are numbers of float64


def converted(x: Any, what: str = "an Interval operation") -> Pair:
    """Real numbers as points, or as the floats next to them where they are none.

    Args:
        x: A number, an array or a nested sequence; float32 and integers up to
            ``2**53`` are exact, fractions and others may lie between two floats.
        what: Who got them, for the message.

    Raises:
        InputTypeError: If there is anything but real numbers, or a masked array.
        OptionError: If there is a NaN.
        ShapeError: If rows differ in length.
    """
    if type(x) is float or type(x) is np.float64:
        lo = np.float64(x)
        pair = lo, lo
    elif isinstance(x, Real) and type(x).__module__ != "numpy":
        pair = _between(x)
    else:
        pair = _array(x, what)
    refuse_nan(pair[0], what)
    return pair


def checked(lo: Any, hi: Any) -> Pair:
    """Ends of one shape, copied, each ``lo <= hi``.

    Raises:
        ShapeError: If the shapes differ and neither is a scalar.
        OptionError: If an end lies on the wrong side of the other, or an interval would
            hold no real number.
    """
    lo, hi = np.asarray(lo), np.asarray(hi)
    if lo.shape != hi.shape:
        refuse_nan(lo, "Interval")
        refuse_nan(hi, "Interval")
        if lo.ndim and hi.ndim:
            message = (
                f"the ends of an Interval have the shapes {lo.shape} and {hi.shape}; "
                "give both one shape, or a scalar for one of them"
            )
            raise ShapeError(message)
        lo, hi = np.broadcast_arrays(lo, hi)
    with np.errstate(all="ignore"):
        right = hi - lo >= 0  # not of infinities of one sign, nor of NaN
    if not right.all():
        refuse_nan(lo, "Interval")
        refuse_nan(hi, "Interval")
        wrong = ~right
        where = tuple(int(k[0]) for k in np.nonzero(wrong)) if lo.ndim else ()
        at = f" at entry {where if len(where) > 1 else where[0]}" if where else ""
        reason = (
            "the lower end must not exceed the upper one: exchange them (all lower "
            "and all upper ends in two arrays are given as a tuple, (lo, hi))"
            if lo[where] > hi[where]
            else "no real number lies there: give a finite end"
        )
        message = f"an Interval cannot go from {lo[where]} to {hi[where]}{at}; {reason}"
        raise OptionError(message)
    # a copy, without the sign of -0.0
    return lo + 0.0, hi + 0.0


def _between(x: Any) -> Pair:
    """The floats next to an exact number."""
    try:
        near = float(x)
    except OverflowError:
        near = np.inf if x > 0 else -np.inf
    with np.errstate(all="ignore"):
        lo = np.float64(near) if near <= x else np.nextafter(near, -np.inf)
        hi = np.float64(near) if near >= x else np.nextafter(near, np.inf)
    return lo, hi


def _array(x: Any, what: str) -> Pair:
    refuse_masked(x, what)
    try:
        a = np.asarray(x)
    except ValueError:
        message = f"{what} got rows of different lengths; make them equally long"
        raise ShapeError(message) from None
    if a.dtype == np.float64:
        lo = a[()]
        return lo, lo
    if a.dtype.kind == "O":
        for entry in a.flat:
            if not isinstance(entry, Real | np.number):
                raise InputTypeError(_refusal(what, type(entry).__name__))
        pairs = [converted(entry, what) for entry in a.flat]
        lo = np.array([p[0] for p in pairs], dtype=np.float64).reshape(a.shape)
        hi = np.array([p[1] for p in pairs], dtype=np.float64).reshape(a.shape)
        return lo[()], hi[()]
    if a.dtype.kind not in "fiub":
        raise InputTypeError(
            _refusal(what, "str" if a.dtype.kind == "U" else a.dtype.name)
        )
    with np.errstate(all="ignore"):
        lo = a.astype(np.float64)
        if a.dtype.kind == "f":
            if a.dtype.itemsize <= 8:
                return lo[()], lo[()]
            below, above = lo > a, lo < a
        elif a.dtype.itemsize < 8 or not a.size or _small(a):
            return lo[()], lo[()]
        else:
            return _array(a.astype(object), what)
        return (
            np.where(below, np.nextafter(lo, -np.inf), lo)[()],
            np.where(above, np.nextafter(lo, np.inf), lo)[()],
        )


def refuse_nan(x: Any, what: str) -> None:
    """Raise an OptionError where there is a NaN."""
    if np.isnan(x).any():
        message = f"{what} got NaN, which stands for no number"
        raise OptionError(message)


def refuse_masked(x: Any, what: str) -> None:
    """Raise an InputTypeError for a masked array: as numbers it would lose its mask."""
    if isinstance(x, np.ma.MaskedArray):
        message = (
            f"{what} got a masked array, whose masked entries have no value; fill them "
            "first, with its method filled"
        )
        raise InputTypeError(message)


def _small(a: Any) -> bool:
    return max(-int(a.min()), int(a.max())) <= _EXACT


def _refusal(what: str, kind: str) -> str:
    return (
        f"{what} got entries of type {kind}; real numbers or intervals are needed. "
        "Convert text with float(), or exactly with fractions.Fraction(), and give real "
        "and imaginary parts apart"
    )
