"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

from ._cuts import off_imaginary, off_outer_reals, off_upto_one
from ._spec import Elemental, Rule
from ._trigonometric import bell, squared_secant

__all__ = ["ELEMENTALS"]


def _tanh(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    # 1 - v * v would vanish in the tails; this is the squared hyperbolic secant.
    t = xp.exp(-xp.abs(x))
    p = 2.0 * t / (1.0 + t * t)
    d = p * p
    return d, -2.0 * v * d


def _arcsinh(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1.0 / xp.hypot(1.0, x)
    _, t = bell(xp, x)
    return d, -t * d


def _arccosh(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    # Two roots: the product x * x - 1 would overflow.
    d = 1.0 / (xp.sqrt(x - 1.0) * xp.sqrt(x + 1.0))
    return d, -(d / (x - 1.0)) / (1.0 + 1.0 / x)


def _arctanh(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1.0 / ((1.0 - x) * (1.0 + x))
    return d, 2.0 * x * d * d


def _complex_tanh(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = squared_secant(xp, x, xp.cosh(x))
    return d, -2.0 * v * d


def _complex_arcsinh(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    u = 1j * x
    d = 1.0 / (xp.sqrt(1.0 - u) * xp.sqrt(1.0 + u))
    return d, -(x * d) * (d * d)


def _complex_arccosh(xp: Any, x: Any, v: Any) -> tuple[Any, Any]:
    d = 1.0 / (xp.sqrt(x - 1.0) * xp.sqrt(x + 1.0))
    return d, -(x * d) * (d * d)


ELEMENTALS = (
    Elemental(
        "sinh",
        1,
        lambda xp, x: xp.sinh(x),
        Rule(lambda xp, x, v: (xp.cosh(x), v), holomorphic=True),
        "DLMF 4.34",
        ("sinh",),
    ),
    Elemental(
        "cosh",
        1,
        lambda xp, x: xp.cosh(x),
        Rule(lambda xp, x, v: (xp.sinh(x), v), holomorphic=True),
        "DLMF 4.34",
        ("cosh",),
    ),
    Elemental(
        "tanh",
        1,
        lambda xp, x: xp.tanh(x),
        Rule(_tanh, holomorphic=Rule(_complex_tanh)),
        "DLMF 4.34",
        ("tanh",),
    ),
    Elemental(
        "arcsinh",
        1,
        lambda xp, x: xp.arcsinh(x),
        Rule(_arcsinh, holomorphic=Rule(_complex_arcsinh, off_imaginary)),
        "DLMF 4.38(ii)",
        ("arcsinh",),
    ),
    Elemental(
        "arccosh",
        1,
        lambda xp, x: xp.arccosh(x),
        Rule(
            _arccosh,
            lambda xp, x: x > 1.0,
            holomorphic=Rule(_complex_arccosh, off_upto_one),
        ),
        "DLMF 4.38(ii)",
        ("arccosh",),
    ),
    Elemental(
        "arctanh",
        1,
        lambda xp, x: xp.arctanh(x),
        Rule(
            _arctanh,
            lambda xp, x: xp.abs(x) < 1.0,
            holomorphic=Rule(_arctanh, off_outer_reals),
        ),
        "DLMF 4.38(ii)",
        ("arctanh",),
    ),
)
