"""NumPy's names for the natural interval extension of a rule.

A rule that is written once, in terms of an array namespace ``xp``, is enclosed by calling
it with this module and with :func:`lift` of its operands. Numbers are enclosed too:
``xp.log(2.0)`` and ``xp.pi`` are intervals here. A comparison that the intervals do not
decide is a :class:`Mask` with a third answer, and ``xp.where`` then takes the hull of
both branches; only what must know (``bool``, ``all``) raises UndecidedError.

Values beside the domain of ``/`` and ``sqrt`` are left to the rule's own test: a divisor
that contains zero gives a half line or the whole one, and a root is that of the members
that have one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from derivative_covers.elements import _outward as outward
from derivative_covers.elements._interval import Interval, pair
from derivative_covers.elements._interval_ufuncs import compare
from derivative_covers.elements._outward import Pair
from derivative_covers.errors import UndecidedError, UnsupportedOperationError

__all__ = ["Mask", "NaturalInterval", "asarray", "lift", "where"]


class NaturalInterval(Interval):
    """Intervals whose comparisons may stay open, for the evaluation of a rule."""

    __slots__ = ()

    def _compared(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if inputs[0] is inputs[1]:
            return super()._compared(ufunc, inputs)
        return _mask(*compare(ufunc, pair(inputs[0]), pair(inputs[1])))

    def _check_domain(self, ufunc: Any, operands: tuple[Pair, ...]) -> None:
        """The rule tests its domain itself."""


class Mask(NDArrayOperatorsMixin):
    """Answers that may be open.

    Attributes:
        yes: Where the answer is true for all members.
        no: Where it is true for none.
    """

    __slots__ = ("no", "yes")

    def __init__(self, yes: Any, no: Any) -> None:
        self.yes, self.no = yes, no

    shape = property(lambda self: np.shape(self.yes))

    def __getitem__(self, key: Any) -> Any:
        return _mask(self.yes[key], self.no[key])

    def __bool__(self) -> bool:
        if np.any(~(self.yes | self.no)):
            message = (
                "a condition holds for some members of an interval and not for others; "
                "make the intervals smaller, or write the choice with xp.where"
            )
            raise UndecidedError(message)
        return bool(self.yes)

    def all(self) -> bool:
        """Whether every answer is yes; decided by a single no."""
        return bool(Mask(np.all(self.yes), np.any(self.no)))

    def any(self) -> bool:
        """Whether some answer is yes; decided by a single yes."""
        return bool(Mask(np.any(self.yes), np.all(self.no)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        rule = _LOGIC.get(ufunc)
        if method != "__call__" or kw:
            message = f"{ufunc.__name__}.{method} of a condition on intervals"
            raise UnsupportedOperationError(message)
        if rule is None:  # a number: one where it holds, zero where not
            return ufunc(*(_number(x) if isinstance(x, Mask) else x for x in inputs))
        return _mask(*rule(*map(_answers, inputs)))

    def __array_function__(self, func: Any, types: Any, args: Any, kw: Any) -> Any:
        known: dict[Any, Any] = {np.where: where, np.all: Mask.all, np.any: Mask.any}
        rule = known.get(func)
        if rule is None:
            message = f"numpy.{func.__name__} of a condition on intervals"
            raise UnsupportedOperationError(message)
        return rule(*args, **kw)


def lift(x: Any) -> NaturalInterval:
    """Numbers, a pair of ends or an Interval as an operand of a rule."""
    ends = x if isinstance(x, tuple) else pair(x)
    lifted: NaturalInterval = NaturalInterval._wrap(ends)
    return lifted


def asarray(x: Any, dtype: Any = None) -> Any:
    """As numpy.asarray; intervals stay what they are."""
    return x if isinstance(x, Interval | Mask) else np.asarray(x, dtype=dtype)


def where(condition: Any, x: Any, y: Any) -> NaturalInterval:
    """As numpy.where; the hull of both branches where the condition is open."""
    yes, no = _answers(condition)
    x, y = pair(x), pair(y)
    found = outward.where(yes, x, outward.where(no, y, outward.hull(x, y)))
    return lift(found)


def _mask(yes: Any, no: Any) -> Any:
    """A plain answer where none is open."""
    return yes if np.all(yes | no) else Mask(yes, no)


def _answers(x: Any) -> tuple[Any, Any]:
    if isinstance(x, Mask):
        return x.yes, x.no
    if isinstance(x, Interval):
        return _answers(lift(x) != 0.0)
    yes = np.asarray(x, dtype=bool)[()]
    return yes, ~yes


def _number(x: Mask) -> NaturalInterval:
    return where(x, 1.0, 0.0)


def _both(x: Pair, y: Pair) -> Pair:
    return x[0] & y[0], x[1] | y[1]


def _either(x: Pair, y: Pair) -> Pair:
    return x[0] | y[0], x[1] & y[1]


def _opposite(x: Pair) -> Pair:
    return x[1], x[0]


def _one_of(x: Pair, y: Pair) -> Pair:
    return _either(_both(x, _opposite(y)), _both(_opposite(x), y))


_LOGIC: dict[Any, Any] = {
    np.bitwise_and: _both,
    np.logical_and: _both,
    np.bitwise_or: _either,
    np.logical_or: _either,
    np.bitwise_xor: _one_of,
    np.logical_xor: _one_of,
    np.invert: _opposite,
    np.logical_not: _opposite,
}

# math.pi and math.e lie below the numbers that they stand for.
_CONSTANTS = {"pi": math.pi, "e": math.e}


def __getattr__(name: str) -> Any:
    if name in _CONSTANTS:
        below = _CONSTANTS[name]
        found: Any = lift((np.float64(below), np.float64(math.nextafter(below, 4.0))))
    else:
        found = getattr(np, name)
        if isinstance(found, np.ufunc) and found not in _LOGIC:
            found = _lifting(found)
    globals()[name] = found
    return found


def _lifting(ufunc: Any) -> Any:
    """A ufunc that encloses also what it gives for plain numbers."""

    def call(*operands: Any) -> Any:
        if not any(isinstance(x, Interval | Mask) for x in operands):
            operands = (lift(operands[0]), *operands[1:])
        return ufunc(*operands)

    call.__name__ = ufunc.__name__
    return call
