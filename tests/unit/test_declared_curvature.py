"""Declared curvature: weights, bounds, atoms and their errors."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from derivative_covers import errors, extend
from derivative_covers.elements import boundtype, magtype
from derivative_covers.extend import DeclaredCurvature, SplitScale, Upward


class Site(extend.CoverSite):
    def __init__(self, dtype=np.float64):
        self.T = dtype

    @property
    def dtype(self):
        return self.T

    def site_label(self):
        return "node 7"

    def site_values(self):
        return "node value 1.5"


class Box:
    """A toy element type whose values stand for sets, as an extension registers one."""

    def __init__(self, size):
        self.size = size


@magtype.register(Box)
def _(T):
    return np.float64


@boundtype.register(Box)
def _(T):
    return Upward


LIVE, DEAD = SplitScale(1.0, 1.0), SplitScale(1.0, 0.0)


def test_weights_are_the_bound_times_the_root_of_the_adjoint():
    C = DeclaredCurvature([2.0, 0.0, 0.5])
    rho = extend.cover_slots(C, None, Site(), 9.0, [LIVE] * 3)
    np.testing.assert_array_equal(rho, [6.0, 0.0, 1.5])
    rho = extend.cover_slots(C, None, Site(), 9.0, [DEAD, LIVE, LIVE])
    np.testing.assert_array_equal(rho, [0.0, 0.0, 1.5])
    single = extend.cover_slots(
        DeclaredCurvature(np.float32([2.0])), None, Site(np.float32), 4.0, [LIVE]
    )
    assert single.dtype == np.float32


@pytest.mark.parametrize(
    ("s", "av", "slots"),
    [
        ([2.0, 1.0], 0.0, [LIVE, LIVE]),
        ([0.0], 1.0, [LIVE]),
        ([3.0], 1.0, [DEAD]),
        ([], 1.0, []),
    ],
)
def test_there_may_be_nothing_to_cover(s, av, slots):
    untouched = [7.0]
    C = DeclaredCurvature(s)
    assert not extend.cover_slots_into(untouched, C, None, Site(), av, slots)
    assert untouched == [7.0]


def test_a_zero_bound_has_no_atom_and_others_have_one():
    assert DeclaredCurvature([0.0, 0.0]).atom_slots(2) == ()
    assert extend.atom_slots(DeclaredCurvature([0.0, 1.0]), 2) == ((0, 1),)
    assert not extend.has_exact_partials(DeclaredCurvature([1.0]))


def test_weights_cover_at_the_ends_of_the_range():
    for s, av in [([1e-300, 1e300], 1e-100), ([1e-160, 1.0], 1e-320), ([5e-324], 1.0)]:
        rho = extend.cover_slots(
            DeclaredCurvature(s), None, Site(), av, [LIVE] * len(s)
        )
        exact = [Fraction(float(r)) for r in rho]
        for i, a in enumerate(s):
            for j, b in enumerate(s):
                need = Fraction(av) * Fraction(a) * Fraction(b)
                assert exact[i] * exact[j] >= need * (1 - Fraction(1, 10**14))


def test_weights_round_up_where_the_type_of_bounds_does():
    rng = np.random.default_rng(7)
    s = rng.random(6)
    for av in rng.random(50):
        rho = extend.cover_slots(DeclaredCurvature(s), 0.0, Site(Box), av, [LIVE] * 6)
        assert rho.dtype == np.float64
        exact = [Fraction(r) for r in rho.tolist()]
        for i in range(6):
            for j in range(6):
                assert exact[i] * exact[j] >= Fraction(av) * Fraction(s[i]) * Fraction(
                    s[j]
                )


def test_bound_is_one_outer_product():
    C = DeclaredCurvature([2.0, 0.0, 1.0])
    rows = np.array([[1.0, 0.0], [np.inf, np.inf], [0.0, 3.0], [1.0, 1.0]])
    B = np.ones((2, 2))
    extend.bound_contribution(B, C, 0.5, [0, 1, 2], rows)
    np.testing.assert_array_equal(B, 1 + 0.5 * np.outer([2.0, 3.0], [2.0, 3.0]))
    extend.bound_contribution(B, C, 0.0, [0, 1, 1], rows)
    assert np.isfinite(B).all()
    B = np.zeros((2, 2))
    extend.bound_contribution(
        B, DeclaredCurvature([1.0]), 1.0, [3], {3: np.array([np.inf, 0.0])}
    )
    np.testing.assert_array_equal(B, [[np.inf, 0.0], [0.0, 0.0]])


def test_no_product_passes_through_a_declared_bound():
    with pytest.raises(errors.UnsupportedOperationError, match="without their signs"):
        extend.curvature_apply(
            np.zeros(1), DeclaredCurvature([1.0]), [0], 1.0, np.ones(1)
        )


@pytest.mark.parametrize(
    ("s", "error", "message"),
    [
        ([-1.0], errors.OptionError, r"s\[0\] = -1"),
        ([1.0, math.nan], errors.OptionError, r"s\[1\] = nan"),
        ([math.inf], errors.OptionError, "finite"),
        ([[1.0]], errors.ShapeError, r"shape \(1, 1\)"),
        (1.0, errors.ShapeError, r"shape \(\)"),
        (["a"], errors.InputTypeError, "real numbers"),
        ([1j], errors.InputTypeError, "real numbers"),
    ],
)
def test_bad_bounds_are_refused(s, error, message):
    with pytest.raises(error, match=message):
        DeclaredCurvature(s)


def test_wrong_number_of_slots_and_infinite_adjoint():
    with pytest.raises(errors.ShapeError, match="2 slots"):
        extend.cover_slots(DeclaredCurvature([1.0, 2.0]), None, Site(), 1.0, [LIVE])
    with pytest.raises(errors.DomainError, match="adjoint"):
        extend.cover_slots(DeclaredCurvature([1.0]), None, Site(), math.inf, [LIVE])


def test_it_is_a_frozen_copy():
    s = np.array([1.0, 2.0])
    C = DeclaredCurvature(s)
    s[0] = 9.0
    assert DeclaredCurvature([1, 2]) == C
    assert DeclaredCurvature([1.0]) != C
    assert extend.NoCurvature() != C
    assert hash(C) == hash(DeclaredCurvature([1, 2]))
    with pytest.raises(ValueError, match="read-only"):
        C.s[0] = 1.0
    for other in (copy.deepcopy(C), pickle.loads(pickle.dumps(C))):
        assert other == C
    assert repr(DeclaredCurvature(np.ones(99))).count("1.") == 6
    assert DeclaredCurvature(np.float32([1.0])).s.dtype == np.float32
