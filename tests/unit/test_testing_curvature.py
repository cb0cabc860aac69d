"""The check of curvature forms: built-in ones pass, each kind of fault is caught."""

from __future__ import annotations

import numpy as np
import pytest

from derivative_covers import errors
from derivative_covers.extend import (
    BinaryCurvature,
    Curvature,
    DeclaredCurvature,
    DenseCurvature,
    MatrixCurvature,
    NoCurvature,
    PairedCurvature,
    UnaryCurvature,
    check_finite_partials,
    dead_slot,
)
from derivative_covers.testing import ConformanceError, check_curvature

RNG = np.random.default_rng(7)
HALF = RNG.normal(size=(5, 5))
FULL = HALF + HALF.T
SPARSE = np.where(np.abs(FULL) < 1.0, 0.0, FULL)


@pytest.mark.parametrize(
    "C",
    [
        UnaryCurvature(-2.5),
        UnaryCurvature(1e-200),
        UnaryCurvature(1e200),
        BinaryCurvature(0.0, 1.0, 0.0),
        BinaryCurvature(2.0, -1.0, 3.0),
        BinaryCurvature(0.0, 1e5, 3.0),
        BinaryCurvature(-1.0, 0.0, 0.0),
        PairedCurvature(0),
        PairedCurvature(4),
        DenseCurvature([[1.0, 2.0], [2.0, 0.0]]),
        MatrixCurvature(FULL),
        MatrixCurvature(SPARSE),
        MatrixCurvature(np.diag([1.0, 0.0, 4.0])),
        MatrixCurvature(np.diag([1e-200, 1e200, 0.0]) + np.fliplr(np.eye(3))),
    ],
    ids=repr,
)
def test_built_in_forms_pass(C):
    check_curvature(C)


def test_forms_without_entries_pass():
    check_curvature(NoCurvature(), 3, entries=np.zeros((3, 3)))
    s = np.array([0.5, 0.0, 2.0])
    check_curvature(DeclaredCurvature(s), entries=np.outer(s, -s))
    check_curvature(DeclaredCurvature(s), entries=np.zeros((3, 3)))
    with pytest.raises(ConformanceError, match="do not cover"):
        check_curvature(DeclaredCurvature(s), entries=1.5 * np.outer(s, s))


class Ridge(Curvature):
    """``w w'``, right in every respect; subclasses break one."""

    w = np.array([0.5, -1.0, 2.0])

    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        if len(sl) != len(self.w):
            raise errors.ShapeError
        check_finite_partials(site, av, np.abs(self.w))
        if av == 0:
            return False
        rho[:] = [np.sqrt(av) * abs(w) for w in self.w]
        return True

    def bound_contribution(self, B, av, ps, utilde):
        if av != 0:
            u = sum(abs(w) * utilde[p] for w, p in zip(self.w, ps, strict=True))
            B += av * np.outer(u, u)

    def curvature_apply(self, vbardot, ps, bk, dv):
        if bk != 0:
            np.add.at(vbardot, ps, bk * self.w * (self.w @ dv[ps]))


def test_the_unbroken_form_passes_with_and_without_its_entries():
    check_curvature(Ridge(), 3)
    check_curvature(Ridge(), 3, entries=np.outer(Ridge.w, Ridge.w))


