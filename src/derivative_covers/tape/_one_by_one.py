"""Arithmetic of single intervals in Python floats, for programs of scalars.

Ends are the rounded results, moved outward by one float unless they are exact: rounding
to nearest (IEEE 754-2019, section 4.3) errs by less than the step to the neighbour. None
stands for "ask the general route".
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["RULES", "Ends"]

Ends = tuple[float, float]

_INF = math.inf
_SPLIT = 134217729.0  # 2**27 + 1
_LARGE, _SMALL = 1e290, 1e-280
_next = math.nextafter


def _few(a: float) -> bool:
    """Whether 26 bits hold the number, so that a product of two such is exact."""
    c = _SPLIT * a
    return c - (c - a) == a


def _add(x: Ends, y: Ends) -> Ends | None:
    lo, hi = _sum(x[0], y[0], -_INF), _sum(x[1], y[1], _INF)
    return None if lo is None or hi is None else (lo, hi)


def _sum(a: float, b: float, towards: float) -> float | None:
    s = a + b
    if not -_LARGE < s < _LARGE or not (abs(a) < _LARGE and abs(b) < _LARGE):
        return None
    t = s - a
    error = (a - (s - t)) + (b - t)  # Knuth's, exact
    return s if error == 0.0 else _next(s, towards)


def _subtract(x: Ends, y: Ends) -> Ends | None:
    return _add(x, (-y[1], -y[0]))


def _product(a: float, b: float) -> Ends | None:
    p = a * b
    if p == 0.0:
        return (p, p) if a == 0.0 or b == 0.0 else None
    if not _SMALL < abs(p) < _LARGE or not (abs(a) < _LARGE and abs(b) < _LARGE):
        return None
    if abs(a) == 1.0 or abs(b) == 1.0 or (_few(a) and _few(b)):
        return p, p
    return _next(p, -_INF), _next(p, _INF)


def _multiply(x: Ends, y: Ends) -> Ends | None:
    (a, b), (c, d) = x, y
    if a >= 0.0 and c >= 0.0:
        pairs = [(a, c), (b, d)]
    elif a == b:
        pairs = [(a, c), (a, d)]
    elif c == d:
        pairs = [(a, c), (b, c)]
    else:
        pairs = [(a, c), (a, d), (b, c), (b, d)]
    lo, hi = _INF, -_INF
    for p, q in pairs:
        found = _product(p, q)
        if found is None:
            return None
        lo, hi = min(lo, found[0]), max(hi, found[1])
    return lo + 0.0, hi + 0.0


def _quotient(a: float, b: float) -> Ends | None:
    q = a / b
    if q == 0.0:
        return (q, q) if a == 0.0 else None
    if not _SMALL < abs(q) < _LARGE or not _SMALL < abs(b) < _LARGE:
        return None
    if abs(b) == 1.0 or (_few(q) and _few(b) and q * b == a):
        return q, q
    return _next(q, -_INF), _next(q, _INF)


def _divide(x: Ends, y: Ends) -> Ends | None:
    (a, b), (c, d) = x, y
    if not (c > 0.0 or d < 0.0) or not (abs(a) < _LARGE and abs(b) < _LARGE):
        return None
    lo, hi = _INF, -_INF
    for p in (a,) if a == b else (a, b):
        for q in (c,) if c == d else (c, d):
            found = _quotient(p, q)
            if found is None:
                return None
            lo, hi = min(lo, found[0]), max(hi, found[1])
    return lo + 0.0, hi + 0.0


def _negative(x: Ends) -> Ends:
    return 0.0 - x[1], 0.0 - x[0]


def _square(x: Ends) -> Ends | None:
    a, b = sorted((abs(x[0]), abs(x[1])))
    if x[0] < 0.0 < x[1]:
        a = 0.0
    low, high = _product(a, a), _product(b, b)
    return None if low is None or high is None else (low[0], high[1])


def _positive(x: Ends) -> Ends:
    return x


RULES: dict[str, Callable[..., Ends | None]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "negative": _negative,
    "square": _square,
    "positive": _positive,
}
"""By name of the elemental: smooth where they give a result, in every operand."""
