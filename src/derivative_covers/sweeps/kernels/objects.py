"""Kernels of sweeps over numbers of any type: plain loops, never compiled.

They stand beside :mod:`.upward` and :mod:`.interval`, with the same names and legends;
every number is one object. Sums begin with the integer zero. A node whose adjoint or
tangent is exactly zero passes nothing on; whether it is, the type decides.
"""

from __future__ import annotations

from typing import Any

from ...elements import decided_zero
from .wide import first

__all__ = [
    "pair_adjoint",
    "pair_tangent",
    "scaled",
    "wide_adjoint",
    "wide_tangent",
]

_first: Any = first.plain


def _product(d: Any, w: Any) -> Any:
    """A product that is exactly zero where either factor is."""
    return 0 if decided_zero(d) or decided_zero(w) else d * w


def pair_adjoint(v: Any, topo: Any, partials: Any) -> None:
    """Reverse sweep of one block: ``v[parent] += d * v[node]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = partials
    for k in range(n - 1, -1, -1):
        w = v[k0 + k]
        if decided_zero(w):
            continue
        if two:
            i = bid[k] if bid.size else b0 + sb * k
            v[i] = v[i] + _product(d2[t2 * k], w)
        i = aid[k] if aid.size else a0 + sa * k
        v[i] = v[i] + _product(d1[t1 * k], w)


def pair_tangent(s: Any, topo: Any, partials: Any) -> None:
    """Forward sweep of one block: ``s[node] = sum of d * s[parent]``."""
    k0, n, two, aid, a0, sa, bid, b0, sb = topo
    d1, t1, d2, t2 = partials
    for k in range(n):
        t = _product(d1[t1 * k], s[aid[k] if aid.size else a0 + sa * k])
        if two:
            t = t + _product(d2[t2 * k], s[bid[k] if bid.size else b0 + sb * k])
        s[k0 + k] = t


def wide_adjoint(v: Any, w: Any, shape: Any, x: Any, coef: Any) -> None:
    """Reverse: ``v[parent] += coefficient * w[node]``; ``w`` may be ``v`` itself."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    weights, ck = coef[0], coef[5]
    for o in range(n0 * n1 * n2 - 1, -1, -1):
        wo = w[k0 + o]
        if decided_zero(wo):
            continue
        p, c = _first(x, shape, o), _first(coef, shape, o)
        for m in range(nk):
            i = ids[p + m * sk] if ids.size else p + m * sk
            v[i] = v[i] + _product(weights[c + m * ck], wo)


def wide_tangent(s: Any, shape: Any, x: Any, coef: Any) -> None:
    """Forward: ``s[node] += sum of coefficient * s[parent]``."""
    k0, n0, n1, n2, nk = shape
    ids, sk = x[0], x[5]
    weights, ck = coef[0], coef[5]
    for o in range(n0 * n1 * n2):
        p, c = _first(x, shape, o), _first(coef, shape, o)
        t = s[k0 + o]
        for m in range(nk):
            e = s[ids[p + m * sk] if ids.size else p + m * sk]
            t = t + _product(weights[c + m * ck], e)
        s[k0 + o] = t


def scaled(found: Any, c: Any, t: int, s: Any, ids: Any, a0: int, sa: int) -> None:
    """Products of the numbers ``c`` of a block with those of its parents."""
    for k in range(found.size):
        found[k] = _product(c[t * k], s[ids[k] if ids.size else a0 + sa * k])
