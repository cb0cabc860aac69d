"""The beta function and its logarithm, by differences that never cancel."""

from __future__ import annotations

from typing import Any

from ._gamma_family import trigamma
from ._spec import Rule
from ._special import row, special

__all__ = ["ELEMENTALS"]

_SHIFT = 12  # recurrences before the asymptotic series takes over
# B(2k), the Bernoulli numbers of the asymptotic series: DLMF 24.2(iv)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _digamma_gap(xp: Any, a: Any, b: Any) -> Any:
    """``psi(a + b) - psi(a)`` for positive ``a`` and ``b``: DLMF 5.5.2 and 5.11.2."""
    total = a * 0.0
    for j in range(_SHIFT):
        s = a + float(j)
        total = total + (b / (s + b)) / s
    s = a + float(_SHIFT)
    step = xp.log1p(b / s)
    total = total + step + 0.5 * (b / (s + b)) / s
    z = 1.0 / (s * s)
    power = z
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total - (bernoulli / (2 * k)) * power * xp.expm1(-2.0 * k * step)
        power = power * z
    return total


def _trigamma_gap(xp: Any, a: Any, b: Any) -> Any:
    """``psi'(a) - psi'(a + b)`` for positive ``a`` and ``b``: DLMF 5.15.5, 5.15.8."""
    total = a * 0.0
    for j in range(_SHIFT):
        s = a + float(j)
        total = total + ((b / (s + b)) / s) * (1.0 / s + 1.0 / (s + b))
    s = a + float(_SHIFT)
    step = xp.log1p(b / s)
    r = 1.0 / s
    z = r * r
    total = total + (b / (s + b)) / s - 0.5 * z * xp.expm1(-2.0 * step)
    power = r * z
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total = total - bernoulli * power * xp.expm1(-(2.0 * k + 1.0) * step)
        power = power * z
    return total


def _mixed(xp: Any, large: Any, small: Any) -> Any:
    """``B12 / B`` for ``large >= 1``: a sum of positive terms where a difference cancels.

    It is ``gap(large, small) gap(small, large) - psi'(large + small)``, written for a
    small operand with the Taylor series DLMF 25.11.10 of the divided difference.
    """
    near = small < 0.01
    b = xp.where(near, small, 0.01)
    zeta = special(xp).zeta
    total, power = large * 0.0, b
    for k in range(2, 9):
        total = total + ((k - 1) * (-1.0) ** k) * power * zeta(k + 1.0, large)
        power = power * b
    gap = _digamma_gap(xp, large, small)
    return xp.where(
        near,
        total + gap * _digamma_gap(xp, 1.0 + b, large - 1.0),
        gap * _digamma_gap(xp, small, large) - trigamma(xp, large + small),
    )


def _beta(xp: Any, a: Any, b: Any, v: Any) -> tuple[Any, ...]:
    p, q = _digamma_gap(xp, a, b), _digamma_gap(xp, b, a)
    # Where both are small, B(a, b) = B(a + 1, b) + B(a, b + 1): DLMF 5.12.1.
    small = (a < 1.0) & (b < 1.0)
    one = xp.where(small, 1.0 + a, xp.maximum(a, b))
    other = xp.where(small, b, xp.minimum(a, b))
    mixed = _mixed(xp, one, other)
    swapped = _mixed(xp, xp.where(small, 1.0 + b, 1.0), xp.where(small, a, 1.0))
    both = mixed * (a / (a + b)) + swapped * (b / (a + b))
    return (
        -v * p,
        -v * q,
        (v * p) * p + v * _trigamma_gap(xp, a, b),
        v * xp.where(small, both, mixed),
        (v * q) * q + v * _trigamma_gap(xp, b, a),
    )


def _beta_first(xp: Any, a: Any, b: Any, v: Any) -> tuple[Any, Any]:
    p = _digamma_gap(xp, a, b)
    return -v * p, (v * p) * p + v * _trigamma_gap(xp, a, b)


def _beta_second(xp: Any, a: Any, b: Any, v: Any) -> tuple[Any, Any]:
    return _beta_first(xp, b, a, v)


def _betaln(xp: Any, a: Any, b: Any, v: Any) -> tuple[Any, ...]:
    return (
        -_digamma_gap(xp, a, b),
        -_digamma_gap(xp, b, a),
        _trigamma_gap(xp, a, b),
        -trigamma(xp, a + b),
        _trigamma_gap(xp, b, a),
    )


def _betaln_first(xp: Any, a: Any, b: Any, v: Any) -> tuple[Any, Any]:
    return -_digamma_gap(xp, a, b), _trigamma_gap(xp, a, b)


def _betaln_second(xp: Any, a: Any, b: Any, v: Any) -> tuple[Any, Any]:
    return _betaln_first(xp, b, a, v)


def _quadrant(xp: Any, a: Any, b: Any) -> Any:
    return (a > 0.0) & (b > 0.0)


ELEMENTALS = (
    row(
        "beta",
        Rule(_beta, _quadrant),
        "DLMF 5.12.1, 5.5.2, 5.11.2 and 25.11.10",
        arity=2,
        first=Rule(_beta_first, _quadrant),
        second=Rule(_beta_second, _quadrant),
    ),
    row(
        "betaln",
        Rule(_betaln, _quadrant),
        "DLMF 5.12.1, 5.5.2, 5.11.2 and 5.15.8",
        arity=2,
        first=Rule(_betaln_first, _quadrant),
        second=Rule(_betaln_second, _quadrant),
    ),
)
