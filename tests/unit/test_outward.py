"""Interval arithmetic on pairs, against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from derivative_covers.elements import _outward as out

MAX = np.finfo(float).max
TINY = 2.0**-1074
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -7.0, 0.1, TINY, -TINY, 3 * TINY]
SPECIAL += [2.0**-1022, -(2.0**-1022), 1e-200, -1e-170, MAX, -MAX, 1e200, 2.0**1023]
SPECIAL += [
    1 + 2.0**-52,
    1 - 2.0**-53,
    2.0**53 + 2,
    1e16,
    -1e16,
    2.0**-537,
    2.0**27 + 1,
]
floats = st.one_of(
    st.sampled_from(SPECIAL),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10),
    st.integers(-50, 50).map(float),
)
intervals = st.one_of(
    floats.map(lambda a: (a, a)),
    st.tuples(floats, floats).map(lambda p: tuple(sorted(p))),
)
many = st.lists(st.tuples(intervals, intervals), min_size=1, max_size=12)


def below(q: Fraction) -> float:
    """The largest float not above ``q``."""
    try:
        f = float(q)
    except OverflowError:
        return MAX if q > 0 else -math.inf
    return math.nextafter(f, -math.inf) if Fraction(f) > q else f


def above(q: Fraction) -> float:
    return -below(-q)


def hold(lo: float, hi: float, exact: list[Fraction], ulps: int = 1) -> None:
    """Contained, and no end further out than one float from the optimal one."""
    least, most = below(min(exact)), above(max(exact))
    assert lo <= least, (lo, least)
    assert hi >= most, (hi, most)
    for _ in range(ulps):
        least, most = math.nextafter(least, -math.inf), math.nextafter(most, math.inf)
    # near underflow a step may pass one more float
    assert lo >= least - (2 * TINY if abs(least) < 1e-290 else 0), (lo, least)
    assert hi <= most + (2 * TINY if abs(most) < 1e-290 else 0), (hi, most)


def ends(pairs):
    lo, hi = (np.array([p[k] for p in pairs]) for k in (0, 1))
    return (lo, lo) if np.array_equal(lo, hi) else (lo, hi)


def exactly(op, x, y):
    return [op(Fraction(a), Fraction(b)) for a, b in product(x, y)]


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("add", lambda a, b: a + b),
        ("subtract", lambda a, b: a - b),
        ("multiply", lambda a, b: a * b),
        ("divide", lambda a, b: a / b),
    ],
)
@given(pairs=many)
@settings(max_examples=60)
def test_two_operands(name, op, pairs):
    if name == "divide":
        pairs = [(x, y) for x, y in pairs if not y[0] <= 0 <= y[1]]
        if not pairs:
            return
    x, y = ends([p[0] for p in pairs]), ends([p[1] for p in pairs])
    lo, hi = getattr(out, name)(x, y)
    for k, (a, b) in enumerate(pairs):
        exact = exactly(op, a, b)
        hold(lo[k], hi[k], exact)
        scalar = getattr(out, name)(
            tuple(map(np.float64, a)), tuple(map(np.float64, b))
        )
        assert type(scalar[0]) is np.float64
        hold(*scalar, exact)


@given(pairs=st.lists(intervals, min_size=1, max_size=12))
@settings(max_examples=60)
def test_one_operand(pairs):
    x = ends(pairs)
    squares, roots = out.square(x), out.sqrt(x)
    sizes, opposite = out.absolute(x), out.negative(x)
    inverse = out.reciprocal(x)
    for k, (a, b) in enumerate(pairs):
        members = [Fraction(a), Fraction(b)] + ([Fraction(0)] if a <= 0 <= b else [])
        hold(squares[0][k], squares[1][k], [m * m for m in members])
        assert sizes[0][k] == float(min(map(abs, members)))
        assert sizes[1][k] == float(max(map(abs, members)))
        assert (opposite[0][k], opposite[1][k]) == (-b, -a)
        for end, m in ((0, max(a, 0.0)), (1, max(b, 0.0))):
            r = roots[end][k]
            square = Fraction(r) ** 2
            assert square <= Fraction(m) if end == 0 else square >= Fraction(m)
            near = Fraction(math.sqrt(m))
            assert abs(Fraction(r) - near) <= Fraction(math.ulp(float(near)))
        if not a <= 0 <= b:
            hold(inverse[0][k], inverse[1][k], [1 / m for m in members])
        elif a < 0 < b or a == b == 0:
            assert (inverse[0][k], inverse[1][k]) == (-math.inf, math.inf)
        elif a == 0:
            assert inverse[1][k] == math.inf
            assert Fraction(float(inverse[0][k])) <= 1 / Fraction(b)


@given(pairs=st.lists(intervals, min_size=1, max_size=6), n=st.integers(-9, 9))
@settings(max_examples=100)
def test_powers(pairs, n):
    x = ends(pairs)
    lo, hi = out.power(x, n)
    for k, (a, b) in enumerate(pairs):
        members = [Fraction(a), Fraction(b)] + ([Fraction(0)] if a <= 0 <= b else [])
        if n < 0 and a <= 0 <= b:
            continue
        exact = [m**n for m in members]
        assert lo[k] <= below(min(exact)), (a, b)
        assert hi[k] >= above(max(exact))
        if n >= 0 and all(1e-20 < abs(m) < 1e20 for m in members):
            slack = Fraction(2 * abs(n) + 2) * Fraction(2) ** -52
            assert Fraction(lo[k]) >= min(exact) - slack * max(map(abs, exact))
            assert Fraction(hi[k]) <= max(exact) + slack * max(map(abs, exact))


@given(
    rows=st.lists(st.lists(intervals, min_size=3, max_size=3), min_size=1, max_size=9)
)
@settings(max_examples=60)
def test_sums(rows):
    x = tuple(np.array([[p[k] for p in row] for row in rows]) for k in (0, 1))
    lo, hi = out.total(x, 0)
    kept = out.total(x, keepdims=True)
    assert kept[0].shape == (1, 1)
    for k in range(3):
        assert lo[k] <= below(sum((Fraction(r[k][0]) for r in rows), Fraction(0)))
        assert hi[k] >= above(sum((Fraction(r[k][1]) for r in rows), Fraction(0)))
    every = sum((Fraction(p[0]) for row in rows for p in row), Fraction(0))
    assert kept[0][0, 0] <= below(every)


@given(data=st.data())
@settings(max_examples=100)
def test_matrix_products(data):
    m, n, p = (data.draw(st.integers(0, 4)) for _ in range(3))
    entries = st.lists(intervals, min_size=m * n, max_size=m * n)
    x = data.draw(entries)
    y = data.draw(st.lists(floats, min_size=n * p, max_size=n * p))
    a = tuple(np.array([e[k] for e in x]).reshape(m, n) for k in (0, 1))
    b = np.array(y).reshape(n, p)
    lo, hi = out.dot(a, b)
    assert lo.shape == (m, p)
    for i, j in product(range(m), range(p)):
        terms = [
            sorted(
                (
                    Fraction(a[0][i, k]) * Fraction(b[k, j]),
                    Fraction(a[1][i, k]) * Fraction(b[k, j]),
                )
            )
            for k in range(n)
        ]
        assert lo[i, j] <= below(sum((t[0] for t in terms), Fraction(0)))
        assert hi[i, j] >= above(sum((t[1] for t in terms), Fraction(0)))


@given(x=st.one_of(floats, st.sampled_from([math.inf, -math.inf])))
def test_steps(x):
    assert out.down(np.float64(x)) <= math.nextafter(x, -math.inf)
    assert out.up(np.float64(x)) >= math.nextafter(x, math.inf)
    if abs(x) > 2.0**-1020:
        assert out.down(np.float64(x)) == math.nextafter(x, -math.inf)
        assert out.up(np.float64(x)) == math.nextafter(x, math.inf)


def test_infinite_ends():
    inf = math.inf
    line, ray = (np.array([-inf]), np.array([inf])), (np.array([1.0]), np.array([inf]))
    zero, half = out.point(np.zeros(1)), (np.zeros(1), np.ones(1))

    def found(pair):
        return float(pair[0][0]), float(pair[1][0])

    assert found(out.multiply(zero, line)) == (0.0, 0.0)
    assert found(out.multiply(half, ray)) == (0.0, inf)
    assert found(out.add(line, ray)) == (-inf, inf)
    assert found(out.add(out.point(np.array([inf])), line)) == (-inf, inf)
    assert found(out.subtract(ray, ray)) == (-inf, inf)
    assert found(out.divide(ray, ray)) == (0.0, inf)
    assert found(out.divide(ray, line)) == (-inf, inf)
    assert found(out.divide(ray, half)) == (1.0, inf)
    assert found(out.divide(out.negative(ray), half)) == (-inf, -1.0)
    assert found(out.divide(ray, out.negative(half))) == (-inf, -1.0)
    assert found(out.divide(ray, zero)) == (-inf, inf)
    assert found(out.sqrt(ray)) == (1.0, inf)
    assert found(out.square(line)) == (0.0, inf)
    assert found(out.reciprocal(ray)) == (0.0, 1.0)


def test_exact_results_stay_exact():
    third = out.point(np.array([1 / 3, 0.1, -0.3]))
    for factor in (0.0, 1.0, -1.0, 2.0, 0.25):
        lo, hi = out.multiply(third, out.point(factor))
        assert np.array_equal(lo, hi)
        if factor:
            lo, hi = out.divide(third, out.point(factor))
            assert np.array_equal(lo, hi)
    whole = out.point(np.arange(1.0, 40.0))
    for lo, hi in (
        out.multiply(whole, whole),
        out.square(whole),
        out.sqrt(out.square(whole)),
        out.power(whole, 3),
        out.total(whole),
        out.subtract(third, third),
        out.divide(out.square(whole), whole),
        out.dot(whole, whole),
    ):
        assert np.array_equal(lo, hi)


@pytest.mark.parametrize("n", [1, 300, 8192, 8193, 20_000])
def test_blocks_give_what_single_entries_give(n):
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal(n), rng.standard_normal(n)
    a[::7], b[::5] = 0, np.round(b[::5])
    x, y = (a, a + rng.random(n)), (b - rng.random(n), b)
    y[0][::9] = y[1][::9]
    for op in (out.add, out.subtract, out.multiply, out.divide):
        lo, hi = op(x, y)
        for k in rng.integers(0, n, 20):
            one = op((x[0][k], x[1][k]), (y[0][k], y[1][k]))
            assert one == (lo[k], hi[k])
    wide = tuple(e.reshape(-1, 1) for e in x), tuple(e[:3] for e in y)
    lo, hi = out.multiply(*wide)
    assert np.array_equal(lo[:, 0], out.multiply(x, tuple(e[0] for e in y))[0])
    for op in (out.square, out.sqrt):
        lo, hi = op(x)
        assert np.array_equal(lo[::2], op(tuple(e[::2] for e in x))[0])
        assert np.array_equal(hi[::2], op(tuple(e[::2] for e in x))[1])


def test_large_products_hold_the_exact_ones():
    rng = np.random.default_rng(3)
    a = rng.standard_normal((60, 50)) * 10.0 ** rng.integers(-9, 9, (60, 50))
    x = (a, a + np.abs(a) * rng.random((60, 50)))
    x[0][7], x[1][7] = 0.0, 0.0
    b = rng.standard_normal((50, 80))
    for found in (
        out.dot(x, b),
        tuple(e.T for e in out.dot(b.T, tuple(e.T for e in x))),
    ):
        assert found[0].shape == (60, 80)
        assert not found[0][7].any()
        assert not found[1][7].any()
        for i, j in rng.integers(0, 60, (40, 2)):
            pairs = [
                sorted(Fraction(e) * Fraction(f) for e in (x[0][i, k], x[1][i, k]))
                for k, f in enumerate(b[:, j])
            ]
            low, high = sum(p[0] for p in pairs), sum(p[1] for p in pairs)
            assert Fraction(found[0][i, j]) <= low
            assert Fraction(found[1][i, j]) >= high
            size = sum(max(map(abs, p)) for p in pairs)
            assert low - Fraction(found[0][i, j]) <= size * Fraction(1, 10**13)
    x[1][0, 0] = np.inf
    lo, hi = out.dot(x, b)
    assert not np.isnan(lo).any()
    assert np.isinf(hi[0]).sum() + np.isinf(lo[0]).sum() == 80
    square = out.dot(x, tuple(e.T for e in x))
    few = out.dot((x[0][:1], x[1][:1]), (x[0][:2].T, x[1][:2].T))
    np.testing.assert_allclose(square[0][:1, :2], few[0], rtol=1e-14)


def test_no_warnings_and_no_aliasing():
    with np.errstate(all="raise"):
        a = np.array([MAX, TINY, 0.0, np.inf])
        for op in (out.add, out.subtract, out.multiply, out.divide):
            lo, hi = op((-a, a), (-a, a))
            assert not np.isnan(lo).any()
            assert not np.isnan(hi).any()
        kept = a.copy()
        out.square((-a, a))
        out.sqrt((-a, a))
        out.total((-a, a))
        assert np.array_equal(a, kept)


@given(pairs=st.tuples(intervals, intervals))
@example(pairs=((5e-324, 5e-324), (5e-324, 5e-324)))
@settings(max_examples=200)
def test_single_intervals_have_the_bits_of_arrays(pairs):
    x, y = (tuple(map(np.float64, p)) for p in pairs)
    long = [tuple(np.array([e]) for e in p) for p in (x, y)]
    for op in (out.add, out.subtract, out.multiply, out.divide):
        one, many = op(x, y), op(*long)
        assert one == (many[0][0], many[1][0])
    for op in (out.square, out.sqrt, out.reciprocal):
        one, many = op(x), op(long[0])
        assert one == (many[0][0], many[1][0])
