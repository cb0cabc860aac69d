"""Over a box, bounds hold at every point of it: exactly, in fractions of their floats."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import derivative_covers as dc
from derivative_covers.elements import Interval
from tests.laws._exact import exact_inputs

N = 3
ENDS = st.sampled_from([-3.0, -1.5, -1.0, -0.3, 0.0, 0.1, 0.7, 1.0, 2.0, 5.5])
WIDTHS = st.sampled_from([0.0, 2.0**-40, 0.1, 0.25, 1.0, 3.0])
BOXES = st.lists(st.tuples(ENDS, WIDTHS), min_size=N, max_size=N).map(
    lambda e: Interval([a for a, _ in e], [a + w for a, w in e])
)
PLACES = st.lists(st.fractions(0, 1, max_denominator=7), min_size=N, max_size=N)
FACTORS = st.sampled_from([-2.0, -1.0, 0.1, 0.5, 1.0, 3.0, 7.25])
KINDS = (
    "add",
    "subtract",
    "multiply",
    "scale",
    "square",
    "cube",
    "dot",
    "sum",
    "array",
)
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 30), st.integers(0, 30), FACTORS),
    min_size=1,
    max_size=7,
)


def run(steps: Any, x: Any) -> list[Any]:
    """All results of a random program, on recorded or on exact numbers."""
    pool = [x[0], x[1], x[2]]
    for kind, i, j, c in steps:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        if kind == "add":
            found = a + b
        elif kind == "subtract":
            found = a - b
        elif kind == "multiply":
            found = a * b
        elif kind == "scale":
            found = c * a - 1.5
        elif kind == "square":
            found = a * a
        elif kind == "cube":
            found = a**3
        elif kind == "dot":
            found = (x[:2] * a) @ (x[1:] - b)
        elif kind == "sum":
            found = (x * x[::-1] - a).sum() * b
        else:
            y = x - a
            y[1:] += y[:2] * x[2]
            found = (y * c).sum() + y[0] * y[2]
        pool.append(found)
    return pool


def points(box: Interval, places: Any) -> list[list[Fraction]]:
    """Two corners and a point inside, in fractions."""
    ends = [
        (Fraction(float(a)), Fraction(float(b)))
        for a, b in zip(box.lo, box.hi, strict=True)
    ]
    inside = [a + t * (b - a) for (a, b), t in zip(ends, places, strict=True)]
    return [[a for a, _ in ends], [b for _, b in ends], inside]


def contains(box: Any, x: Any) -> bool:
    lo, hi = np.ravel(box.lo), np.ravel(box.hi)
    return all(
        Fraction(float(a)) <= v <= Fraction(float(b))
        for a, b, v in zip(lo, hi, np.ravel(x), strict=True)
    )


def covers(h: Any, H: Any) -> bool:
    h = [Fraction(float(e)) for e in np.ravel(h)]
    return all(abs(H[i, j]) <= h[i] * h[j] for i, j in product(range(N), repeat=2))


@given(STEPS, BOXES, PLACES)
@settings(max_examples=60, deadline=None)
def test_bounds_of_scalar_programs_hold_at_every_point(steps, box, places):
    def f(x):
        return run(steps, x)[-1] + x[0] * 0.0

    tape, out = dc.tape_function(f, box)
    gradient, H = dc.gradient(tape, out), dc.hessian(tape, out)
    bound = dc.hessian_bound(tape, out)
    product_ = dc.hvp(tape, out, [1.0, -2.0, 0.5])
    found = [
        dc.cover_hessian(tape, out).h,
        dc.cover_hessian(tape, out, merge="quadrature").h,
        dc.cover_hessian(tape, out, merge="auto").h,
        dc.cover_hessian(tape, out, merge="auto", budget=3).h,
        dc.cover_hybrid(tape, out, ngroups=2).h,
        dc.cover_hessian(tape, out, scales=[0.1, 3.0, 1.0], ratio=0.9).h,
    ]
    direction = np.array([Fraction(1), Fraction(-2), Fraction(1, 2)])
    for x in points(box, places):
        exact = f(exact_inputs(x))
        assert contains(tape.values_at(np.array([out])), [exact.v])
        assert contains(gradient, exact.g)
        assert contains(H, exact.H)
        assert contains(product_, exact.H @ direction)
        assert all(
            abs(e) <= Fraction(float(b))
            for e, b in zip(exact.H.flat, bound.flat, strict=True)
        )
        for h in found:
            assert covers(h, exact.H)


@given(STEPS, BOXES, PLACES)
@settings(max_examples=40, deadline=None)
def test_bounds_of_several_outputs_hold_at_every_point(steps, box, places):
    weights = [0.5, 1.0, 3.0]

    def F(x):
        return [r + x[0] * 0.0 for r in run(steps, x)[-3:]]

    tape, outs = dc.tape_function(F, box)
    J = dc.jacobian(tape, outs)
    pairs = [dc.cover_jacobian(tape, outs, ngroups=g) for g in (1, 3)]
    scaled = dc.cover_jacobian(tape, outs, scales=[0.1, 3.0, 1.0])
    gram = dc.gramcover(tape, outs, weights)
    reverse = dc.abs_reverse(tape, outs, weights)
    nls = [dc.cover_nls(tape, outs, ngroups=g, weights=weights) for g in (1, 2, None)]
    for x in points(box, places):
        r = F(exact_inputs(x))
        exact = np.stack([e.g for e in r])
        assert contains(J, exact)
        for a, b in (*pairs, scaled):
            assert all(
                abs(exact[k, i]) <= Fraction(float(a[k])) * Fraction(float(b[i]))
                for k, i in product(range(3), range(N))
            )
        w = [Fraction(e) for e in weights]
        size = abs(exact).T @ w
        assert all(e <= Fraction(float(b)) for e, b in zip(size, reverse, strict=True))
        gauss = exact.T @ (np.array(w)[:, None] * exact)
        curved = sum(k * e.v * e.H for k, e in zip(w, r, strict=True))
        assert covers(gram, gauss)
        for cover in nls:
            assert covers(cover.h_gn, gauss)
            assert covers(cover.h_curv, curved)
            assert covers(cover.h, gauss + curved)
            assert contains(
                cover.value, [sum(k * e.v**2 for k, e in zip(w, r, strict=True)) / 2]
            )
            assert contains(
                cover.gradient, sum(k * e.v * e.g for k, e in zip(w, r, strict=True))
            )


@given(STEPS, BOXES)
@settings(max_examples=30, deadline=None)
def test_a_box_of_one_point_gives_the_covers_of_the_point(steps, box):
    def f(x):
        return run(steps, x)[-1] + x[0] * 0.0

    x = np.array(box.lo)
    tape, out = dc.tape_function(f, Interval(x))
    at, o = dc.tape_function(f, x)
    for options in ({}, {"merge": "quadrature"}):
        h, want = (
            dc.cover_hessian(tape, out, **options).h,
            dc.cover_hessian(at, o, **options).h,
        )
        np.testing.assert_allclose(h, want, rtol=1e-12, atol=1e-150)
    size = np.abs(dc.abs_forward(np.ones(N), at)[o])
    np.testing.assert_allclose(
        dc.gradient(tape, out).mid, dc.gradient(at, o), rtol=1e-12, atol=1e-12 * size
    )


@given(STEPS, BOXES)
@settings(max_examples=25, deadline=None)
def test_a_larger_box_has_larger_bounds(steps, box):
    def f(x):
        return run(steps, x)[-1] + x[0] * 0.0

    wider = Interval(box.lo - 0.125, box.hi + 0.5)
    assert dc.gradient(f, box) in dc.gradient(f, wider)
    B, more = dc.hessian_bound(f, box), dc.hessian_bound(f, wider)
    assert (more * (1 + 1e-14) >= B).all()
    assert dc.hessian(f, box) in dc.hessian(f, wider)


@given(STEPS, BOXES, st.lists(st.integers(-40, 40), min_size=N, max_size=N))
@settings(max_examples=25, deadline=None)
def test_units_by_powers_of_two_change_covers_by_exactly_these(steps, box, powers):
    units = 2.0 ** np.array(powers)

    def f(x):
        return run(steps, x)[-1] + x[0] * 0.0

    def g(x):
        return f(x / units)

    other = Interval(box.lo * units, box.hi * units)
    for options in ({}, {"merge": "quadrature"}):
        h = dc.cover_hessian(f, box, scales=np.ones(N), **options)
        k = dc.cover_hessian(g, other, scales=units, **options)
        assert (k.h * units == h.h).all()
    scaled = dc.gradient(g, other)
    plain = dc.gradient(f, box)
    assert (scaled.lo * units == plain.lo).all()
    assert (scaled.hi * units == plain.hi).all()


@pytest.mark.parametrize("factors", [
    (1e-200, 1e-200, 1e300),
    (1e300, 1e-200, 1e-200),
    (1e300, 1e-300, 1e-300, 1e300),
    (5e-324, 1e200, 1e10),
    (1e10, 1e200, 5e-324),
    (1e-200, 1e-200, 1.0),
])  # fmt: skip
def test_extreme_factors_lose_no_bound(factors):
    """A product that underflows on the way is never rounded to zero."""
    for a in (0.5, 1.0, 3.0):
        box = Interval([0.5, 0.5, -1.0], [a, 2.0, 1.0])

        def f(x):
            y = x[0] * x[1] * x[1] + x[0] ** 2
            for c in factors:
                y = y * c
            return y

        cover = dc.cover_hessian(f, box)
        found = [cover.h, dc.cover_hessian(f, box, merge="quadrature").h]
        for x in points(box, [Fraction(1, 3)] * N):
            H = f(exact_inputs(x)).H
            assert all(covers(h, H) for h in found)
            assert contains(cover.gradient, f(exact_inputs(x)).g)
