"""NumPy's ufuncs on pairs of ends, and how comparisons of intervals are decided."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from derivative_covers.elements import _outward as out
from derivative_covers.elements._outward import Pair
from derivative_covers.errors import UndecidedError

__all__ = ["COMPARISONS", "RULES", "compare", "decided", "elementary", "set_elementary"]

Elementary = Callable[[Any, tuple[Pair, ...]], Pair | None]
_elementary: list[Elementary] = []


def set_elementary(enclose: Elementary) -> None:
    """Register who encloses the ufuncs that have no rule here.

    Args:
        enclose: ``enclose(ufunc, pairs)`` gives a pair, or None where it has no rule.
            It raises DomainError itself.
    """
    _elementary[:] = [enclose]


def elementary(ufunc: Any, operands: tuple[Pair, ...]) -> Pair | None:
    """What the registered enclosures give for a ufunc, or None."""
    return _elementary[0](ufunc, operands) if _elementary else None


def compare(ufunc: Any, x: Pair, y: Pair) -> tuple[Any, Any]:
    """Where a comparison holds for all members, and where for none."""
    if ufunc is np.greater:
        return x[0] > y[1], x[1] <= y[0]
    if ufunc is np.greater_equal:
        return x[0] >= y[1], x[1] < y[0]
    if ufunc is np.less:
        return x[1] < y[0], x[0] >= y[1]
    if ufunc is np.less_equal:
        return x[1] <= y[0], x[0] > y[1]
    same = (x[0] == y[1]) & (x[1] == y[0])
    apart = (x[1] < y[0]) | (x[0] > y[1])
    return (same, apart) if ufunc is np.equal else (apart, same)


def decided(ufunc: Any, x: Pair, y: Pair) -> Any:
    """The truth of a comparison.

    Raises:
        UndecidedError: If some members compare one way and some the other.
    """
    yes, no = compare(ufunc, x, y)
    open_ = ~(yes | no)
    if np.any(open_):
        raise UndecidedError(_undecided(ufunc, x, y, open_))
    return yes


def _undecided(ufunc: Any, x: Pair, y: Pair, open_: Any) -> str:
    first = tuple(int(k[0]) for k in np.nonzero(open_)) if np.ndim(open_) else ()
    ends = [
        np.broadcast_to(e, np.shape(open_))[first] for e in (x[0], x[1], y[0], y[1])
    ]
    at = ""
    if first:
        count = int(np.count_nonzero(open_))
        at = f" at entry {first if len(first) > 1 else first[0]}"
        at += f" ({count} of {open_.size} entries undecided)" if count > 1 else ""
    return (
        f"[{ends[0]}, {ends[1]}] {COMPARISONS[ufunc]} [{ends[2]}, {ends[3]}] holds for "
        f"some members and not for others{at}; make the intervals smaller, for example "
        "by splitting the box, or compare their ends (.lo, .hi)"
    )


def _power(x: Pair, n: Pair) -> Pair | None:
    """Whole powers and square roots; others are not arithmetic."""
    if n[0] is not n[1] and not np.array_equal(n[0], n[1]):
        return None
    if np.ndim(n[0]) == 0:
        e = float(n[0])
        return _one_power(x, e) if _whole(e) else None
    exponents = np.unique(n[0]).tolist()
    if not all(map(_whole, exponents)):
        return None
    shape = np.broadcast_shapes(np.shape(x[0]), np.shape(n[0]))
    lo, hi = np.empty(shape), np.empty(shape)
    for e in exponents:
        here = np.broadcast_to(n[0] == e, shape)
        chosen = tuple(np.broadcast_to(end, shape)[here] for end in x)
        lo[here], hi[here] = _one_power((chosen[0], chosen[1]), e)
    return lo, hi


def _whole(e: float) -> bool:
    return abs(e) == 0.5 or (math.isfinite(e) and e.is_integer())


def _one_power(x: Pair, e: float) -> Pair:
    if e == 0.5:
        return out.sqrt(x)
    if e == -0.5:
        return out.reciprocal(out.sqrt(x))
    return out.power(x, int(e))


def _hypot(x: Pair, y: Pair) -> Pair:
    """``sqrt(x**2 + y**2)``, scaled by a power of two so that squares stay in range."""
    x, y = out.absolute(x), out.absolute(y)
    large = np.maximum(x[1], y[1])
    _, exponent = np.frexp(np.where(np.isfinite(large), large, 1.0))
    exponent = np.clip(exponent, -1000, 1000)
    down_, up_ = out.point(np.ldexp(1.0, -exponent)), out.point(np.ldexp(1.0, exponent))
    x, y = out.multiply(x, down_), out.multiply(y, down_)
    return out.multiply(out.sqrt(out.add(out.square(x), out.square(y))), up_)


def _monotone(f: Any) -> Callable[[Pair], Pair]:
    """An exact function that never decreases."""
    return lambda x: (f(x[0]) + 0.0, f(x[1]) + 0.0)


def _floor_divide(x: Pair, y: Pair) -> Pair:
    lo, hi = out.divide(x, y)
    return np.floor(lo), np.floor(hi)


def _remainder(x: Pair, y: Pair) -> Pair:
    """``x - y floor(x / y)``, which lies between zero and ``y``."""
    within = np.minimum(y[0], 0.0), np.maximum(y[1], 0.0)
    lo, hi = _floor_divide(x, y)
    return _of_quotient(x, y, lo, hi, within)


def _fmod(x: Pair, y: Pair) -> Pair:
    """``x - y trunc(x / y)``: of the sign of ``x``, no larger than either."""
    size = out.minimum(out.absolute(x), (0.0, out.absolute(y)[1]))[1]
    within = np.where(x[0] >= 0, 0.0, -size), np.where(x[1] <= 0, 0.0, size)
    lo, hi = out.divide(x, y)
    return _of_quotient(x, y, np.trunc(lo), np.trunc(hi), within)


def _of_quotient(x: Pair, y: Pair, lo: Any, hi: Any, within: Pair) -> Pair:
    known = (lo == hi) & np.isfinite(lo)
    whole = out.point(np.where(known, lo, 0.0))
    found = out.intersect(out.subtract(x, out.multiply(y, whole)), within)
    return out.where(known, found, within)


def _copysign(x: Pair, y: Pair) -> Pair:
    size = out.absolute(x)
    minus = out.negative(size)
    both = out.where(y[1] < 0, minus, out.hull(size, minus))
    return out.where(y[0] > 0, size, both)


def _heaviside(x: Pair, y: Pair) -> Pair:
    jump = np.minimum(y[0], 0.0), np.maximum(y[1], 1.0)
    at_zero = out.where((x[0] == 0) & (x[1] == 0), y, jump)
    lo, hi = np.sign(x[0]), np.sign(x[1])
    return out.where(lo > 0, (1.0, 1.0), out.where(hi < 0, (0.0, 0.0), at_zero))


def _copy(x: Pair) -> Pair:
    return x[0] + 0.0, x[1] + 0.0


RULES: dict[Any, Callable[..., Pair | None]] = {
    np.add: out.add,
    np.subtract: out.subtract,
    np.multiply: out.multiply,
    np.divide: out.divide,
    np.negative: out.negative,
    np.positive: _copy,
    np.absolute: out.absolute,
    np.fabs: out.absolute,
    np.square: out.square,
    np.sqrt: out.sqrt,
    np.reciprocal: out.reciprocal,
    np.power: _power,
    np.float_power: _power,
    np.hypot: _hypot,
    np.maximum: out.maximum,
    np.minimum: out.minimum,
    np.fmax: out.maximum,
    np.fmin: out.minimum,
    np.matmul: out.dot,
    np.sign: _monotone(np.sign),
    np.floor: _monotone(np.floor),
    np.ceil: _monotone(np.ceil),
    np.trunc: _monotone(np.trunc),
    np.rint: _monotone(np.rint),
    np.floor_divide: _floor_divide,
    np.remainder: _remainder,
    np.fmod: _fmod,
    np.copysign: _copysign,
    np.heaviside: _heaviside,
}

COMPARISONS = {
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
}
