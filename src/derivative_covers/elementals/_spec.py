"""What an elemental states about itself: one rule, usable in every namespace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

__all__ = ["Elemental", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Derivatives of an elemental with respect to its differentiated operands.

    Every callable takes the array namespace ``xp`` first (``numpy``, ``jax.numpy``,
    an interval module, ...), then the operands, elementwise and of one shape.

    Attributes:
        partials: ``partials(xp, x, v)`` gives ``(d, c)`` and ``partials(xp, x, y, v)``
            gives ``(d1, d2, c11, c12, c22)``, where ``v`` is the stored value. With one
            operand held fixed, ``partials(xp, x, y, v)`` gives ``(d, c)`` for the other.
            An entry may be a Python float where it does not depend on the operands.
        domain: ``domain(xp, *operands)`` is true inside the open set where the elemental
            is twice continuously differentiable, kinks aside. None: everywhere.
        kink: ``kink(xp, *operands)`` is true exactly at kinks, jumps and ties. None:
            there are none.
        holomorphic: The rule for complex operands: True where this one holds as it
            stands; another rule, whose ``domain`` is where the elemental is
            holomorphic; False where it is not, or NumPy has no complex version.
    """

    partials: Callable[..., tuple[Any, ...]]
    domain: Callable[..., Any] | None = None
    kink: Callable[..., Any] | None = None
    holomorphic: Rule | bool = False

    @property
    def of_complex(self) -> Rule:
        """The rule for complex operands of an elemental that is holomorphic."""
        return self.holomorphic if isinstance(self.holomorphic, Rule) else self


@dataclass(frozen=True, slots=True)
class Elemental:
    """An elementary function of one or two operands.

    Attributes:
        name: The field's usual name, unique in the registry.
        arity: 1 or 2.
        value: ``value(xp, *operands)``: one call of the namespace where there is one.
        rule: Derivatives in all operands.
        first: For arity 2: derivatives in the first operand, the second held constant;
            None derives them from ``rule``.
        second: The same with the roles exchanged.
        ufuncs: Names of the NumPy ufuncs it answers to; those of ``scipy.special`` are
            written ``"special.erf"``, an output of one with several
            ``"special.sici[0]"``.
        source: Where the formulas come from.
    """

    name: str
    arity: int
    value: Callable[..., Any]
    rule: Rule
    source: str
    ufuncs: tuple[str, ...] = ()
    first: Rule | None = None
    second: Rule | None = None

    @property
    def holomorphic(self) -> bool:
        """Whether it can be recorded at complex points."""
        return self.rule.holomorphic is not False

    def rule_first(self) -> Rule:
        """Rule in the first operand, the second one a constant."""
        return self.first or _fix(self.rule, 0)

    def rule_second(self) -> Rule:
        """Rule in the second operand, the first one a constant."""
        return self.second or _fix(self.rule, 1)


@cache
def _fix(rule: Rule, slot: int) -> Rule:
    def partials(xp: Any, x: Any, y: Any, v: Any) -> tuple[Any, Any]:
        d1, d2, c11, _, c22 = rule.partials(xp, x, y, v)
        return (d1, c11) if slot == 0 else (d2, c22)

    other = rule.holomorphic
    if isinstance(other, Rule):
        other = _fix(other, slot)
    return Rule(partials, rule.domain, rule.kink, other)
