"""Bessel functions of orders zero and one, and of a constant order."""

from __future__ import annotations

from math import factorial, inf, pi, sqrt
from typing import Any

from ..errors import UnsupportedOperationError
from ._spec import Elemental, Rule
from ._special import finite, horner, positive, row, special

__all__ = ["ELEMENTALS"]

# 2 / (k! (k + 2)!), the series of 8 I2(x) / x**2 in x**2 / 4: DLMF 10.25.2
_SECOND = tuple(2.0 / (factorial(k) * factorial(k + 2)) for k in range(13))


def _first_over_x(xp: Any, x: Any, one: Any) -> Any:
    """``J1(x) / x`` or ``I1(x) / x``, given ``J1`` or ``I1``."""
    near = xp.abs(x) < 1e-8
    return xp.where(near, 0.5, one / xp.where(near, 1.0, x))


def _second_over_x(
    xp: Any, x: Any, sign: float, zero: Any, one: Any, factor: Any = 1.0
) -> Any:
    """``J2(x) / x`` (sign -1) or ``I2(x) / x`` (sign 1): DLMF 10.6.1, 10.29.1.

    ``zero`` and ``one`` are those of lower orders, scaled by ``factor``.
    """
    near = xp.abs(x) < 2.0
    small = xp.where(near, x, 0.0)
    far = xp.where(near, 2.0, x)
    return xp.where(
        near,
        0.125 * factor * small * horner((0.25 * sign) * small * small, _SECOND),
        sign * (zero - 2.0 * one / far) / far,
    )


