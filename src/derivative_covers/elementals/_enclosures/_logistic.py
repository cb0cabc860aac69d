"""The logistic function, its inverse and its logarithm."""

from __future__ import annotations

from math import inf
from typing import Any

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._fast import Fast
from ._registry import add_shape
from ._shapes import Shape

__all__: list[str] = []

_FAR = (-1e4, 1e4)
_ONE = ow.point(1.0)
_INFLECTION = "1.31695789692481670862504634730796844402698197146752"


def _parts(x: Any) -> tuple[Any, Any, Any]:
    """The function at ``x``, at ``-x``, and the exponential of ``-|x|``."""
    e = (-abs(x)).exp()
    large = 1 / (1 + e)
    small = e * large
    return (large, small, e) if x >= 0 else (small, large, e)


def _expit(x: Any) -> tuple[Any, ...]:
    p, q, _ = _parts(x)
    d = p * q
    return p, d, -d * (x / 2).tanh()


def _log_expit(x: Any) -> tuple[Any, ...]:
    p, q, e = _parts(x)
    tail = e.log1p()
    return (-tail if x >= 0 else x - tail), q, -p * q


def _logit(x: Any) -> tuple[Any, ...]:
    d = 1 / (x * (1 - x))
    return x.log() - (-x).log1p(), d, (2 * x - 1) * d * d


def _parts_quick(f: Fast, x: Pair) -> tuple[Pair, Pair, Pair]:
    e = f.exp(ow.negative(ow.absolute(x)))
    large = ow.reciprocal(ow.add(_ONE, e))
    small = ow.multiply(e, large)
    right = x[0] >= 0.0
    return ow.where(right, large, small), ow.where(right, small, large), e


def _expit_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    p, _, _ = _parts_quick(f, x)
    d, half = _slope_quick(f, x)
    return p, d, ow.negative(ow.multiply(d, f.tanh(half)))


def _slope_quick(f: Fast, x: Pair) -> tuple[Pair, Pair]:
    """``1 / (2 cosh(x / 2))**2``, and ``x / 2``."""
    half = ow.multiply(ow.point(0.5), x)
    root = ow.reciprocal(f.cosh(half))
    return ow.square(ow.multiply(ow.point(0.5), root)), half


def _log_expit_quick(f: Fast, x: Pair) -> tuple[Pair, ...]:
    _, q, e = _parts_quick(f, x)
    tail = ow.negative(f.log1p(e))
    d, _ = _slope_quick(f, x)
    return ow.where(x[0] >= 0.0, tail, ow.add(x, tail)), q, ow.negative(d)


for _shape in (
    Shape(
        "expit",
        _expit,
        ((), (0.0,), ("-" + _INFLECTION, _INFLECTION)),
        {-inf: (0.0, 0.0, 0.0), inf: (1.0, 0.0, 0.0)},
        reach=_FAR,
        quick=_expit_quick,
    ),
    Shape(
        "log_expit",
        _log_expit,
        ((), (), (0.0,)),
        {-inf: (-inf, 1.0, 0.0), inf: (0.0, 0.0, 0.0)},
        reach=(-inf, 1e4),
        quick=_log_expit_quick,
    ),
    Shape(
        "logit",
        _logit,
        ((), (0.5,), ()),
        {0.0: (-inf, inf, -inf), 1.0: (inf, inf, inf)},
        domain=(0.0, 1.0),
        open=(True, True),
    ),
):
    add_shape(_shape)
