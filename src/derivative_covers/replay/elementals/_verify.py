"""A look at whether generated text says what the rule says, at a few points.

A rule may do what leaves no trace: branch on the type of an operand, or on something
that is no operand. Such an elemental is not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...elementals import Elemental
from ._scalars import PLAIN
from ._trace import Traced, rule_of

__all__ = ["agrees"]

_X = np.array([0.3, 1.7, -0.6, 5.0, -23.0, 0.0, 1e-3, 2.5, 0.96])
_Y = np.array([1.9, 0.4, 3.0, -2.0, 0.7, 1.3, 40.0, 2.5, 1e-2])


def agrees(
    code: Any, op: Elemental, traced: Traced, const: float | None = None
) -> bool:
    """Whether the expressions are those of the rules, run uncompiled on both sides."""
    pattern = traced.pattern
    scope: dict[str, Any] = dict(PLAIN)
    exec(code, scope)
    x, y = _X, _X if pattern == 6 else _Y
    given: list[Any] = [x] if op.arity == 1 else [x, y]
    if const is not None:
        given[1 if pattern == 2 else 0] = np.float64(const)
    rule = rule_of(op, pattern)
    with np.errstate(all="ignore"):
        v = np.asarray(op.value(np, *given), dtype=np.float64)
        parts = list(rule.partials(np, *given, v))
        if pattern == 6 and op.arity == 2:
            d1, d2, c11, c12, c22 = parts
            parts = [d1 + d2, c11 + 2.0 * c12 + c22]
        good = np.ones(x.shape, dtype=bool)
        if rule.domain is not None:
            good &= rule.domain(np, *given)
        if rule.kink is not None:
            good &= ~np.asarray(rule.kink(np, *given))
        if pattern == 6 and traced.tie:
            good[:] = True
        expected = [v, *parts, good]
        points = [np.broadcast_to(g, x.shape) for g in (x, y if len(given) > 1 else x)]
        rows = []
        for a, b, w in zip(*points, v, strict=True):
            value = scope["value"](a, b)
            partials = (*scope["first"](a, b, w), *scope["second"](a, b, w))
            rows.append((*value, *partials, *scope["good"](a, b)))
        return all(
            _close(np.broadcast_to(np.asarray(e), x.shape), np.array(f))
            for e, f in zip(expected, zip(*rows, strict=True), strict=True)
        )


def _close(e: Any, f: Any) -> bool:
    e, f = e.astype(np.float64), f.astype(np.float64)
    near = np.abs(e - f) <= 1e-6 * np.maximum(np.abs(e), np.abs(f)) + 1e-300
    return bool(np.all((e == f) | near | ((e != e) & (f != f))))
