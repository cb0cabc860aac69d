"""Checked integers of any size, and bisection over them."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from operator import index
from typing import Any

from ...errors import InputTypeError, ScheduleError

__all__ = ["count", "first_where", "nbytes"]


def count(name: str, given: Any) -> int:
    """A nonnegative integer of any integer type but bool.

    Raises:
        InputTypeError: If it is no integer.
        ScheduleError: If it is negative.
    """
    if type(given) is not int:
        try:
            if isinstance(given, bool):
                raise TypeError
            given = index(given)
        except TypeError:
            msg = (
                f"{name} is {given!r:.80}, of type {type(given).__name__}; an integer is "
                "needed (convert with int(...) if it counts something)."
            )
            raise InputTypeError(msg) from None
    number: int = given
    if number < 0:
        msg = f"{name} is {number}; a count is needed, 0 or more."
        raise ScheduleError(msg)
    return number


def nbytes(name: str, given: Any) -> int:
    """A number of bytes: a count, or a float that is a whole number, such as ``8e6``.

    Raises:
        InputTypeError: If it is no whole number.
        ScheduleError: If it is negative.
    """
    if isinstance(given, str):
        msg = f"{name} is {given!r:.80}; a number of bytes is needed, such as 8e6 for 8 MB."
        raise InputTypeError(msg)
    number: Any = given
    whole = isinstance(number, Real) and not isinstance(given, bool)
    if whole and number // 1 == number:
        number = int(number)
    return count(name, number)


def first_where(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least ``k`` of ``low .. high`` with ``holds(k)``, which must stay true.

    ``high`` is not tried: it is the answer where nothing below is one.
    """
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
