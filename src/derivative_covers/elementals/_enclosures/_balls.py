"""Functions at points by python-flint's balls, rounded outward to doubles.

A function gets balls of exact numbers and gives balls that contain its results. Where
they come out wide, by cancellation say, they are asked for again with more digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf, nextafter
from threading import RLock
from typing import Any

import numpy as np

from ...elements._outward import Pair

__all__ = ["Balls", "at_points", "precision", "rounded"]

Balls = Callable[..., tuple[Any, ...]]

_LOCK = RLock()
_LENGTH = 10  # of power series, at most
_BITS = 96
_MOST_BITS = 4000
_TINY = 2.0**-1021
_NARROW = 2.0**-51


@contextmanager
def precision(flint: Any, bits: int) -> Iterator[Any]:
    """Compute with so many bits; the setting is the process's, so one thread at a time."""
    context = flint.ctx
    with _LOCK:
        before = context.prec, context.cap
        context.prec, context.cap = bits, _LENGTH
        try:
            yield context
        finally:
            context.prec, context.cap = before


def rounded(flint: Any, balls: Sequence[Any]) -> Pair:
    """The least doubles around each ball; the whole line around an undefined one."""
    with precision(flint, 53):  # ends are rounded outward to so many bits
        low = [ball.lower() for ball in balls]
        high = [ball.upper() for ball in balls]
        lo = np.array([float(a) for a in low])
        hi = np.array([float(a) for a in high])
        _settle(flint, lo, low, -inf)
        _settle(flint, hi, high, inf)
    return lo, hi


def _settle(flint: Any, ends: Any, exact: Sequence[Any], side: float) -> None:
    """Correct ends outside of the normal range, which float() rounds to nearest."""
    with np.errstate(invalid="ignore"):
        odd = np.flatnonzero(~((np.abs(ends) > _TINY) & (np.abs(ends) < inf)))
    for k in odd.tolist():
        end, truth = float(ends[k]), exact[k]
        if end != end:
            end = side
        elif end == -side:
            end = nextafter(end, side) if truth.is_finite() else side
        elif abs(end) < inf:
            given = flint.arb(end)
            if given > truth if side < 0 else given < truth:
                end = nextafter(end, side)
        ends[k] = end


def at_points(
    flint: Any, function: Balls, points: Sequence[Any], count: int
) -> list[Pair]:
    """``count`` functions at each entry of the arrays ``points``, all finite.

    Args:
        flint: The module.
        function: Takes a ball for each array and gives at least ``count`` balls.
        points: Float arrays of one dimension and size.
        count: How many of the results are wanted.

    Returns:
        A pair for each function.
    """
    size = len(points[0])
    found = [(np.full(size, -inf), np.full(size, inf)) for _ in range(count)]
    pending = np.arange(size)
    bits = _BITS
    with precision(flint, bits) as context:
        while pending.size and bits <= _MOST_BITS:
            context.prec = bits
            lists = [np.asarray(p)[pending].tolist() for p in points]
            arb = flint.arb
            rows = [
                function(*[arb(x) for x in row]) for row in zip(*lists, strict=True)
            ]
            wide = np.zeros(pending.size, dtype=bool)
            for k in range(count):
                lo, hi = rounded(flint, [row[k] for row in rows])
                old_lo, old_hi = found[k]
                old_lo[pending] = np.maximum(old_lo[pending], lo)
                old_hi[pending] = np.minimum(old_hi[pending], hi)
                wide |= _wide(lo, hi)
            pending = pending[wide]
            bits *= 3
    return found


def _wide(lo: Any, hi: Any) -> Any:
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(lo), np.abs(hi))
        narrow = (hi - lo <= _NARROW * size + 1e-323) & (size < inf) | (lo == hi)
        overflow = (np.abs(lo) > 1.79e308) & (np.abs(hi) > 1.79e308) & (lo * hi > 0)
        return ~(narrow | overflow)
