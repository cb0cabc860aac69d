"""Covers, bounds and what follows from them over boxes, on public functions.

The full version, with more points, is ``python -m benchmarks --only boxes``.
"""

from __future__ import annotations

import heapq

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import bounds
from tests.suites._box_checks import (
    contains,
    eigenvalues,
    points,
    tightness,
    violations,
)
from tests.suites._box_functions import CASES, spike

EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@EACH
def test_covers_and_bounds_hold_at_points(case) -> None:
    x = points(case.box, 40)
    assert violations(case.f, case.box, x) == []
    assert contains(case.f, case.box, points(case.box, 2000))


@EACH
def test_covers_and_bounds_are_tight(case) -> None:
    found = tightness(case.f, case.box)
    assert found.bound_over_natural <= 10
    assert found.cover_over_best <= 3


@EACH
def test_underestimators_are_convex(case) -> None:
    x = points(case.box, 4000)
    found = bounds.alphabb(case.f, case.box)
    t = found.box.width
    least = eigenvalues(case.f, x, 2 * found.alpha, t).min()
    plain = eigenvalues(case.f, x, 0 * found.alpha, t)
    assert least >= -1e-9 * np.abs(plain).max()
    assert found.gap == pytest.approx(np.sum(found.alpha * t**2) / 4, rel=1e-12)
    low = found.lower_bound(found.box.mid)
    values = [case.f(p) for p in x[:200]]
    assert low <= min(values) + 1e-9 * (1 + abs(low))
    convex = bounds.convex_on(case.f, case.box)
    assert convex is None or convex == bool(plain.min() >= -1e-9 * np.abs(plain).max())
    norms = np.abs(eigenvalues(case.f, x, 0 * found.alpha, np.ones(len(t)))).max()
    assert norms <= bounds.gradient_lipschitz(case.f, case.box) * (1 + 1e-12)


def test_a_dent_that_samples_miss() -> None:
    """discopt's kind of false optimum: a sampled convexity test answers yes."""
    box = [(-2.0, 2.0)]
    sampled = [float(dc.hessian(spike, [x])[0, 0]) for x in np.linspace(-2, 2, 41)]
    assert min(sampled) > 0  # so that a sampled alpha is 0 and 0 passes for the minimum
    assert bounds.convex_on(spike, box) is not True
    assert bounds.convex_on(spike, box, max_boxes=64) is False
    found = bounds.alphabb(spike, box)
    x = 0.123456 + np.linspace(-0.01, 0.01, 20001)[:, None]
    assert eigenvalues(spike, x, 2 * found.alpha, np.ones(1)).min() >= 0
    low, high = branch_and_bound(spike, -2.0, 2.0, 1e-3)
    true = float(np.min(spike(x.T)))
    assert low <= true <= high
    assert high == pytest.approx(-3.5, abs=1e-3)
    assert high - low <= 1e-3


def branch_and_bound(f, lo, hi, tolerance):
    """Bounds of the global minimum of a function of one variable."""
    high, parts = np.inf, []

    def add(lo, hi):
        nonlocal high
        found = bounds.alphabb(f, [(lo, hi)], method="hessian")
        grid = np.linspace(lo, hi, 33)
        best = grid[np.argmin([found.underestimator(np.array([x])) for x in grid])]
        high = min(high, *(float(f(np.array([x]))) for x in (best, lo, hi)))
        heapq.heappush(parts, (found.lower_bound([best]), lo, hi))

    add(lo, hi)
    while True:
        low, a, b = heapq.heappop(parts)
        if high - low <= tolerance:
            return low, high
        add(a, (a + b) / 2)
        add((a + b) / 2, b)
