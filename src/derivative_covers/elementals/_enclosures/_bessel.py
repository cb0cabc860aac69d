"""Bessel functions of orders zero and one, and of a constant order."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._boxes import monotone
from ._cylinder import cylinder, is_far
from ._enclosed import Enclosed, endless
from ._integrals import constant_order
from ._registry import add_shape, encloses
from ._shapes import Shape, enclose_shape
from ._waves import wave_ranges

__all__: list[str] = []

_FAR = (-1e4, 1e4)
_MOST = 1e9  # beyond, periods are not told apart any more


def _of_order(kind: str, sign: int) -> Any:
    """Jet of a function with ``2 f' = f(n - 1) + sign f(n + 1)``: DLMF 10.6.1, 10.29.1."""

    def jet(x: Any, order: Any) -> tuple[Any, ...]:
        f = getattr(x, "bessel_" + kind)
        if sign < 0 and is_far(x, float(order)):
            return cylinder(kind, float(order), x)
        if _by_two(x, kind):
            return _by_equation(x, order, f(order), f(order + 1), sign)
        a, b, c, d, e, g, h = (f(order + k) for k in range(-3, 4))
        return (
            d,
            (c + sign * e) / 2,
            (b + 2 * sign * d + g) / 4,
            (a + 3 * sign * c + 3 * e + sign * h) / 8,
        )

    return jet


def _by_two(x: Any, kind: str) -> bool:
    """Whether two orders do: near zero the equation cancels, for points and for J."""
    if x.contains(0):
        return False
    return not (x.is_exact() or kind == "j") or bool(abs(x) > 1)


def _by_equation(x: Any, n: Any, v: Any, above: Any, sign: int) -> tuple[Any, ...]:
    """Derivatives from two orders and the differential equation: DLMF 10.2.1, 10.25.1."""
    square = n * n / (x * x)
    d = n / x * v + sign * above
    c = (sign + square) * v - d / x
    return v, d, c, d / (x * x) - c / x + (sign + square) * d - 2 * square / x * v


def _whole(kind: str, sign: int, order: int) -> Any:
    """The same for order zero or one, by functions of orders zero to four."""
    # f(-n) = (-1)**n f(n) with sign -1, f(n) with sign 1: DLMF 10.4.1, 10.27.1
    flip = sign

    def jet(x: Any) -> tuple[Any, ...]:
        f = getattr(x, "bessel_" + kind)
        one = type(x)(1)
        if is_far(x, order):
            return cylinder(kind, order, x)
        if _by_two(x, kind):
            n = order * one
            return _by_equation(x, n, f(n), f(n + 1), sign)
        a, b, c = f(0 * one), f(one), f(2 * one)
        if order == 0:
            return (
                a,
                flip * b,
                (sign * a + c) / 2,
                (3 * b + sign * f(3 * one)) * flip / 4 * sign,
            )
        d = f(3 * one)
        return (
            b,
            (a + sign * c) / 2,
            (3 * sign * b + d) / 4,
            (3 * sign * a + 4 * c + sign * f(4 * one)) / 8,
        )

    return jet


def _wave(
    name: str, jet: Any, x: Pair, order: int, bounds: Any, constants: Any = ()
) -> list[Pair]:
    lo, hi = np.ravel(x[0]), np.ravel(x[1])
    shape = np.shape(x[0])
    found = [
        (np.full(lo.shape, a), np.full(lo.shape, b)) for a, b in bounds[: order + 1]
    ]
    near = np.flatnonzero(
        (np.abs(lo) <= _MOST) & (np.abs(hi) <= _MOST) | ((lo == hi) & np.isfinite(lo))
    )
    if near.size:
        given = wave_ranges(
            name,
            jet,
            (lo[near], hi[near]),
            order + 1,
            [c[near] for c in constants],
            bounds,
        )
        for pair, (low, high) in zip(found, given, strict=True):
            pair[0][near], pair[1][near] = low, high
    return [(a.reshape(shape)[()], b.reshape(shape)[()]) for a, b in found]


_UNIT = ((-1.0, 1.0),) * 3  # |J| <= 1 and so its derivatives: DLMF 10.9.2
_LINE = ((-inf, inf),) * 3


@encloses("j0")
def _j0(pattern: int, x: Pair, order: int) -> Enclosed:
    v, *parts = _wave("j0", _whole("j", -1, 0), x, order, _UNIT)
    return Enclosed(v, tuple(parts), endless(x))


@encloses("j1")
def _j1(pattern: int, x: Pair, order: int) -> Enclosed:
    v, *parts = _wave("j1", _whole("j", -1, 1), x, order, _UNIT)
    return Enclosed(v, tuple(parts), endless(x))


