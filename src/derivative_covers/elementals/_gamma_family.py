"""Gamma function, its reciprocal, logarithm and their derivatives."""

from __future__ import annotations

from math import pi
from typing import Any

from ._spec import Elemental, Rule
from ._special import positive, row, special

__all__ = ["ELEMENTALS", "tetragamma", "trigamma"]


def _circle(xp: Any, x: Any) -> tuple[Any, Any]:
    """Sine and cosine of ``pi x`` up to one common sign, exact near their zeros."""
    f = x - xp.rint(x)
    size = xp.abs(f)
    cosine = xp.where(size > 0.25, xp.sin(pi * (0.5 - size)), xp.cos(pi * f))
    return xp.sin(pi * f), cosine


def _digamma(xp: Any, x: Any) -> Any:
    """``psi``, by reflection for negative numbers: DLMF 5.5.4."""
    reflected = x < 0.0
    z = special(xp).digamma(xp.where(reflected, 1.0 - x, x))
    sine, cosine = _circle(xp, xp.where(reflected, x, 0.5))
    return xp.where(reflected, z - pi * (cosine / sine), z)


def trigamma(xp: Any, x: Any) -> Any:
    """``psi'``, by reflection for negative numbers: DLMF 5.15.1 and 5.15.6."""
    reflected = x < 0.0
    z = special(xp).zeta(2.0, xp.where(reflected, 1.0 - x, x))
    sine, _ = _circle(xp, xp.where(reflected, x, 0.5))
    p = pi / sine
    return xp.where(reflected, p * p - z, z)


def tetragamma(xp: Any, x: Any) -> Any:
    """``psi''``, by reflection for negative numbers: DLMF 5.15.1 and 5.15.6."""
    reflected = x < 0.0
    z = -2.0 * special(xp).zeta(3.0, xp.where(reflected, 1.0 - x, x))
    sine, cosine = _circle(xp, xp.where(reflected, x, 0.5))
    p = pi / sine
    return xp.where(reflected, z - 2.0 * (p * cosine) * p * p, z)


def _gamma(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    p = _digamma(xp, x)
    return v * p, (v * p) * p + v * trigamma(xp, x)


def _gammaln(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return _digamma(xp, x), trigamma(xp, x)


def _digamma_partials(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return trigamma(xp, x), tetragamma(xp, x)


def _rgamma(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    # Left of 1/2 the reflection formula has neither poles nor cancellation.
    f = special(xp)
    left = x < 0.5
    y = xp.where(left, 1.0 - x, x)
    p, t = f.digamma(y), trigamma(xp, y)
    g = f.gamma(xp.where(left, y, 1.0))
    half = 0.5 * xp.rint(x)
    g = xp.where(half == xp.floor(half), g, -g)
    sine, cosine = _circle(xp, x)
    return (
        xp.where(left, g * (cosine - sine * p / pi), -p * v),
        xp.where(
            left,
            g * (sine * (p * p + t - pi * pi) / pi - 2.0 * cosine * p),
            (p * p - t) * v,
        ),
    )


def _no_pole(xp: Any, x: Any) -> Any:
    return (x > 0.0) | (x < xp.ceil(x))


ELEMENTALS = (
    row("gamma", Rule(_gamma, _no_pole), "DLMF 5.2.2, 5.5.4 and 5.15.1"),
    row("gammaln", Rule(_gammaln, _no_pole), "DLMF 5.2.2, 5.5.4 and 5.15.6"),
    row("loggamma", Rule(_gammaln, positive), "DLMF 5.2.2 and 5.15.1"),
    row("rgamma", Rule(_rgamma), "DLMF 5.5.3"),
    Elemental(
        "digamma",
        1,
        lambda xp, x: special(xp).digamma(x),
        Rule(_digamma_partials, _no_pole),
        "DLMF 5.15.1 and 5.15.6",
        ("special.psi",),
    ),
)
