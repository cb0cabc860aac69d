"""Gamma function, its reciprocal, logarithm and digamma."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements._outward import Pair
from ._backends import ball_package
from ._enclosed import Enclosed
from ._registry import add_shape, encloses
from ._shapes import Shape, enclose_shape
from ._waves import wave_ranges

__all__ = ["polygamma"]

_LEAST = "1.4616321449683623412626595423257213284681962"
_BEND = "1.74104366376692362683163497163038228189408571"
# Beyond, the function is zero or infinite in doubles, or flat.
_MOST = -1e5


def _series(x: Any, length: int) -> Any:
    flint = ball_package("gamma")
    return flint.arb_series([x, 1], length)


def _gamma_jet(x: Any) -> tuple[Any, ...]:
    s = _series(x, 4).gamma()
    return s[0], s[1], 2 * s[2], 6 * s[3]


def _rgamma_jet(x: Any) -> tuple[Any, ...]:
    s = _series(x, 4).rgamma()
    return s[0], s[1], 2 * s[2], 6 * s[3]


def polygamma(x: Any) -> tuple[Any, ...]:
    """``psi``, ``psi'``, ``psi''`` and ``psi'''``, by reflection for negative numbers.

    DLMF 5.5.4 and 5.15.6.
    """
    one = 0 * x + 1
    if x > 0:
        return (
            x.digamma(),
            (2 * one).zeta(x),
            -2 * (3 * one).zeta(x),
            6 * (4 * one).zeta(x),
        )
    a, b, c, d = polygamma(1 - x)
    cot, pi = x.cot_pi(), x.pi()
    square = 1 + cot * cot
    p2 = pi * pi
    return (
        a - pi * cot,
        p2 * square - b,
        c - 2 * p2 * pi * cot * square,
        2 * p2 * p2 * square * (1 + 3 * cot * cot) - d,
    )


def _gammaln_jet(x: Any) -> tuple[Any, ...]:
    p = polygamma(x)
    if x > 0:
        return x.lgamma(), *p[:3]
    value = x.pi().log() - abs(x.sin_pi()).log() - (1 - x).lgamma()
    return value, *p[:3]


_GAMMA = Shape(
    "gamma",
    _gamma_jet,
    ((_LEAST,), (), (_BEND,)),
    {0.0: (inf, -inf, inf), inf: (inf, inf, inf)},
    domain=(0.0, inf),
    open=(True, False),
    reach=(0.0, 1e3),
)
_GAMMALN = Shape(
    "gammaln",
    _gammaln_jet,
    ((_LEAST,), (), ()),
    {0.0: (inf, -inf, inf), inf: (inf, inf, 0.0)},
    domain=(0.0, inf),
    open=(True, False),
)
_DIGAMMA = Shape(
    "digamma",
    polygamma,
    limits={0.0: (-inf, inf, -inf), inf: (inf, 0.0, 0.0)},
    domain=(0.0, inf),
    open=(True, False),
)
add_shape(
    Shape(
        "loggamma",
        _gammaln_jet,
        _GAMMALN.turns,
        _GAMMALN.limits,
        domain=(0.0, inf),
        open=(True, False),
    )
)


@encloses("gamma")
def _gamma(pattern: int, x: Pair, order: int) -> Enclosed:
    return _either_side(_GAMMA, x, order)


@encloses("gammaln")
def _gammaln(pattern: int, x: Pair, order: int) -> Enclosed:
    return _either_side(_GAMMALN, x, order)


@encloses("digamma")
def _digamma(pattern: int, x: Pair, order: int) -> Enclosed:
    return _either_side(_DIGAMMA, x, order)


def _either_side(shape: Shape, x: Pair, order: int) -> Enclosed:
    """The shape right of zero, balls between two poles left of it."""
    found = enclose_shape(shape, x, order)
    negative = x[0] <= 0.0
    if not np.any(negative):
        return found
    dimensions = np.shape(x[0])
    lo, hi = np.ravel(x[0]), np.ravel(x[1])
    pole = (np.floor(hi) >= lo) & (lo <= 0.0)
    pairs: list[Pair] = []
    for pair in (found.value, *found.parts):
        assert isinstance(pair, tuple)
        pairs.append((np.array(np.ravel(pair[0])), np.array(np.ravel(pair[1]))))
    left = lo <= 0.0
    for low, high in pairs:
        low[left], high[left] = -inf, inf
    inner = np.flatnonzero(left & ~pole & (lo > _MOST))
    if inner.size:
        assert shape.jet is not None
        given = wave_ranges(shape.name, shape.jet, (lo[inner], hi[inner]), len(pairs))
        for (low, high), (below, above) in zip(pairs, given, strict=True):
            low[inner], high[inner] = below, above
    shaped = [(a.reshape(dimensions)[()], b.reshape(dimensions)[()]) for a, b in pairs]
    outside = pole.reshape(dimensions)
    mark = outside if np.any(outside) else None
    return Enclosed(shaped[0], tuple(shaped[1:]), mark)


@encloses("rgamma")
def _rgamma(pattern: int, x: Pair, order: int) -> Enclosed:
    dimensions = np.shape(x[0])
    lo, hi = np.ravel(x[0]), np.ravel(x[1])
    pairs = [
        (np.full(lo.shape, -inf), np.full(lo.shape, inf)) for _ in range(order + 1)
    ]
    # Right of this all three are monotone and vanish.
    most = 500.0
    near = np.flatnonzero((lo > _MOST) & (lo < inf))
    if near.size:
        ends = np.minimum(lo[near], most), np.minimum(hi[near], most)
        given = wave_ranges("rgamma", _rgamma_jet, ends, order + 1)
        beyond = hi[near] > most
        for (low, high), (below, above) in zip(pairs, given, strict=True):
            low[near] = np.where(beyond, np.minimum(below, 0.0), below)
            high[near] = np.where(beyond, np.maximum(above, 0.0), above)
    shaped = [(a.reshape(dimensions)[()], b.reshape(dimensions)[()]) for a, b in pairs]
    return Enclosed(shaped[0], tuple(shaped[1:]))
