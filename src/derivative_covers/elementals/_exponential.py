"""Exponentials, logarithms and logarithms of sums."""

from __future__ import annotations

from math import log
from typing import Any

from ._cuts import off_left, off_negative
from ._spec import Elemental, Rule

__all__ = ["ELEMENTALS"]

_LN2 = log(2.0)
_LN10 = log(10.0)


def _exp2(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return v * _LN2, v * (_LN2 * _LN2)


def _expm1(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    # v + 1 would cancel where v is near -1.
    e = xp.exp(x)
    return e, e


def _log(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1.0 / x
    return d, -d * d


def _log2(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = (1.0 / _LN2) / x
    return d, -d / x


def _log10(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = (1.0 / _LN10) / x
    return d, -d / x


def _log1p(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1.0 / (1.0 + x)
    return d, -d * d


def _shares(xp: Any, x: Any, y: Any, e: Any) -> tuple[Any, Any, Any]:
    """Shares of two terms in their sum, and the shares' product.

    ``e`` is the smaller term over the larger, so that neither share overflows.
    """
    larger = 1.0 / (1.0 + e)
    smaller = e * larger
    first = x >= y
    return (
        xp.where(first, larger, smaller),
        xp.where(first, smaller, larger),
        larger * smaller,
    )


def _distance(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(x == y, 0.0, xp.abs(x - y))


def _logaddexp(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d1, d2, c = _shares(xp, x, y, xp.exp(-_distance(xp, x, y)))
    return d1, d2, c, -c, c


def _logaddexp2(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d1, d2, product = _shares(xp, x, y, xp.exp2(-_distance(xp, x, y)))
    c = _LN2 * product
    return d1, d2, c, -c, c


def _comparable(xp: Any, x: Any, y: Any) -> Any:
    """True unless the difference is undefined: NaN, or equal infinities."""
    return xp.abs(x - y) >= 0.0


def _positive(xp: Any, x: Any) -> Any:
    return x > 0.0


def _off_minus_one(xp: Any, x: Any) -> Any:
    return off_left(xp, x, -1.0)


ELEMENTALS = (
    Elemental(
        "exp",
        1,
        lambda xp, x: xp.exp(x),
        Rule(lambda xp, x, v: (v, v), holomorphic=True),
        "DLMF 4.7(ii)",
        ("exp",),
    ),
    Elemental(
        "exp2",
        1,
        lambda xp, x: xp.exp2(x),
        Rule(_exp2, holomorphic=True),
        "DLMF 4.7(ii)",
        ("exp2", "special.exp2"),
    ),
    Elemental(
        "expm1",
        1,
        lambda xp, x: xp.expm1(x),
        Rule(_expm1, holomorphic=True),
        "DLMF 4.7(ii)",
        ("expm1", "special.expm1"),
    ),
    Elemental(
        "log",
        1,
        lambda xp, x: xp.log(x),
        Rule(_log, _positive, holomorphic=Rule(_log, off_negative)),
        "DLMF 4.7(i)",
        ("log",),
    ),
    Elemental(
        "log2",
        1,
        lambda xp, x: xp.log2(x),
        Rule(_log2, _positive, holomorphic=Rule(_log2, off_negative)),
        "DLMF 4.7(i)",
        ("log2",),
    ),
    Elemental(
        "log10",
        1,
        lambda xp, x: xp.log10(x),
        Rule(_log10, _positive, holomorphic=Rule(_log10, off_negative)),
        "DLMF 4.7(i)",
        ("log10",),
    ),
    Elemental(
        "log1p",
        1,
        lambda xp, x: xp.log1p(x),
        Rule(_log1p, lambda xp, x: x > -1.0, holomorphic=Rule(_log1p, _off_minus_one)),
        "DLMF 4.7(i)",
        ("log1p", "special.log1p"),
    ),
    Elemental(
        "logaddexp",
        2,
        lambda xp, x, y: xp.logaddexp(x, y),
        Rule(_logaddexp, _comparable),
        "gradient of log-sum-exp: Boyd and Vandenberghe, Convex Optimization, 3.1.5",
        ("logaddexp",),
    ),
    Elemental(
        "logaddexp2",
        2,
        lambda xp, x, y: xp.logaddexp2(x, y),
        Rule(_logaddexp2, _comparable),
        "gradient of log-sum-exp: Boyd and Vandenberghe, Convex Optimization, 3.1.5",
        ("logaddexp2",),
    ),
)
