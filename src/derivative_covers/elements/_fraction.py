"""Rational numbers of unlimited size: exact, without roots."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from derivative_covers.elements._contract import (
    boundtype,
    converted,
    decided_one,
    decided_sign,
    decided_zero,
    magnitude,
    magtype,
    namespace,
    separation,
)
from derivative_covers.elements._upward import Upward

__all__: list[str] = []


@magnitude.register(Fraction)
def _magnitude(x: Any) -> Any:
    return abs(x)


@magtype.register(Fraction)
def _magtype(T: Any) -> type[Any]:
    return Fraction


@boundtype.register(Fraction)
def _boundtype(T: Any) -> type[Any]:
    return Upward


@decided_sign.register(Fraction)
def _decided_sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


@decided_one.register(Fraction)
def _decided_one(c: Any) -> bool:
    return bool(c == 1)


@decided_zero.register(Fraction)
def _decided_zero(c: Any) -> bool:
    return bool(c == 0)


@separation.register(Fraction)
def _separation(x: Any, y: Any) -> Any:
    return abs(Fraction(x) - Fraction(y))


@converted.register(Fraction)
def _converted(T: Any, x: Any) -> Any:
    return Fraction(x)


@namespace.register(Fraction)
def _namespace(T: Any) -> Mapping[str, Any]:
    return {}  # of roots and transcendental functions there are none
