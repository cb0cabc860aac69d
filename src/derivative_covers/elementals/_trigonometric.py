"""Circular functions, their inverses, and sinc."""

from __future__ import annotations

from math import factorial, inf, pi
from typing import Any

from ._arithmetic import larger_first, quotients
from ._cuts import off_imaginary, off_outer_reals
from ._spec import Elemental, Rule

__all__ = ["ELEMENTALS", "bell", "squared_secant"]


def bell(xp: Any, x: Any) -> tuple[Any, Any]:
    """``1 / (1 + x**2)`` and ``x / (1 + x**2)`` for any ``x``.

    The second is the same at ``x`` and at ``1 / x``, so no square overflows.
    """
    large = xp.abs(x) > 1.0
    r = xp.where(large, 1.0 / x, x)
    q = 1.0 / (1.0 + r * r)
    t = r * q
    return xp.where(large, r * t, q), t


def _tan(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1.0 + v * v
    return d, 2.0 * v * d


def squared_secant(xp: Any, z: Any, cosh: Any) -> Any:
    """``1 / cosh(z)**2`` of a complex ``z``, given the cosine near the imaginary axis.

    Away from it ``cosh`` would overflow, and ``1 - tanh(z)**2`` would cancel.
    """
    right = xp.real(z) >= 0.0
    e = xp.exp(xp.where(right, -2.0 * z, 2.0 * z))
    near = xp.abs(xp.real(z)) < 1.0
    root = xp.where(near, 1.0 / cosh, 2.0 / (1.0 + e))
    return xp.where(near, root, e * root) * root


def _complex_tan(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = squared_secant(xp, 1j * x, xp.cos(x))
    return d, 2.0 * v * d


def _complex_arcsin(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1.0 / (xp.sqrt(1.0 - x) * xp.sqrt(1.0 + x))
    return d, (x * d) * (d * d)


def _complex_arccos(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d, c = _complex_arcsin(xp, x, v)
    return -d, -c


def _complex_arctan(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    u = 1j * x
    d = (1.0 / (1.0 - u)) / (1.0 + u)
    return d, -2.0 * (x * d) * d


def _arcsin(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    gap = (1.0 - x) * (1.0 + x)
    d = 1.0 / xp.sqrt(gap)
    return d, x * d / gap


def _arccos(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d, c = _arcsin(xp, x, v)
    return -d, -c


def _arctan(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d, t = bell(xp, x)
    return d, -2.0 * (t * d)


def _arctan2(xp: Any, y: Any, x: Any, v: Any) -> tuple[Any, ...]:
    swapped, large, small, t = larger_first(xp, y, x)
    small_by_square, small_by_cube = quotients(xp, small, large, t)
    g = 1.0 / (1.0 + t * t)
    size = xp.abs(large)
    # large**2 - small**2 from the difference of the operands, which does not cancel.
    gap = xp.where(size < inf, (size - xp.abs(small)) / size, 0.0) * (1.0 + xp.abs(t))
    plain = xp.abs(t) > 1e-15
    by_large = g / large
    by_small = xp.where(plain, g * t / large, g * small_by_square)
    c = 2.0 * g * xp.where(plain, g * t / large / large, g * small_by_cube)
    mixed = gap * g / large * g / large
    return (
        xp.where(swapped, by_large, by_small),
        -xp.where(swapped, by_small, by_large),
        -c,
        xp.where(swapped, -mixed, mixed),
        c,
    )


def _arctan2_second(xp: Any, y: Any, x: Any, v: Any) -> tuple[Any, Any]:
    _, d, _, _, c = _arctan2(xp, y, x, v)
    return d, c


def _not_origin(xp: Any, y: Any, x: Any) -> Any:
    return xp.maximum(xp.abs(y), xp.abs(x)) > 0.0


# Taylor coefficients in (pi x)**2 of sinc'(x) / (pi**2 x) and sinc''(x) / pi**2.
_TERMS = range(1, 14)
_SLOPE = tuple((-1.0) ** k * 2 * k / factorial(2 * k + 1) for k in _TERMS)
_BEND = tuple((2 * k - 1) * a for k, a in zip(_TERMS, _SLOPE, strict=True))


def _series(z: Any, coefficients: tuple[float, ...]) -> Any:
    total = z * 0.0 + coefficients[-1]
    for a in reversed(coefficients[:-1]):
        total = total * z + a
    return total


def _sinc(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    near = xp.abs(x) < 0.5
    z = xp.where(near, x, 0.0) * pi
    z = z * z
    # pi x is reduced before it is rounded, and the cosine taken from its nearest zero.
    n = xp.rint(x)
    r = xp.where(xp.abs(x) < inf, x - n, 0.0)
    half = 0.5 * n
    sign = xp.where(half == xp.floor(half), xp.ones_like(x), -1.0)
    size = xp.abs(r)
    sine = sign * xp.sin(pi * r)
    cosine = sign * xp.where(size > 0.25, xp.sin(pi * (0.5 - size)), xp.cos(pi * r))
    far = xp.where(near, 1.0, x)
    d = (cosine - sine / (pi * far)) / far
    c = -(pi * sine + 2.0 * d) / far
    return (
        xp.where(near, pi * pi * x * _series(z, _SLOPE), d),
        xp.where(near, pi * pi * _series(z, _BEND), c),
    )


def _complex_sinc(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    near = xp.abs(x) < 0.5
    z = xp.where(near, x, 0.0) * pi
    z = z * z
    far = xp.where(near, 1.0, x)
    d = (xp.cos(pi * far) - v) / far
    c = -(pi * pi * v + 2.0 * d / far)
    return (
        xp.where(near, pi * pi * x * _series(z, _SLOPE), d),
        xp.where(near, pi * pi * _series(z, _BEND), c),
    )


def _finite(xp: Any, x: Any) -> Any:
    return xp.abs(x) < inf


def _inside_unit(xp: Any, x: Any) -> Any:
    return xp.abs(x) < 1.0


ELEMENTALS = (
    Elemental(
        "sin",
        1,
        lambda xp, x: xp.sin(x),
        Rule(lambda xp, x, v: (xp.cos(x), -v), _finite, holomorphic=True),
        "DLMF 4.20",
        ("sin",),
    ),
    Elemental(
        "cos",
        1,
        lambda xp, x: xp.cos(x),
        Rule(lambda xp, x, v: (-xp.sin(x), -v), _finite, holomorphic=True),
        "DLMF 4.20",
        ("cos",),
    ),
    Elemental(
        "tan",
        1,
        lambda xp, x: xp.tan(x),
        Rule(_tan, _finite, holomorphic=Rule(_complex_tan, _finite)),
        "DLMF 4.20",
        ("tan",),
    ),
    Elemental(
        "arcsin",
        1,
        lambda xp, x: xp.arcsin(x),
        Rule(
            _arcsin,
            _inside_unit,
            holomorphic=Rule(_complex_arcsin, off_outer_reals),
        ),
        "DLMF 4.24(ii)",
        ("arcsin",),
    ),
    Elemental(
        "arccos",
        1,
        lambda xp, x: xp.arccos(x),
        Rule(
            _arccos,
            _inside_unit,
            holomorphic=Rule(_complex_arccos, off_outer_reals),
        ),
        "DLMF 4.24(ii)",
        ("arccos",),
    ),
    Elemental(
        "arctan",
        1,
        lambda xp, x: xp.arctan(x),
        Rule(_arctan, holomorphic=Rule(_complex_arctan, off_imaginary)),
        "DLMF 4.24(ii)",
        ("arctan",),
    ),
    Elemental(
        "arctan2",
        2,
        lambda xp, y, x: xp.arctan2(y, x),
        Rule(_arctan2, _not_origin, lambda xp, y, x: (y == 0.0) & (x < 0.0)),
        "DLMF 4.24(ii) and the chain rule",
        ("arctan2",),
        # Along the cut the angle is constant: only y jumps across it.
        second=Rule(_arctan2_second, _not_origin),
    ),
    Elemental(
        "sinc",
        1,
        lambda xp, x: xp.sinc(x),
        Rule(_sinc, _finite, holomorphic=Rule(_complex_sinc, _finite)),
        "quotient rule; Taylor series of the sine, DLMF 4.19.1",
    ),
)
