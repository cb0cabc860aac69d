"""Elementals that are not compiled: their nodes are left to NumPy and the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._tables import Outside, Tables
from .kernels._kinds import COVER, SECOND, X

__all__ = ["reverse", "tangent", "value"]


def _of(t: Tables, k: int) -> Outside:
    return t.outside[int(t.code[k, X])]


def _operands(each: Outside, p: Any) -> tuple[Any, ...]:
    x = p[each.x]
    if each.y is None:
        return (x,)
    y = p[each.y]
    # Rules are faster, and exact more often, for one constant.
    if each.pattern == 2 and (y == y[0]).all():
        y = y[0]
    if each.pattern == 3 and (x == x[0]).all():
        x = x[0]
    return x, y


def _rule(each: Outside) -> Any:
    op = each.op
    if each.pattern <= 1:
        return op.rule
    return op.rule_first() if each.pattern == 2 else op.rule_second()


def _columns(each: Outside, p: Any) -> tuple[Any, ...]:
    n = each.x.size
    v = p[each.o : each.o + n]
    found = _rule(each).partials(np, *_operands(each, p), v)
    return tuple(np.broadcast_to(np.asarray(c, dtype=np.float64), n) for c in found)


def value(t: Tables, k: int, p: Any) -> bool:
    """Values; False where a node leaves its domain or meets a kink."""
    each = _of(t, k)
    rule = _rule(each)
    with np.errstate(all="ignore"):
        operands = _operands(each, p)
        p[each.o : each.o + each.x.size] = each.op.value(np, *operands)
        if rule.domain is not None and not np.all(rule.domain(np, *operands)):
            return False
        return rule.kink is None or not np.any(rule.kink(np, *operands))


def tangent(t: Tables, k: int, p: Any, r: Any) -> None:
    """Tangents."""
    each = _of(t, k)
    with np.errstate(all="ignore"):
        found = _columns(each, p)
        if len(found) == 2:
            total = found[0] * r[_slot(each)]
        else:
            assert each.y is not None
            total = found[0] * r[each.x] + found[1] * r[each.y]
    r[each.o : each.o + each.x.size] = total


def _slot(each: Outside) -> Any:
    return each.y if each.pattern == 3 else each.x


def reverse(t: Tables, k: int, p: Any, q: Any, r: Any, s: Any, mode: int) -> bool:
    """A reverse pass; False where a cover has to be taken otherwise."""
    each = _of(t, k)
    n = each.x.size
    here = slice(each.o, each.o + n)
    w = q[here]
    with np.errstate(all="ignore"):
        found = _columns(each, p)
        if len(found) == 2:
            d, c = found
            at = _slot(each)
            if mode == SECOND:
                np.add.at(s, at, d * s[here] + w * (c * r[at]))
            elif mode == COVER:
                if t.crosses and (d == 0).any():
                    return False
                rho = np.sqrt(np.abs(w)) * np.sqrt(np.abs(c))
                np.add.at(s, at, np.abs(d) * s[here] + rho)
            np.add.at(q, at, d * w)
            return True
        d1, d2, c11, c12, c22 = found
        x, y = each.x, each.y
        if mode == COVER or y is None:
            return False
        if mode == SECOND:
            np.add.at(s, x, d1 * s[here] + w * (c11 * r[x] + c12 * r[y]))
            np.add.at(s, y, d2 * s[here] + w * (c12 * r[x] + c22 * r[y]))
        np.add.at(q, x, d1 * w)
        np.add.at(q, y, d2 * w)
    return True
