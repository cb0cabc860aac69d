"""Sums, products and quotients, and the scaled quotients that other rules share."""

from __future__ import annotations

from math import inf, pi
from typing import Any

from ._spec import Elemental, Rule

__all__ = ["ELEMENTALS", "larger_first", "quotients"]

CALCULUS = "elementary calculus"


def quotients(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, Any]:
    """``x / y**2`` and ``x / y**3``, given ``v = x / y``.

    Dividing ``v`` again is exact enough unless ``v`` is subnormal, where the powers of
    ``1 / y`` serve; where those overflow, ``v`` is normal. Nothing else decides, so that
    the bits do not depend on the units of normal numbers.
    """
    r = 1.0 / y
    s = r * r
    t = s * r
    size = xp.abs(v)
    powers = (size > 0.0) & (size < xp.finfo(v.dtype).tiny) & (xp.abs(t) < inf)
    return xp.where(powers, x * s, v / y), xp.where(powers, x * t, v / y / y)


def larger_first(xp: Any, x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """Order operands by magnitude: ``(swapped, large, small, small / large)``.

    The quotient is zero, not undefined, where both operands are infinite.
    """
    swapped = xp.abs(x) < xp.abs(y)
    large = xp.where(swapped, y, x)
    small = xp.where(swapped, x, y)
    return swapped, large, small, xp.where(xp.abs(large) < inf, small / large, 0.0)


def _multiply(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    return y, x, 0.0, 1.0, 0.0


def _divide(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    by_square, by_cube = quotients(xp, x, y, v)
    r = 1.0 / y
    return r, -by_square, 0.0, -r * r, 2.0 * by_cube


def _nonzero_divisor(xp: Any, x: Any, y: Any) -> Any:
    return xp.abs(y) > 0.0


ELEMENTALS = (
    Elemental(
        "copy",
        1,
        lambda xp, x: xp.positive(x),
        Rule(lambda xp, x, v: (1.0, 0.0), holomorphic=True),
        CALCULUS,
    ),
    Elemental(
        "tie",
        1,
        lambda xp, x: xp.positive(x),
        Rule(
            lambda xp, x, v: (1.0, 0.0),
            kink=lambda xp, x: xp.ones_like(x, dtype=bool),
        ),
        "marks a value taken where a selection met a tie",
    ),
    Elemental(
        "detach",
        1,
        lambda xp, x: xp.positive(x),
        Rule(lambda xp, x, v: (0.0, 0.0), holomorphic=True),
        "marks a value through which no derivative is to flow",
    ),
    Elemental(
        "add",
        2,
        lambda xp, x, y: xp.add(x, y),
        Rule(lambda xp, x, y, v: (1.0, 1.0, 0.0, 0.0, 0.0), holomorphic=True),
        CALCULUS,
        ("add",),
    ),
    Elemental(
        "subtract",
        2,
        lambda xp, x, y: xp.subtract(x, y),
        Rule(lambda xp, x, y, v: (1.0, -1.0, 0.0, 0.0, 0.0), holomorphic=True),
        CALCULUS,
        ("subtract",),
    ),
    Elemental(
        "multiply",
        2,
        lambda xp, x, y: xp.multiply(x, y),
        Rule(_multiply, holomorphic=True),
        CALCULUS,
        ("multiply",),
    ),
    Elemental(
        "divide",
        2,
        lambda xp, x, y: xp.divide(x, y),
        Rule(_divide, _nonzero_divisor, holomorphic=True),
        CALCULUS,
        ("divide",),
        first=Rule(
            lambda xp, x, y, v: (1.0 / y, 0.0), _nonzero_divisor, holomorphic=True
        ),
    ),
    Elemental(
        "negative",
        1,
        lambda xp, x: xp.negative(x),
        Rule(lambda xp, x, v: (-1.0, 0.0), holomorphic=True),
        CALCULUS,
        ("negative",),
    ),
    Elemental(
        "positive",
        1,
        lambda xp, x: xp.positive(x),
        Rule(lambda xp, x, v: (1.0, 0.0), holomorphic=True),
        CALCULUS,
        ("positive",),
    ),
    Elemental(
        "deg2rad",
        1,
        lambda xp, x: xp.deg2rad(x),
        Rule(lambda xp, x, v: (pi / 180.0, 0.0)),
        "definition of the degree",
        ("deg2rad", "radians"),
    ),
    Elemental(
        "rad2deg",
        1,
        lambda xp, x: xp.rad2deg(x),
        Rule(lambda xp, x, v: (180.0 / pi, 0.0)),
        "definition of the degree",
        ("rad2deg", "degrees"),
    ),
)
