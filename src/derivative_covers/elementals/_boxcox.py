"""Box and Cox's transformation, its inverse, and the exponential's difference quotient."""

from __future__ import annotations

from math import factorial
from typing import Any

from ._spec import Rule
from ._special import finite, horner, row

__all__ = ["ELEMENTALS"]

SOURCE = "Box and Cox, An Analysis of Transformations, J. R. Stat. Soc. B 26 (1964)"
_TERMS = range(20)
_EXP_SLOPE = tuple(1.0 / (factorial(k) * (k + 2)) for k in _TERMS)
_EXP_BEND = tuple(1.0 / (factorial(k) * (k + 3)) for k in _TERMS)
_LOG_SLOPE = tuple((-1.0) ** (k + 1) * (k + 1) / (k + 2) for k in _TERMS)
_LOG_BEND = tuple((-1.0) ** k * (k + 1) * (k + 2) / (k + 3) for k in _TERMS)


def _exp_quotient(xp: Any, u: Any) -> tuple[Any, Any]:
    """First and second derivative of ``(exp(u) - 1) / u``, by series where it is near 1."""
    near = xp.abs(u) < 1.0
    small, far = xp.where(near, u, 0.0), xp.where(near, 1.0, u)
    # Quotients, not powers: these neither overflow nor vanish before the result does.
    e, r = xp.exp(far), 1.0 / far
    slope = e * (1.0 - r) * r + r * r
    bend = e * ((1.0 - 2.0 * r + 2.0 * r * r) * r) - 2.0 * r * r * r
    return (
        xp.where(near, horner(small, _EXP_SLOPE), slope),
        xp.where(near, horner(small, _EXP_BEND), bend),
    )


def _log_quotient(xp: Any, w: Any) -> tuple[Any, Any]:
    """First and second derivative of ``log(1 + w) / w``, by series where it is near 1."""
    near = xp.abs(w) < 0.15
    small, far = xp.where(near, w, 0.0), xp.where(near, 0.15, w)
    r, q, log = 1.0 / far, 1.0 / (1.0 + far), xp.log1p(far)
    slope = (q - log * r) * r
    bend = -(2.0 * slope + q * q) * r
    return (
        xp.where(near, horner(small, _LOG_SLOPE), slope),
        xp.where(near, horner(small, _LOG_BEND), bend),
    )


def _exprel(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return _exp_quotient(xp, x)


def _transformed(xp: Any, log: Any, power: Any) -> tuple[Any, ...]:
    """Partials of ``(exp(power log) - 1) / power``, given the logarithm of the base."""
    slope, bend = _exp_quotient(xp, power * log)
    d1, c11 = _transformed_first(xp, log, power)
    return d1, log * log * slope, c11, log * d1, log * log * log * bend


def _transformed_first(xp: Any, log: Any, power: Any) -> tuple[Any, Any]:
    less = power - 1.0
    return xp.exp(less * log), less * xp.exp((power - 2.0) * log)


def _boxcox(xp: Any, x: Any, power: Any, v: Any) -> tuple[Any, ...]:
    return _transformed(xp, xp.log(x), power)


def _boxcox_first(xp: Any, x: Any, power: Any, v: Any) -> tuple[Any, Any]:
    return _transformed_first(xp, xp.log(x), power)


def _boxcox1p(xp: Any, x: Any, power: Any, v: Any) -> tuple[Any, ...]:
    return _transformed(xp, xp.log1p(x), power)


def _boxcox1p_first(xp: Any, x: Any, power: Any, v: Any) -> tuple[Any, Any]:
    return _transformed_first(xp, xp.log1p(x), power)


def _inverse(xp: Any, y: Any, power: Any, v: Any) -> tuple[Any, ...]:
    """Partials of ``x = exp(log(1 + power y) / power)``, or of that less a constant."""
    w = power * y
    slope, bend = _log_quotient(xp, w)
    linear = xp.abs(w) < 1e-20
    log = xp.where(linear, y, y * (xp.log1p(w) / xp.where(linear, 1.0, w)))
    g = y * y * slope
    x, d = xp.exp(log), xp.exp((1.0 - power) * log)
    return (
        d,
        x * g,
        (1.0 - power) * xp.exp((1.0 - 2.0 * power) * log),
        d * ((1.0 - power) * g - log),
        x * (g * g + y * y * y * bend),
    )


def _above_minus_one(xp: Any, x: Any, power: Any) -> Any:
    return x > -1.0


def _positive_first(xp: Any, x: Any, power: Any) -> Any:
    return x > 0.0


def _invertible(xp: Any, y: Any, power: Any) -> Any:
    return power * y > -1.0


ELEMENTALS = (
    row(
        "boxcox",
        Rule(_boxcox, _positive_first),
        SOURCE,
        arity=2,
        first=Rule(_boxcox_first, _positive_first),
    ),
    row(
        "boxcox1p",
        Rule(_boxcox1p, _above_minus_one),
        SOURCE,
        arity=2,
        first=Rule(_boxcox1p_first, _above_minus_one),
    ),
    row("inv_boxcox", Rule(_inverse, _invertible), SOURCE, arity=2),
    row("inv_boxcox1p", Rule(_inverse, _invertible), SOURCE, arity=2),
    row(
        "exprel", Rule(_exprel, finite), "Taylor series of the exponential, DLMF 4.2.19"
    ),
)
