"""Contracts of the split of one block, case by case."""

from __future__ import annotations

import math

import numpy as np
import pytest

from derivative_covers.errors import OptionError
from derivative_covers.local import (
    SplitScale,
    balanced_split,
    declared_pair,
    needs_scale,
    split_block,
    split_limit,
    split_ratio,
    value_bounds_split,
)

R = 2.0**-26


class Forbidden:
    """A declared scale that no block may ask for."""

    def __eq__(self, other):
        raise AssertionError

    __hash__ = None


def test_diagonal_roots_where_they_cover():
    assert balanced_split(4.0, 6.0, 9.0, 1.0, 100.0) == (2.0, 3.0)
    assert balanced_split(4.0, 0.0, 0.0, 0.0, 0.0) == (2.0, 0.0)
    assert balanced_split(0.0, 0.0, 0.0, 1.0, 1.0) == (0.0, 0.0)


def test_equalising_point_inside_the_segment():
    assert balanced_split(0.0, 2.0, 0.0, 8.0, 1.0) == (0.5, 4.0)
    rho1, rho2 = balanced_split(1.0, 12.0, 1.0, 3.0, 4.0)
    assert (rho1, rho2) == (4.0, 3.0)
    assert rho1 * 3.0 == rho2 * 4.0


def test_clipping_to_either_end():
    assert balanced_split(1.0, 12.0, 4.0, 100.0, 1.0) == (1.0, 12.0)
    assert balanced_split(1.0, 12.0, 4.0, 1.0, 100.0) == (6.0, 2.0)


@pytest.mark.parametrize("zero", [0.0, 1e-320])
def test_a_vanishing_value_runs_to_a_finite_end(zero):
    with np.errstate(over="ignore"):
        assert balanced_split(1.0, 12.0, 4.0, zero, 1.0) == (6.0, 2.0)
    assert balanced_split(1.0, 12.0, 4.0, 1.0, zero) == (1.0, 12.0)


def test_two_vanishing_values_give_the_geometric_mean_of_the_ends():
    rho1, rho2 = balanced_split(1.0, 36.0, 4.0, 0.0, 0.0)
    assert rho1 == pytest.approx(math.sqrt(1.0 * 36.0 / 2.0), rel=1e-15)
    assert rho1 * rho2 == pytest.approx(36.0, rel=1e-15)


@pytest.mark.parametrize(
    "z", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (math.nan, 1.0), (math.inf, math.inf)]
)
def test_without_usable_references_and_ends_the_weights_are_equal(z):
    with np.errstate(invalid="ignore"):
        assert balanced_split(0.0, 9.0, 0.0, *z) == (3.0, 3.0)


def test_entries_near_the_ends_of_the_range_are_covered():
    with np.errstate(all="ignore"):
        rho1, rho2 = balanced_split(0.0, 1e200, 0.0, 1e-200, 1e200)
    assert rho1 == pytest.approx(1e300, rel=1e-15)
    assert rho2 == pytest.approx(1e-100, rel=1e-15)


def test_limit_keeps_both_weights_in_the_normal_range():
    limit = split_limit(np.float32)
    assert limit == 2.0**126
    with np.errstate(all="ignore"):
        rho1, rho2 = balanced_split(0.0, 1.0, 0.0, 1e-38, 1e38, limit)
        assert (np.float32(rho1), np.float32(rho2)) == (2.0**126, 2.0**-126)
        rho2, rho1 = balanced_split(0.0, 1.0, 0.0, 1e38, 1e-45, limit)
        assert (np.float32(rho1), np.float32(rho2)) == (2.0**126, 2.0**-126)


