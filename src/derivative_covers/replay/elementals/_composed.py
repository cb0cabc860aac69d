"""NumPy's other functions of symbols.

Those that NumPy composes of a few operations are composed here likewise; the others are
calls of scalar functions (:mod:`._scalars`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, pi
from typing import Any

import numpy as np

from ._naming import FUNCTIONS, named, number
from ._symbols import Symbol, TraceError, dispatch, symbol
from ._ufuncs import (
    absolute,
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    divide,
    equal,
    greater,
    less,
    multiply,
    negative,
    not_equal,
    subtract,
    where,
)

__all__ = ["FUNCTIONS"]

_LN2 = log(2.0)
_LOG2E = 1.0 / _LN2
# Whether this NumPy takes roots for a power of one half, with their limits and signs.
with np.errstate(all="ignore"):
    _POWER_IS_ROOT = bool(np.isnan(np.power(np.array([-inf]), 0.5)[0]))


# Quotients with a remainder, as NumPy's npy_divmod has them.


def _divmod(x: Any, y: Any) -> tuple[Any, Any]:
    rest = symbol("fmod", x, y)
    whole = divide(subtract(x, rest), y)
    other_sign = bitwise_xor(less(y, 0.0), less(rest, 0.0))
    moved = bitwise_and(not_equal(rest, 0.0), other_sign)
    zero = symbol("copysign", 0.0, y)
    remainder = where(equal(rest, 0.0), zero, where(moved, add(rest, y), rest))
    whole = where(moved, subtract(whole, 1.0), whole)
    floor = symbol("floor", whole)
    floor = where(greater(subtract(whole, floor), 0.5), add(floor, 1.0), floor)
    signed = symbol("copysign", 0.0, divide(x, y))
    return where(equal(whole, 0.0), signed, floor), remainder


@named("remainder", "mod")
def remainder(x: Any, y: Any) -> Any:
    _, rest = _divmod(number(x), number(y))
    return where(equal(y, 0.0), symbol("fmod", number(x), number(y)), rest)


@named("floor_divide")
def floor_divide(x: Any, y: Any) -> Any:
    whole, _ = _divmod(number(x), number(y))
    return where(equal(y, 0.0), divide(x, y), whole)


# Powers, lengths and logarithms of sums.


@named("power", "float_power")
def power(x: Any, y: Any) -> Any:
    x, y = number(x), number(y)
    if isinstance(y, float):  # NumPy has loops of their own for these
        if y == 2.0:
            return multiply(x, x)
        if y == 1.0:
            return x
        if y == -1.0:
            return divide(1.0, x)
        if y == 0.5 and _POWER_IS_ROOT:
            return symbol("sqrt", x)
    return symbol("power", x, y)


def _pow(x: Any, y: Any) -> Any:
    """The operator ``**``, for which NumPy has its own ways with a few exponents."""
    if isinstance(y, (int, float)) and not isinstance(y, bool):
        if y == 0.5:
            return FUNCTIONS["sqrt"](x)
        if y == -1:
            return FUNCTIONS["reciprocal"](x)
    return FUNCTIONS["power"](x, y)


@named("hypot")
def hypot(x: Any, y: Any) -> Any:
    x, y = absolute(x), absolute(y)
    large, small = where(less(x, y), y, x), where(less(x, y), x, y)
    proper = bitwise_and(greater(large, 0.0), less(large, inf))
    t = divide(small, where(proper, large, 1.0))
    length = multiply(large, symbol("sqrt", add(1.0, multiply(t, t))))
    endless = bitwise_or(equal(x, inf), equal(y, inf))
    return where(endless, inf, where(proper, length, add(x, y)))


@named("logaddexp")
def logaddexp(x: Any, y: Any) -> Any:
    gap = subtract(x, y)
    rest = symbol("log1p", symbol("exp", negative(absolute(gap))))
    larger = where(greater(gap, 0.0), x, y)
    unequal = where(not_equal(gap, gap), gap, add(larger, rest))
    return where(equal(x, y), add(x, _LN2), unequal)


@named("logaddexp2")
def logaddexp2(x: Any, y: Any) -> Any:
    gap = subtract(x, y)
    rest = symbol("log1p", symbol("exp2", negative(absolute(gap))))
    larger = where(greater(gap, 0.0), x, y)
    unequal = where(not_equal(gap, gap), gap, add(larger, multiply(_LOG2E, rest)))
    return where(equal(x, y), add(x, 1.0), unequal)


@named("sinc")
def sinc(x: Any) -> Any:
    y = multiply(pi, x)
    return where(equal(y, 0.0), 1.0, divide(symbol("sin", y), y))


# Scalar functions, and what depends on the type alone.


def _call(name: str, *aliases: str) -> None:
    named(name, *aliases)(lambda *args: symbol(name, *(number(x) for x in args)))


for _name in (
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "rint",
    "fmod", "copysign",
):  # fmt: skip
    _call(_name)
for _name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
    _call(f"arc{_name}", f"a{_name}")
_call("arctan2", "atan2")


def _filled(value: Callable[..., Any]) -> Callable[..., Any]:
    def fill(like: Any, *rest: Any, dtype: Any = None) -> Any:
        kind = np.dtype(dtype if dtype is not None else like.dtype)
        if kind not in {np.dtype(np.float64), np.dtype(np.bool_)}:
            msg = f"constants of type {kind} cannot be compiled."
            raise TraceError(msg)
        return kind.type(value(*rest)).item()

    return fill


FUNCTIONS["ones_like"] = _filled(lambda: 1)
FUNCTIONS["zeros_like"] = _filled(lambda: 0)
FUNCTIONS["full_like"] = _filled(lambda value: value)
FUNCTIONS["ndim"] = lambda x: 1 if isinstance(x, Symbol) else np.ndim(x)
FUNCTIONS["pow"] = _pow
for _name in ("asarray", "asanyarray"):
    FUNCTIONS[_name] = lambda x: x if isinstance(x, Symbol) else np.float64(x)
dispatch.update(FUNCTIONS)
