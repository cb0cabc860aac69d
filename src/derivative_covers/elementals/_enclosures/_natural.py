"""Elementals of the user's own: the natural extension of their rules to intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...elements import Interval
from ...elements import _interval_namespace as xp
from ...elements._outward import Pair
from ...errors import (
    DerivativeError,
    DomainError,
    UndecidedError,
    UnsupportedOperationError,
)
from .._spec import Elemental, Rule
from ._enclosed import Enclosed

__all__ = ["enclose_naturally"]


def enclose_naturally(
    op: Elemental, pattern: int, operands: Sequence[Pair], order: int
) -> Enclosed:
    """Evaluate value and rules on intervals.

    Guarantee:
        As rigorous as the constants in the rules: a float that stands for another number,
        such as ``math.pi``, counts as what it is; ``xp.pi`` and ``xp.log(2.0)`` are
        enclosed.

    Raises:
        UnsupportedOperationError: If a rule uses a function that intervals do not have,
            or has to know how a comparison goes.
    """
    rule = (op.rule, op.rule, op.rule_first(), op.rule_second())[pattern]
    shape = np.shape(operands[0][0])
    try:
        try:
            return _evaluated(op, rule, operands, order)
        except DomainError:
            if not shape:
                return _nothing(rule, op, order)
        return _joined(op, rule, operands, order, shape)
    except (UndecidedError, UnsupportedOperationError, TypeError) as error:
        reason = str(error) if isinstance(error, DerivativeError) else repr(error)
        msg = (
            f"the elemental {op.name!r} has no enclosure over intervals: its rule, "
            f"evaluated on them, failed ({reason}). Write it with functions of xp and "
            "without branches, such as xp.where for if, make the box smaller, or register "
            "an enclosure with derivative_covers.extend.encloses."
        )
        raise UnsupportedOperationError(msg) from error


def _evaluated(
    op: Elemental, rule: Rule, operands: Sequence[Pair], order: int
) -> Enclosed:
    x = [xp.lift(Interval(*pair)) for pair in operands]
    v = op.value(xp, *x)
    parts = rule.partials(xp, *x, v) if order else ()
    shape = np.shape(operands[0][0])
    outside = kink = None
    if rule.domain is not None:
        outside = ~_answers(rule.domain(xp, *x), shape)[0]
    if rule.kink is not None:
        kink = ~_answers(rule.kink(xp, *x), shape)[1]
    return Enclosed(
        _ends(v, shape),
        tuple(_part(part, shape) for part in parts),
        outside if np.any(outside) else None,
        kink if np.any(kink) else None,
    )


def _answers(mask: Any, shape: Any) -> tuple[Any, Any]:
    """Where a test holds for all members, and where for none."""
    yes, no = (
        (mask.yes, mask.no) if isinstance(mask, xp.Mask) else (mask, ~np.asarray(mask))
    )
    return np.broadcast_to(yes, shape), np.broadcast_to(no, shape)


def _nothing(rule: Rule, op: Elemental, order: int) -> Enclosed:
    """What is known where some members have no value."""
    line = (np.float64(-np.inf), np.float64(np.inf))
    count = 0 if not order else 5 if rule is op.rule and op.arity == 2 else 2
    return Enclosed(line, (line,) * count, np.bool_(True))


def _ends(x: Any, shape: Any) -> Pair:
    lo, hi = (x.lo, x.hi) if isinstance(x, Interval) else (x, x)
    return tuple(
        np.array(np.broadcast_to(e, shape), dtype=np.float64)[()] for e in (lo, hi)
    )  # type: ignore[return-value]


def _part(x: Any, shape: Any) -> Pair | float:
    return float(x) if isinstance(x, (int, float)) else _ends(x, shape)


def _entry(op: Elemental, rule: Rule, x: Sequence[Pair], order: int) -> Enclosed:
    try:
        return _evaluated(op, rule, x, order)
    except DomainError:
        return _nothing(rule, op, order)


def _joined(
    op: Elemental, rule: Rule, operands: Sequence[Pair], order: int, shape: Any
) -> Enclosed:
    size = int(np.prod(shape))
    flat = [(np.ravel(lo), np.ravel(hi)) for lo, hi in operands]
    found = [
        _entry(op, rule, [(lo[k], hi[k]) for lo, hi in flat], order)
        for k in range(size)
    ]

    def join(pairs: Sequence[Any]) -> Pair:
        ends = [p if isinstance(p, tuple) else (p, p) for p in pairs]
        lo, hi = (np.array([e[k] for e in ends]).reshape(shape) for k in (0, 1))
        return lo, hi

    def mark(marks: Sequence[Any]) -> Any:
        mask = np.array([m is not None for m in marks]).reshape(shape)
        return mask if mask.any() else None

    parts = zip(*(f.parts for f in found), strict=True)
    return Enclosed(
        join([f.value for f in found]),
        tuple(join(p) for p in parts),
        mark([f.outside for f in found]),
        mark([f.kink for f in found]),
    )
