"""Balls of python-flint: sets of real numbers, with operations that contain the exact result.

Imported when the first one is met.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from derivative_covers.elements._contract import (
    boundtype,
    converted,
    decided_one,
    decided_sign,
    decided_zero,
    is_defined,
    magnitude,
    magtype,
    namespace,
    separation,
)
from derivative_covers.elements._upward import Upward

__all__: list[str] = []

_flint: Any = import_module("flint")
arb: Any = _flint.arb
_SAME = [
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "expm1",
    "log1p",
    "erf",
    "erfc",
]
_INVERSE = ["asin", "acos", "atan", "asinh", "acosh", "atanh"]


@magnitude.register(arb)
def _magnitude(x: Any) -> np.float64:
    return _upper(x.abs_upper())


def _upper(x: Any) -> np.float64:
    """At least all of a ball."""
    found = np.float64(float(x.upper()))
    while np.isfinite(found) and not arb(float(found)) >= x:
        found = np.nextafter(found, np.inf)
    return np.float64(np.inf) if np.isnan(found) else found


@magtype.register(arb)
def _magtype(T: Any) -> type[Any]:
    return np.float64


@boundtype.register(arb)
def _boundtype(T: Any) -> type[Any]:
    return Upward


@decided_sign.register(arb)
def _decided_sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


@decided_one.register(arb)
def _decided_one(c: Any) -> bool:
    return bool(c == 1)


@decided_zero.register(arb)
def _decided_zero(c: Any) -> bool:
    return bool(c.is_zero())


@separation.register(arb)
def _separation(x: Any, y: Any) -> Any:
    gap = float((x - y).abs_lower())
    return float(np.nextafter(gap, 0.0)) if gap > 0 else 0.0


@is_defined.register(arb)
def _is_defined(x: Any) -> bool:
    return bool(x.is_finite())


@converted.register(arb)
def _converted(T: Any, x: Any) -> Any:
    if isinstance(x, Fraction):
        return arb(_flint.fmpq(x.numerator, x.denominator))
    return arb(x if isinstance(x, int) else float(x))


def _integer_power(x: Any, n: int) -> Any:
    """By products: flint's own is NaN where the middle is zero."""
    if n < 0:
        return 1 / _integer_power(x, -n)
    found = arb(1)
    while n:
        if n & 1:
            found = found * x
        n >>= 1
        if n:
            x = x * x
    return found


@namespace.register(arb)
def _namespace(T: Any) -> Mapping[str, Any]:
    found: dict[str, Any] = {name: getattr(arb, name) for name in _SAME}
    found.update({f"arc{name[1:]}": getattr(arb, name) for name in _INVERSE})
    found.update(
        power=lambda x, y: x**y,
        integer_power=_integer_power,
        arctan2=arb.atan2,
        maximum=arb.max,
        minimum=arb.min,
        cbrt=lambda x: x.root(3) if x >= 0 else -((-x).root(3)),
        pi=arb.pi,
    )
    return found
