"""What is checked on each function over its box, on few points or on many."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

import derivative_covers as dc
from derivative_covers import bounds
from tests._best_cover import best_cover
from tests.suites._second_order import (
    arb_hessian,
    hessian_of,
    interval_hessian,
    to_fraction,
)

__all__ = ["Tightness", "contains", "eigenvalues", "points", "tightness", "violations"]

HAIR = 1 + Fraction(1, 2**100)  # what a ball of 128 bits is wider than its middle


def points(box: Any, count: int, seed: int = 0) -> Any:
    """Members of a box: its corners where these are few, and random ones."""
    lo, hi = np.array(box, dtype=float).T
    random = lo + (hi - lo) * np.random.default_rng(seed).random((count, len(lo)))
    if len(lo) <= 6:
        corners = np.stack(np.meshgrid(*np.transpose([lo, hi])), axis=-1)
        random[: 2 ** len(lo)] = corners.reshape(-1, len(lo))[:count]
    return np.clip(random, lo, hi)


@dataclass(frozen=True)
class Tightness:
    """Factors, as geometric means over the nonzero entries."""

    bound_over_natural: float
    cover_over_best: float
    sum_over_best: float


def tightness(f: Any, box: Any) -> Tightness:
    """Of the entrywise bound against the natural extension; of covers against the best."""
    tape, out = dc.tape_function(f, dc.Interval.box(box))
    B = dc.hessian_bound(tape, out)
    natural = interval_hessian(f, dc.Interval.box(box))
    best = best_cover(B)
    excess = [
        dc.cover_excess(dc.cover_hessian(tape, out, merge=merge).h, B)
        - dc.cover_excess(best, B)
        for merge in ("quadrature", "sum")
    ]
    both = (natural > 0) & (B > 0)
    assert not B[natural == 0].any() or not natural.any()
    return Tightness(
        float(np.exp(np.mean(np.log(B[both] / natural[both])))),
        *(float(10**e) for e in excess),
    )


def violations(f: Any, box: Any, x: Any) -> list[str]:
    """Entries of the Hessian, in balls of 128 bits, that a cover or a bound lies below."""
    tape, out = dc.tape_function(f, dc.Interval.box(box))
    covers = {
        merge: dc.cover_hessian(tape, out, merge=merge).h
        for merge in ("sum", "quadrature", "auto")
    }
    covers["hybrid"] = dc.cover_hybrid(tape, out, ngroups=2).h
    tops = {
        "bound": dc.hessian_bound(tape, out),
        "both": bounds.hessian_bound(f, box, max_boxes=3),
    }
    found = []
    for (i, j), H in arb_hessian(f, x).items():
        most = _most(H)
        for name, h in covers.items():
            if most > Fraction(h[i]) * Fraction(h[j]) * HAIR:
                found.append(f"{name} cover at {i}, {j}")
        for name, B in tops.items():
            if most > Fraction(B[i, j]) * HAIR:
                found.append(f"{name} at {i}, {j}")
    return found


def _most(H: Any) -> Fraction:
    old, flint.ctx.prec = flint.ctx.prec, 128
    try:
        balls = np.ravel(np.asarray(H, dtype=object))
        return max(to_fraction(flint.arb(b).abs_upper()) for b in balls)
    finally:
        flint.ctx.prec = old


def contains(f: Any, box: Any, x: Any) -> bool:
    """Whether the interval Hessian contains that of the points, but for rounding."""
    H = dc.hessian(f, dc.Interval.box(box))
    size = np.maximum(np.abs(H.lo), np.abs(H.hi))
    there = _dense(f, x)
    slack = 1e-10 * (1 + size)
    return bool((there >= H.lo - slack).all() and (there <= H.hi + slack).all())


def eigenvalues(f: Any, x: Any, diagonal: Any, t: Any) -> Any:
    """Of ``T (H + diag(diagonal)) T`` at points, in plain arithmetic."""
    H = _dense(f, x) + np.diag(diagonal)
    return np.linalg.eigvalsh(H * np.outer(t, t))


def _dense(f: Any, x: Any) -> Any:
    count, n = x.shape
    H = np.zeros((count, n, n))
    for (i, j), h in hessian_of(f, list(x.T)).items():
        H[:, i, j] = H[:, j, i] = h
    return H
