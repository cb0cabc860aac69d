"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from math import inf
from typing import Any

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._fast import Fast
from ._registry import add_shape
from ._shapes import Shape

__all__: list[str] = []

_FAR = (-1e4, 1e4)
_ONE = ow.point(1.0)
_INFLECTION = "0.658478948462408354312523173653984222013490985733750"
_ROOT_HALF = "0.707106781186547524400844362104849039284835937688474"


def _sinh(x: Any) -> tuple[Any, ...]:
    s, c = x.sinh_cosh()
    return s, c, s


def _cosh(x: Any) -> tuple[Any, ...]:
    s, c = x.sinh_cosh()
    return c, s, c


def _tanh(x: Any) -> tuple[Any, ...]:
    v, s = x.tanh(), x.sech()
    d = s * s
    return v, d, -2 * v * d


def _arcsinh(x: Any) -> tuple[Any, ...]:
    q = 1 / (1 + x * x)
    d = q.sqrt()
    return x.asinh(), d, -x * q * d


def _arccosh(x: Any) -> tuple[Any, ...]:
    q = 1 / ((x - 1) * (x + 1))
    d = q.sqrt()
    return x.acosh(), d, -x * q * d


def _arctanh(x: Any) -> tuple[Any, ...]:
    d = 1 / ((1 - x) * (1 + x))
    return x.atanh(), d, 2 * x * d * d


def _sinh_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    s = f.sinh(x)
    return s, f.cosh(x), s


def _cosh_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    c = f.cosh(x)
    return c, f.sinh(x), c


def _tanh_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    # 1 - v**2 would vanish in the tails.
    v, d = f.tanh(x), ow.square(ow.reciprocal(f.cosh(x)))
    return v, d, ow.multiply(ow.multiply(ow.point(-2.0), v), d)


def _arctanh_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    d = ow.reciprocal(ow.multiply(ow.subtract(_ONE, x), ow.add(_ONE, x)))
    return f.atanh(x), d, ow.multiply(ow.add(x, x), ow.square(d))


for _shape in (
    Shape(
        "sinh",
        _sinh,
        ((), (0.0,), ()),
        {-inf: (-inf, inf, -inf), inf: (inf, inf, inf)},
        reach=_FAR,
        quick=_sinh_quick,
    ),
    Shape(
        "cosh",
        _cosh,
        ((0.0,), (), (0.0,)),
        {-inf: (inf, -inf, inf), inf: (inf, inf, inf)},
        reach=_FAR,
        quick=_cosh_quick,
    ),
    Shape(
        "tanh",
        _tanh,
        ((), (0.0,), ("-" + _INFLECTION, _INFLECTION)),
        {-inf: (-1.0, 0.0, 0.0), inf: (1.0, 0.0, 0.0)},
        reach=_FAR,
        quick=_tanh_quick,
    ),
    Shape(
        "arcsinh",
        _arcsinh,
        ((), (0.0,), ("-" + _ROOT_HALF, _ROOT_HALF)),
        {-inf: (-inf, 0.0, 0.0), inf: (inf, 0.0, 0.0)},
    ),
    Shape(
        "arccosh",
        _arccosh,
        limits={1.0: (0.0, inf, -inf), inf: (inf, 0.0, 0.0)},
        domain=(1.0, inf),
        open=(True, False),
    ),
    Shape(
        "arctanh",
        _arctanh,
        ((), (0.0,), ()),
        {-1.0: (-inf, inf, -inf), 1.0: (inf, inf, inf)},
        domain=(-1.0, 1.0),
        open=(True, True),
        quick=_arctanh_quick,
    ),
):
    add_shape(_shape)
