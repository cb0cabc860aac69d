"""The logistic function, its inverse and its logarithm."""

from __future__ import annotations

from typing import Any

from ._spec import Rule
from ._special import row

__all__ = ["ELEMENTALS"]

SOURCE = "s' = s (1 - s) with s(x) = 1 / (1 + exp(-x)) and s(-x) = 1 - s(x)"


def _expit(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    # v (1 - v) would vanish where v rounds to 1.
    e = xp.exp(-xp.abs(x))
    p = 1.0 / (1.0 + e)
    d = e * p * p
    return d, -d * xp.tanh(0.5 * x)


def _log_expit(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    e = xp.exp(-xp.abs(x))
    p = 1.0 / (1.0 + e)
    return xp.where(x < 0.0, p, e * p), -e * p * p


def _logit(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = (1.0 / x) / (1.0 - x)
    return d, ((x - 0.5) * 2.0 * d) * d


ELEMENTALS = (
    row("expit", Rule(_expit), SOURCE),
    row("log_expit", Rule(_log_expit), SOURCE),
    row("logit", Rule(_logit, lambda xp, x: (x > 0.0) & (x < 1.0)), SOURCE),
)
