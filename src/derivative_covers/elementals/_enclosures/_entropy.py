"""Products with logarithms, entropies and divergences."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._boxes import monotone, sharpened
from ._decimals import around
from ._enclosed import Enclosed, marked
from ._registry import add_shape, encloses
from ._shapes import Shape
from ._slow import functions

__all__: list[str] = []

_RECIPROCAL_E = "0.367879441171442321595523770161460867445811131"
_ONE = ow.point(1.0)


def _entr(x: Any) -> tuple[Any, ...]:
    log = x.log()
    return -x * log, -1 - log, -1 / x


add_shape(
    Shape(
        "entr",
        _entr,
        ((_RECIPROCAL_E,), (), ()),
        {0.0: (0.0, inf, -inf), inf: (-inf, -inf, 0.0)},
        domain=(0.0, inf),
        open=(True, False),
    )
)


def _by_logarithm(pattern: int, x: Pair, log: Pair, s: Pair, outside: Any) -> Enclosed:
    """``x log(s)`` and its partials, zero for a weight of zero."""
    value = ow.multiply(x, log)
    r = ow.reciprocal(s)
    d2 = ow.divide(x, s)
    c22 = ow.negative(sharpened(ow.multiply(d2, r), ow.multiply(x, ow.square(r))))
    if pattern == 1:
        return Enclosed(value, (log, d2, 0.0, r, c22), marked(outside))
    if pattern == 2:
        return Enclosed(value, (log, 0.0), marked(outside))
    zero = (x[0] == 0.0) & (x[1] == 0.0)
    if np.any(zero):
        nought = (np.zeros_like(x[0]), np.zeros_like(x[0]))
        value, d2, c22 = (ow.where(zero, nought, p) for p in (value, d2, c22))
    return Enclosed(value, (d2, c22), marked(outside & ~zero))


@encloses("xlogy")
def _xlogy(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    s = np.maximum(y[0], 0.0), np.maximum(y[1], 0.0)
    s = (s[0], s[0]) if y[0] is y[1] else s
    return _by_logarithm(pattern, x, functions().log(s), s, y[0] <= 0.0)


@encloses("xlog1py")
def _xlog1py(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    t = np.maximum(y[0], -1.0), np.maximum(y[1], -1.0)
    t = (t[0], t[0]) if y[0] is y[1] else t
    return _by_logarithm(
        pattern, x, functions().log1p(t), ow.add(_ONE, t), y[0] <= -1.0
    )


def _divergences(x: Any, y: Any) -> tuple[Any, ...]:
    log = (x / y).log()
    entropy = x * log
    return entropy, entropy - x + y, log, 1 + log


@encloses("rel_entr")
def _rel_entr(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    regular, a, b = _interior(x, y)
    v, _, _, d1 = monotone(
        "rel_entr", _divergences, ((0, 0), (0, 0), (1, -1), (1, -1)), a, b
    )
    # Falling in y, and in x least at y / e.
    bottom = ow.multiply(ow.point(b[1]), around(_RECIPROCAL_E))
    turns = (a[0] <= bottom[1]) & (a[1] >= bottom[0])
    v = np.where(turns, np.minimum(v[0], 0.0 - bottom[1]), v[0]), v[1]
    rough = ow.multiply(_nonnegative(x), _log_ratio(x, y))
    return _divergence(pattern, x, y, regular, v, d1, rough, _ONE)


@encloses("kl_div")
def _kl_div(pattern: int, x: Pair, y: Pair, order: int) -> Enclosed:
    regular, a, b = _interior(x, y)
    _, v, d1, _ = monotone(
        "kl_div", _divergences, ((0, 0), (0, 0), (1, -1), (1, -1)), a, b
    )
    # Jointly convex, and zero where the operands agree.
    meets = (a[0] <= b[1]) & (a[1] >= b[0])
    v = np.where(meets, 0.0, np.maximum(v[0], 0.0)), v[1]
    rough = (np.zeros_like(v[0]), np.full_like(v[1], inf))
    return _divergence(pattern, x, y, regular, v, d1, rough, ow.point(0.0))


def _interior(x: Pair, y: Pair) -> tuple[Any, Pair, Pair]:
    regular = (x[0] > 0.0) & (y[0] > 0.0) & np.isfinite(x[1]) & np.isfinite(y[1])
    a = np.where(regular, x[0], 1.0), np.where(regular, x[1], 1.0)
    b = np.where(regular, y[0], 1.0), np.where(regular, y[1], 1.0)
    return regular, a, b


def _nonnegative(x: Pair) -> Pair:
    return np.maximum(x[0], 0.0), np.maximum(x[1], 0.0)


def _log_ratio(x: Pair, y: Pair) -> Pair:
    log = functions().log
    return ow.subtract(log(_nonnegative(x)), log(_nonnegative(y)))


def _divergence(
    pattern: int,
    x: Pair,
    y: Pair,
    regular: Any,
    v: Pair,
    d1: Pair,
    rough: Pair,
    extra: Pair,
) -> Enclosed:
    if not np.all(regular):
        v = ow.where(regular, v, rough)
        d1 = ow.where(regular, d1, ow.add(extra, _log_ratio(x, y)))
    p, q = _nonnegative(x), _nonnegative(y)
    ratio = ow.divide(p, q)
    r = ow.reciprocal(q)
    c22 = sharpened(ow.multiply(ratio, r), ow.multiply(p, ow.square(r)))
    d2 = ow.subtract(ow.subtract(_ONE, extra), ratio)
    if extra[0] == 0.0:
        # 1 - x / y as a quotient of the difference, which does not cancel.
        d2 = sharpened(d2, ow.divide(ow.subtract(q, p), q))
    else:
        d2 = ow.negative(ratio)
    outside = ~((x[0] > 0.0) & (y[0] > 0.0))
    if pattern == 3:
        return Enclosed(v, (d2, c22), marked(~((x[0] >= 0.0) & (y[0] > 0.0))))
    c11 = ow.reciprocal(p)
    if pattern == 2:
        return Enclosed(v, (d1, c11), marked(outside))
    return Enclosed(v, (d1, d2, c11, ow.negative(r), c22), marked(outside))