def _second_kind(name: str, n: int) -> None:
    jet = _whole("y", -1, n)

    @encloses(name)
    def enclose(pattern: int, x: Pair, order: int) -> Enclosed:
        return _right(name, jet, x, order)


def _right(name: str, jet: Any, x: Pair, order: int, constants: Any = ()) -> Enclosed:
    """A wave right of zero."""
    inside = x[0] > 0.0
    safe = np.where(inside, x[0], 1.0), np.where(inside, x[1], 1.0)
    found = _wave(name, jet, safe, order, _LINE, constants)
    line = (np.full_like(safe[0], -inf), np.full_like(safe[0], inf))
    v, *parts = (ow.where(inside, pair, line) for pair in found)
    return Enclosed(v, tuple(parts), None if np.all(inside) else ~inside)


_second_kind("y0", 0)
_second_kind("y1", 1)


def _modified(kind: str, order: int, weight: int) -> Any:
    """Jets of ``exp(weight x)`` times ``I`` or ``K`` of that order, scaled if weighted."""
    sign = 1 if kind == "i" else -1

    def jet(x: Any) -> tuple[Any, ...]:
        one = 0 * x + 1
        f = getattr(x, "bessel_" + kind)
        a, b, c, d = (f(k * one, scaled=bool(weight)) for k in range(4))
        if order == 0:
            v, d1, d2 = a, sign * b, (a + c) / 2
        else:
            v, d1, d2 = b, sign * (a + c) / 2, (3 * b + d) / 4
        w = weight
        return v, d1 + w * v, d2 + 2 * w * d1 + w * w * v

    return jet


for _shape in (
    Shape(
        "i0",
        _modified("i", 0, 0),
        ((0.0,), (), (0.0,)),
        {-inf: (inf, -inf, inf), inf: (inf, inf, inf)},
        open=(True, True),
        reach=_FAR,
    ),
    Shape(
        "i1",
        _modified("i", 1, 0),
        ((), (0.0,), ()),
        {-inf: (-inf, inf, -inf), inf: (inf, inf, inf)},
        open=(True, True),
        reach=_FAR,
    ),
):
    add_shape(_shape)
for _name, _order, _weight in (
    ("k0", 0, 0),
    ("k1", 1, 0),
    ("k0e", 0, 1),
    ("k1e", 1, 1),
):
    # Integrals of exp(-x (cosh t - weight)) cosh(order t): DLMF 10.32.9
    add_shape(
        Shape(
            _name,
            _modified("k", _order, _weight),
            limits={0.0: (inf, -inf, inf), inf: (0.0, 0.0, 0.0)},
            domain=(0.0, inf),
            open=(True, False),
            reach=(0.0, inf if _weight else 1e4),
        )
    )

_HALF_LIMITS = {inf: (0.0, 0.0, 0.0)}
# Integrals of exp(-x (1 - cos t)): DLMF 10.32.3
_I0E = Shape(
    "i0e",
    _modified("i", 0, -1),
    limits={0.0: (1.0, -1.0, 1.5), **_HALF_LIMITS},
    domain=(0.0, inf),
)
_I1E = Shape(
    "i1e",
    _modified("i", 1, -1),
    (
        ("1.54512725799254268616394033609821461003421048",),
        ("2.781492935347947078601999578791474854384743",),
        ("3.91785960790435017615678796273055852934285382",),
    ),
    {0.0: (0.0, 0.5, -1.0), **_HALF_LIMITS},
    domain=(0.0, inf),
)


@encloses("i0e")
def _i0e(pattern: int, x: Pair, order: int) -> Enclosed:
    return _mirrored(_I0E, x, order, (1, -1, 1))


@encloses("i1e")
def _i1e(pattern: int, x: Pair, order: int) -> Enclosed:
    return _mirrored(_I1E, x, order, (-1, 1, -1))


def _mirrored(shape: Shape, x: Pair, order: int, parity: tuple[int, ...]) -> Enclosed:
    """A function of ``|x|``, even or odd, smooth on either side of its kink at zero."""
    right = np.maximum(x[0], 0.0), np.maximum(x[1], 0.0)
    left = np.maximum(0.0 - x[1], 0.0), np.maximum(0.0 - x[0], 0.0)
    one = enclose_shape(shape, right, order)
    other = enclose_shape(shape, left, order)
    pairs = []
    for k, sign in enumerate(parity[: order + 1]):
        p = one.value if k == 0 else one.parts[k - 1]
        q = other.value if k == 0 else other.parts[k - 1]
        q = q if sign > 0 else ow.negative(q)  # type: ignore[arg-type]
        both = ow.hull(p, q)  # type: ignore[arg-type]
        pairs.append(ow.where(x[0] > 0.0, p, ow.where(x[1] < 0.0, q, both)))  # type: ignore[arg-type]
    kink = (x[0] <= 0.0) & (x[1] >= 0.0)
    return Enclosed(
        pairs[0], tuple(pairs[1:]), endless(x), kink if np.any(kink) else None
    )


