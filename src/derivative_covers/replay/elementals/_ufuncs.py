"""NumPy's arithmetic, comparisons and selections of symbols.

Each gives NumPy's own result, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi
from typing import Any

import numpy as np

from ._naming import is_bool, named, number, truth
from ._symbols import BOOL, TraceError, symbol

__all__ = [
    "absolute", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "equal",
    "greater", "greater_equal", "less", "less_equal", "multiply", "negation", "negative",
    "not_equal", "reciprocal", "subtract", "where",
]  # fmt: skip


# Arithmetic.


def _arithmetic(sign: str) -> Callable[[Any, Any], Any]:
    return lambda x, y: symbol(sign, number(x), number(y))


_of_numbers = {sign: _arithmetic(sign) for sign in "+-*/"}


@named("add")
def add(x: Any, y: Any) -> Any:
    if is_bool(x) and is_bool(y):
        return bitwise_or(x, y)
    return _of_numbers["+"](x, y)


@named("subtract")
def subtract(x: Any, y: Any) -> Any:
    if is_bool(x) and is_bool(y):
        msg = "NumPy does not subtract truth values."
        raise TraceError(msg)
    if isinstance(y, float) and y == 0.0:
        return number(x)
    return _of_numbers["-"](x, y)


@named("multiply")
def multiply(x: Any, y: Any) -> Any:
    if is_bool(x) and is_bool(y):
        return bitwise_and(x, y)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, float) and one == 1.0:
            return number(other)
        if isinstance(one, float) and one == -1.0:
            return negative(other)
    return _of_numbers["*"](x, y)


@named("divide", "true_divide")
def divide(x: Any, y: Any) -> Any:
    if isinstance(y, float) and y == 1.0:
        return number(x)
    return _of_numbers["/"](x, y)


@named("negative")
def negative(x: Any) -> Any:
    if is_bool(x):
        msg = "NumPy does not negate truth values; ~ inverts them."
        raise TraceError(msg)
    return x.args[0] if x.op == "neg" else symbol("neg", x)


@named("positive")
def positive(x: Any) -> Any:
    return number(x)


@named("absolute", "abs", "fabs")
def absolute(x: Any) -> Any:
    return symbol("abs", number(x))


@named("square")
def square(x: Any) -> Any:
    return multiply(number(x), number(x))


@named("reciprocal")
def reciprocal(x: Any) -> Any:
    return divide(1.0, number(x))


@named("deg2rad", "radians")
def deg2rad(x: Any) -> Any:
    return multiply(x, pi / 180.0)


@named("rad2deg", "degrees")
def rad2deg(x: Any) -> Any:
    return multiply(x, 180.0 / pi)


# Comparisons, truth values and selections.


def _comparison(name: str, sign: str) -> Callable[..., Any]:
    @named(name)
    def compare(x: Any, y: Any) -> Any:
        return symbol(sign, number(x), number(y), kind=BOOL)

    return compare


less = _comparison("less", "<")
less_equal = _comparison("less_equal", "<=")
greater = _comparison("greater", ">")
greater_equal = _comparison("greater_equal", ">=")
equal = _comparison("equal", "==")
not_equal = _comparison("not_equal", "!=")


def _both_bool(x: Any, y: Any) -> None:
    if not (is_bool(x) and is_bool(y)):
        msg = "bits of numbers cannot be compiled; compare first."
        raise TraceError(msg)


@named("bitwise_and")
def bitwise_and(x: Any, y: Any) -> Any:
    _both_bool(x, y)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, bool):
            return other if one else False
    return symbol("&", x, y, kind=BOOL)


@named("bitwise_or")
def bitwise_or(x: Any, y: Any) -> Any:
    _both_bool(x, y)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, bool):
            return True if one else other
    return symbol("|", x, y, kind=BOOL)


@named("bitwise_xor")
def bitwise_xor(x: Any, y: Any) -> Any:
    _both_bool(x, y)
    return symbol("^", x, y, kind=BOOL)


@named("invert", "bitwise_not", "bitwise_invert")
def invert(x: Any) -> Any:
    _both_bool(x, x)
    return negation(x)


def negation(x: Any) -> Any:
    """The opposite of a truth value, symbol or not."""
    if isinstance(x, (bool, np.bool_)):
        return not x
    return x.args[0] if x.op == "not" else symbol("not", x, kind=BOOL)


named("logical_not")(lambda x: negation(truth(x)))
named("logical_and")(lambda x, y: bitwise_and(truth(x), truth(y)))
named("logical_or")(lambda x, y: bitwise_or(truth(x), truth(y)))
named("logical_xor")(lambda x, y: bitwise_xor(truth(x), truth(y)))
named("isnan")(lambda x: not_equal(x, x))
named("isinf")(lambda x: equal(absolute(x), inf))
named("isfinite")(lambda x: less(absolute(x), inf))
named("signbit")(lambda x: less(symbol("copysign", 1.0, number(x)), 0.0))


@named("where")
def where(mask: Any, x: Any, y: Any) -> Any:
    mask = truth(mask)
    if isinstance(mask, bool):
        return number(x) if mask else number(y)
    if is_bool(x) and is_bool(y):
        return bitwise_or(bitwise_and(mask, x), bitwise_and(negation(mask), y))
    return symbol("where", mask, number(x), number(y))


@named("maximum")
def maximum(x: Any, y: Any) -> Any:
    return where(bitwise_or(greater(x, y), not_equal(x, x)), x, y)


@named("minimum")
def minimum(x: Any, y: Any) -> Any:
    return where(bitwise_or(less(x, y), not_equal(x, x)), x, y)


@named("fmax")
def fmax(x: Any, y: Any) -> Any:
    return where(bitwise_or(greater(x, y), not_equal(y, y)), x, y)


@named("fmin")
def fmin(x: Any, y: Any) -> Any:
    return where(bitwise_or(less(x, y), not_equal(y, y)), x, y)


named("clip")(lambda x, low, high: minimum(maximum(x, low), high))


@named("sign")
def sign(x: Any) -> Any:
    flat = where(equal(x, 0.0), 0.0, x)
    return where(greater(x, 0.0), 1.0, where(less(x, 0.0), -1.0, flat))


@named("heaviside")
def heaviside(x: Any, y: Any) -> Any:
    rest = where(equal(x, 0.0), y, x)
    return where(greater(x, 0.0), 1.0, where(less(x, 0.0), 0.0, rest))
