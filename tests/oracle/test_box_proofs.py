"""Global minima, each proof replayed in balls by ``_box_proof``; programs over many boxes.

All twelve functions: ``python -m tests.oracle.box_proofs``.
"""

from __future__ import annotations

from dataclasses import replace

import flint
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.parallel import minimize_box
from derivative_covers.parallel.minimum import _jets
from derivative_covers.parallel.minimum._judge import KINDS, judge
from tests.oracle._box_proof import ProofError, check_minimum
from tests.suites import _box_functions as others
from tests.suites._global_functions import CASES
from tests.suites._second_order import Dual


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.quick], ids=lambda case: case.name
)
def test_minima_are_proved_and_the_proof_holds(case) -> None:
    found = minimize_box(case.f, case.box)
    assert found.proved
    assert found.lower <= case.least + 5e-10
    assert case.least - 5e-10 <= found.upper <= found.lower + 1e-6
    check_minimum(case.f, case.box, found)


def test_a_proof_that_lacks_something_is_refused() -> None:
    case = next(case for case in CASES if case.name == "six-hump camel")
    found = minimize_box(case.f, case.box)
    check_minimum(case.f, case.box, found)
    parts = found.leaves
    one = np.flatnonzero(parts.kind == "second order")[0]
    keep = np.arange(len(parts)) != one
    lacking = replace(parts, **{name: a[keep] for name, a in vars(parts).items()})
    with pytest.raises(ProofError, match="no part covers"):
        check_minimum(case.f, case.box, replace(found, leaves=lacking))
    wrong = parts.sign.copy()
    wrong[np.flatnonzero(wrong)[0]] *= -1
    with pytest.raises(ProofError, match="not proved from"):
        check_minimum(
            case.f, case.box, replace(found, leaves=replace(parts, sign=wrong))
        )
    with pytest.raises(ProofError, match="is not proved to be at most"):
        check_minimum(case.f, case.box, replace(found, upper=found.upper - 1e-9))


def loops(x):
    """Blocks of every kind: running results, matrices, runs of scalars, one operand twice."""
    steps = np.cumprod(1 + x**2) + np.cumsum(np.stack([x, x * x]))[: len(x)]
    A = np.outer(x, np.sin(x)) @ np.array([[1.0, 2.0], [-0.5, 1 / 3]])
    y = 0.0
    for k in range(3):
        y = y * x[0] + x[1] / (k + 2.5)
    return np.sum(steps) + np.sum(A * A) + np.dot(x, x) * y - np.mean(x) + x[1] / x[1]


def test_programs_over_many_boxes_contain_their_values_and_derivatives(
    monkeypatch,
) -> None:
    monkeypatch.setattr(_jets, "ENTRIES", 2000)  # some boxes at a time
    cases = [*others.CASES, others.Case("loops", loops, [(-1, 2), (0.5, 1)])]
    rng = np.random.default_rng(1)
    for case in cases:
        tape, out = dc.tape_function(case.f, dc.Interval.box(case.box))
        program = _jets.BoxProgram(tape, int(out))
        low, high = np.array(case.box, dtype=float).T
        boxes, n = 12, len(low)
        share = 10.0 ** rng.uniform(-6, 0, (boxes, 1))
        lo = low + (high - low) * (1 - share) * rng.random((boxes, n))
        hi = np.minimum(lo + share * (high - low), high)
        x = np.clip(lo + (hi - lo) * rng.random((boxes, n)), lo, hi)
        found = program(lo, hi, 2)
        assert not (found.undefined | found.rough).any()
        truth = duals(case.f, x)
        upper = [(i, j) for i in range(n) for j in range(i, n)]
        claims = [(found.value, truth.v)]
        claims += [
            ((e[0][k], e[1][k]), truth.g[k]) for e in [found.gradient] for k in range(n)
        ]
        claims += [
            ((found.hessian[0][k], found.hessian[1][k]), truth.H.get(k)) for k in upper
        ]
        for (lows, highs), balls in claims:
            balls = np.broadcast_to(0.0 if balls is None else balls, (boxes,))
            for a, b, ball in zip(lows, highs, map(as_ball, balls), strict=True):
                assert not ball < flint.arb(float(a)), case.name
                assert not ball > flint.arb(float(b)), case.name


def test_bounds_of_every_kind_hold_at_points() -> None:
    rng = np.random.default_rng(2)
    kinds = set()
    for case in others.CASES:
        low, high = np.array(case.box, dtype=float).T
        tape, out = dc.tape_function(case.f, dc.Interval.box(case.box))
        program = _jets.BoxProgram(tape, int(out))
        boxes, n = 24, len(low)
        share = 10.0 ** rng.uniform(-3, 0, (boxes, 1))
        lo = low + (high - low) * (1 - share) * rng.random((boxes, n))
        hi = np.minimum(lo + share * (high - low), high)
        hi[:4, 0] = lo[:4, 0]  # faces
        found = judge(program, lo, hi, high - low, np.inf)
        kinds |= {KINDS[k] for k in found.kind}
        corners = np.stack(np.meshgrid(*[(0, 1)] * min(n, 4)), -1).reshape(
            -1, min(n, 4)
        )
        inner = np.concatenate([rng.random((40, n)), np.resize(corners, (16, n))])
        for k in range(boxes):
            x = np.clip(lo[k] + (hi[k] - lo[k]) * inner, lo[k], hi[k])
            # where the model touches the function, so that a bound too high shows
            x = np.concatenate([x, found.points[k : k + 1]])
            values = np.array([case.f(p) for p in x])
            slack = 1e-12 * (1 + np.abs(values).max())
            assert found.bound[k] <= values.min() + slack, (case.name, k)
            assert found.upper[k] >= values[-1] - slack, (case.name, k)
            if found.sign[k]:
                slopes = duals(case.f, x).g[found.variable[k]]
                assert all(g * int(found.sign[k]) > 0 for g in slopes), (case.name, k)
    assert kinds == {"value", "mean value", "second order"}


def as_ball(x):
    return x if isinstance(x, flint.arb) else flint.arb(float(x))


def duals(f, points):
    """A function with its derivatives at points, in balls of 128 bits."""
    old, flint.ctx.prec = flint.ctx.prec, 128
    try:
        values = list(np.frompyfunc(lambda a: flint.arb(float(a)), 1, 1)(points.T))
        n = len(values)
        x = np.empty(n, dtype=object)
        for k, v in enumerate(values):
            x[k] = Dual(v, [1 if j == k else None for j in range(n)], {})
        return f(x)
    finally:
        flint.ctx.prec = old
