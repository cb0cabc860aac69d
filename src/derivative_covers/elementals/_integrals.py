"""Exponential, trigonometric and Fresnel integrals."""

from __future__ import annotations

from math import factorial, pi
from typing import Any

from ..errors import UnsupportedOperationError
from ._spec import Rule
from ._special import finite, horner, output, positive, row, special

__all__ = ["ELEMENTALS"]


def _exp1(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    e = xp.exp(-x) / x
    return -e, e + e / x


def _expi(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    # Two roots: the exponential would overflow before its quotient does.
    root = xp.exp(0.5 * x)
    d = (root / x) * root
    return d, d * ((x - 1.0) / x)


def _expn(xp: Any, order: Any, x: Any, v: Any) -> tuple[Any, Any]:
    e = xp.exp(-x) / x

    def lower(k: Any) -> Any:
        value = special(xp).expn(xp.maximum(k, 0.0), x)
        return xp.where(k < 0.0, e + e / x, value)

    return -lower(order - 1.0), lower(order - 2.0)


def _no_order(xp: Any, order: Any, x: Any, v: Any) -> Any:
    msg = (
        "the ufunc 'special.expn' has no derivative rule in its first operand, the "
        "order; make it a constant."
    )
    raise UnsupportedOperationError(msg)


# (-1)**k / (2 k + 1)! times what x**(2 k) gives, of the integrand sin(x) / x
_BEND = tuple((-1.0) ** k * 2 * k / factorial(2 * k + 1) for k in range(1, 14))


def _sine_integral(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    near = xp.abs(x) < 1.0
    small, far = xp.where(near, x, 0.0), xp.where(near, 1.0, x)
    zero = x == 0.0
    d = xp.where(zero, 1.0, xp.sin(x) / xp.where(zero, 1.0, x))
    return d, xp.where(
        near, small * horner(small * small, _BEND), (xp.cos(far) - d) / far
    )


def _cosine_integral(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = xp.cos(x) / x
    return d, -(xp.sin(x) + d) / x


def _quarter_turns(xp: Any, x: Any) -> tuple[Any, Any]:
    """Sine and cosine of ``pi x**2 / 2``, the square taken without rounding.

    Dekker's product: A floating-point technique for extending the available precision,
    Numerische Mathematik 18 (1971).
    """
    digits = xp.finfo(x.dtype).nmant + 1
    # Beyond, the square is a multiple of four.
    x = xp.where(xp.abs(x) < 2.0 ** (digits + 1), x, 0.0)
    split = x * (2.0 ** ((digits + 1) // 2) + 1.0)
    head = split - (split - x)
    tail = x - head
    square = x * x
    error = ((head * head - square) + 2.0 * head * tail) + tail * tail
    r = xp.fmod(square, 4.0) + xp.fmod(error, 4.0)
    n = xp.rint(r)
    f = (0.5 * pi) * ((xp.fmod(square, 4.0) - n) + xp.fmod(error, 4.0))
    sine, cosine = xp.sin(f), xp.cos(f)
    odd = xp.remainder(n, 2.0) == 1.0
    high = xp.remainder(n, 4.0) >= 2.0
    side = xp.remainder(n + 1.0, 4.0) >= 2.0
    s, c = xp.where(odd, cosine, sine), xp.where(odd, sine, cosine)
    return xp.where(high, -s, s), xp.where(side, -c, c)


def _fresnel_sine(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    s, c = _quarter_turns(xp, x)
    return s, (pi * x) * c


def _fresnel_cosine(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    s, c = _quarter_turns(xp, x)
    return c, (-pi * x) * s


def _nonzero(xp: Any, x: Any) -> Any:
    return (x != 0.0) & finite(xp, x)


TRIGONOMETRIC = "DLMF 6.2(ii); Taylor series of the sine, DLMF 4.19.1"

ELEMENTALS = (
    row("exp1", Rule(_exp1, positive), "DLMF 6.2.1"),
    row("expi", Rule(_expi, _nonzero), "DLMF 6.2.5"),
    row(
        "expn",
        Rule(_no_order),
        "DLMF 8.19.13",
        arity=2,
        second=Rule(_expn, lambda xp, order, x: (order >= 1.0) & (x > 0.0)),
    ),
    output("sine_integral", "sici", 0, Rule(_sine_integral, finite), TRIGONOMETRIC),
    output(
        "cosine_integral", "sici", 1, Rule(_cosine_integral, _nonzero), TRIGONOMETRIC
    ),
    output("fresnel_sine", "fresnel", 0, Rule(_fresnel_sine, finite), "DLMF 7.2.8"),
    output("fresnel_cosine", "fresnel", 1, Rule(_fresnel_cosine, finite), "DLMF 7.2.7"),
)
