"""Products with logarithms, entropies and divergences."""

from __future__ import annotations

from math import inf
from typing import Any

from ._arithmetic import CALCULUS, quotients
from ._spec import Rule
from ._special import positive, row

__all__ = ["ELEMENTALS"]


def _xlogy(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    d2 = x / y
    by_square, _ = quotients(xp, x, y, d2)
    return xp.log(y), d2, 0.0, 1.0 / y, -by_square


def _xlogy_second(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, Any]:
    _, d, _, _, c = _xlogy(xp, x, xp.where(x == 0.0, 1.0, y), v)
    return d, c


def _xlog1py(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    s = 1.0 + y
    d2 = x / s
    return xp.log1p(y), d2, 0.0, 1.0 / s, -d2 / s


def _xlog1py_second(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, Any]:
    _, d, _, _, c = _xlog1py(xp, x, xp.where(x == 0.0, 0.0, y), v)
    return d, c


def _entr(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    return -1.0 - xp.log(x), -1.0 / x


def _log_ratio(xp: Any, x: Any, y: Any) -> Any:
    """``log(x / y)``: exact near 1, and where the ratio leaves the range."""
    r = x / y
    close = (r > 0.5) & (r < 2.0)
    ordinary = (r > xp.finfo(r.dtype).tiny) & (r < inf)
    far = xp.where(ordinary, xp.log(r), xp.log(x) - xp.log(y))
    return xp.where(close, xp.log1p((x - y) / y), far)


def _rel_entr(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    r = x / y
    by_square, _ = quotients(xp, x, y, r)
    return 1.0 + _log_ratio(xp, x, y), -r, 1.0 / x, -1.0 / y, by_square


def _kl_div(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, ...]:
    by_square, _ = quotients(xp, x, y, x / y)
    return _log_ratio(xp, x, y), (y - x) / y, 1.0 / x, -1.0 / y, by_square


def _positive_second(xp: Any, x: Any, y: Any) -> Any:
    return y > 0.0


def _both_positive(xp: Any, x: Any, y: Any) -> Any:
    return (x > 0.0) & (y > 0.0)


def _weight(xp: Any, x: Any, y: Any) -> Any:
    """Domain in ``y`` for a constant ``x``."""
    return (x >= 0.0) & (y > 0.0)


ELEMENTALS = (
    row(
        "xlogy",
        Rule(_xlogy, _positive_second),
        CALCULUS,
        arity=2,
        # With a weight of zero the function is zero whatever y is.
        second=Rule(
            _xlogy_second, lambda xp, x, y: (y > 0.0) | ((x == 0.0) & (y == y))
        ),
    ),
    row(
        "xlog1py",
        Rule(_xlog1py, lambda xp, x, y: y > -1.0),
        CALCULUS,
        arity=2,
        second=Rule(
            _xlog1py_second, lambda xp, x, y: (y > -1.0) | ((x == 0.0) & (y == y))
        ),
    ),
    row("entr", Rule(_entr, positive), "-x log(x) and elementary calculus"),
    row(
        "rel_entr",
        Rule(_rel_entr, _both_positive),
        "x log(x / y) and elementary calculus",
        arity=2,
        second=Rule(lambda xp, x, y, v: _rel_entr(xp, x, y, v)[1::3], _weight),
    ),
    row(
        "kl_div",
        Rule(_kl_div, _both_positive),
        "x log(x / y) - x + y and elementary calculus",
        arity=2,
        second=Rule(lambda xp, x, y, v: _kl_div(xp, x, y, v)[1::3], _weight),
    ),
)
