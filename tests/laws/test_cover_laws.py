"""What every cover must satisfy, on random programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import derivative_covers as dc
from tests.laws._random_programs import (
    AffineProgram,
    RandomProgram,
    affine_programs,
    monotone_programs,
    programs,
)

MERGES = ("sum", "quadrature")


def outer(h: Any) -> Any:
    return np.multiply.outer(h, h)


def all_covers(tape: Any, out: Any) -> list[Any]:
    """Covers of every merge, loosest first."""
    hybrids = [dc.cover_hybrid(tape, out, ngroups=g).h for g in range(1, 9)]
    quadrature = dc.cover_hessian(tape, out, merge="quadrature").h
    return [dc.cover_hessian(tape, out).h, *hybrids, quadrature]


@given(programs(zeros=True))
def test_every_merge_covers(program: RandomProgram) -> None:
    tape, out = dc.tape_function(program, program.point)
    hessian = np.abs(dc.hessian(tape, out))
    # Where terms cancel, the computed entry is rounding of terms as large as this.
    noise = 1e-13 * dc.hessian_bound(tape, out)
    for h in all_covers(tape, out):
        assert h.shape == (4,)
        assert np.all(np.isfinite(h) & (h >= 0))
        assert np.all(outer(h) >= hessian * (1 - 1e-10) - noise)
        assert dc.iscover(h, hessian, rtol=1e-10) or np.any(hessian <= noise)


@given(programs(zeros=True))
def test_elementwise_bound(program: RandomProgram) -> None:
    tape, out = dc.tape_function(program, program.point)
    bound = dc.hessian_bound(tape, out)
    np.testing.assert_allclose(bound, bound.T, rtol=1e-12)
    assert np.all(bound * (1 + 1e-12) >= np.abs(dc.hessian(tape, out)))


@given(programs(zeros=True))
def test_quadrature_is_below_hybrid_is_below_sum(program: RandomProgram) -> None:
    tape, out = dc.tape_function(program, program.point)
    total, *hybrids, quadrature = all_covers(tape, out)
    np.testing.assert_allclose(hybrids[0], total, rtol=1e-12)
    for hybrid in hybrids:
        assert np.all(quadrature <= hybrid * (1 + 1e-12))
        assert np.all(hybrid <= total * (1 + 1e-12))


@given(monotone_programs())
def test_as_many_groups_as_atoms_give_quadrature(program: RandomProgram) -> None:
    tape, out = dc.tape_function(program, program.point)
    quadrature = dc.cover_hessian(tape, out, merge="quadrature").h
    hybrid = dc.cover_hybrid(tape, out, ngroups=max(1, dc.natoms(tape))).h
    np.testing.assert_allclose(hybrid, quadrature, rtol=1e-12)


@given(monotone_programs())
def test_sum_merge_is_the_sum_over_atoms(program: RandomProgram) -> None:
    """Without cancellation ``h`` is ``sum_k sum_i rho_i |grad v_p|``, row by row."""
    tape, out = dc.tape_function(program, program.point)
    covers = dc.local_covers(tape, out)
    expected = np.zeros(4)
    for k in range(dc.nnodes(tape)):
        rho = covers[k]
        if rho is not None:
            parents = np.asarray(tape.parents[k])
            rows = np.abs(dc.jacobian(tape, parents))
            expected += np.asarray(rho) @ rows
    np.testing.assert_allclose(dc.cover_hessian(tape, out).h, expected, rtol=1e-11)


@given(programs())
def test_value_and_gradient_come_with_the_cover(program: RandomProgram) -> None:
    tape, out = dc.tape_function(program, program.point)
    gradient = dc.gradient(tape, out)
    results = [dc.cover_hessian(tape, out, merge=m) for m in MERGES]
    results += [dc.cover_hybrid(tape, out, ngroups=3)]
    results += [dc.cover_hessian(program, program.point)]
    for result in results:
        assert result.value == tape.vals[out]
        np.testing.assert_allclose(result.gradient, gradient, rtol=1e-12, atol=1e-300)
        np.testing.assert_array_equal(np.asarray(result), result.h)


@given(programs(zeros=True))
def test_unchecked_sweeps_give_the_same_bits(program: RandomProgram) -> None:
    tape, out = dc.tape_function(program, program.point)
    for merge in MERGES:
        checked = dc.cover_hessian(tape, out, merge=merge, check=True).h
        unchecked = dc.cover_hessian(tape, out, merge=merge, check=False).h
        np.testing.assert_array_equal(checked, unchecked)


@given(affine_programs())
def test_affine_programs_have_a_zero_cover(program: AffineProgram) -> None:
    tape, out = dc.tape_function(program, np.array([0.3, -1.2, 0.0, 2.0]))
    assert dc.natoms(tape) == 0
    for h in all_covers(tape, out):
        np.testing.assert_array_equal(h, np.zeros(4))
    np.testing.assert_array_equal(dc.hessian_bound(tape, out), np.zeros((4, 4)))
    np.testing.assert_array_equal(dc.hessian(tape, out), np.zeros((4, 4)))


DEAD_SLOTS = [
    (lambda x: x[0] * x[1] ** 2, [3.0, 0.0], [0.0, 6.0**0.5]),
    (lambda x: x[0] * np.cos(x[1]), [3.0, 0.0], [0.0, 3.0**0.5]),
    (lambda x: x[0] * (np.floor(x[1]) + 0.5), [3.0, 0.3], [0.0, 0.0]),
    (lambda x: np.exp(x[0]) * np.round(x[1]), [0.0, 2.2], [2.0**0.5, 0.0]),
    (lambda x: np.sum(x[:1] * x[1:] ** 2), [3.0, 0.0], [0.0, 6.0**0.5]),
    (lambda x: x[0] * (x[1] * x[2]) ** 2, [2.0, 0.0, 5.0], [0.0, 100.0**0.5, 0.0]),
]


@pytest.mark.parametrize("merge", MERGES)
@pytest.mark.parametrize(("f", "x0", "h"), DEAD_SLOTS)
def test_dead_slots_are_covered_diagonally(f: Any, x0: Any, h: Any, merge: Any) -> None:
    np.testing.assert_allclose(dc.cover_hessian(f, x0, merge=merge).h, h, rtol=1e-14)


def _self_dot(y: Any) -> Any:
    return y @ y


SAME_COVER = [
    (lambda x: x[0] * x[0], lambda x: x[0] ** 2),
    (lambda x: np.sum(x * x), lambda x: np.sum(x**2)),
    (lambda x: x @ x, lambda x: np.sum(x**2)),
    (lambda x: np.dot(x, x), lambda x: np.sum(np.square(x))),
    (lambda x: x.dot(x), lambda x: sum(t * t for t in x)),
    (lambda x: np.einsum("i,i->", x, x), lambda x: np.sum(x**2)),
    (lambda x: np.exp(_self_dot(np.sin(x))), lambda x: np.exp(np.sum(np.sin(x) ** 2))),
    (lambda x: np.linalg.norm(x) ** 3, lambda x: np.sqrt(np.sum(x**2)) ** 3),
]


@pytest.mark.parametrize("merge", MERGES)
@pytest.mark.parametrize(("one", "other"), SAME_COVER)
def test_two_ways_to_square_cover_alike(one: Any, other: Any, merge: Any) -> None:
    x0 = np.array([0.7, -1.3, 2.1])
    left = dc.cover_hessian(one, x0, merge=merge).h
    right = dc.cover_hessian(other, x0, merge=merge).h
    np.testing.assert_allclose(left, right, rtol=1e-13)


def test_square_is_covered_exactly() -> None:
    """``x*x`` has Hessian 2, and its cover has the square 2, not 4."""
    for merge in MERGES:
        h = dc.cover_hessian(lambda x: x[0] * x[0], [1.7], merge=merge).h
        np.testing.assert_allclose(h, [2.0**0.5], rtol=1e-15)


CORNERS: list[tuple[Any, list[float]]] = [
    (lambda x: x[0] * x[1], [2.0, 3.0]),
    (lambda x: x[0] * x[1], [0.0, 3.0]),
    (lambda x: x[0] * x[1], [0.0, 0.0]),
    (lambda x: x[0] * x[1] * x[2], [0.0, 0.0, 0.0]),
    (lambda x: x[0] * x[1] * x[2], [1e-200, 1e200, 1.0]),
    (
        lambda x: 0.5 * (1e100 * x[0]) ** 2 + x[0] * x[1] + 0.5 * (1e-100 * x[1]) ** 2,
        [0.0, 0.0],
    ),
    (lambda x: x[0] * np.sum(x[1:]) + 0.5 * np.sum(x * x), [1.0] * 6),
    (lambda x: np.prod(x), [2.0, 0.0, 3.0, 4.0]),
    (lambda x: np.prod(x), [2.0, 0.0, 3.0, 0.0]),
    (lambda x: x[0] ** 3 * x[1] + x[1] ** 2, [0.0, 1.5]),
    (lambda x: np.exp(x[0]) * x[1], [300.0, 1e-100]),
    (lambda x: (x @ x) ** 2, [0.0, 0.0, 0.0]),
    (lambda x: (x[0] - x[0]) * x[1] + x[1] ** 2, [1.0, 2.0]),
    (lambda x: x[0] / x[1], [0.0, 3.0]),
    (lambda x: np.hypot(x[0], x[1]), [3e200, 4e200]),
    (lambda x: np.arctan2(x[0], x[1]), [1e-150, 1e-150]),
]


@pytest.mark.parametrize(("f", "x0"), CORNERS)
def test_covers_at_corner_points(f: Any, x0: list[float]) -> None:
    tape, out = dc.tape_function(f, x0)
    hessian = np.abs(dc.hessian(tape, out))
    assert np.all(np.isfinite(hessian))
    for h in all_covers(tape, out):
        assert np.all(np.isfinite(h) & (h >= 0))
        with np.errstate(over="ignore"):
            assert np.all(outer(h) >= hessian * (1 - 1e-10))


EXTREMES: list[tuple[Any, Any, Any, Any]] = [
    (
        lambda x: 1e-13 * x[0] * x[1],
        [0.0, 1.0],
        [1e163, 1e-150],
        [[0, 1e-13], [1e-13, 0]],
    ),
    (lambda x: 1e20 * x[0] * x[1], [0.0, 1.0], [1e150, 1e-150], [[0, 1e20], [1e20, 0]]),
    (lambda x: x[0] * x[1], [0.0, 1.0], [1e170, 1e-130], [[0, 1], [1, 0]]),
    (
        lambda x: (1e160 * x[0]) * (1e-160 * x[1]),
        [1.0, 1.0],
        [1e-160, 1e160],
        [[0, 1], [1, 0]],
    ),
]


@pytest.mark.parametrize("merge", MERGES)
@pytest.mark.parametrize(("f", "x0", "scales", "hessian"), EXTREMES)
def test_covers_in_extreme_units(
    f: Any, x0: Any, scales: Any, hessian: Any, merge: Any
) -> None:
    """Entries of a cover may be far larger and smaller than their squares can be."""
    tape, out = dc.tape_function(f, x0)
    found = [dc.cover_hessian(tape, out, merge=merge, scales=scales).h]
    found += [dc.cover_hybrid(tape, out, ngroups=g, scales=scales).h for g in (1, 2)]
    for h in found:
        assert np.all(np.isfinite(h))
        with np.errstate(over="ignore"):
            assert np.all(outer(h) >= np.array(hessian) * (1 - 1e-10))


def test_bilinear_form_is_covered_by_its_mixed_entry() -> None:
    """The diagonal of the Hessian is zero, so its roots would not cover."""
    h = dc.cover_hessian(lambda x: x[0] * x[1], [2.0, 3.0]).h
    np.testing.assert_allclose(h, [1.5**0.5, 1.5**-0.5], rtol=1e-15)


@pytest.mark.parametrize("merge", MERGES)
def test_unselected_invalid_entries_change_nothing(merge: Any) -> None:
    x0 = np.array([-1.0, 0.7, -2.5, 3.1])

    def guarded(x: Any) -> Any:
        return np.sum(np.where(x > 0, x * np.log(x), 0.0)) + x[0] * x[1]

    def chosen(x: Any) -> Any:
        y = x[np.array([False, True, False, True])]
        return np.sum(y * np.log(y)) + x[0] * x[1]

    left, right = dc.tape_function(guarded, x0), dc.tape_function(chosen, x0)
    np.testing.assert_array_equal(dc.gradient(*left), dc.gradient(*right))
    np.testing.assert_array_equal(dc.hessian(*left), dc.hessian(*right))
    np.testing.assert_array_equal(dc.hessian_bound(*left), dc.hessian_bound(*right))
    a = dc.cover_hessian(*left, merge=merge)
    b = dc.cover_hessian(*right, merge=merge)
    assert a.value == b.value
    np.testing.assert_array_equal(a.gradient, b.gradient)
    np.testing.assert_array_equal(a.h, b.h)
    for g in (1, 2, 5):
        left_h = dc.cover_hybrid(*left, ngroups=g).h
        assert np.all(np.isfinite(left_h))
        assert dc.iscover(left_h, dc.hessian(*right))


def test_excess_is_the_mean_logarithm() -> None:
    hessian = np.array([[4.0, 1.0], [1.0, 0.0]])
    h = np.array([2.0, 5.0])
    assert dc.cover_excess(h, hessian) == pytest.approx(2.0 / 3.0)
    assert dc.iscover(h, hessian)
    assert not dc.iscover(np.array([1.9, 5.0]), hessian)
    assert not dc.iscover(np.array([2.0, 0.4]), hessian)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


@pytest.mark.parametrize("f", [rosenbrock, rosenbrock_loop])
def test_tightness_on_rosenbrock(f: Any) -> None:
    """Mean excess over twenty points; the best possible cover reaches 0.351."""
    excess: dict[str, list[float]] = {merge: [] for merge in MERGES}
    for seed in range(20):
        x0 = np.random.default_rng(seed).normal(size=10)
        tape, out = dc.tape_function(f, x0)
        hessian = dc.hessian(tape, out)
        for merge in MERGES:
            h = dc.cover_hessian(tape, out, merge=merge).h
            excess[merge].append(dc.cover_excess(h, hessian))
    assert np.mean(excess["quadrature"]) <= 0.47
    assert np.mean(excess["sum"]) <= 0.87


@pytest.mark.parametrize("f", [rosenbrock, rosenbrock_loop])
@pytest.mark.parametrize("n", [2, 3, 10, 57, 400])
def test_eight_groups_are_enough_for_a_partially_separable_program(
    f: Any, n: int
) -> None:
    x0 = np.random.default_rng(n).normal(size=n)
    tape, out = dc.tape_function(f, x0)
    quadrature = dc.cover_hessian(tape, out, merge="quadrature").h
    hybrid = dc.cover_hybrid(tape, out, ngroups=8).h
    np.testing.assert_allclose(hybrid, quadrature, rtol=1e-12)


@pytest.mark.parametrize("ngroups", range(1, 9))
def test_grouped_disjoint_supports_lose_nothing(ngroups: int) -> None:
    """One group holds all atoms of a separable program."""
    x0 = np.linspace(-1.0, 2.0, 30)
    tape, out = dc.tape_function(lambda x: np.sum(np.exp(x) * 2.0), x0)
    h = dc.cover_hybrid(tape, out, ngroups=ngroups).h
    np.testing.assert_allclose(h, np.sqrt(2.0 * np.exp(x0)), rtol=1e-13)


@given(programs(zeros=True))
def test_float32_covers_to_single_precision(program: RandomProgram) -> None:
    x0 = program.point.astype(np.float32)
    double, double_out = dc.tape_function(program, x0.astype(float))
    hessian = np.abs(dc.hessian(double, double_out))
    noise = 1e-4 * dc.hessian_bound(double, double_out)
    tape, out = dc.tape_function(program, x0)
    for h in all_covers(tape, out):
        assert h.dtype == np.float32
        assert np.all(np.isfinite(h) & (h >= 0))
        assert np.all(outer(h.astype(float)) >= hessian * (1 - 1e-3) - noise)
