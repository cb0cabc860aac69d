"""Exponentials and logarithms."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._decimals import LN2, LN10
from ._enclosed import Enclosed
from ._registry import encloses
from ._shapes import Shape, enclose_shape, fast
from ._slow import functions

__all__: list[str] = []

_FAR = (-1e4, 1e4)
_EXP_LIMITS = {-inf: (0.0, 0.0, 0.0), inf: (inf, inf, inf)}


def _exp_jet(x: Any) -> tuple[Any, ...]:
    e = x.exp()
    return e, e, e


def _expm1_jet(x: Any) -> tuple[Any, ...]:
    e = x.exp()
    return x.expm1(), e, e


def _to_base(base: int) -> Any:
    def jet(x: Any) -> tuple[Any, ...]:
        ln = (0 * x + base).log()
        e = (x * ln).exp()
        d = e * ln
        return e, d, d * ln

    return jet


_EXP = Shape("exp", _exp_jet, limits=_EXP_LIMITS, reach=_FAR)
_EXP2 = Shape("exp2", _to_base(2), limits=_EXP_LIMITS, reach=_FAR)
_EXP10 = Shape("exp10", _to_base(10), limits=_EXP_LIMITS, reach=_FAR)
_EXPM1 = Shape(
    "expm1",
    _expm1_jet,
    limits={-inf: (-1.0, 0.0, 0.0), inf: (inf, inf, inf)},
    reach=_FAR,
)


@encloses("exp")
def _exp(pattern: int, x: Pair, order: int) -> Enclosed:
    quick = fast()
    e = quick.exp(x) if quick else enclose_shape(_EXP, x, 0).value
    return Enclosed(e, (e, e))


@encloses("exp2")
def _exp2(pattern: int, x: Pair, order: int) -> Enclosed:
    return _scaled(_EXP2, "exp2", LN2, x, order)


@encloses("exp10")
def _exp10(pattern: int, x: Pair, order: int) -> Enclosed:
    return _scaled(_EXP10, "exp10", LN10, x, order)


def _scaled(shape: Shape, name: str, ln: Pair, x: Pair, order: int) -> Enclosed:
    quick = fast()
    if quick is None:
        return enclose_shape(shape, x, order)
    e = getattr(quick, name)(x)
    d = ow.multiply(e, ln) if order else e
    return Enclosed(e, (d, ow.multiply(d, ln) if order > 1 else d))


@encloses("expm1")
def _expm1(pattern: int, x: Pair, order: int) -> Enclosed:
    quick = fast()
    if quick is None:
        return enclose_shape(_EXPM1, x, order)
    e = quick.exp(x) if order else x
    return Enclosed(quick.expm1(x), (e, e))


_LOGARITHMS: dict[str, Pair | None] = {
    "log": None,
    "log2": LN2,
    "log10": LN10,
    "log1p": None,
}


def _logarithm(name: str) -> None:
    ln = _LOGARITHMS[name]
    end = -1.0 if name == "log1p" else 0.0

    @encloses(name)
    def enclose(pattern: int, x: Pair, order: int) -> Enclosed:
        outside = x[0] <= end
        mark = outside if np.any(outside) else None
        lo = np.maximum(x[0], end)
        inner = (lo, lo if x[1] is x[0] else np.maximum(x[1], end))
        v = getattr(functions(), name)(inner)
        undefined = None if mark is None else x[0] < end
        if not order:
            return Enclosed(v, (), mark, None, undefined)
        # The slope falls and its derivative rises: quotients of the ranges are ranges.
        s = ow.add(ow.point(1.0), inner) if end else inner
        d = ow.reciprocal(s)
        d = d if ln is None else ow.divide(d, ln)
        return Enclosed(v, (d, ow.negative(ow.divide(d, s))), mark, None, undefined)


for _name in _LOGARITHMS:
    _logarithm(_name)
