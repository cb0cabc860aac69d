"""Functions of one operand, enclosed by their values at ends and turning points.

Between two neighbouring turning points a function is monotone. So its range over an
interval is spanned by the values at the ends and at the turning points inside, and all
that has to be evaluated rigorously are values at points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import inf
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import ball_package, fast_package, has_balls
from ._balls import Balls, at_points, precision, rounded
from ._decimals import around, ball
from ._enclosed import Enclosed
from ._fast import Fast

__all__ = ["Shape", "enclose_shape", "fast"]

Limit = float | str | Pair
Limits = tuple[Limit, Limit, Limit]
Texts = tuple[str | float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A function with its first two derivatives, each monotone between turning points.

    Attributes:
        name: For messages.
        jet: Balls of value, first and second derivative from a ball.
        turns: For each of the three the points where it turns, as decimals.
        limits: Values at ends of the domain, infinite ones too, and at poles: what the
            three come near there, from either side.
        domain: Ends of the closed interval outside of which there is no value.
        open: Whether the left and the right end are outside of the open domain.
        poles: Points inside of the domain's ends that do not belong to it.
        reach: Beyond these points each of the three lies between its value there and its
            limit.
        quick: The same as ``jet`` by crival, ``quick(fast, pair)``, of pairs.
        plain: Whether ``quick`` needs no package.
    """

    name: str
    jet: Balls | None
    turns: tuple[Texts, Texts, Texts] = ((), (), ())
    limits: Mapping[float, Limits] = field(default_factory=dict)
    domain: tuple[float, float] = (-inf, inf)
    open: tuple[bool, bool] = (False, False)
    poles: tuple[float, ...] = ()
    reach: tuple[float, float] = (-inf, inf)
    quick: Callable[..., tuple[Any, ...]] | None = None
    plain: bool = False


@cache
def _fast_functions() -> Fast | None:
    module = fast_package()
    return None if module is None else Fast(module)


def fast() -> Fast | None:
    """Crival's functions on pairs; None where it is not installed."""
    return _fast_functions() if fast_package() is not None else None


def enclose_shape(shape: Shape, x: Pair, order: int = 2) -> Enclosed:
    """Ranges of the function and its derivatives over the intervals ``x``."""
    flat, dimensions = _flat(x)
    count = order + 1
    lo, hi = flat
    a, b = shape.domain
    left, right = np.clip(lo, a, b), np.clip(hi, a, b)
    found = _ranges(shape, left, right, count)
    missed = (hi < a) | (lo > b)
    if missed.any():
        whole = np.full(lo.shape, -inf), np.full(lo.shape, inf)
        found = [ow.where(missed, whole, pair) for pair in found]
    parts = [
        (low.reshape(dimensions)[()], high.reshape(dimensions)[()])
        for low, high in found
    ]
    outside = np.zeros(lo.shape, dtype=bool)
    if shape.open[0]:
        outside |= lo <= a
    if shape.open[1]:
        outside |= hi >= b
    for pole in shape.poles:
        outside |= (lo <= pole) & (hi >= pole)
    if not outside.any():
        return Enclosed(parts[0], tuple(parts[1:]))
    undefined = ((lo < a) | (hi > b)).reshape(dimensions)
    mark = outside.reshape(dimensions)
    return Enclosed(parts[0], tuple(parts[1:]), mark, None, undefined)


def _flat(x: Pair) -> tuple[Pair, tuple[int, ...]]:
    lo = np.asarray(x[0], dtype=np.float64)
    hi = lo if x[1] is x[0] else np.asarray(x[1], dtype=np.float64)
    flat = lo.ravel()
    return (flat, flat if hi is lo else hi.ravel()), lo.shape


def _ranges(shape: Shape, left: Any, right: Any, count: int) -> list[Pair]:
    found = _at(shape, left, count)
    apart = np.flatnonzero(left != right)
    if not apart.size:
        return found
    ends = _at(shape, right[apart], count)
    lo, hi = left[apart], right[apart]
    for k in range(count):
        low, high = found[k][0], found[k][1]
        span = ow.hull((low[apart], high[apart]), ends[k])
        for turn in shape.turns[k]:
            near = around(turn)
            inside = (lo <= near[1]) & (hi >= near[0])
            if inside.any():
                span = ow.where(
                    inside, ow.hull(span, _turn_value(shape, turn)[k]), span
                )
        for place, limits in shape.limits.items():
            inside = (lo < place) & (hi > place)
            if inside.any():
                span = ow.where(inside, ow.hull(span, _limit(limits[k])), span)
        low[apart], high[apart] = span
    return found


def _limit(limit: Limit) -> Pair:
    return limit if isinstance(limit, tuple) else around(limit)


def _turn_value(shape: Shape, turn: str | float) -> list[Pair]:
    return (
        _turn_by_balls(shape, turn)
        if has_balls() and shape.jet
        else _turn_quickly(shape, turn)
    )


@cache
def _turn_by_balls(shape: Shape, turn: str | float) -> list[Pair]:
    flint = ball_package(shape.name)
    assert shape.jet is not None
    with precision(flint, 128):
        balls = shape.jet(ball(flint, turn))
    lo, hi = rounded(flint, balls)
    return [(np.float64(a), np.float64(b)) for a, b in zip(lo, hi, strict=True)]


@cache
def _turn_quickly(shape: Shape, turn: str | float) -> list[Pair]:
    lo, hi = around(turn)
    x = ow.point(lo) if lo == hi else (np.float64(lo), np.float64(hi))
    assert shape.quick is not None
    return list(shape.quick(fast(), x))


def _at(shape: Shape, x: Any, count: int) -> list[Pair]:
    """The three functions at points, their limits where those are ends."""
    special = ~np.isfinite(x)
    for place in shape.limits:
        special |= x == place
    if not special.any():
        return _regular(shape, x, count)
    found = [(np.full(x.shape, -inf), np.full(x.shape, inf)) for _ in range(count)]
    regular = np.flatnonzero(~special)
    if regular.size:
        given = _regular(shape, x[regular], count)
        for pair, at in zip(found, given, strict=True):
            pair[0][regular], pair[1][regular] = at
    for place, limits in shape.limits.items():
        here = x == place
        for pair, limit in zip(found, limits, strict=False):
            pair[0][here], pair[1][here] = _limit(limit)
    return found


def _regular(shape: Shape, x: Any, count: int) -> list[Pair]:
    near = np.clip(x, *shape.reach)
    found = _evaluate(shape, near, count)
    for side, beyond in ((-inf, x < near), (inf, x > near)):
        if beyond.any():
            found = [
                ow.where(beyond, ow.hull(pair, _limit(limit)), pair)
                for pair, limit in zip(found, shape.limits[side], strict=False)
            ]
    return found


def _evaluate(shape: Shape, x: Any, count: int) -> list[Pair]:
    quick = shape.quick
    if quick is not None and (shape.plain or fast_package() is not None):
        return [
            (
                np.array(np.broadcast_to(lo, x.shape)),
                np.array(np.broadcast_to(hi, x.shape)),
            )
            for lo, hi in quick(fast(), (x, x))[:count]
        ]
    assert shape.jet is not None
    return at_points(ball_package(shape.name), shape.jet, (x,), count)
