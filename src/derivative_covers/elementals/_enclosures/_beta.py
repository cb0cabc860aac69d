"""The beta function and its logarithm, monotone in both operands with all derivatives.

The derivatives of ``B(a, b)`` are integrals of ``t**(a-1) (1-t)**(b-1)`` times powers of
``log(t)`` and ``log(1-t)``, which are negative.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import ball_package
from ._boxes import monotone
from ._enclosed import Enclosed
from ._registry import encloses

__all__: list[str] = []


def _gaps(a: Any, b: Any) -> tuple[Any, ...]:
    s = a + b
    first, p, c11 = _falls(a, b, s)
    second, q, c22 = _falls(b, a, s)
    # lgamma(a) + lgamma(b) - lgamma(a + b), by the larger operand's difference
    log = a.lgamma() + second if a < b else b.lgamma() + first
    return log, p, q, c11, -_order(a, 2).zeta(s), c22


def _beta_jet(a: Any, b: Any) -> tuple[Any, ...]:
    log, p, q, c11, c12, c22 = _gaps(a, b)
    v, both = log.exp(), p * q + c12
    if _negligible(b, a):
        both = _cross(a, b)
    elif _negligible(a, b):
        both = _cross(b, a)
    return v, v * p, v * q, v * (p * p + c11), v * both, v * (q * q + c22)


def _order(x: Any, n: int) -> Any:
    return 0 * x + n


def _negligible(x: Any, y: Any) -> bool:
    """Whether a sum rounds to the larger operand; more digits may say no."""
    return bool(x < y * 2.0 ** -ball_package("beta").ctx.prec)


def _falls(a: Any, b: Any, s: Any) -> tuple[Any, ...]:
    """``f(a) - f(s)``, with ``s = a + b``, for lgamma, digamma and trigamma.

    The difference cancels where ``b`` is far below ``a``; its mean value form does not.
    """
    if _negligible(b, a):
        between = a.union(s)
        slope, second = between.digamma(), _order(a, 2).zeta(between)
        return -b * slope, -b * second, 2 * b * _order(a, 3).zeta(between)
    return (
        a.lgamma() - s.lgamma(),
        a.digamma() - s.digamma(),
        _order(a, 2).zeta(a) - _order(a, 2).zeta(s),
    )


def _cross(a: Any, b: Any) -> Any:
    """``p q + c12`` where ``b`` is far below ``a``: Taylor's formula for ``p`` and ``c12``.

    With ``q = r - 1 / b`` the terms without ``b`` cancel on paper.
    """
    between = a.union(a + b)
    slope, second = _order(a, 2).zeta(a), -2 * _order(a, 3).zeta(between)
    r = (1 + b).digamma() - (a + b).digamma()
    return b * (second / 2 - second - r * slope - b / 2 * r * second)


_FALL, _RISE = (-1, -1), (1, 1)


@encloses("beta")
def _beta(pattern: int, a: Pair, b: Pair, order: int) -> Enclosed:
    signs = (_FALL, _RISE, _RISE, _FALL, _FALL, _FALL)
    ranges = ((0.0, inf), (-inf, 0.0), (-inf, 0.0), (0.0, inf), (0.0, inf), (0.0, inf))
    return _quadrant("beta", _beta_jet, signs, ranges, pattern, a, b, order)


@encloses("betaln")
def _betaln(pattern: int, a: Pair, b: Pair, order: int) -> Enclosed:
    signs = (_FALL, (1, -1), (-1, 1), (-1, 1), _RISE, (1, -1))
    ranges = (
        (-inf, inf),
        (-inf, 0.0),
        (-inf, 0.0),
        (0.0, inf),
        (-inf, 0.0),
        (0.0, inf),
    )
    return _quadrant("betaln", _gaps, signs, ranges, pattern, a, b, order)


def _quadrant(
    name: str,
    jet: Any,
    signs: Any,
    ranges: Any,
    pattern: int,
    a: Pair,
    b: Pair,
    order: int,
) -> Enclosed:
    inside = (a[0] > 0.0) & (b[0] > 0.0)
    regular = inside & np.isfinite(a[1]) & np.isfinite(b[1])
    safe = [
        (np.where(regular, p[0], 1.0), np.where(regular, p[1], 1.0)) for p in (a, b)
    ]
    chosen = {1: range(6), 2: (0, 1, 3), 3: (0, 2, 5)}[pattern] if order else (0,)
    found = monotone(
        name,
        lambda x, y: tuple(jet(x, y)[k] for k in chosen),
        [signs[k] for k in chosen],
        *safe,
    )
    pairs = []
    for k, pair in zip(chosen, found, strict=True):
        low, high = ranges[k]
        clipped = np.maximum(pair[0], low), np.minimum(pair[1], high)
        everywhere = (np.where(inside, low, -inf), np.where(inside, high, inf))
        pairs.append(ow.where(regular, clipped, everywhere))
    return Enclosed(pairs[0], tuple(pairs[1:]), None if np.all(inside) else ~inside)
