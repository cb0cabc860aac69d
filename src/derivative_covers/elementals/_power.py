"""Powers, roots and the length of a pair."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ._arithmetic import CALCULUS, larger_first, quotients
from ._cuts import off_negative
from ._spec import Elemental, Rule

__all__ = ["ELEMENTALS"]


def _square(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return 2.0 * x, 2.0


def _reciprocal(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    square = v * v
    return -square, 2.0 * (square * v)


def _sqrt(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 0.5 / v
    return d, (-0.5 * d) / x


def _norm(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d, c = _sqrt(xp, x, v)
    return xp.where(v == 0.0, 0.0, d), xp.where(v == 0.0, 0.0, c)


def _cbrt(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = (1.0 / 3.0) / (v * v)
    return d, (d * (-2.0 / 3.0)) / x


def _hypot(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    swapped, large, small, t = larger_first(xp, x, y)
    origin = large == 0.0  # a kink, where all partials are taken as 0
    t = xp.where(origin, 0.0, t)
    small_by_square, _ = quotients(xp, small, xp.where(origin, 1.0, large), t)
    g = 1.0 / (1.0 + t * t)
    root = xp.sqrt(g)
    cube = g * root
    sign, size = xp.sign(large), xp.where(origin, inf, xp.abs(large))
    d_large, d_small = sign * root, sign * t * root
    # The quotient t carries full precision, and its square too, unless it is minute.
    plain = xp.abs(t) > 1e-15
    mixed = xp.where(plain, cube * t / size, cube * sign * small_by_square)
    c_large = xp.where(plain, cube * t * t / size, t * mixed)
    c_small = cube / size
    return (
        xp.where(swapped, d_small, d_large),
        xp.where(swapped, d_large, d_small),
        xp.where(swapped, c_small, c_large),
        -mixed,
        xp.where(swapped, c_large, c_small),
    )


def _half_power(xp: Any, x: Any, y: Any) -> Any:
    """Root of ``|x|**(y - 1)``, far from overflow and underflow where its square is not."""
    return xp.power(xp.abs(x), 0.5 * y - 0.5)


def _fourth(x: Any) -> tuple[Any, Any]:
    square = x * x
    return 4.0 * (square * x), 12.0 * square


# By products alone: fast, and exact under a scaling by powers of two.
_CUBES: dict[float, Callable[[Any], tuple[Any, Any]]] = {
    2.0: lambda x: (2.0 * x, 2.0),
    3.0: lambda x: (3.0 * (x * x), 6.0 * x),
    4.0: _fourth,
}


def _power_first(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, Any]:
    """``y x**(y-1)`` and ``y (y-1) x**(y-2)``; limits included at 0 and infinity.

    Products with the power itself, unless it can leave the range where they do not:
    there, with its root twice.
    """
    if xp.ndim(y) == 0 and y in _CUBES:
        return _CUBES[y](x)
    w, u = xp.power(x, y - 1.0), xp.power(x, y - 2.0)
    size = xp.abs(x)
    # The factors y and y (y - 1) neither restore what overflowed nor magnify what
    # underflowed, or there is nothing to lose.
    plain = (xp.abs(y - 0.5) >= 1.5) & (xp.abs(y) <= 30.0)
    plain = plain | (size == 0.0) | (size == inf)
    half = _half_power(xp, x, y)
    signed = xp.copysign(half, v)
    d = xp.where(plain | _moderate(xp, w), y * w, (y * xp.copysign(half, x)) * signed)
    c = xp.where(
        plain | _moderate(xp, u),
        y * (y - 1.0) * u,
        (y * half / size) * ((y - 1.0) * signed),
    )
    constant, linear = y == 0.0, y == 1.0
    return xp.where(constant, 0.0, d), xp.where(constant | linear, 0.0, c)


def _moderate(xp: Any, x: Any) -> Any:
    """True well inside the range of every floating-point type."""
    return (xp.abs(x) > 1e-30) & (xp.abs(x) < 1e30)


def _power_second(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, Any]:
    """``v log(x)`` and ``v log(x)**2``; ``v`` itself where the base is 0 or infinite."""
    proper = (x > 0.0) & (x < inf)
    root = xp.power(x, 0.5 * y)
    slope = root * xp.log(xp.where(proper, x, 1.0))
    return xp.where(proper, slope * root, v), xp.where(proper, slope * slope, v)


def _power(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d1, c11 = _power_first(xp, x, y, v)
    d2, c22 = _power_second(xp, x, y, v)
    half = _half_power(xp, x, y)
    proper = (x > 0.0) & (x < inf)
    growth = 1.0 + y * xp.log(xp.where(proper, x, 1.0))
    return d1, d2, c11, xp.where(proper, (half * growth) * half, v / x), c22


def _power_domain_first(xp: Any, x: Any, y: Any) -> Any:
    """Where a power of constant exponent is C², at 0 from the right if fractional."""
    finite = xp.abs(y) < inf
    smooth_at_zero = (y == 0.0) | (y == 1.0) | (y >= 2.0)
    return finite & (
        (x > 0.0) | ((x < 0.0) & (y == xp.floor(y))) | ((x == 0.0) & smooth_at_zero)
    )


def _power_domain_second(xp: Any, x: Any, y: Any) -> Any:
    return (x > 0.0) | ((x == 0.0) & (y > 0.0))


def _complex_first(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, Any]:
    if xp.ndim(y) == 0 and y in _CUBES:
        return _CUBES[y](x)
    constant, linear = y == 0.0, y == 1.0
    d = xp.where(linear, 1.0, y * xp.power(x, y - 1.0))
    c = (y * (y - 1.0)) * xp.power(x, y - 2.0)
    return xp.where(constant, 0.0, d), xp.where(constant | linear, 0.0, c)


def _complex_second(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, Any]:
    log = xp.log(xp.where(x == 0.0, xp.ones_like(x), x))
    d = v * log
    return d, d * log


def _complex_power(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d1, c11 = _complex_first(xp, x, y, v)
    d2, c22 = _complex_second(xp, x, y, v)
    mixed = xp.power(x, y - 1.0) * (1.0 + y * xp.log(x))
    return d1, d2, c11, mixed, c22


def _complex_domain_first(xp: Any, x: Any, y: Any) -> Any:
    whole = (xp.imag(y) == 0.0) & (xp.real(y) == xp.floor(xp.real(y)))
    finite = xp.abs(y) < inf
    polynomial = whole & (xp.real(y) >= 0.0)
    return finite & (
        off_negative(xp, x) | (whole & (xp.abs(x) > 0.0)) | (polynomial & (x == 0.0))
    )


def _complex_domain_second(xp: Any, x: Any, y: Any) -> Any:
    return (xp.abs(x) > 0.0) | ((x == 0.0) & (xp.real(y) > 0.0))


_POWER = Rule(
    _power,
    lambda xp, x, y: x > 0.0,
    holomorphic=Rule(_complex_power, lambda xp, x, y: off_negative(xp, x) & (y == y)),
)
_POWER_FIRST = Rule(
    _power_first,
    _power_domain_first,
    holomorphic=Rule(_complex_first, _complex_domain_first),
)
_POWER_SECOND = Rule(
    _power_second,
    _power_domain_second,
    holomorphic=Rule(_complex_second, _complex_domain_second),
)

ELEMENTALS = (
    Elemental(
        "power",
        2,
        lambda xp, x, y: xp.power(x, y),
        _POWER,
        "DLMF 4.7(ii)",
        ("power",),
        _POWER_FIRST,
        _POWER_SECOND,
    ),
    Elemental(
        "float_power",
        2,
        lambda xp, x, y: xp.float_power(x, y),
        _POWER,
        "DLMF 4.7(ii)",
        ("float_power",),
        _POWER_FIRST,
        _POWER_SECOND,
    ),
    Elemental(
        "square",
        1,
        lambda xp, x: xp.square(x),
        Rule(_square, holomorphic=True),
        CALCULUS,
        ("square",),
    ),
    Elemental(
        "reciprocal",
        1,
        lambda xp, x: xp.reciprocal(x),
        Rule(_reciprocal, lambda xp, x: xp.abs(x) > 0.0, holomorphic=True),
        CALCULUS,
        ("reciprocal",),
    ),
    Elemental(
        "sqrt",
        1,
        lambda xp, x: xp.sqrt(x),
        Rule(_sqrt, lambda xp, x: x > 0.0, holomorphic=Rule(_sqrt, off_negative)),
        CALCULUS,
        ("sqrt",),
    ),
    Elemental(
        "norm",
        1,
        lambda xp, x: xp.sqrt(x),
        Rule(_norm, lambda xp, x: x >= 0.0, lambda xp, x: x == 0.0),
        "the root of a sum of squares, whose derivatives are taken as 0 at 0",
    ),
    Elemental(
        "cbrt",
        1,
        lambda xp, x: xp.cbrt(x),
        Rule(_cbrt, lambda xp, x: xp.abs(x) > 0.0),
        CALCULUS,
        ("cbrt", "special.cbrt"),
    ),
    Elemental(
        "hypot",
        2,
        lambda xp, x, y: xp.hypot(x, y),
        Rule(
            _hypot,
            lambda xp, x, y: xp.maximum(xp.abs(x), xp.abs(y)) >= 0.0,
            lambda xp, x, y: (x == 0.0) & (y == 0.0),
        ),
        CALCULUS,
        ("hypot",),
    ),
)
