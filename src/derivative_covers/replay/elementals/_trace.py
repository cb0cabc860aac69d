"""From an elemental and a pattern to the expressions that its functions are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...elementals import Elemental, Rule
from ...tape._generic import TIES
from ._namespace import Namespace
from ._symbols import Leaf, Symbol, dispatch, plain
from ._ufuncs import negation

__all__ = ["PATTERNS", "Traced", "rule_of", "sum_of", "trace"]

PATTERNS = range(7)
_XP = Namespace()


@dataclass(frozen=True, slots=True)
class Traced:
    """Expressions of an elemental: each a symbol or a constant.

    Attributes:
        pattern: As in :func:`..functions`.
        value: The value, of the operands ``x`` and ``y``.
        d1: First partials: one, or two for pattern 1, of ``x``, ``y`` and the stored ``v``.
        d2: The second of two; None elsewhere.
        c11: Second partials likewise.
        c12: The mixed one.
        c22: The last one.
        good: Whether a node is inside of the domain and off kinks.
        tie: Whether a node of twice the same operand is good whatever ``good`` says.
    """

    pattern: int
    value: Any
    d1: Any
    d2: Any
    c11: Any
    c12: Any
    c22: Any
    good: Any
    tie: bool

    @property
    def two(self) -> bool:
        """Whether there are two differentiated operands."""
        return self.pattern == 1

    @property
    def both(self) -> tuple[Any, Any]:
        """``(d, c)`` of two slots that meet in one operand, in the order of the kernels."""
        c = sum_of(sum_of(self.c11, sum_of(self.c12, self.c12)), self.c22)
        return sum_of(self.d1, self.d2), c

    @property
    def flat(self) -> bool:
        """Whether all second partials are zero."""
        # A symbol compared with a number is a symbol, so constants alone are asked.
        given = (self.c11, self.c12, self.c22)
        return not any(isinstance(c, Symbol) or (c or 0.0) != 0.0 for c in given)


def rule_of(op: Elemental, pattern: int) -> Rule:
    """The rule in the operands that a pattern differentiates."""
    if pattern in {0, 1, 6}:
        return op.rule
    return op.rule_first() if pattern in {2, 4} else op.rule_second()


def trace(op: Elemental, pattern: int, const: float | None = None) -> Traced:
    """Call the rules of an elemental with symbols.

    Args:
        op: The elemental.
        pattern: As in :func:`..functions`.
        const: The constant operand, where it is to be part of the expressions.

    Returns:
        The expressions.

    Raises:
        Exception: Whatever a rule raises that cannot be called with symbols.
    """
    rule = rule_of(op, pattern)
    x: Any = Leaf("X")
    y: Any = Leaf("Y")
    if const is not None:
        if pattern == 2:
            y = np.float64(const)
        else:
            x = np.float64(const)
    operands = (x,) if op.arity == 1 else (x, x if pattern == 6 else y)
    v = Leaf("V")
    with np.errstate(all="ignore"):
        value = _as_float(op.value(_XP, *operands))
        parts = tuple(_as_float(p) for p in rule.partials(_XP, *operands, v))
        good = True if rule.domain is None else _truth(rule.domain, operands)
        if rule.kink is not None:
            off = negation(_truth(rule.kink, operands))
            good = plain(dispatch["bitwise_and"](good, off))
    tie = op.name in TIES
    if pattern == 6:
        good = good if not tie else True
        if op.arity == 2:
            d1, d2, c11, c12, c22 = parts
            parts = Traced(1, value, d1, d2, c11, c12, c22, True, tie).both
    if pattern != 1:
        d, c = parts
        return Traced(pattern, value, d, None, c, None, None, good, tie)
    d1, d2, c11, c12, c22 = parts
    return Traced(pattern, value, d1, d2, c11, c12, c22, good, tie)


def _truth(test: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    return plain(dispatch["logical_not"](dispatch["logical_not"](test(_XP, *operands))))


def _as_float(x: Any) -> Any:
    x = plain(x)
    if isinstance(x, Symbol):
        return dispatch["positive"](x)
    return float(x)


def sum_of(x: Any, y: Any) -> Any:
    """A sum; a zero term may go, since no sign of a zero is ever read."""
    for one, other in ((x, y), (y, x)):
        if not isinstance(one, Symbol) and one == 0.0:
            return other
    return plain(dispatch["add"](x, y))
