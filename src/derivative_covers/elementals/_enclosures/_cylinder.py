"""Bessel functions of the first and second kind over pieces of the line, off zero.

``J(n, x)**2 + Y(n, x)**2`` falls for every order on the right of zero: DLMF 10.9.30.
Its root bounds both, and so their derivatives, which are sums of functions of other
orders (DLMF 10.6.7); the bound closes a Taylor polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb, factorial, floor
from typing import Any

__all__ = ["cylinder", "is_far"]

_DEGREE = 4  # of the polynomial
_WIDE = 1.0  # radius; beyond, the bound alone says as much


def is_far(x: Any, order: float) -> bool:
    """Whether :func:`cylinder` takes a ball: not a point, and no nearer than its order."""
    return not x.is_exact() and x.is_finite() and _from(x) >= max(1.0, abs(order))


def _from(x: Any) -> float:
    """Something below ``|x|``, in eighths, so that neighbours share their bounds."""
    least = float(abs(x).lower()) * (1 - 2.0**-50)
    return floor(8 * least) / 8


def cylinder(kind: str, order: float, x: Any) -> tuple[Any, ...]:
    """Balls of a function and its first three derivatives.

    Args:
        kind: ``"j"`` or ``"y"``.
        order: Whole where ``x`` is negative.
        x: A ball for which :func:`is_far` holds.
    """
    if x < 0:
        odd = order % 2
        mirrored = cylinder(kind, order, -x)
        return tuple(-b if (odd + k) % 2 else b for k, b in enumerate(mirrored))
    ball: Any = type(x)
    bounds = _bounds(ball, order, _from(x))
    radius = ball(x.rad())
    if radius > _WIDE:
        return tuple(ball(0, b) for b in bounds[:4])
    middle = x.mid()
    f = getattr(middle, "bessel_" + kind)
    n = ball(order)
    near = _derivatives(_orders(n, middle, f(n), f(n + 1)), -1)
    step = x - middle
    found = []
    for k in range(4):
        terms = range(_DEGREE - k, -1, -1)
        total, rest = ball(0), _DEGREE + 1 - k
        for i in terms:
            total = total * step + near[k + i] / factorial(i)
        found.append(total + ball(0, bounds[-1] * radius**rest / factorial(rest)))
    return tuple(found)


@lru_cache(64)
def _bounds(ball: Any, order: float, least: float) -> tuple[Any, ...]:
    """What holds each derivative of both kinds from ``least`` on, the last one's too."""
    n, a = ball(order), ball(least)
    first, second = (_orders(n, a, f(n), f(n + 1)) for f in (a.bessel_j, a.bessel_y))
    sizes = [(p * p + q * q).sqrt() for p, q in zip(first, second, strict=True)]
    return tuple(_derivatives(sizes, 1))


def _orders(n: Any, x: Any, at: Any, above: Any) -> list[Any]:
    """Functions of the orders around ``n``, by the recurrence: DLMF 10.6.1."""
    up, down = [at, above], [above, at]
    for k in range(1, _DEGREE + 1):
        up.append(2 * (n + k) / x * up[-1] - up[-2])
    for k in range(_DEGREE + 1):
        down.append(2 * (n - k) / x * down[-1] - down[-2])
    return down[:1:-1] + up


def _derivatives(orders: Sequence[Any], sign: int) -> list[Any]:
    """``2**-k`` times the binomial sums of every second order: DLMF 10.6.7."""
    centre = len(orders) // 2
    return [
        sum(sign**j * comb(k, j) * orders[centre - k + 2 * j] for j in range(k + 1))
        / 2**k
        for k in range(_DEGREE + 2)
    ]
