"""Numbers of many digits that programs of NumPy's functions run on, as object arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import flint
import numpy as np

__all__ = ["Ball", "Rational", "balls", "rationals"]

BITS = 400
NAMES = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}


class Number(ABC):
    """A real number ``v``, with the operators and methods that NumPy calls."""

    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v

    @classmethod
    def of(cls, x: Any) -> Any:
        return x.v if isinstance(x, Number) else cls.plain(x)

    @staticmethod
    @abstractmethod
    def plain(x: Any) -> Any:
        """The exact number that a plain one is."""

    def _two(self, other: Any, f: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        with flint.ctx.workprec(BITS):
            return type(self)(f(self.v, self.of(other)))

    def __add__(self, other: Any) -> Any:
        return self._two(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._two(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._two(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._two(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return self._two(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._two(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, (int, float)) and float(other).is_integer():
            return self._two(1, lambda a, _: a ** int(other))
        return self._two(other, lambda a, b: a**b)

    def __rpow__(self, other: Any) -> Any:
        return self._two(other, lambda a, b: b**a)

    def __neg__(self) -> Any:
        return type(self)(-self.v)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return -self if self.v < 0 else self

    def __lt__(self, other: Any) -> bool:
        return bool(self.v < self.of(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.v <= self.of(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.v > self.of(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.v >= self.of(other))

    def __eq__(self, other: object) -> bool:
        return bool(self.v == self.of(other))

    def __hash__(self) -> int:
        return hash(self.v)

    def conjugate(self) -> Any:
        return self


class Rational(Number):
    """A rational number: programs of ``+ - * /`` and whole powers are exact."""

    plain = staticmethod(Fraction)

    def within(self, lo: float, hi: float) -> bool:
        below = lo == -np.inf or Fraction(lo) <= self.v
        return below and (hi == np.inf or self.v <= Fraction(hi))


class Ball(Number):
    """A ball of hundreds of bits around a real number."""

    @staticmethod
    def plain(x: Any) -> Any:
        return flint.arb(float(x)) if not isinstance(x, int) else flint.arb(x)

    def within(self, lo: float, hi: float) -> bool:
        """Whether it may lie there: the ball is far smaller than any float's step."""
        assert self.v.is_finite()
        with flint.ctx.workprec(BITS):
            return not (self.v < flint.arb(lo) or self.v > flint.arb(hi))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.v, NAMES.get(name, name), None)
        if found is None or name.startswith("_"):
            raise AttributeError(name)

        def method() -> Any:
            with flint.ctx.workprec(BITS):
                return Ball(found())

        return method

    def _with(self, f: Any) -> Any:
        with flint.ctx.workprec(BITS):
            return Ball(f(self.v))

    def exp2(self) -> Any:
        return self._with(lambda v: flint.arb(2) ** v)

    def log2(self) -> Any:
        return self._with(lambda v: v.log() / flint.arb(2).log())

    def log10(self) -> Any:
        return self._with(lambda v: v.log() / flint.arb(10).log())

    def cbrt(self) -> Any:
        return self._with(lambda v: v.root(3))

    def deg2rad(self) -> Any:
        return self._with(lambda v: v * flint.arb.pi() / 180)

    def rad2deg(self) -> Any:
        return self._with(lambda v: v * 180 / flint.arb.pi())

    def logaddexp(self, other: Any) -> Any:
        return self._two(other, lambda a, b: (a.exp() + b.exp()).log())

    def arctan2(self, other: Any) -> Any:
        return self._two(other, lambda a, b: flint.arb.atan2(a, b))


def rationals(x: Any) -> Any:
    """An array of floats as exact rationals."""
    return np.vectorize(lambda e: Rational(Fraction(float(e))), otypes=[object])(x)


def balls(x: Any) -> Any:
    """An array of floats as balls."""
    return np.vectorize(lambda e: Ball(flint.arb(float(e))), otypes=[object])(x)