def _with_order(name: str, kind: str, sign: int) -> None:
    jet = _of_order(kind, sign)

    @encloses(name)
    def enclose(pattern: int, n: Pair, x: Pair, order: int) -> Enclosed:
        constant_order(name, pattern, n, order)
        whole = n[0] == np.floor(n[0])
        inside = (x[0] > 0.0) | (whole & np.isfinite(x[0]) & np.isfinite(x[1]))
        if kind == "y":
            inside = x[0] > 0.0
        safe = np.where(inside, x[0], 1.0), np.where(inside, x[1], 1.0)
        found = _wave(name, jet, safe, order, _LINE, (np.ravel(n[0]),))
        line = (np.full_like(safe[0], -inf), np.full_like(safe[0], inf))
        v, *parts = (ow.where(inside, pair, line) for pair in found)
        return Enclosed(v, tuple(parts), None if np.all(inside) else ~inside)


_with_order("jv", "j", -1)
_with_order("yv", "y", -1)


@encloses("iv")
def _iv(pattern: int, n: Pair, x: Pair, order: int) -> Enclosed:
    """A power series of positive terms, whose derivatives have them too if of whole order.

    So do those of orders from two on; between, the first terms alone change signs.
    """
    constant_order("iv", pattern, n, order)
    whole = n[0] == np.floor(n[0])
    finite = np.isfinite(x[0]) & np.isfinite(x[1])
    inside = (x[0] > 0.0) | (whole & finite)
    size = ow.absolute(x)
    near = (np.minimum(size[0], 1e4), np.minimum(size[1], 1e4))
    far = size[1] > near[1]
    regular = inside & (whole | (near[0] > 0.0))
    safe = np.where(regular, near[0], 1.0), np.where(regular, near[1], 1.0)
    orders = np.where(regular, n[0], 0.0)
    rising = ((1, 1),) * 3
    jet = _of_order("i", 1)
    v, d, c = monotone("iv", lambda k, t: jet(t, k)[:3], rising, (orders, orders), safe)
    v, d, c = ((low, np.where(far, inf, high)) for low, high in (v, d, c))
    point = x[0] == x[1]
    # Of other orders below two, no more than signs is known of boxes.
    low = ~whole & (orders < 2.0) & ~point
    if np.any(low):
        bottom = np.where(orders > 0.0, 0.0, -inf)
        v = ow.where(low & (orders < 0.0), (bottom, np.full_like(bottom, inf)), v)
        d = ow.where(low, (bottom, np.full_like(bottom, inf)), d)
        c = ow.where(low, (np.full_like(bottom, -inf), np.full_like(bottom, inf)), c)
    odd = np.where(whole, np.fmod(n[0], 2.0) != 0.0, False)
    v, d, c = (
        _folded(pair, x, odd if k != 1 else ~odd) for k, pair in enumerate((v, d, c))
    )
    line = (np.full_like(v[0], -inf), np.full_like(v[0], inf))
    v, d, c = (ow.where(regular, pair, line) for pair in (v, d, c))
    return Enclosed(v, (d, c), None if np.all(inside) else ~inside)


def _folded(pair: Pair, x: Pair, odd: Any) -> Pair:
    """The range over ``x`` of an even or odd function that rises with ``|x|`` from there."""
    flipped = ow.where(odd & (x[1] <= 0.0), ow.negative(pair), pair)
    straddles = odd & (x[0] < 0.0) & (x[1] > 0.0)
    return ow.where(straddles, (0.0 - pair[1], pair[1]), flipped)


def _kv_jet(n: Any, x: Any) -> tuple[Any, ...]:
    a, b, c, d, e = (x.bessel_k(n + k) for k in range(-2, 3))
    return c, -(b + d) / 2, (a + 2 * c + e) / 4


@encloses("kv")
def _kv(pattern: int, n: Pair, x: Pair, order: int) -> Enclosed:
    constant_order("kv", pattern, n, order)
    inside = x[0] > 0.0
    ends = [np.where(inside, np.minimum(end, 1e4), 1.0) for end in x]
    v, d, c = monotone(
        "kv", _kv_jet, ((1, -1), (1, 1), (1, -1)), (n[0], n[0]), (ends[0], ends[1])
    )
    far = x[1] > 1e4
    v, c = (np.where(far, 0.0, v[0]), v[1]), (np.where(far, 0.0, c[0]), c[1])
    d = d[0], np.where(far, 0.0, d[1])
    line = (np.full_like(ends[0], -inf), np.full_like(ends[0], inf))
    v, d, c = (ow.where(inside, pair, line) for pair in (v, d, c))
    return Enclosed(v, (d, c), None if np.all(inside) else ~inside)
