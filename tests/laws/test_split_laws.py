"""Laws of the split: it covers, lies on its segment, and follows the units of its slots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from derivative_covers.local import (
    balanced_split,
    declared_pair,
    needs_scale,
    split_limit,
    value_bounds_split,
)

EPS = 2.0**-52
SMALLEST = 5e-324

# Any finite magnitude, and ones with zeros and the ends of the range made frequent.
anything = st.floats(0.0, 1.7e308, allow_subnormal=True)
sizes = st.one_of(
    anything,
    st.sampled_from([0.0, SMALLEST, 1e-320, 2.3e-308, 1e-300, 1.0, 1e300, 1.7e308]),
    st.floats(-320, 308).map(lambda e: 10.0**e),
)
references = st.one_of(sizes, st.sampled_from([math.inf, math.nan]))
# Numbers whose products and quotients stay normal under the shifts below.
mantissas = st.floats(0.5, 2.0, exclude_max=True)
middling = st.builds(math.ldexp, mantissas, st.integers(-40, 40))
middling_or_zero = st.one_of(st.just(0.0), middling)
shifts = st.integers(-120, 120)


def split(*args):
    with np.errstate(all="ignore"):
        return balanced_split(*args)


def covers(rho1, rho2, e11, e12, e22, eps):
    return all(
        r * s >= e * (1 - 4 * eps)
        for r, s, e in [(rho1, rho1, e11), (rho1, rho2, e12), (rho2, rho2, e22)]
    )


@given(sizes, sizes, sizes, references, references)
@example(1e300, 1e-320, 0.0, 1.0, 1.0)  # rho2 below the range
@example(1e-320, 1e300, 0.0, 1.0, 0.0)  # rho2 above it
@example(0.0, 1e300, 1e-320, 0.0, 1.0)  # rho1 above it
@example(0.0, 1e-320, 1e300, 1.0, 1.0)  # rho1 below it
@example(1e-320, 1e300, 1e-320, 0.0, 0.0)  # ends too far apart for their mean
def test_covers_whatever_the_sizes(e11, e12, e22, z1, z2):
    rho1, rho2 = split(e11, e12, e22, z1, z2)
    assert math.isfinite(rho1)
    assert math.isfinite(rho2)
    with np.errstate(all="ignore"):
        assert covers(rho1, rho2, e11, e12, e22, EPS)


singles = st.one_of(
    st.floats(0.0, float(np.float32(3.4e38)), width=32),
    st.floats(-45, 38).map(lambda e: float(np.float32(10.0**e))),
)


@given(singles, singles, singles, singles, singles)
def test_covers_after_rounding_to_single_precision(e11, e12, e22, z1, z2):
    args = [np.float32(x) for x in (e11, e12, e22, z1, z2)]
    rho = [np.float32(r) for r in split(*args, split_limit(np.float32))]
    eps = float(np.finfo(np.float32).eps)
    assert np.isfinite(rho).all()
    assert covers(float(rho[0]), float(rho[1]), e11, e12, e22, eps)


@given(middling_or_zero, middling, middling_or_zero, middling, middling)
def test_lies_on_the_segment_and_balances_where_it_can(e11, e12, e22, z1, z2):
    rho1, rho2 = split(e11, e12, e22, z1, z2)
    low, other = math.sqrt(e11), math.sqrt(e22)
    if e12 <= low * other:
        assert (rho1, rho2) == (low, other)
        return
    assert rho1 >= low
    assert rho2 >= other
    assert rho1 * rho2 == pytest.approx(e12, rel=4 * EPS)
    target = math.sqrt(e12 * (z2 / z1))
    high = e12 / other if other else math.inf
    assert rho1 == pytest.approx(min(max(target, low), high), rel=4 * EPS)


@given(
    st.tuples(middling_or_zero, middling, middling_or_zero),
    st.tuples(middling_or_zero, middling_or_zero),
    shifts,
    shifts,
)
def test_follows_powers_of_two_of_the_slots_bit_for_bit(e, z, p, q):
    e11, e12, e22 = e
    z1, z2 = z
    if not value_bounds_split(0.0, e11, e22, z1, z2):
        return
    rho1, rho2 = split(e11, e12, e22, z1, z2)
    moved = split(
        math.ldexp(e11, -2 * p),
        math.ldexp(e12, -p - q),
        math.ldexp(e22, -2 * q),
        math.ldexp(z1, p),
        math.ldexp(z2, q),
    )
    assert moved == (math.ldexp(rho1, -p), math.ldexp(rho2, -q))


large = st.builds(math.ldexp, mantissas, st.integers(100, 200))
far = st.one_of(st.integers(-800, 800), st.integers(500, 600))


@given(large, mantissas, mantissas, far)
def test_keeps_its_bits_where_quotients_leave_the_normal_range(e12, z1, z2, shift):
    rho1, rho2 = split(0.0, e12, 0.0, z1, z2)
    moved = split(0.0, e12, 0.0, math.ldexp(z1, shift), math.ldexp(z2, -shift))
    assert moved == (math.ldexp(rho1, -shift), math.ldexp(rho2, shift))


@given(
    st.tuples(middling_or_zero, middling, middling_or_zero),
    st.tuples(middling_or_zero, middling_or_zero),
    shifts,
)
def test_follows_powers_of_four_of_the_weight_bit_for_bit(e, z, s):
    rho1, rho2 = split(*e, *z)
    moved = split(*(math.ldexp(x, 2 * s) for x in e), *z)
    assert moved == (math.ldexp(rho1, s), math.ldexp(rho2, s))


@given(middling_or_zero, middling_or_zero, middling_or_zero, middling_or_zero)
def test_usable_values_and_finite_ends_need_no_scale(e11, e22, z1, z2):
    ratio = 2.0**-26
    bad = (z1 <= ratio * z2 and e22 == 0) or (z2 <= ratio * z1 and e11 == 0)
    assert value_bounds_split(ratio, e11, e22, z1, z2) is not bad
    active = 4 * e11 * e22 + 1.0
    assert needs_scale(ratio, e11, active, e22, z1, z2) is bad


@given(sizes, sizes, sizes, references, references, st.sampled_from([0.0, 1e-8, 0.9]))
def test_asks_for_scales_only_where_the_off_diagonal_is_active(
    e11, e12, e22, z1, z2, ratio
):
    if needs_scale(ratio, e11, e12, e22, z1, z2):
        assert e12 > math.sqrt(e11) * math.sqrt(e22)
        assert not value_bounds_split(ratio, e11, e22, z1, z2)


compiled = {
    f.__name__: njit(f)
    for f in (balanced_split, needs_scale, declared_pair, value_bounds_split)
}


def same(x, y):
    return np.array_equal(np.float64(x), np.float64(y), equal_nan=True)


@given(sizes, sizes, sizes, references, references, st.sampled_from([0.0, 1e-8, 0.9]))
@pytest.mark.parametrize("T", [float, np.float32])
def test_compiled_and_uncompiled_give_the_same_bits(T, e11, e12, e22, z1, z2, ratio):
    with np.errstate(all="ignore"):
        e11, e12, e22, z1, z2, ratio = (T(x) for x in (e11, e12, e22, z1, z2, ratio))
        if math.isfinite(e12):
            limit = split_limit(np.float64 if T is float else T)
            args = e11, e12, e22, z1, z2, limit
            assert same(compiled["balanced_split"](*args), balanced_split(*args))
        args = ratio, e11, e12, e22, z1, z2
        assert compiled["needs_scale"](*args) == needs_scale(*args)
        args = ratio, e11, e22, z1, z2
        assert compiled["value_bounds_split"](*args) == value_bounds_split(*args)
        assert same(compiled["declared_pair"](z1, z2), declared_pair(z1, z2))
