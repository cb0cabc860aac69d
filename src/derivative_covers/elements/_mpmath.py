"""mpmath's real numbers, at the working precision of their context.

Imported when the first one is met.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any

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

_mpmath: Any = import_module("mpmath")
libmp: Any = _mpmath.libmp
_REAL: Any = _mpmath.mpf.__mro__[1]  # what the numbers of all contexts have in common
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
    "cbrt",
    "log10",
    "erf",
    "erfc",
]
_INVERSE = ["asin", "acos", "atan", "asinh", "acosh", "atanh"]


@magnitude.register(_REAL)
def _magnitude(x: Any) -> Any:
    return x.context.make_mpf(libmp.mpf_abs(x._mpf_))  # abs would round


@magtype.register(_REAL)
def _magtype(T: Any) -> type[Any]:
    return T  # type: ignore[no-any-return]


@boundtype.register(_REAL)
def _boundtype(T: Any) -> type[Any]:
    return Upward


@decided_sign.register(_REAL)
def _decided_sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


@decided_one.register(_REAL)
def _decided_one(c: Any) -> bool:
    return bool(c == 1)


@decided_zero.register(_REAL)
def _decided_zero(c: Any) -> bool:
    return bool(c == 0)


@separation.register(_REAL)
def _separation(x: Any, y: Any) -> Any:
    return abs(x - y)


@is_defined.register(_REAL)
def _is_defined(x: Any) -> bool:
    return bool(x.context.isfinite(x))


@converted.register(_REAL)
def _converted(T: Any, x: Any) -> Any:
    if isinstance(x, Fraction):
        return T.context.fdiv(_exactly(T, x.numerator), _exactly(T, x.denominator))
    return _exactly(T, x)


def _exactly(T: Any, x: Any) -> Any:
    """The constructor would round integers to the working precision."""
    exact = libmp.from_int(int(x)) if isinstance(x, int) else libmp.from_float(float(x))
    return T.context.make_mpf(exact)


@namespace.register(_REAL)
def _namespace(T: Any) -> Mapping[str, Any]:
    ctx = T.context
    found = {name: getattr(ctx, name) for name in _SAME if hasattr(ctx, name)}
    found.update({f"arc{name[1:]}": getattr(ctx, name) for name in _INVERSE})
    found.update(
        power=ctx.power, hypot=ctx.hypot, arctan2=ctx.atan2, pi=lambda: ctx.pi + 0
    )
    return found
