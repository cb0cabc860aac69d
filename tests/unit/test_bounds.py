"""Bounds over boxes: options, bisection, exactness and refusals."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from types import SimpleNamespace

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import bounds
from derivative_covers.bounds._dominance import dominance, semidefinite
from derivative_covers.bounds._entries import Entries
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    OptionError,
    ShapeError,
    UndecidedError,
)

ALL = (
    bounds.hessian_bound,
    bounds.alphabb,
    bounds.gradient_lipschitz,
    bounds.convex_on,
)
EACH = pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)


def wavy(x):
    return np.sum(x[1:] * np.exp(x[:-1])) + x[0] ** 4 * x[1] - 2 * x[2] ** 2


BOX = [(-1.0, 1.0), (-2.0, 0.5), (0.0, 1.0)]


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def plain(found):
    return found if found is None else np.asarray(found)


@EACH
def test_all_forms_of_a_box_agree(function) -> None:
    lo, hi = np.transpose(BOX)
    forms = (BOX, (lo, hi), dc.Interval(lo, hi), SimpleNamespace(lb=lo, ub=hi))
    first, *others = (plain(function(wavy, box)) for box in forms)
    assert all(np.array_equal(first, other) for other in others)


@EACH
@pytest.mark.parametrize(
    ("box", "error"),
    [
        ([(1.0, 0.0)], OptionError),
        ([(0.0, math.nan)], OptionError),
        (([0.0, 1.0], [1.0, 2.0, 3.0]), ShapeError),
        ([], ShapeError),
        (3.0, InputTypeError),
        ([(0.0, 1.0, 2.0)], ShapeError),
    ],
)
def test_bad_boxes_are_refused(function, box, error) -> None:
    with pytest.raises(error):
        function(lambda x: np.sum(x**3), box)


def test_infinite_ends_where_the_function_takes_them() -> None:
    def quadratic(x):
        return x[0] ** 2 + 3 * x[0] * x[1]

    everywhere = ([-np.inf, 0.0], [np.inf, np.inf])
    assert bounds.hessian_bound(quadratic, everywhere).tolist() == [[2, 3], [3, 0]]
    assert bounds.gradient_lipschitz(quadratic, everywhere) == pytest.approx(
        1 + math.sqrt(10)
    )
    assert bounds.convex_on(quadratic, everywhere) is False
    with pytest.raises(OptionError, match="variable 0 ranges over"):
        bounds.alphabb(quadratic, everywhere)
    with pytest.raises(DomainError):
        bounds.hessian_bound(lambda x: np.sum(x**4), everywhere)


def test_an_infinite_range_is_cut() -> None:
    def f(x):
        return np.log(1 + x[0] ** 2)  # convex on [-1, 1] alone

    assert bounds.convex_on(f, ([-np.inf], [np.inf]), max_boxes=30) is False


@EACH
def test_results_do_not_depend_on_the_executor(function) -> None:
    alone = plain(function(wavy, BOX, max_boxes=9))
    with ThreadPoolExecutor(3) as pool:
        assert np.array_equal(
            alone, plain(function(wavy, BOX, max_boxes=9, executor=pool))
        )


@pytest.mark.slow
def test_processes() -> None:
    alone = bounds.alphabb(wavy, BOX, max_boxes=6)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = bounds.alphabb(wavy, BOX, max_boxes=6, executor=pool)
    assert np.array_equal(alone, there)
    assert there.gap == alone.gap


def test_bisection_tightens_and_stops_at_max_boxes() -> None:
    box = [(-5, 5), (-5, 5)]
    one, many = (bounds.alphabb(himmelblau, box, max_boxes=k) for k in (1, 20))
    assert (one.boxes, many.boxes) == (1, 20)
    assert many.gap < 0.5 * one.gap
    whole = bounds.hessian_bound(wavy, BOX)
    assert (bounds.hessian_bound(wavy, BOX, max_boxes=20) <= whole * (1 + 1e-12)).all()
    coarse, fine = (bounds.gradient_lipschitz(wavy, BOX, max_boxes=k) for k in (1, 20))
    assert fine <= coarse * (1 + 1e-12)


def test_results_so_far_are_sound_and_can_end_it() -> None:
    gaps = []
    last = bounds.alphabb(
        himmelblau,
        [(-5, 5), (-5, 5)],
        max_boxes=40,
        until=lambda found: gaps.append(found.gap) or len(gaps) == 3,
    )
    assert last.gap == gaps[-1]
    assert gaps == sorted(gaps, reverse=True)
    assert len(gaps) == 3
    assert last.boxes < 40


def test_a_fault_of_the_enclosure_is_cut_away() -> None:
    def f(x):
        return np.log(x[0] - x[0] ** 2 + 0.1)  # its argument is above 0 on [0, 1]

    box = [(0.0, 1.0)]
    with pytest.raises(DomainError):
        bounds.hessian_bound(f, box)
    B = bounds.hessian_bound(f, box, max_boxes=64)
    assert 120 < B[0, 0] < 1e4  # 120 at the ends
    assert bounds.convex_on(lambda x: -f(x), box, max_boxes=64) is not False
    with pytest.raises(NondifferentiableError) as raised:
        bounds.gradient_lipschitz(lambda x: np.sum(np.abs(x)), [(-1, 2)], max_boxes=8)
    assert "one of 8" in raised.value.__notes__[0]
    assert bounds.gradient_lipschitz(lambda x: np.sum(np.abs(x)) + x[0] ** 2, [(1, 2)])


@EACH
@pytest.mark.parametrize(
    "f",
    [
        lambda x: -np.abs(x[0]),
        lambda x: -np.maximum(x[0], 0.0),
        lambda x: -x[0] if x[0] <= 0 else 0 * x[0],
        lambda x: -x[0] if x[0] < 0 else 0 * x[0],
        lambda x: -np.max(np.stack([x[0], 0 * x[0]])),
        lambda x: -np.sort(np.stack([x[0], 0 * x[0]]))[1],
        lambda x: -np.interp(x[0], [-1, 0, 1], [1.0, 0, 1]),
        lambda x: np.sum(np.where(x > 0, -x, 0.0)),
    ],
)
def test_a_kink_is_not_lost_at_a_cut(function, f) -> None:
    """The box is cut at 0, where both parts are linear and the whole is not convex."""
    with pytest.raises((NondifferentiableError, UndecidedError)):
        function(f, [(-1, 1)], max_boxes=9)


def test_a_tie_at_a_point_is_no_proof() -> None:
    def f(x):  # x**2, as the larger one of two that tie at 0
        return np.max(np.stack([-(x[0] ** 2), x[0] ** 2]))

    def g(x):  # abs(x), likewise
        return np.max(np.stack([-x[0], x[0]]))

    for h in (f, g):
        with pytest.raises((NondifferentiableError, UndecidedError)):
            bounds.convex_on(h, [(-1, 1)], max_boxes=5)


def test_a_constant_is_flat() -> None:
    def f(x):
        return np.sum(np.where(x > 3, x**2, 0.0))

    assert bounds.convex_on(f, [(0, 1), (0, 1)]) is True
    assert bounds.gradient_lipschitz(f, [(0, 1), (0, 1)]) == 0
    assert not bounds.alphabb(f, [(0, 1), (0, 1)], method="cover").alpha.any()


def test_the_cover_method_is_the_formula() -> None:
    t = np.array([0.5, 2.0])

    def f(x):
        return np.exp(x[0] * x[1])

    tape, out = dc.tape_function(f, dc.Interval(np.zeros(2), t))
    h = dc.cover_hessian(tape, out, merge="auto").h
    found = bounds.alphabb(f, (np.zeros(2), t), method="cover")
    assert found.alpha == pytest.approx(h * (h @ t) / (2 * t))
    assert found.method == "cover"
    norm = bounds.gradient_lipschitz(f, (np.zeros(2), t), method="cover")
    assert norm == pytest.approx(h @ h)
    assert bounds.alphabb(f, (np.zeros(2), t)).gap <= found.gap
    bound = bounds.alphabb(f, (np.zeros(2), t), method="bound")
    assert bound.gap <= found.gap * (1 + 1e-12)


def test_fixed_and_absent_variables() -> None:
    def f(x):
        return x[0] * x[1] ** 2 - x[2] ** 2

    found = bounds.alphabb(f, [(-1, 1), (2, 2), (3, 3), (0, 1)])
    assert found.alpha.tolist() == [0, 0, 0, 0]  # linear in what is free
    assert bounds.convex_on(f, [(-1, 1), (2, 2), (3, 3), (0, 1)]) is True
    assert bounds.convex_on(f, [(-1, 1), (2, 2), (3, 4), (0, 1)]) is False
    fixed = [(1, 1), (2, 2), (3, 3), (0, 0)]
    assert bounds.alphabb(f, fixed).gap == 0
    assert bounds.convex_on(f, fixed) is True
    with pytest.raises(DomainError):
        bounds.convex_on(lambda x: np.log(x[0]), [(0, 0)])


def test_what_exceeds_all_floats_is_refused() -> None:
    with pytest.raises(DomainError):
        bounds.alphabb(lambda x: x[0] * x[1], [(0, 1e-200), (0, 1e200)])
    with pytest.raises(DomainError):
        bounds.alphabb(lambda x: -(x[0] ** 2), [(0, 1e300)])


def test_numbers_and_matrices_as_arguments() -> None:
    assert bounds.hessian_bound(lambda x: x**3, (-1.0, 2.0)) == 12
    assert bounds.alphabb(lambda x: x**3, (-1.0, 2.0)).alpha == 3

    def f(x):
        return np.sum(x @ x)

    box = dc.Interval(np.zeros((2, 2)), np.ones((2, 2)))
    found = bounds.alphabb(f, box)
    assert found.alpha.shape == (2, 2)
    assert bounds.hessian_bound(f, box).shape == (2, 2, 2, 2)
    assert found.underestimator(np.full((2, 2), 0.5)) <= 2.0


def test_scales_of_the_norm() -> None:
    def f(x):
        return 1e6 * x[0] ** 2 + x[1] ** 2

    box = [(0, 1e-3), (0, 1)]
    assert bounds.gradient_lipschitz(f, box) == 2e6
    assert bounds.gradient_lipschitz(f, box, scales=[2.0**-10, 1]) == pytest.approx(2)
    for scales, error in (([1.0], ShapeError), ([0.0, 1.0], OptionError)):
        with pytest.raises(error):
            bounds.gradient_lipschitz(f, box, scales=scales)


def test_lower_bounds_are_below_and_points_are_checked() -> None:
    found = bounds.alphabb(wavy, BOX, max_boxes=30)
    lo, hi = np.transpose(BOX)
    x = lo + (hi - lo) * np.random.default_rng(3).random((500, 3))
    low = max(found.lower_bound(p) for p in x[:10])
    assert low <= min(wavy(p) for p in x)
    with pytest.raises(OptionError, match="does not lie in the box"):
        found.lower_bound([2.0, 0.0, 0.0])
    for at_two in (found.lower_bound, found.underestimator):
        with pytest.raises(ShapeError, match=r"shape \(2,\); the box has shape \(3,\)"):
            at_two([0.0, 0.0])


def test_underestimators_take_lists_and_recorded_points() -> None:
    found = bounds.alphabb(lambda x: -np.sum(x**2), [(0, 1), (0, 1)])
    assert found.underestimator([0.5, 0.5]) == -1.0
    slope = dc.gradient(lambda x: found.underestimator([x[0], x[1]]), [0.5, 0.25])
    assert slope.tolist() == dc.gradient(found.underestimator, [0.5, 0.25]).tolist()
    line = bounds.alphabb(lambda x: -(x**2), (0.0, 1.0))
    assert line.underestimator(0.5) == line.underestimator(np.array(0.5)) == -0.5


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_boxes": 0}, OptionError),
        ({"max_boxes": 2.5}, OptionError),
        ({"until": 3}, InputTypeError),
        ({"executor": 3}, InputTypeError),
        ({"max_box": 3}, TypeError),
    ],
)
@EACH
def test_bad_options_are_refused(function, options, error) -> None:
    with pytest.raises(error):
        function(wavy, BOX, **options)


def test_a_name_that_no_option_has_is_named() -> None:
    with pytest.raises(TypeError, match=r"'method' is no option .* max_boxes"):
        bounds.convex_on(wavy, BOX, method="cover")


def test_a_method_that_is_none() -> None:
    with pytest.raises(OptionError, match="'hessian', 'bound', 'cover'"):
        bounds.alphabb(wavy, BOX, method="sampling")


def test_args_kwargs_and_progress(capsys) -> None:
    def f(x, a, *, b):
        return a * x[0] ** 3 + b * x[0]

    found = bounds.alphabb(
        f, [(-1, 1)], args=(2.0,), kwargs={"b": 1.0}, progress=True, max_boxes=2
    )
    assert found.alpha == pytest.approx([6])
    assert found.underestimator(np.array([0.0])) == pytest.approx(-6)
    assert found.lower_bound([0.0]) <= -3
    assert "boxes" in capsys.readouterr().out


def exactly_semidefinite(H) -> bool:
    """By elimination in fractions."""
    A = [[Fraction(float(v)) for v in row] for row in H]
    n = len(A)
    for k in range(n):
        if A[k][k] < 0 or (A[k][k] == 0 and any(A[k][k:])):
            return False
        for i in range(k + 1, n):
            factor = A[i][k] / A[k][k] if A[k][k] else 0
            for j in range(n):
                A[i][j] -= factor * A[k][j]
    return True


def test_definiteness_is_never_claimed_in_error() -> None:
    """Matrices at the edge, where floating-point eigenvalues have either sign."""
    rng = np.random.default_rng(5)
    claimed = 0
    for _ in range(300):
        n = int(rng.integers(1, 6))
        R = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-8, 8, (n, 1))
        H = R.T @ R
        H = (H + H.T) / 2
        shift = np.linalg.eigvalsh(H)[0] * (1 - 10.0 ** rng.integers(-17, -1))
        H -= shift * np.eye(n)
        if semidefinite(Entries(H, H), np.ones(n)):
            claimed += 1
            assert exactly_semidefinite(H)
        s = dominance(Entries(H, H), np.ones(n))
        exact = [[Fraction(float(v)) for v in row] for row in H]
        for i in range(n):
            rest = sum(abs(exact[i][j]) for j in range(n) if j != i)
            assert exact[i][i] + Fraction(float(s[i])) >= rest
    assert claimed > 50


@pytest.mark.parametrize(
    "of",
    [bounds.alphabb, bounds.convex_on, bounds.hessian_bound, bounds.gradient_lipschitz],
)
def test_one_output_is_needed(of):
    def f(x):
        return [x[0], x[0] * x[1]]

    box = dc.Interval([0.0, 0.0], [1.0, 1.0])
    for program in (f, dc.compile(f, box)):
        with pytest.raises(ShapeError, match="curvature over a box needs a program"):
            of(program, box)
