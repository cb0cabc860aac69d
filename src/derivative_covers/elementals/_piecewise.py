"""Piecewise linear and piecewise constant functions."""

from __future__ import annotations

from math import inf
from typing import Any

from ._arithmetic import CALCULUS
from ._spec import Elemental, Rule

__all__ = ["ELEMENTALS"]


def _indicator(xp: Any, mask: Any, like: Any) -> Any:
    """One where the mask is true, else zero, in the type of ``like``."""
    return xp.where(mask, xp.ones_like(like), 0.0)


def _flat(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return 0.0, 0.0


def _at_zero(xp: Any, x: Any, *rest: Any) -> Any:
    return x == 0.0


def _equal(xp: Any, x: Any, y: Any) -> Any:
    return x == y


def _at_half_integer(xp: Any, x: Any) -> Any:
    # The fraction of |x| is exact; that of x is not just above -1/2.
    size = xp.abs(x)
    return size - xp.floor(size) == 0.5


def _at_nonzero_integer(xp: Any, x: Any) -> Any:
    return (x == xp.trunc(x)) & (x != 0.0)


def _maximum(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d = _indicator(xp, (x >= y) | (x != x), x)
    return d, 1.0 - d, 0.0, 0.0, 0.0


def _minimum(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d = _indicator(xp, (x <= y) | (x != x), x)
    return d, 1.0 - d, 0.0, 0.0, 0.0


def _fmax(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d = _indicator(xp, (x >= y) | (y != y), x)
    return d, 1.0 - d, 0.0, 0.0, 0.0


def _fmin(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d = _indicator(xp, (x <= y) | (y != y), x)
    return d, 1.0 - d, 0.0, 0.0, 0.0


def _mod(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    return 1.0, -xp.floor_divide(x, y), 0.0, 0.0, 0.0


def _fmod(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    # x - v is a whole multiple of y; x / y may round up to the next one.
    return 1.0, -xp.rint((x - v) / y), 0.0, 0.0, 0.0


def _divisible(xp: Any, x: Any, y: Any) -> Any:
    return xp.fmod(x, y) == 0.0


def _divisible_and_nonzero(xp: Any, x: Any, y: Any) -> Any:
    return (xp.fmod(x, y) == 0.0) & (x != 0.0)


def _quotient_exists(xp: Any, x: Any, y: Any) -> Any:
    return (xp.abs(y) > 0.0) & (xp.abs(x) < inf)


def _heaviside(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    return 0.0, _indicator(xp, x == 0.0, x), 0.0, 0.0, 0.0


def _copysign(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    return xp.sign(x) * xp.copysign(1.0, y), 0.0, 0.0, 0.0, 0.0


ELEMENTALS = (
    Elemental(
        "absolute",
        1,
        lambda xp, x: xp.absolute(x),
        Rule(lambda xp, x, v: (xp.sign(x), 0.0), kink=_at_zero),
        CALCULUS,
        ("absolute", "fabs"),
    ),
    Elemental(
        "sign",
        1,
        lambda xp, x: xp.sign(x),
        Rule(_flat, kink=_at_zero),
        CALCULUS,
        ("sign",),
    ),
    Elemental(
        "floor",
        1,
        lambda xp, x: xp.floor(x),
        Rule(_flat, kink=lambda xp, x: x == xp.floor(x)),
        CALCULUS,
        ("floor",),
    ),
    Elemental(
        "ceil",
        1,
        lambda xp, x: xp.ceil(x),
        Rule(_flat, kink=lambda xp, x: x == xp.ceil(x)),
        CALCULUS,
        ("ceil",),
    ),
    Elemental(
        "trunc",
        1,
        lambda xp, x: xp.trunc(x),
        Rule(_flat, kink=_at_nonzero_integer),
        CALCULUS,
        ("trunc",),
    ),
    Elemental(
        "rint",
        1,
        lambda xp, x: xp.rint(x),
        Rule(_flat, kink=_at_half_integer),
        CALCULUS,
        ("rint",),
    ),
    Elemental(
        "mod",
        2,
        lambda xp, x, y: xp.remainder(x, y),
        Rule(_mod, _quotient_exists, _divisible),
        "x - y floor(x / y) and elementary calculus",
        ("remainder",),
    ),
    Elemental(
        "fmod",
        2,
        lambda xp, x, y: xp.fmod(x, y),
        Rule(_fmod, _quotient_exists, _divisible_and_nonzero),
        "x - y trunc(x / y) and elementary calculus",
        ("fmod",),
    ),
    Elemental(
        "maximum",
        2,
        lambda xp, x, y: xp.maximum(x, y),
        Rule(_maximum, kink=_equal),
        CALCULUS,
        ("maximum",),
    ),
    Elemental(
        "minimum",
        2,
        lambda xp, x, y: xp.minimum(x, y),
        Rule(_minimum, kink=_equal),
        CALCULUS,
        ("minimum",),
    ),
    Elemental(
        "fmax",
        2,
        lambda xp, x, y: xp.fmax(x, y),
        Rule(_fmax, kink=_equal),
        CALCULUS,
        ("fmax",),
    ),
    Elemental(
        "fmin",
        2,
        lambda xp, x, y: xp.fmin(x, y),
        Rule(_fmin, kink=_equal),
        CALCULUS,
        ("fmin",),
    ),
    Elemental(
        "heaviside",
        2,
        lambda xp, x, y: xp.heaviside(x, y),
        Rule(_heaviside, kink=_at_zero),
        CALCULUS,
        ("heaviside",),
        first=Rule(lambda xp, x, y, v: (0.0, 0.0), kink=_at_zero),
        second=Rule(lambda xp, x, y, v: (_indicator(xp, x == 0.0, y), 0.0)),
    ),
    Elemental(
        "copysign",
        2,
        lambda xp, x, y: xp.copysign(x, y),
        Rule(_copysign, kink=lambda xp, x, y: (x == 0.0) | (y == 0.0)),
        "|x| sign(y) and elementary calculus",
        ("copysign",),
        first=Rule(
            lambda xp, x, y, v: (xp.sign(x) * xp.copysign(1.0, y), 0.0), kink=_at_zero
        ),
        second=Rule(
            lambda xp, x, y, v: (0.0, 0.0),
            kink=lambda xp, x, y: (y == 0.0) & (x != 0.0),
        ),
    ),
)
