"""The functions of ``scipy.special`` that have a compiled counterpart.

They follow SciPy's formulas. A function is here only where these, with the scalar
functions of the platform, give SciPy's numbers to a few units in the last place.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

from . import _ufuncs as xp
from ._symbols import symbol

__all__ = [
    "entr", "erf", "exp10", "expit", "exprel", "huber", "kl_div", "log_expit",
    "pseudo_huber", "rel_entr", "xlog1py", "xlogy",
]  # fmt: skip


def _log(x: Any) -> Any:
    return symbol("log", x)


def erf(x: Any) -> Any:
    return symbol("erf", x)


def exp10(x: Any) -> Any:
    return symbol("power", 10.0, x)


def expit(x: Any) -> Any:
    return 1.0 / (1.0 + symbol("exp", -x))


def log_expit(x: Any) -> Any:
    e = symbol("log1p", symbol("exp", -abs(x)))
    return xp.where(x < 0.0, x - e, -e)


def exprel(x: Any) -> Any:
    near = abs(x) < 1e-16
    quotient = symbol("expm1", x) / xp.where(near, 1.0, x)
    return xp.where(near, 1.0, xp.where(x > 717.0, inf, quotient))


def entr(x: Any) -> Any:
    rest = xp.where(x == 0.0, 0.0, xp.where(x == x, -inf, x))
    return xp.where(x > 0.0, -x * _log(x), rest)


def _product(x: Any, y: Any, log: Any) -> Any:
    zero = xp.bitwise_and(xp.equal(x, 0.0), xp.equal(y, y))
    return xp.where(zero, 0.0, xp.multiply(x, log))


def xlogy(x: Any, y: Any) -> Any:
    return _product(x, y, symbol("log", y))


def xlog1py(x: Any, y: Any) -> Any:
    return _product(x, y, symbol("log1p", y))


def _divergence(x: Any, y: Any, inside: Any, on_edge: Any) -> Any:
    """The value for two positive numbers, for a first one of zero, and elsewhere."""
    both = xp.bitwise_and(xp.greater(x, 0.0), xp.greater(y, 0.0))
    edge = xp.bitwise_and(xp.equal(x, 0.0), xp.greater_equal(y, 0.0))
    proper = xp.bitwise_and(xp.equal(x, x), xp.equal(y, y))
    outside = xp.where(proper, xp.where(edge, on_edge, inf), nan)
    return xp.where(both, inside, outside)


def rel_entr(x: Any, y: Any) -> Any:
    ratio = xp.divide(x, y)
    close = xp.bitwise_and(ratio > 0.5, ratio < 2.0)
    ordinary = xp.bitwise_and(ratio > 2.0**-1022, ratio < inf)
    apart = xp.subtract(symbol("log", x), symbol("log", y))
    log = xp.where(ordinary, _log(ratio), apart)
    near = symbol("log1p", xp.divide(xp.subtract(x, y), y))
    return _divergence(x, y, xp.multiply(x, xp.where(close, near, log)), 0.0)


def kl_div(x: Any, y: Any) -> Any:
    product = xp.multiply(x, _log(xp.divide(x, y)))
    return _divergence(x, y, xp.add(xp.subtract(product, x), y), y)


def huber(delta: Any, r: Any) -> Any:
    size = xp.absolute(r)
    far = xp.multiply(delta, xp.subtract(size, xp.multiply(0.5, delta)))
    near = xp.multiply(xp.multiply(0.5, r), r)
    inside = xp.where(xp.less_equal(size, delta), near, far)
    return xp.where(xp.less(delta, 0.0), inf, inside)


def pseudo_huber(delta: Any, r: Any) -> Any:
    v = xp.divide(r, delta)
    log = symbol("log1p", xp.multiply(v, v))
    value = xp.multiply(xp.multiply(delta, delta), symbol("expm1", 0.5 * log))
    zero = xp.bitwise_or(xp.equal(delta, 0.0), xp.equal(r, 0.0))
    return xp.where(xp.less(delta, 0.0), inf, xp.where(zero, 0.0, value))