@pytest.mark.parametrize(
    ("e11", "e22", "z1", "z2", "usable"),
    [
        (0.0, 0.0, 1.0, 1.0, True),
        (0.0, 0.0, R, 1.0, False),  # z1 <= ratio * z2, and e22 is zero
        (0.0, 0.0, 1.01 * R, 1.0, True),
        (0.0, 0.0, 1.0, R, False),  # z2 <= ratio * z1, and e11 is zero
        (0.0, 0.0, 1.0, 1.01 * R, True),
        (0.0, 1.0, R, 1.0, True),  # the end that the point runs to is positive
        (0.0, 1.0, 1.0, R, False),
        (1.0, 0.0, 1.0, R, True),
        (1.0, 0.0, R, 1.0, False),
        (1.0, 1.0, 0.0, 0.0, True),
        (0.0, 0.0, 0.0, 0.0, False),
        (0.0, 0.0, math.nan, 1.0, False),
        (5e-324, 5e-324, 0.0, 1.0, True),
    ],
)
def test_value_bounds_split(e11, e22, z1, z2, usable):
    assert value_bounds_split(R, e11, e22, z1, z2) is usable
    assert needs_scale(R, e11, 1e30, e22, z1, z2) is not usable
    assert needs_scale(R, e11, 0.0, e22, z1, z2) is False


def test_a_zero_ratio_condemns_only_vanishing_values():
    assert value_bounds_split(0.0, 0.0, 0.0, 5e-324, 1.0)
    assert not value_bounds_split(0.0, 0.0, 0.0, 0.0, 1.0)


def test_declared_pair_must_be_finite_and_positive():
    assert declared_pair(2.0, 3.0) == (2.0, 3.0)
    for bad in (0.0, math.inf, math.nan, -1.0):
        assert declared_pair(bad, 3.0) == (1.0, 1.0)
        assert declared_pair(3.0, bad) == (1.0, 1.0)


def test_split_ratio_default_follows_the_precision():
    for T in (np.float64, np.float32):
        ratio = split_ratio(None, np.dtype(T))
        assert type(ratio) is T
        assert ratio == np.sqrt(np.finfo(T).eps)
    assert split_ratio(0, np.float64) == 0
    assert type(split_ratio(0.25, np.float32)) is np.float32


@pytest.mark.parametrize("ratio", [1, 1.5, -1e-9, math.nan, math.inf, "0.5", [0.5]])
def test_split_ratio_must_lie_in_the_half_open_interval(ratio):
    with pytest.raises(OptionError, match=r"\[0, 1\)") as info:
        split_ratio(ratio, np.float64)
    assert isinstance(info.value, ValueError)


def test_split_ratio_judges_the_number_that_will_be_used():
    with pytest.raises(OptionError):
        split_ratio(1 - 1e-12, np.float32)


def test_split_block_reads_values_and_leaves_declared_scales_alone():
    s1, s2 = SplitScale(8.0, Forbidden()), SplitScale(1.0, Forbidden())
    assert split_block(R, 0.0, 2.0, 0.0, s1, s2) == (0.5, 4.0)
    zero = SplitScale(0.0, Forbidden())
    assert split_block(R, 1.0, 12.0, 4.0, zero, s2) == (6.0, 2.0)
    assert split_block(R, 4.0, 6.0, 9.0, zero, zero) == (2.0, 3.0)


def test_split_block_falls_back_on_declared_scales():
    s1, s2 = SplitScale(0.0, 8.0), SplitScale(1.0, 1.0)
    assert split_block(R, 0.0, 2.0, 0.0, s1, s2) == (0.5, 4.0)
    for bad in (0.0, math.inf):
        s1 = SplitScale(0.0, bad)
        assert split_block(R, 0.0, 9.0, 0.0, s1, s2) == (3.0, 3.0)


def test_split_block_keeps_single_precision():
    one = SplitScale(np.float32(1), 1.0)
    zero, e = np.float32(0), np.float32(2)
    weights = split_block(np.float32(1e-4), zero, e, zero, one, one)
    assert all(type(w) is np.float32 for w in weights)
    tiny = SplitScale(np.float32(1e-38), 1.0)
    huge = SplitScale(np.float32(1e38), 1.0)
    rho1, rho2 = split_block(np.float32(0), zero, e, zero, tiny, huge)
    assert np.isfinite(rho1)
    assert rho1 * rho2 >= e
