"""Where elementals of complex operands are holomorphic: off the cuts as NumPy has them.

Operands on a cut count as outside whatever the sign of their zero part: the value is
continuous there from one side only.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "off_imaginary",
    "off_left",
    "off_negative",
    "off_outer_reals",
    "off_upto_one",
]


def off_left(xp: Any, x: Any, end: float) -> Any:
    """Off the real half line up to ``end``; NaN is outside."""
    return (xp.imag(x) != 0.0) & (x == x) | (xp.real(x) > end)


def off_negative(xp: Any, x: Any) -> Any:
    """Off the cut of the logarithm and of roots."""
    return off_left(xp, x, 0.0)


def off_upto_one(xp: Any, x: Any) -> Any:
    """Off the cut of arccosh."""
    return off_left(xp, x, 1.0)


def off_outer_reals(xp: Any, x: Any) -> Any:
    """Off the cuts of arcsin, arccos and arctanh."""
    return (xp.imag(x) != 0.0) & (x == x) | (xp.abs(xp.real(x)) < 1.0)


def off_imaginary(xp: Any, x: Any) -> Any:
    """Off the cuts of arctan and arcsinh."""
    return (xp.real(x) != 0.0) & (x == x) | (xp.abs(xp.imag(x)) < 1.0)
