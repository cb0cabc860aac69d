"""Huber's loss and its smooth relative."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._boxes import monotone
from ._enclosed import Enclosed, marked
from ._registry import encloses

__all__: list[str] = []


@encloses("huber")
def _huber(pattern: int, delta: Pair, r: Pair, order: int) -> Enclosed:
    size = ow.absolute(r)
    far, near = size[0] > delta[1], size[1] < delta[0]
    # Rising in both operands.
    value = _huber_at(delta[0], size[0])[0], _huber_at(delta[1], size[1])[1]
    gap = ow.subtract(size, delta)
    d1 = np.maximum(gap[0], 0.0), np.maximum(gap[1], 0.0)
    d2 = _clipped(r, delta)
    beyond = np.where(far, 1.0, 0.0), np.where(near, 0.0, 1.0)
    c11, c22 = ow.negative(beyond), (1.0 - beyond[1], 1.0 - beyond[0])
    c12 = ow.multiply(beyond, (np.sign(r[0]), np.sign(r[1])))
    outside = marked(delta[0] <= 0.0)
    kink = marked(~(far | near))
    if pattern == 1:
        return Enclosed(value, (d1, d2, c11, c12, c22), outside, kink)
    return Enclosed(value, (d1, c11) if pattern == 2 else (d2, c22), outside, kink)


def _huber_at(delta: Any, size: Any) -> Pair:
    d, a = ow.point(delta), ow.point(size)
    half = ow.point(0.5)
    line = ow.multiply(d, ow.subtract(a, ow.multiply(half, d)))
    return ow.where(size > delta, line, ow.multiply(half, ow.square(a)))


def _clipped(r: Pair, delta: Pair) -> Pair:
    """``r`` no further from zero than ``delta``."""

    def clip(x: Any, most: Any) -> Any:
        return np.clip(x, 0.0 - most, most)

    low = np.where(r[0] < 0.0, clip(r[0], delta[1]), clip(r[0], delta[0]))
    high = np.where(r[1] > 0.0, clip(r[1], delta[1]), clip(r[1], delta[0]))
    return low, high


def _pseudo_jet(delta: Any, r: Any) -> tuple[Any, ...]:
    h = (delta * delta + r * r).sqrt()
    sine, cosine = r / h, delta / h
    near = sine * (r / (h + delta))
    return (
        delta * r * (r / (h + delta)),
        r * (r / (h + delta)) * near,
        delta * sine,
        -near * near * (2 + cosine),
        sine**3,
        cosine**3,
    )


_SIGNS = ((1, 1), (-1, 1), (1, 1), (1, -1), (-1, 1), (1, -1))


@encloses("pseudo_huber")
def _pseudo_huber(pattern: int, delta: Pair, r: Pair, order: int) -> Enclosed:
    """All monotone in ``delta`` and ``|r|``; the first in ``r`` and the mixed one are odd."""
    inside = delta[0] > 0.0
    regular = inside & np.isfinite(delta[1]) & np.isfinite(r[0]) & np.isfinite(r[1])
    d = np.where(regular, delta[0], 1.0), np.where(regular, delta[1], 1.0)
    s = np.where(regular, r[0], 1.0), np.where(regular, r[1], 1.0)
    v, d1, d2, c11, c12, c22 = monotone(
        "pseudo_huber", _pseudo_jet, _SIGNS, d, ow.absolute(s)
    )
    straddles = (s[0] < 0.0) & (s[1] > 0.0)
    if np.any(straddles):
        left = monotone(
            "pseudo_huber", _pseudo_jet, _SIGNS, d, (np.abs(s[0]), np.abs(s[0]))
        )
        right = monotone(
            "pseudo_huber", _pseudo_jet, _SIGNS, d, (np.abs(s[1]), np.abs(s[1]))
        )
    else:
        left = right = [d2] * 6
    odd = []
    for k, pair in ((2, d2), (4, c12)):
        signed = ow.where(s[1] <= 0.0, ow.negative(pair), pair)
        odd.append(ow.where(straddles, (0.0 - left[k][1], right[k][1]), signed))
    d2, c12 = odd
    line = (np.full_like(v[0], -inf), np.full_like(v[0], inf))
    v, d1, d2, c11, c12, c22 = (
        ow.where(regular, pair, line) for pair in (v, d1, d2, c11, c12, c22)
    )
    outside = None if np.all(inside) else ~inside
    if pattern == 1:
        return Enclosed(v, (d1, d2, c11, c12, c22), outside)
    return Enclosed(v, (d1, c11) if pattern == 2 else (d2, c22), outside)