def _j0(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    one = special(xp).j1(x)
    return -one, _first_over_x(xp, x, one) - v


def _j1(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    zero = special(xp).j0(x)
    c = _second_over_x(xp, x, -1.0, zero, v) - v
    return zero - _first_over_x(xp, x, v), c


def _y0(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    one = special(xp).y1(x)
    return -one, one / x - v


def _y1(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    zero = special(xp).y0(x)
    d = zero - v / x
    return d, (v / x - d) / x - v


def _i0(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    one = special(xp).i1(x)
    return one, v - _first_over_x(xp, x, one)


def _i1(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    zero = special(xp).i0(x)
    c = v - _second_over_x(xp, x, 1.0, zero, v)
    return zero - _first_over_x(xp, x, v), c


def _k0(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    one = special(xp).k1(x)
    return -one, v + one / x


def _k1(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = -special(xp).k0(x) - v / x
    return d, v + (v / x - d) / x


_LARGE = 30.0


_Series = tuple[float, ...]


def _expansion(
    factor: float, order: int, sign: float
) -> tuple[float, _Series, _Series]:
    """A factor, and coefficients in ``1 / x`` of the derivatives of a scaled function.

    They come from the series of the function itself; DLMF 10.40.1 and 10.40.2.
    """
    a = [1.0]
    for k in range(1, 21):
        a.append(a[-1] * sign * (4.0 * order**2 - (2 * k - 1) ** 2) / (8.0 * k))
    slope = tuple(-(k + 0.5) * t for k, t in enumerate(a))
    return factor, slope, tuple(-(k + 1.5) * t for k, t in enumerate(slope))


_FAR = {
    "i0e": _expansion(1.0 / sqrt(2.0 * pi), 0, -1.0),
    "i1e": _expansion(1.0 / sqrt(2.0 * pi), 1, -1.0),
    "k0e": _expansion(sqrt(0.5 * pi), 0, 1.0),
    "k1e": _expansion(sqrt(0.5 * pi), 1, 1.0),
}


def _scaled(xp: Any, name: str, x: Any, d: Any, c: Any) -> tuple[Any, Any]:
    """Replace partials that cancel for large ``x`` by their asymptotic expansions."""
    factor, slope, bend = _FAR[name]
    far = x > _LARGE
    r = 1.0 / xp.where(far, x, _LARGE)
    size = factor * xp.sqrt(r) * r
    return (
        xp.where(far, size * horner(r, slope), d),
        xp.where(far, size * r * horner(r, bend), c),
    )


def _i0e(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    size = xp.abs(x)
    one = special(xp).i1e(size)
    gap = v - one
    ratio = _first_over_x(xp, size, one)
    d, c = _scaled(xp, "i0e", size, -gap, 2.0 * gap - ratio)
    return xp.copysign(d, -x), c


def _i1e(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    size, one = xp.abs(x), xp.abs(v)
    zero = special(xp).i0e(size)
    ratio = _first_over_x(xp, size, one)
    second = _second_over_x(xp, size, 1.0, zero, one, xp.exp(-size))
    near = 2.0 * ((one - zero) + ratio) - second
    d, c = _scaled(xp, "i1e", size, (zero - one) - ratio, near)
    return d, xp.where(x < 0.0, -c, c)


def _k0e(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    one = special(xp).k1e(x)
    gap = one - v
    return _scaled(xp, "k0e", x, -gap, one / x - 2.0 * gap)


def _k1e(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    zero = special(xp).k0e(x)
    ratio = v / x
    gap = v - zero
    return _scaled(
        xp, "k1e", x, gap - ratio, 2.0 * (gap + ratio * (1.0 / x - 1.0)) + zero / x
    )


def _at_zero(xp: Any, x: Any) -> Any:
    return x == 0.0


def _of_order(
    name: str, sign: float, flip: float, domain: Any, alias: str | None = None
) -> Elemental:
    """Row of a function of constant order: DLMF 10.6.1 and 10.29.1.

    ``2 f' = flip (f(order - 1) + sign f(order + 1))``.
    """

    def partials(xp: Any, order: Any, x: Any, v: Any) -> tuple[Any, Any]:
        f = getattr(special(xp), name)
        below, above = f(order - 1.0, x), f(order + 1.0, x)
        outer = f(order - 2.0, x) + f(order + 2.0, x)
        return (0.5 * flip) * (below + sign * above), 0.25 * outer + (0.5 * sign) * v

    def refuse(xp: Any, order: Any, x: Any, v: Any) -> Any:
        msg = (
            f"the ufunc 'special.{name}' has no derivative rule in its first operand, the "
            "order; make it a constant."
        )
        raise UnsupportedOperationError(msg)

    return row(
        name,
        Rule(refuse),
        "DLMF 10.6.1 and 10.29.1",
        arity=2,
        second=Rule(partials, domain),
        alias=alias,
    )


def _whole_or_positive(xp: Any, order: Any, x: Any) -> Any:
    whole = order == xp.floor(order)
    return (x > 0.0) | (whole & (xp.abs(x) < inf))


def _positive_second(xp: Any, order: Any, x: Any) -> Any:
    return x > 0.0


RELATIONS = "DLMF 10.6.1 and 10.6.2"
MODIFIED = "DLMF 10.29.1 and 10.29.2"
SCALED = "DLMF 10.29.1, 10.40.1 and 10.40.2"

ELEMENTALS = (
    row("j0", Rule(_j0, finite), RELATIONS),
    row("j1", Rule(_j1, finite), RELATIONS),
    row("y0", Rule(_y0, positive), RELATIONS),
    row("y1", Rule(_y1, positive), RELATIONS),
    row("i0", Rule(_i0, finite), MODIFIED),
    row("i1", Rule(_i1, finite), MODIFIED),
    row("k0", Rule(_k0, positive), MODIFIED),
    row("k1", Rule(_k1, positive), MODIFIED),
    row("i0e", Rule(_i0e, finite, _at_zero), SCALED),
    row("i1e", Rule(_i1e, finite, _at_zero), SCALED),
    row("k0e", Rule(_k0e, positive), SCALED),
    row("k1e", Rule(_k1e, positive), SCALED),
    _of_order("jv", -1.0, 1.0, _whole_or_positive),
    _of_order("yv", -1.0, 1.0, _positive_second, "yn"),
    _of_order("iv", 1.0, 1.0, _whole_or_positive),
    _of_order("kv", 1.0, -1.0, _positive_second, "kn"),
)
