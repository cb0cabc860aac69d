"""The check of number types: known ones pass, each kind of fault is caught."""

from __future__ import annotations

import decimal
from fractions import Fraction as F

import flint
import mpmath
import pytest

from derivative_covers.errors import InputTypeError
from derivative_covers.extend import (
    Upward,
    boundtype,
    converted,
    decided_one,
    decided_sign,
    decided_zero,
    is_defined,
    magnitude,
    magtype,
    namespace,
    separation,
)
from derivative_covers.testing import ConformanceError, check_element

FAULTS = {
    "conversion": "keep the float",
    "integers": "keep the integer",
    "sign": "decided_sign",
    "sign of sets": "decided_sign of .* members",
    "one": "decided_one",
    "zero": "decided_zero",
    "magnitude": "magnitude of .* too small",
    "separation": "separation of .* more than",
    "sum": r"x \+ y gives",
    "product": r"x \* y gives",
    "quotient": "x / y gives",
    "power": r"x\*\*2 gives",
    "type": "not the type itself",
    "division": "1 / 0",
    "boundtype": "boundtype is not Upward",
    "magtype": "is of type int, not Fraction",
    "exp": "exp.* gives",
    "undefined": r"x \+ 1 .* is not defined",
}


def ranges(fault=None):
    """A fresh type of closed ranges of Fractions, with one fault."""

    class Range:
        def __init__(self, lo, hi=None):
            self.lo, self.hi = F(lo), F(lo if hi is None else hi)

        def __repr__(self):
            return f"Range({self.lo}, {self.hi})"

        def __float__(self):
            return float((self.lo + self.hi) / 2)

        def __neg__(self):
            return Range(-self.hi, -self.lo)

        def __abs__(self):
            if self.lo >= 0 or self.hi <= 0:
                return self if self.lo >= 0 else -self
            return Range(0, max(-self.lo, self.hi))

        def __add__(self, other):
            y = lift(other)
            if y is NotImplemented:
                return y
            return Range(self.lo + y.lo, self.hi + (y.lo if fault == "sum" else y.hi))

        def __sub__(self, other):
            y = lift(other)
            return self + -y

        def __rsub__(self, other):
            return -self + other

        def __mul__(self, other):
            y = lift(other)
            if y is NotImplemented:
                return y
            four = [a * b for a in (self.lo, self.hi) for b in (y.lo, y.hi)]
            if fault == "product":
                four = [self.lo * y.lo, self.hi * y.hi]
            if fault == "type":
                return float(min(four))
            return Range(min(four), max(four))

        def __truediv__(self, other):
            y = lift(other)
            if y.lo <= 0 <= y.hi:
                if fault == "division":
                    return Range(0)
                raise ZeroDivisionError
            r = Range(1 / y.hi, 1 / y.hi if fault == "quotient" else 1 / y.lo)
            return self * r

        def __rtruediv__(self, other):
            return lift(other) / self

        def __pow__(self, n):
            if n < 0:
                return 1 / self ** (-n)
            base = abs(self) if n % 2 == 0 and fault != "power" else self
            return Range(base.lo**n, base.hi**n) if base.lo <= base.hi else base

        __radd__, __rmul__ = __add__, __mul__

    def lift(x):
        if isinstance(x, Range):
            return x
        return Range(x) if isinstance(x, int) else NotImplemented

    @magnitude.register(Range)
    def _(x):
        if fault == "magtype":
            return int(max(abs(x.lo), abs(x.hi))) + 1
        size = max(abs(x.lo), abs(x.hi))
        return size / 2 if fault == "magnitude" else size

    if fault == "undefined":
        is_defined.register(Range)(lambda x: x.lo == x.hi)
    magtype.register(Range)(lambda T: F)
    boundtype.register(Range)(lambda T: F if fault == "boundtype" else Upward)

    @decided_sign.register(Range)
    def _(x):
        middle = fault == "sign of sets"
        lo, hi = ((x.lo + x.hi) / 2,) * 2 if middle else (x.lo, x.hi)
        if fault == "sign":
            return 1
        return int(lo > 0) - int(hi < 0)

    @decided_one.register(Range)
    def _(x):
        return x.lo <= 1 <= x.hi if fault == "one" else x.lo == x.hi == 1

    @decided_zero.register(Range)
    def _(x):
        return abs(x.lo) < 1e-30 if fault == "zero" else x.lo == x.hi == 0

    @separation.register(Range)
    def _(x, y):
        far = abs(x.lo - y.lo)
        return far if fault == "separation" else max(x.lo - y.hi, y.lo - x.hi, F(0))

    @converted.register(Range)
    def _(T, x):
        if fault == "conversion":
            return Range(F(x).limit_denominator(10**6))
        return Range(F(float(x)) if fault == "integers" else F(x))

    @namespace.register(Range)
    def _(T):
        return {"exp": lambda x: Range(1 + x.lo, 1 + x.hi)} if fault == "exp" else {}

    return Range


def check_ranges(fault=None):
    Range = ranges(fault)
    check_element(
        Range,
        [
            Range(F(1, 3), F(1, 2)),
            Range(-2, 1),
            Range(F(9, 10), F(11, 10)),
            Range(-1, 3),
        ],
        members=lambda x: [x.lo, (x.lo + 2 * x.hi) / 3, x.hi],
        holds=lambda x, q: x.lo <= q <= x.hi,
    )


def test_known_types_pass():
    check_ranges()
    check_element(F, [F(1, 3), F(-7, 5)])
    for digits in (15, 40):
        with mpmath.workdps(digits):
            check_element(mpmath.mpf, [mpmath.mpf(1) / 3], rtol=1e-12)
    check_element(
        flint.arb,
        [flint.arb(1) / 3, flint.arb(0, 1), flint.arb(-3, 0.25), flint.arb(1, 0.125)],
        members=_some,
        holds=lambda x, q: x.overlaps(
            flint.arb(flint.fmpq(q.numerator, q.denominator))
        ),
    )


def _some(x):
    inside = [float(x.mid())]
    radius = float(x.rad())
    return inside + [inside[0] + s * 0.75 * radius for s in (-1, 1) if radius > 0.01]


@pytest.mark.parametrize("fault", FAULTS)
def test_each_kind_of_fault_is_caught(fault):
    with pytest.raises(ConformanceError, match=FAULTS[fault]):
        check_ranges(fault)


def test_what_is_not_registered_is_named():
    with pytest.raises(ConformanceError) as caught:
        check_element(decimal.Decimal)
    for name in ("magnitude", "magtype", "converted", "namespace", "separation"):
        assert name in str(caught.value)
    with pytest.raises(InputTypeError, match="holds"):
        check_element(F, members=lambda x: [x])
    with pytest.raises(InputTypeError, match="sample"):
        check_element(F, [0.5])
