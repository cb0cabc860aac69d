"""Error functions, the normal distribution and Dawson's integral."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from ._spec import Rule
from ._special import horner, limited, row, special

__all__ = ["ELEMENTALS"]

_SLOPE = 2.0 / sqrt(pi)
_ROOT_TWO = sqrt(2.0)
_ROOT_TWO_PI = sqrt(2.0 * pi)
_FAR = 4.0  # where the continued fraction of repeated integrals has converged
_DEPTH = 20


def _erf(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = _SLOPE * xp.exp(-x * x)
    return d, -2.0 * limited(xp, x, d)


def _erfc(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d, c = _erf(xp, x, v)
    return -d, -c


def _erfi(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = _SLOPE * xp.exp(x * x)
    return d, 2.0 * x * d


def _ratios(xp: Any, x: Any) -> tuple[Any, Any]:
    """``I1 / I0`` and ``I2 / I1`` of repeated integrals ``In`` of the error function.

    For large ``x``: DLMF 7.18.7 backwards, which adds positive numbers alone.
    """
    far = xp.where(x > _FAR, x, _FAR)
    r1 = r2 = 1.0 / (far + far)
    for n in range(_DEPTH, 1, -1):
        r1, r2 = 0.5 / (far + n * r1), r1
    return r1, r2


def _erfcx(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    # Derivatives of exp(x**2) times a repeated integral are such products again.
    r1, r2 = _ratios(xp, x)
    near = 2.0 * x * v - _SLOPE
    d = xp.where(x > _FAR, -2.0 * v * r1, near)
    return d, xp.where(x > _FAR, 8.0 * v * r1 * r2, 2.0 * v + 2.0 * x * near)


def _erfinv(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = (1.0 / _SLOPE) * xp.exp(v * v)
    return d, 2.0 * (v * d) * d


def _erfcinv(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d, c = _erfinv(xp, x, v)
    return -d, c


def _ndtr(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = (1.0 / _ROOT_TWO_PI) * xp.exp(-0.5 * x * x)
    return d, -limited(xp, x, d)


def _ndtri(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = _ROOT_TWO_PI * xp.exp(0.5 * v * v)
    return d, (v * d) * d


def _log_ndtr(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    # The hazard h of the normal distribution; h + x = sqrt(2) I1 / I0 does not cancel.
    t = x * (-1.0 / _ROOT_TWO)
    scaled = special(xp).erfcx(t)
    h = sqrt(2.0 / pi) / scaled
    far, _ = _ratios(xp, t)
    r = xp.where(t > _FAR, far, 1.0 / (sqrt(pi) * scaled) - t)
    return h, -limited(xp, _ROOT_TWO * r, h)


# (2 k - 1)!!, the asymptotic coefficients of 2 x F(x) in 1 / (2 x**2): DLMF 7.12.1
_ODD = [1.0]
for _k in range(1, 25):
    _ODD.append(_ODD[-1] * (2 * _k - 1))
_DAWSN_SLOPE = tuple(-a for a in _ODD[1:])
_DAWSN_BEND = tuple(2.0 * k * a for k, a in enumerate(_ODD))[1:]


def _dawsn(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    far = xp.abs(x) > 6.0
    r = 1.0 / xp.where(far, x, 6.0)
    z = 0.5 * r * r
    near = 1.0 - 2.0 * x * v
    return (
        xp.where(far, z * horner(z, _DAWSN_SLOPE), near),
        xp.where(far, z * r * horner(z, _DAWSN_BEND), -2.0 * (v + x * near)),
    )


ELEMENTALS = (
    row("erf", Rule(_erf, holomorphic=True), "DLMF 7.10.1"),
    row("erfc", Rule(_erfc, holomorphic=True), "DLMF 7.10.1"),
    row("erfcx", Rule(_erfcx), "DLMF 7.10.4, 7.18.7 and 7.18.10"),
    row("erfi", Rule(_erfi, holomorphic=True), "DLMF 7.10.1 at an imaginary argument"),
    row(
        "erfinv",
        Rule(_erfinv, lambda xp, x: xp.abs(x) < 1.0),
        "derivative of an inverse; DLMF 7.17",
    ),
    row(
        "erfcinv",
        Rule(_erfcinv, lambda xp, x: (x > 0.0) & (x < 2.0)),
        "derivative of an inverse; DLMF 7.17",
    ),
    row("ndtr", Rule(_ndtr, holomorphic=True), "DLMF 7.10.1 and 7.18(i)"),
    row(
        "ndtri",
        Rule(_ndtri, lambda xp, x: (x > 0.0) & (x < 1.0)),
        "derivative of an inverse; DLMF 7.10.1",
    ),
    row("log_ndtr", Rule(_log_ndtr), "hazard of the normal distribution; DLMF 7.18.7"),
    row("dawsn", Rule(_dawsn), "F' = 1 - 2 x F; DLMF 7.12.1"),
)
