"""Derivatives of a value alone: by many digits, or by extrapolated differences."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["by_differences", "by_digits", "orders_of", "sides_differ"]

DIGITS = 50
_SHRINK = 1.5
_STEPS = 8


def orders_of(arity: int) -> tuple[tuple[int, ...], ...]:
    """Orders of the partials of a rule, in its own order of entries."""
    if arity == 1:
        return ((1,), (2,))
    return ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2))


def by_digits(
    reference: Callable[..., Any], point: tuple[float, ...], order: tuple[int, ...]
) -> float:
    """A partial of ``reference`` at a point, from differences with 50 digits.

    Args:
        reference: The function, on numbers of mpmath.
        point: Where, exactly as stored.
        order: How often to differentiate in each operand; all zeros for the value.
    """
    mpmath: Any = importlib.import_module("mpmath")
    with mpmath.workdps(DIGITS):
        at = tuple(mpmath.mpf(x) for x in point)
        if not any(order):
            return float(reference(*at))
        n: Any = order if len(order) > 1 else order[0]
        return float(mpmath.diff(reference, at if len(at) > 1 else at[0], n))


def by_differences(
    f: Callable[..., Any],
    inside: Callable[..., bool] | None,
    point: tuple[float, ...],
    order: tuple[int, ...],
    *,
    kinked: bool = False,
) -> tuple[float, float]:
    """A partial from central differences of ``f``, and an estimate of its error.

    Ridders' extrapolation from several first steps, of which the one with the least
    estimated error counts. Steps that leave ``inside`` are shortened.

    Args:
        f: The function, of floats.
        inside: Whether ``f`` is smooth at a point; None: everywhere.
        point: Where.
        order: How often to differentiate in each operand, at most twice in all.
        kinked: Whether there are kinks that steps of some size could jump over.
    """
    scale = [(abs(x) or 1.0) if kinked else max(abs(x), 0.1) for x in point]
    size = max(abs(float(f(*point))), *map(abs, point), 1e-300)
    best = (np.nan, np.inf)
    for first in (0.004, 0.0005) if kinked else (0.2, 0.03, 0.004):
        step = first
        while inside and step > 1e-7 and not _fits(inside, point, scale, step):
            step /= 4
        if step <= 1e-7:
            continue
        least = step / _SHRINK ** (_STEPS - 1)
        far = [
            f(*(x + t * step * u for x, u in zip(point, scale, strict=True)))
            for t in (-1, 1)
        ]
        rounds = max(size, *(abs(float(y)) for y in far))
        units = [(s * least) ** n for s, n in zip(scale, order, strict=True)]
        value, error = _ridders(lambda h: _difference(f, point, scale, order, h), step)
        found = (value, error + 1e-15 * rounds / float(np.prod(units)))
        if found[1] < best[1]:
            best = found
        if not kinked and best[1] <= 1e-8 * abs(best[0]):
            break
    return best


def sides_differ(
    f: Callable[..., Any],
    inside: Callable[..., bool] | None,
    point: tuple[float, ...],
    slot: int,
    order: int,
) -> bool:
    """Whether a derivative from the left differs from that from the right.

    The difference of one-sided quotients vanishes with the step where ``f`` is smooth.
    It must not, over three steps, and stand out of rounding.

    Args:
        f: The function, of floats.
        inside: Whether ``f`` claims to be smooth at a point; None: everywhere.
        point: Where.
        slot: Operand to vary.
        order: 1 or 2.
    """
    scale = abs(point[slot]) or 1.0

    def at(t: float) -> tuple[float, ...]:
        return tuple(x + t * (k == slot) for k, x in enumerate(point))

    gaps = []
    for h in (scale * 1e-3, scale * 1e-3 / 8, scale * 1e-3 / 64):
        steps = [k * h for k in range(-order, order + 1)]
        if inside and not all(inside(*at(t)) for t in steps if t):
            return False
        y = [float(f(*at(t))) for t in steps]
        left, right = (np.diff(part, order)[0] for part in (y[: order + 1], y[order:]))
        noise = 1e-12 * max(map(abs, (*y, *point)))
        if not abs(right - left) > noise + 1e-3 * max(abs(left), abs(right)):
            return False
        gaps.append(abs(right - left) / h**order)
    return bool(max(gaps) < 2 * min(gaps))


def _corners(point: tuple[float, ...], scale: list[float], h: float) -> Any:
    steps = np.stack(np.meshgrid(*[(-1.0, -0.5, 0.0, 0.5, 1.0)] * len(point)), axis=-1)
    return [
        tuple(x + s * k * h for x, s, k in zip(point, scale, row, strict=True))
        for row in steps.reshape(-1, len(point))
    ]


def _fits(inside: Any, point: tuple[float, ...], scale: list[float], h: float) -> bool:
    return all(inside(*corner) for corner in _corners(point, scale, h))


def _difference(
    f: Any,
    point: tuple[float, ...],
    scale: list[float],
    order: tuple[int, ...],
    h: float,
) -> float:
    def at(*k: int) -> float:
        moved = (x + s * h * n for x, s, n in zip(point, scale, k, strict=True))
        return float(f(*moved))

    units = [s * h for s in scale]
    if order == (1, 1):
        four = at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)
        return float(four / (4 * units[0] * units[1]))
    slot = int(np.argmax(order))
    e = [int(k == slot) for k in range(len(point))]
    back = [-k for k in e]
    if order[slot] == 1:
        return float((at(*e) - at(*back)) / (2 * units[slot]))
    here = at(*(0 * k for k in e))
    return float((at(*e) - 2 * here + at(*back)) / units[slot] ** 2)


def _ridders(difference: Callable[[float], float], h: float) -> tuple[float, float]:
    best, least = np.nan, np.inf
    row: list[float] = []
    for k in range(_STEPS):
        before, row = row, [difference(h / _SHRINK**k)]
        factor = 1.0
        for old in before:
            factor *= _SHRINK**2
            row.append((factor * row[-1] - old) / (factor - 1))
        tail = [(abs(b - a), b) for a, b in pairwise(row)]
        for (gap, fine), old in zip(tail, before, strict=False):
            error = max(gap, abs(fine - old))
            if error < least:
                best, least = fine, error
    return best, least