class TooSmall(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        found = super().cover_slots_into(rho, ratio, site, av, sl)
        rho[:] = [0.99 * r for r in rho]
        return found


class IgnoresWeight(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        return super().cover_slots_into(rho, ratio, site, av and 1.0, sl)


class NegativeWeights(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        found = super().cover_slots_into(rho, ratio, site, av, sl)
        rho[:] = [-r for r in rho]
        return found


class TooFewWeights(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        found = super().cover_slots_into(rho, ratio, site, av, sl)
        rho[2:] = []
        return found


class ReadsZeroValues(Ridge):
    """Divides by the value of a parent."""

    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        found = super().cover_slots_into(rho, ratio, site, av, sl)
        with np.errstate(all="ignore"):
            rho[0] = rho[0] / sl[0].value * np.float64(sl[0].value)
        return found


class DeadShapesLive(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        found = super().cover_slots_into(rho, ratio, site, av, sl)
        if any(map(dead_slot, sl)):
            rho[:] = [r * max(float(s.value) for s in sl) for r in rho]
        return found


class NothingSaid(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        super().cover_slots_into(rho, ratio, site, av, sl)
        return False


class NeverQuiet(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        super().cover_slots_into(rho, ratio, site, av or 1.0, sl)
        return True


class Moody(Ridge):
    calls = 0

    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        found = super().cover_slots_into(rho, ratio, site, av, sl)
        self.calls += 1
        rho[:] = [r * (1 + 1e-3 * self.calls) for r in rho]
        return found


class NotFinite(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        if len(sl) != 3:
            raise errors.ShapeError
        rho[:] = [np.sqrt(av) * abs(w) for w in self.w]
        return bool(av)


class AnyLength(Ridge):
    def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
        return super().cover_slots_into(rho, ratio, site, av, sl[:3])


class AtomsLoseASlot(Ridge):
    def atom_slots(self, nslots):
        return ((0, 1),)


class AtomsOverlap(Ridge):
    def atom_slots(self, nslots):
        return ((0, 1, 2), (2,))


class AtomsOutside(Ridge):
    def atom_slots(self, nslots):
        return ((0, 1, 2, 3),)


class AtomsNotIndependent(Ridge):
    def atom_slots(self, nslots):
        return ((0,), (1,), (2,))


class BoundTooSmall(Ridge):
    def bound_contribution(self, B, av, ps, utilde):
        super().bound_contribution(B, 0.5 * av, ps, utilde)


class BoundSigned(Ridge):
    def bound_contribution(self, B, av, ps, utilde):
        if av != 0:
            u = sum(w * utilde[p] for w, p in zip(self.w, ps, strict=True))
            B += av * np.outer(u, u)


class BoundReplaces(Ridge):
    def bound_contribution(self, B, av, ps, utilde):
        B[...] = 0
        super().bound_contribution(B, av, ps, utilde)


class BoundOfArraysOnly(Ridge):
    def bound_contribution(self, B, av, ps, utilde):
        if av != 0:
            u = np.abs(self.w) @ utilde[list(ps)]
            B += av * np.outer(u, u)


class BoundOfInfinity(Ridge):
    def bound_contribution(self, B, av, ps, utilde):
        u = sum(abs(w) * utilde[p] for w, p in zip(self.w, ps, strict=True))
        with np.errstate(all="ignore"):
            B += av * np.outer(u, u)


class ProductSign(Ridge):
    def curvature_apply(self, vbardot, ps, bk, dv):
        super().curvature_apply(vbardot, ps, -bk, dv)


class ProductLosesRepeats(Ridge):
    def curvature_apply(self, vbardot, ps, bk, dv):
        vbardot[ps] += bk * self.w * (self.w @ dv[ps])


class ProductInexact(Ridge):
    """Says that it has no exact partials, and multiplies all the same."""

    has_exact_partials = False


class ProductMissing(Ridge):
    def curvature_apply(self, vbardot, ps, bk, dv):
        Curvature.curvature_apply(self, vbardot, ps, bk, dv)


class WrongShape(Ridge):
    shape = (2, 2)


class Unsymmetric(Ridge):
    def __getitem__(self, ij):
        i, j = ij
        return float(i - j)


FAULTS = {
    TooSmall: "do not cover",
    IgnoresWeight: "do not cover",
    NegativeWeights: "nonnegative numbers are needed",
    TooFewWeights: "gives 2 weights for 3 slots",
    ReadsZeroValues: "nonnegative numbers are needed",
    DeadShapesLive: "the dead slot changes the weights of live ones",
    NothingSaid: "do not cover",
    NeverQuiet: "a zero weight gives a term",
    Moody: "other bits when called again",
    NotFinite: "cover_slots with weight inf gives .* instead of raising DomainError",
    AnyLength: "with 4 scale references for 3 slots gives",
    AtomsLoseASlot: r"leave out slots \[2\]",
    AtomsOverlap: "name a slot twice",
    AtomsOutside: r"name slots outside of 0 \.\. 2",
    AtomsNotIndependent: "lies across two atoms",
    BoundTooSmall: "the sum over entries is",
    BoundSigned: "the sum over entries is",
    BoundReplaces: "the sum over entries is",
    BoundOfArraysOnly: "bound_contribution raises",
    BoundOfInfinity: "bound_contribution with a zero weight adds",
    ProductSign: r"curvature_apply \(distinct parents\) adds",
    ProductLosesRepeats: r"curvature_apply \(repeated parents\) adds",
    ProductInexact: "without exact partials gives .* instead of raising",
    ProductMissing: "curvature_apply raises UnsupportedOperationError",
    WrongShape: r"shape is \(2, 2\) for 3 slots",
    Unsymmetric: "are not symmetric",
}


@pytest.mark.parametrize("form", FAULTS, ids=lambda form: form.__name__)
def test_each_kind_of_fault_is_caught(form):
    with pytest.raises(ConformanceError, match=FAULTS[form]):
        check_curvature(form(), 3, entries=np.outer(Ridge.w, Ridge.w))


def test_a_changed_rho_is_caught():
    class Touches(Ridge):
        def cover_slots_into(self, rho, ratio, site, av, sl, *, check=True):
            found = super().cover_slots_into(rho, ratio, site, av or 1.0, sl)
            return found and av != 0

    with pytest.raises(ConformanceError, match="changes rho where it answers False"):
        check_curvature(Touches(), 3)


def test_arguments_are_checked():
    with pytest.raises(errors.InputTypeError, match="got a ndarray"):
        check_curvature(np.eye(2))
    with pytest.raises(errors.ShapeError, match="has no shape; give nslots"):
        check_curvature(Ridge())
    with pytest.raises(errors.ShapeError, match=r"\(3, 3\) is needed"):
        check_curvature(Ridge(), 3, entries=np.eye(2))
    inexact = DeclaredCurvature([1.0, 2.0])
    with pytest.raises(errors.InputTypeError, match="give entries="):
        check_curvature(inexact)
