"""Constants written as decimals of at least forty digits, as intervals."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import inf, nextafter
from typing import Any

from ...elements._outward import Pair

__all__ = ["LN2", "LN10", "PI", "around", "ball"]


@cache
def around(text: str | float) -> Pair:
    """The doubles next to a decimal, which need not be one; the number itself if it is."""
    if isinstance(text, (int, float)):
        return float(text), float(text)
    exact = Fraction(text)
    near = float(exact)
    if near == exact:
        return near, near
    if near < exact:
        return near, nextafter(near, inf)
    return nextafter(near, -inf), near


def ball(flint: Any, text: str | float) -> Any:
    """A ball around the constant: its last digit may be off by one."""
    if isinstance(text, (int, float)):
        return flint.arb(text)
    exact = Fraction(text)
    if exact.denominator & (exact.denominator - 1) == 0:
        return flint.arb(float(exact))
    digits = len(text.partition(".")[2])
    return flint.arb(text, f"1e-{digits - 1}")


PI = around("3.141592653589793238462643383279502884197169399375")
LN2 = around("0.6931471805599453094172321214581765680755001343602")
LN10 = around("2.302585092994045684017991454684364207601101488628")
