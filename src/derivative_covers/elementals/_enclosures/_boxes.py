"""Functions of two operands: points by balls, boxes by corners or natural extension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...elements import _outward as ow
from ...elements._outward import Pair
from ._backends import ball_package
from ._balls import Balls, at_points

__all__ = ["at_boxes", "monotone", "sharpened"]

Signs = tuple[int, int]


def monotone(
    name: str, jet: Balls, signs: Sequence[Signs], x: Pair, y: Pair
) -> list[Pair]:
    """Ranges of functions that are monotone in each operand, by two corners each.

    Args:
        name: For messages.
        jet: Balls of all functions from two balls.
        signs: For each function the direction in either operand, 1 or -1; 0 in both where
            its extremes are among all four corners.
        x: Finite intervals.
        y: The same.

    Returns:
        A pair for each function.
    """
    shape = np.shape(x[0])
    xs, ys = _ends(x), _ends(y)
    flint = ball_package(name)
    count = len(signs)
    first = at_points(flint, jet, (xs[0], ys[0]), count)
    apart = np.flatnonzero((xs[0] != xs[1]) | (ys[0] != ys[1]))
    if apart.size:
        corners = {(0, 0): [(lo[apart], hi[apart]) for lo, hi in first]}
        for i, j in ((0, 1), (1, 0), (1, 1)):
            if any(s == (0, 0) or (i, j) in _corners_of(s) for s in signs):
                corners[i, j] = at_points(
                    flint, jet, (xs[i][apart], ys[j][apart]), count
                )
        for k, sign in enumerate(signs):
            if sign == (0, 0):
                values = [given[k] for given in corners.values()]
            else:
                values = [corners[place][k] for place in _corners_of(sign)]
            first[k][0][apart] = np.min([lo for lo, _ in values], axis=0)
            first[k][1][apart] = np.max([hi for _, hi in values], axis=0)
    return [(lo.reshape(shape)[()], hi.reshape(shape)[()]) for lo, hi in first]


def _ends(x: Pair) -> Pair:
    lo = np.ravel(x[0])
    return lo, lo if x[1] is x[0] else np.ravel(x[1])


def _corners_of(sign: Signs) -> tuple[tuple[int, int], tuple[int, int]]:
    i, j = (0 if s >= 0 else 1 for s in sign)
    return (i, j), (1 - i, 1 - j)


def at_boxes(
    name: str,
    jet: Balls,
    wide: Callable[[Pair, Pair], Sequence[Pair]],
    x: Pair,
    y: Pair,
) -> list[Pair]:
    """Functions by balls where both operands are points, by ``wide`` elsewhere."""
    shape = np.shape(x[0])
    xs, ys = _ends(x), _ends(y)
    apart = (xs[0] != xs[1]) | (ys[0] != ys[1])
    if apart.all():
        return list(wide(x, y))
    points = np.flatnonzero(~apart)
    flint = ball_package(name)
    given = wide((xs[0], xs[1]), (ys[0], ys[1])) if apart.any() else None
    count = _count(jet, flint) if given is None else len(given)
    found = [
        (np.full(xs[0].shape, -np.inf), np.full(xs[0].shape, np.inf))
        for _ in range(count)
    ]
    if given is not None:
        for pair, other in zip(found, given, strict=True):
            pair[0][:], pair[1][:] = other
    exact = at_points(flint, jet, (xs[0][points], ys[0][points]), count)
    for pair, (lo, hi) in zip(found, exact, strict=True):
        pair[0][points], pair[1][points] = lo, hi
    return [(lo.reshape(shape)[()], hi.reshape(shape)[()]) for lo, hi in found]


def _count(jet: Balls, flint: Any) -> int:
    return len(jet(flint.arb(1) / 2, flint.arb(1) / 4))


def sharpened(x: Pair, y: Pair) -> Pair:
    """What two enclosures of one thing have in common; the first where rounding forbids."""
    lo, hi = ow.intersect(x, y)
    return ow.where(lo <= hi, (lo, hi), x)
