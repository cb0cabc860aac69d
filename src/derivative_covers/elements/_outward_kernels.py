"""The arithmetic of :mod:`._outward`, a block of entries at a time.

A kernel takes the ends of its operands, writes those of the result and returns where
they are not finite: :mod:`._outward_careful` computes such entries anew. Blocks stay in
the cache, and every pass over one writes into memory that is there already.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "ETA",
    "MAX",
    "PHI",
    "add",
    "divide",
    "run",
    "square_root",
    "squares",
    "times",
]

_U = math.ldexp(1.0, -53)
PHI = _U * (1 + 2 * _U)
ETA = math.ldexp(1.0, -1074)
MAX = float(np.finfo(np.float64).max)
_SMALL = math.ldexp(1.0, -1060)  # a step of numbers below 2**-1007
_LARGE = math.ldexp(1.0, 969)  # of numbers near overflow, where an error may have none
_MANTISSA = np.int64(2**52 - 1)
_LOW = np.int64(2**27 - 1)
_NORMAL = math.ldexp(1.0, -1022)
_BLOCK = 8192
_WORK = 3

Kernel = Callable[[tuple[Any, ...], Any, Any, Any], Any]
Careful = Callable[..., tuple[Any, Any]]


def run(kernel: Kernel, careful: Careful, *ends: Any) -> tuple[Any, Any]:
    """The ends of a result.

    Args:
        kernel: ``kernel(ends, lo, hi, work)``; gives a mask, or None.
        careful: ``careful(*ends)`` gives both ends of any entries.
        ends: Ends of operands, arrays or scalars that broadcast.
    """
    ends = tuple(
        end for k in range(0, len(ends), 2) for end in _marked(*ends[k : k + 2])
    )
    shape = np.broadcast_shapes(*(e.shape for e in ends))
    lo, hi = np.empty(shape or 1), np.empty(shape or 1)
    if not lo.size:
        return lo, hi
    with np.errstate(all="ignore"):
        if lo.size <= _BLOCK:
            _block(kernel, careful, ends, lo, hi, np.empty((_WORK, *lo.shape)))
        else:
            flat = _each(ends, lambda e: _flat(e, shape))
            low, high, work = lo.reshape(-1), hi.reshape(-1), np.empty((_WORK, _BLOCK))
            for k in range(0, lo.size, _BLOCK):
                here = slice(k, k + _BLOCK)
                part = _each(flat, lambda e, k=here: e[k] if e.ndim else e)
                to = low[here]
                _block(kernel, careful, part, to, high[here], work[:, : to.size])
    return (lo, hi) if shape else (lo[0], hi[0])


def _marked(lo: Any, hi: Any) -> tuple[Any, Any]:
    """The ends as arrays: one object twice where they are points."""
    same = lo is hi
    lo = np.asarray(lo, dtype=np.float64)
    if same:
        return lo, lo
    hi = np.asarray(hi, dtype=np.float64)
    if lo.size and lo.flat[0] == hi.flat[0] and np.array_equal(lo, hi):
        return lo, lo
    return lo, hi


def _each(ends: tuple[Any, ...], change: Any) -> tuple[Any, ...]:
    """The changed ends; one object stays one, since that marks a point."""
    found: dict[int, Any] = {}
    for e in ends:
        if id(e) not in found:
            found[id(e)] = change(e)
    return tuple(found[id(e)] for e in ends)


def _flat(e: Any, shape: tuple[int, ...]) -> Any:
    if e.size == 1:
        return e.reshape(())
    return (e if e.shape == shape else np.broadcast_to(e, shape)).reshape(-1)


def _block(
    kernel: Kernel, careful: Careful, ends: tuple[Any, ...], lo: Any, hi: Any, work: Any
) -> None:
    bad = kernel(ends, lo, hi, work)
    if bad is not None:
        lo[bad], hi[bad] = careful(*(np.broadcast_to(e, lo.shape)[bad] for e in ends))


def add(ends: tuple[Any, ...], lo: Any, hi: Any, work: Any) -> Any:
    """``x + y`` from ``(x.lo, x.hi, y.lo, y.hi)``; steps where the error asks for it."""
    xl, xh, yl, yh = ends
    step, error, aside = work[:3]
    bad = None
    for a, b, end, compare, move in (
        (xl, yl, lo, np.less, np.subtract),
        (xh, yh, hi, np.greater, np.add),
    ):
        np.add(a, b, out=end)
        np.subtract(end, a, out=aside)
        np.subtract(end, aside, out=error)
        np.subtract(a, error, out=error)
        np.subtract(b, aside, out=aside)
        np.add(error, aside, out=error)
        _steps(end, step)
        bad = _lost(step, bad, _LARGE)
        compare(error, 0.0, out=aside, casting="unsafe")
        np.multiply(step, aside, out=step)
        move(end, step, out=end)
    return bad


def times(ends: tuple[Any, ...], lo: Any, hi: Any, work: Any) -> Any:
    """``x * y`` from ``(x.lo, x.hi, y.lo, y.hi)``."""
    xl, xh, yl, yh = ends
    below, above = work[:2]
    np.multiply(xl, yl, out=lo)
    if xl is xh and yl is yh:
        hi[...] = lo
    else:
        np.multiply(xh, yh, out=hi)
        if not (xl.min() >= 0 and yl.min() >= 0):
            _extremes(np.multiply, ends, lo, hi, work)
    _steps(lo, below)
    _steps(hi, above)
    bad = _lost(above, _lost(below, None))
    exact = _few_bits(ends) | _binary(xl, xh) | _binary(yl, yh)
    if _move(lo, hi, below, above, exact):
        return bad
    zero = ((xl == 0) & (xh == 0)) | ((yl == 0) & (yh == 0))
    np.copyto(lo, 0.0, where=zero)
    np.copyto(hi, 0.0, where=zero)
    positive = ((xl >= 0) & (yl >= 0)) | ((xh <= 0) & (yh <= 0))
    opposite = ((xl >= 0) & (yh <= 0)) | ((xh <= 0) & (yl >= 0))
    np.maximum(lo, 0.0, out=lo, where=positive)
    np.minimum(hi, 0.0, out=hi, where=opposite)
    return bad


def divide(ends: tuple[Any, ...], lo: Any, hi: Any, work: Any) -> Any:
    """``x / y`` from ``(x.lo, x.hi, y.lo, y.hi)``; lost where ``y`` contains zero."""
    xl, xh, yl, yh = ends
    below, above, aside = work[:3]
    bad = None
    positive = yl.min() > 0
    if not positive:
        holds = (yl <= 0) & (yh >= 0)
        if holds.any():
            bad = np.broadcast_to(holds, lo.shape)
    if xl is xh and yl is yh:
        np.divide(xl, yl, out=lo)
        hi[...] = lo
    elif positive and xl.min() >= 0:
        np.divide(xl, yh, out=lo)
        np.divide(xh, yl, out=hi)
    else:
        np.divide(xl, yl, out=lo)
        np.divide(xh, yh, out=hi)
        _extremes(np.divide, ends, lo, hi, work)
    _steps(lo, below)
    _steps(hi, above)
    bad = _lost(above, _lost(below, bad))
    exact = _binary(yl, yh)
    points = (xl == xh) & (yl == yh)
    if points.any():
        np.multiply(lo, yl, out=aside)
        whole = points & (aside == xl) & (np.abs(xl) > _NORMAL)
        exact = exact | (whole & _few_bits((lo, lo, yl, yl)))
    if _move(lo, hi, below, above, exact):
        return bad
    zero = (xl == 0) & (xh == 0)
    np.copyto(lo, 0.0, where=zero)
    np.copyto(hi, 0.0, where=zero)
    np.maximum(lo, 0.0, out=lo, where=((xl >= 0) & (yl > 0)) | ((xh <= 0) & (yh < 0)))
    np.minimum(hi, 0.0, out=hi, where=((xl >= 0) & (yh < 0)) | ((xh <= 0) & (yl > 0)))
    return bad


def squares(ends: tuple[Any, ...], lo: Any, hi: Any, work: Any) -> Any:
    """``x**2`` from ``(x.lo, x.hi)``."""
    xl, xh = ends
    below, above, other = work
    np.multiply(xl, xl, out=lo)
    if xl is xh:
        hi[...] = lo
    else:
        np.multiply(xh, xh, out=other)
        np.maximum(lo, other, out=hi)
        np.minimum(lo, other, out=lo)
    _steps(lo, below)
    _steps(hi, above)
    bad = _lost(above, _lost(below, None))
    exact = _few_bits((xl, xh, xl, xh)) | _binary(xl, xh)
    normal = _move(lo, hi, below, above, exact)
    np.copyto(lo, 0.0, where=(xl <= 0) & (xh >= 0))
    if not normal:
        np.maximum(lo, 0.0, out=lo)
        np.copyto(hi, 0.0, where=(xl == 0) & (xh == 0))
    return bad


def square_root(ends: tuple[Any, ...], lo: Any, hi: Any, work: Any) -> Any:
    """``sqrt(x)`` from ``(x.lo, x.hi)``, of what is not negative."""
    step, aside, given = work[:3]
    bad = None
    for x, end, move in ((ends[0], lo, np.subtract), (ends[1], hi, np.add)):
        np.maximum(x, 0.0, out=given)
        np.sqrt(given, out=end)
        _steps(end, step)
        bad = _lost(step, bad)
        exact = (end.view(np.int64) & _LOW) == 0
        if exact.any():
            np.multiply(end, end, out=aside)
            exact &= (aside == given) & ((given > _NORMAL) | (given == 0))
            np.multiply(step, ~exact, out=step)
        move(end, step, out=end)
    return bad


def _extremes(
    operation: Any, ends: tuple[Any, ...], lo: Any, hi: Any, work: Any
) -> None:
    """The least and largest over the ends; ``lo`` and ``hi`` hold those of like ends."""
    xl, xh, yl, yh = ends
    one, two, aside = work[:3]
    np.minimum(lo, hi, out=aside)
    np.maximum(lo, hi, out=hi)
    if xl is xh or yl is yh:
        lo[...] = aside
        return
    operation(xl, yh, out=one)
    operation(xh, yl, out=two)
    np.minimum(one, two, out=lo)
    np.maximum(one, two, out=one)
    np.minimum(lo, aside, out=lo)
    np.maximum(hi, one, out=hi)


def _steps(x: Any, out: Any) -> None:
    """How far it is from ``x`` to the next number, or a little further."""
    np.abs(x, out=out)
    np.multiply(out, PHI, out=out)
    np.add(out, ETA, out=out)


def _lost(step: Any, bad: Any, limit: float = np.inf) -> Any:
    """Where ends are not finite, or steps from them too large, besides ``bad``."""
    if step.max() < limit:
        return bad
    lost = ~(step < limit)
    return lost if bad is None else lost | bad


def _move(lo: Any, hi: Any, below: Any, above: Any, exact: Any) -> bool:
    """Step outward from what is not exact; whether nothing lies near underflow."""
    normal = True
    every, some = exact.all(), exact.any()
    for end, step, move in ((lo, below, np.subtract), (hi, above, np.add)):
        kept = exact
        if not step.min() > _SMALL:
            normal = False
            kept = exact & (step > _SMALL)
        elif every:
            continue
        if some:
            np.multiply(step, ~kept, out=step)
        move(end, step, out=end)
    return normal


def _few_bits(ends: tuple[Any, ...]) -> Any:
    """Whether all four have at most 26 bits, so that products of two are exact."""
    xl, xh, yl, yh = (e.view(np.int64) for e in ends)
    bits = xl | yl
    if ends[0] is not ends[1]:
        bits = bits | xh
    if ends[2] is not ends[3]:
        bits = bits | yh
    return (bits & _LOW) == 0


def _binary(low: Any, high: Any) -> Any:
    """Whether both are zero, or a power of two that is not subnormal."""
    bits = low.view(np.int64)
    if high is not low:
        bits = bits | high.view(np.int64)
    return (bits & _MANTISSA) == 0
