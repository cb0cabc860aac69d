"""Forms of curvature: weights, bounds, products, atoms and their errors."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from derivative_covers.errors import (
    CoverError,
    DomainError,
    InputTypeError,
    ShapeError,
    UnsupportedOperationError,
)
from derivative_covers.local import (
    BinaryCurvature,
    CoverSite,
    Curvature,
    DenseCurvature,
    NoCurvature,
    PairedCurvature,
    SplitScale,
    UnaryCurvature,
    atom_slots,
    bound_contribution,
    check_finite_partials,
    check_values,
    cover_slots,
    cover_slots_into,
    curvature_apply,
    has_exact_partials,
    site_label,
    site_values,
)


class Site(CoverSite):
    def __init__(self, dtype=np.float64):
        self._dtype = np.dtype(dtype)

    @property
    def dtype(self):
        return self._dtype

    def site_label(self):
        return "node 7"

    def site_values(self):
        return "node value 1.5, parent values (0.3, 2.0)"


SITE = Site()
ONE = SplitScale(1.0, 1.0)
DEAD = SplitScale(1.0, 0.0)
FORMS = [
    UnaryCurvature(-3.0),
    BinaryCurvature(2.0, -5.0, 0.0),
    BinaryCurvature(1.0, 0.0, 4.0),
    DenseCurvature([[2.0]]),
    DenseCurvature([[1.0, 7.0], [7.0, -2.0]]),
    DenseCurvature([[1.0, 2.0, 0.0], [2.0, 0.0, -4.0], [0.0, -4.0, 5.0]]),
    PairedCurvature(3),
]
COVERED = [C for C in FORMS if C.shape != (3, 3)]  # the dense one has no single split


def matrix(C):
    m = C.shape[0]
    return np.array([[C[i, j] for j in range(m)] for i in range(m)])


@pytest.mark.parametrize("C", COVERED, ids=repr)
@pytest.mark.parametrize("T", [np.float64, np.float32])
def test_weights_cover_and_have_the_magnitude_type(C, T):
    A, m = np.abs(matrix(C)), C.shape[0]
    sl = [SplitScale(T(2.0**-i), T(1)) for i in range(m)]
    rho = cover_slots(C, None, Site(T), T(0.7), sl)
    assert rho.dtype == T
    assert rho.shape == (m,)
    assert (np.outer(rho, rho) >= 0.7 * A * (1 - 8 * np.finfo(T).eps)).all()


def test_the_buffer_is_resized_in_place_and_keeps_its_identity():
    rho = [9.0] * 5
    assert cover_slots_into(rho, UnaryCurvature(-4.0), None, SITE, 1.0, [ONE])
    assert rho == [2.0]
    assert type(rho[0]) is np.float64
    assert cover_slots_into(rho, BinaryCurvature(0, 9.0, 0), 0.5, SITE, 1.0, [ONE, ONE])
    assert rho == [3.0, 3.0]


@pytest.mark.parametrize(
    ("C", "av", "sl"),
    [
        (NoCurvature(), 1.0, [ONE, ONE]),
        (UnaryCurvature(0.0), 1.0, [ONE]),
        (UnaryCurvature(2.0), 0.0, [ONE]),
        (UnaryCurvature(np.inf), 0.0, [ONE]),
        (UnaryCurvature(np.nan), 1.0, [DEAD]),
        (BinaryCurvature(0.0, 0.0, 0.0), np.inf, [ONE, ONE]),
        (BinaryCurvature(0.0, 1.0, 0.0), 1.0, [ONE, DEAD]),
        (BinaryCurvature(np.nan, np.inf, 1.0), 0.0, [ONE, ONE]),
        (DenseCurvature(np.zeros((0, 0))), 1.0, []),
        (PairedCurvature(0), 1.0, []),
        (PairedCurvature(2), 0.0, [ONE] * 4),
        (PairedCurvature(2), 1.0, [DEAD, ONE, ONE, DEAD]),
    ],
    ids=repr,
)
def test_no_second_order_term_leaves_the_buffer_alone(C, av, sl):
    rho = [9.0]
    assert cover_slots_into(rho, C, None, SITE, av, sl) is False
    assert rho == [9.0]
    assert cover_slots(C, None, SITE, av, sl) is None


def test_dead_slots_are_dropped_before_the_split():
    block = BinaryCurvature(4.0, 1e9, 9.0)
    for form in (block, DenseCurvature(matrix(block))):
        live = SplitScale(1e-30, 1.0)
        assert list(cover_slots(form, None, SITE, 1.0, [live, DEAD])) == [2.0, 0.0]
        assert list(cover_slots(form, None, SITE, 1.0, [DEAD, live])) == [0.0, 3.0]
        assert cover_slots(form, None, SITE, 1.0, [DEAD, DEAD]) is None
    undefined = BinaryCurvature(4.0, np.inf, np.nan)
    assert list(cover_slots(undefined, None, SITE, 1.0, [ONE, DEAD])) == [2.0, 0.0]
    rho = cover_slots(PairedCurvature(2), None, SITE, 4.0, [ONE, DEAD, ONE, ONE])
    assert list(rho) == [2.0, 0.0, 2.0, 0.0]


def test_pairs_are_split_one_by_one():
    sl = [SplitScale(4.0, 1.0), ONE, ONE, SplitScale(16.0, 1.0)]
    rho = cover_slots(PairedCurvature(2), None, SITE, 1.0, sl)
    assert list(rho) == [0.5, 4.0, 2.0, 0.25]


@pytest.mark.parametrize("av", [1e-300, 1e300])
def test_products_outside_of_the_range_leave_weights_inside(av):
    (rho,) = cover_slots(UnaryCurvature(av), None, SITE, av, [ONE])
    assert rho == pytest.approx(av, rel=1e-15)
    two = cover_slots(BinaryCurvature(0.0, av, 0.0), None, SITE, av, [ONE, ONE])
    np.testing.assert_allclose(two, [av, av], rtol=1e-15)


@pytest.mark.parametrize(
    ("C", "av", "what"),
    [
        (UnaryCurvature(np.inf), 1.0, r"second partials are \(inf"),
        (UnaryCurvature(1.0), np.nan, "adjoint weight is nan"),
        (BinaryCurvature(1.0, np.nan, 0.0), 1.0, "nan"),
        (PairedCurvature(1), np.inf, "adjoint weight is inf"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("check", [True, False])
def test_entries_that_are_not_finite_raise_and_name_the_site(C, av, what, check):
    sl = [ONE] * C.shape[0]
    with pytest.raises(DomainError, match=what) as info:
        cover_slots(C, None, SITE, av, sl, check=check)
    assert "node 7" in str(info.value)
    assert "parent values (0.3, 2.0)" in str(info.value)
    assert info.value.status == "DOMAIN_ERROR"


def test_check_finite_partials_accepts_finite_numbers():
    check_finite_partials(SITE, 1e300, (0.0, 1e8))
    check_finite_partials(SITE, 0.0, ())


def test_the_covering_check_catches_a_wrong_split(monkeypatch):
    monkeypatch.setattr(
        "derivative_covers.local._weights.split_block", lambda *_: (1.0, 1.0)
    )
    block, sl = BinaryCurvature(0.0, 2.0, 0.0), [ONE, ONE]
    with pytest.raises(CoverError, match=r"node 7.*slots 0 and 1"):
        cover_slots(block, None, SITE, 1.0, sl)
    assert list(cover_slots(block, None, SITE, 1.0, sl, check=False)) == [1.0, 1.0]


def test_references_must_match_the_slots():
    for form in FORMS:
        with pytest.raises(ShapeError, match="slots"):
            cover_slots(form, None, SITE, 1.0, [ONE] * 9)


def test_a_larger_dense_block_has_no_single_split():
    with pytest.raises(UnsupportedOperationError, match=r"node 7.*3 slots"):
        cover_slots(DenseCurvature(np.eye(3)), None, SITE, 1.0, [ONE] * 3)


@pytest.mark.parametrize("C", FORMS, ids=repr)
def test_bound_is_the_sum_over_entries(C):
    m, n = C.shape[0], 4
    rng = np.random.default_rng(1)
    utilde = rng.random((m + 3, n))
    ps = list(rng.integers(0, m + 3, size=m))
    B = rng.random((n, n))
    expected = B + 1.5 * utilde[ps].T @ np.abs(matrix(C)) @ utilde[ps]
    bound_contribution(B, C, 1.5, ps, utilde)
    np.testing.assert_allclose(B, expected, rtol=1e-14)
    rows = {p: utilde[p] for p in ps}
    again = np.zeros((n, n))
    bound_contribution(again, C, 1.5, ps, rows)
    np.testing.assert_allclose(
        again, 1.5 * utilde[ps].T @ np.abs(matrix(C)) @ utilde[ps], rtol=1e-14
    )


def test_bound_selects_zeros():
    B = np.zeros((2, 2))
    rows = np.array([[1.0, 0.0], [0.0, 2.0]])
    bound_contribution(B, UnaryCurvature(np.inf), 0.0, [0], rows)
    bound_contribution(B, NoCurvature(), 1.0, [0, 1], rows)
    np.testing.assert_array_equal(B, 0)
    bound_contribution(B, BinaryCurvature(0.0, np.inf, 0.0), 1.0, [0, 1], rows)
    np.testing.assert_array_equal(B, [[0, np.inf], [np.inf, 0]])


@pytest.mark.parametrize("C", FORMS, ids=repr)
def test_product_is_that_of_the_matrix(C):
    m = C.shape[0]
    rng = np.random.default_rng(2)
    ps = list(range(1, m + 1))
    dv, vbardot = rng.normal(size=m + 2), rng.normal(size=m + 2)
    expected = vbardot.copy()
    expected[ps] += -1.5 * matrix(C) @ dv[ps]
    curvature_apply(vbardot, C, ps, -1.5, dv)
    np.testing.assert_allclose(vbardot, expected, rtol=1e-13)


def test_product_of_repeated_parents_accumulates():
    vbardot = np.zeros(1)
    curvature_apply(vbardot, BinaryCurvature(0.0, 1.0, 0.0), [0, 0], 1.0, np.ones(1))
    assert vbardot[0] == 2.0


def test_product_selects_zeros():
    vbardot = np.zeros(2)
    dv = np.array([0.0, 1.0])
    curvature_apply(vbardot, UnaryCurvature(np.inf), [0], 1.0, dv)
    curvature_apply(vbardot, UnaryCurvature(np.nan), [1], 0.0, dv)
    curvature_apply(vbardot, NoCurvature(), [0, 1], 1.0, dv)
    np.testing.assert_array_equal(vbardot, 0)


def test_atoms():
    assert atom_slots(NoCurvature(), 2) == ()
    assert atom_slots(UnaryCurvature(1.0), 1) == ((0,),)
    assert atom_slots(BinaryCurvature(1.0, 0.0, 1.0), 2) == ((0, 1),)
    assert atom_slots(DenseCurvature(np.eye(3)), 3) == ((0, 1, 2),)
    assert atom_slots(PairedCurvature(3), 6) == ((0, 3), (1, 4), (2, 5))
    assert atom_slots(PairedCurvature(0), 0) == ()


def test_forms_are_comparable_hashable_immutable_and_readable():
    assert UnaryCurvature(2.0) == UnaryCurvature(2.0) != UnaryCurvature(3.0)
    a, b = (
        DenseCurvature([[1, 2], [2, 1]]),
        DenseCurvature(np.array([[1.0, 2], [2, 1]])),
    )
    assert a == b
    assert hash(a) == hash(b)
    assert a != DenseCurvature(np.eye(2))
    assert a != BinaryCurvature(1.0, 2.0, 1.0)
    assert len({UnaryCurvature(1.0), UnaryCurvature(1.0), NoCurvature()}) == 2
    assert (
        repr(BinaryCurvature(1.0, 2.0, 3.0))
        == "BinaryCurvature(c11=1.0, c12=2.0, c22=3.0)"
    )
    assert repr(a) == "DenseCurvature([[1.0, 2.0], [2.0, 1.0]])"
    for form, name in [(UnaryCurvature(1.0), "c"), (a, "C"), (PairedCurvature(1), "q")]:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(form, name, 0.0)
    with pytest.raises(ValueError, match="read-only"):
        a.C[0, 0] = 5.0


def test_a_dense_form_copies_its_matrix():
    C = np.eye(2)
    form = DenseCurvature(C)
    C[0, 0] = 5.0
    assert form[0, 0] == 1.0


@pytest.mark.parametrize(
    ("C", "error"),
    [
        (np.zeros(3), ShapeError),
        (np.zeros((2, 3)), ShapeError),
        ([[0.0, 1.0], [2.0, 0.0]], ShapeError),
        ([["a"]], InputTypeError),
    ],
)
def test_a_dense_form_validates(C, error):
    with pytest.raises(error, match="DenseCurvature"):
        DenseCurvature(C)


@pytest.mark.parametrize("q", [-1, 1.5, True])
def test_a_paired_form_validates(q):
    with pytest.raises(ShapeError, match="PairedCurvature"):
        PairedCurvature(q)


def test_introspection_stays_inside_the_slots():
    with pytest.raises(IndexError):
        UnaryCurvature(1.0)[0, 1]
    with pytest.raises(IndexError):
        PairedCurvature(2)[-1, 0]


def test_a_form_without_exact_entries_refuses_the_product():
    class Declared(Curvature):
        def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
            rho[:] = [1.0] * len(sl)
            return True

        def bound_contribution(self, B, av, ps, utilde):
            B += av

        @property
        def has_exact_partials(self):
            return False

    form = Declared()
    assert not has_exact_partials(form)
    assert all(has_exact_partials(C) for C in [NoCurvature(), *FORMS])
    with pytest.raises(UnsupportedOperationError, match=r"Declared.*curvature_apply"):
        curvature_apply(np.zeros(1), form, [0], 1.0, np.ones(1))
    assert atom_slots(form, 3) == ((0, 1, 2),)
    assert list(cover_slots(form, None, SITE, 1.0, [ONE] * 3)) == [1.0, 1.0, 1.0]


def test_sites_name_their_elemental_and_numbers_pass_the_value_hook():
    assert site_label(SITE) == "node 7"
    assert "1.5" in site_values(SITE)
    assert check_values(SITE, np.nan, (np.inf,), (0.0,)) is None


def test_a_set_valued_type_can_look_at_values():
    class Box:
        pass

    class BoxSite(Site):
        @property
        def dtype(self):
            return Box

    @check_values.register(Box)
    def _(site, val, ds, cs):
        raise DomainError(site_label(site))

    with pytest.raises(DomainError, match="node 7"):
        check_values(BoxSite(), Box(), (), ())
