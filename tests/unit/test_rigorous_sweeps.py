"""Derivatives over a box: every kind of step, results in structures, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import Interval
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    NondifferentiableError,
    UnsupportedOperationError,
)
from derivative_covers.extend import DenseCurvature, dotnode, noderef, pushnode

BOX = Interval([0.5, 1.0], [1.0, 2.0])
N = 40
X = np.linspace(0.5, 2.0, N)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def deviations(x):
    return np.sum((x - np.mean(x)) ** 2)


def one_dense(x):
    return np.sum(x**2) ** 3 + np.sum(x[1:] ** 2 * x[:-1])


def products(x):
    A = x.reshape(5, 8)
    return np.sum((A @ A.T) ** 2) + np.cumprod(x[:6])[-1] + x @ x


def permuted(x):
    y = x[::-1][np.argsort(np.sin(np.arange(N)))]
    return np.sum(y * x / (1 + y)) + np.sum(np.sqrt(x[: N // 2] + y[::2]))


PROGRAMS = [rosenbrock, deviations, one_dense, products, permuted]


def within(box, x, slack=1e-9):
    size = slack * (1 + np.abs(x).max())
    return (box.lo <= x).all() and (x <= box.hi).all() and (box.width <= size).all()


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_over_a_point_all_sweeps_give_what_they_give_there(f):
    tape, out = dc.tape_function(f, Interval(X))
    at, o = dc.tape_function(f, X)
    v = np.cos(np.arange(N))
    assert (np.abs(dc.gradient(tape, out).mid - dc.gradient(at, o)) < 1e-11).all()
    H, want = dc.hessian(tape, out), dc.hessian(at, o)
    assert np.abs(H.mid - want).max() < 1e-11 * np.abs(want).max()
    assert H.width.max() < 1e-10 * np.abs(want).max()
    Hv = dc.hvp(tape, out, v)
    assert np.abs(Hv.mid - want @ v).max() < 1e-11 * np.abs(want).max()

    def bounds(t, k):
        merges = ("sum", "quadrature", "auto")
        return [
            dc.hessian_bound(t, k),
            dc.abs_forward(1 / X, t),
            *(dc.cover_hessian(t, k, merge=m).h for m in merges),
            dc.cover_hybrid(t, k, ngroups=4).h,
        ]

    for mine, theirs in zip(bounds(tape, out), bounds(at, o), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_points_inside_are_covered(f):
    box = Interval(X - 0.01, X + 0.02)
    tape, out = dc.tape_function(f, box)
    covers = [dc.cover_hessian(tape, out, merge=m) for m in ("sum", "quadrature")]
    covers.append(dc.cover_hybrid(tape, out, ngroups=3))
    H, B, g = dc.hessian(tape, out), dc.hessian_bound(tape, out), covers[0].gradient
    rng = np.random.default_rng(1)
    for x in (box.lo, box.hi, rng.uniform(box.lo, box.hi)):
        exact, slope = dc.hessian(f, x), dc.gradient(f, x)
        slack = 1e-12 * np.abs(exact).max()
        assert (exact >= H.lo - slack).all()
        assert (exact <= H.hi + slack).all()
        assert (np.abs(exact) <= B + slack).all()
        assert (slope >= g.lo - 1e-9).all()
        assert (slope <= g.hi + 1e-9).all()
        assert all(dc.iscover(cover, exact) for cover in covers)


def test_faults_count_only_where_an_output_depends_on_them():
    with pytest.raises(DomainError, match="log"):
        dc.gradient(lambda x: np.log(x[0] - 0.7), BOX)
    with pytest.raises(NondifferentiableError, match="absolute"):
        dc.cover_hessian(lambda x: abs(x[0] - 0.7), BOX)
    with pytest.raises(DomainError):
        dc.cover_hessian(lambda x: np.exp(x[0] * 800), BOX)
    cover = dc.cover_hessian(lambda x: 0 * np.log(x[0] - 0.7) + x[1] ** 2, BOX)
    assert cover.h[0] == 0
    assert 2 <= cover.h[1] ** 2 <= 2 + 1e-14


def test_an_unbounded_derivative_asks_for_a_smaller_box():
    with pytest.raises(DomainError, match="box"):
        dc.gradient(lambda x: (x[0] * 1e200) * (x[1] * 1e200) * 1e-300, BOX)
    with pytest.raises(DomainError, match="box"):
        dc.cover_hessian(lambda x: x[0] ** 3, Interval([1.0, 1.0], [np.inf, 2.0]))


def test_what_has_no_form_over_a_box_is_refused_by_name():
    with pytest.raises(UnsupportedOperationError, match="sparse"):
        dc.hessian(lambda x: x[0] * x[1], BOX, sparse=True)
    with pytest.raises(UnsupportedOperationError, match="sparse"):
        dc.hessian_sparsity(lambda x: x[0] * x[1], BOX)


def test_results_come_in_the_structure_of_the_box():
    p = {"a": Interval(1.0, 2.0), "b": Interval([1.0, 2.0], [1.5, 2.5])}
    cover = dc.cover_hessian(lambda p: p["a"] * np.sum(p["b"] ** 2), p)
    assert (float(cover.gradient["a"].lo), float(cover.gradient["a"].hi)) == (5, 8.5)
    assert cover.h["b"].shape == (2,)
    assert "[5, 17]" in repr(cover)


def test_explicit_nodes_and_inner_products_of_slots():
    f = lambda x: dotnode([x[0], x[1], x[0]], [x[1], x[1], x[0]]) * x[1]  # noqa: E731
    plain = lambda x: (x[0] * x[1] + x[1] * x[1] + x[0] * x[0]) * x[1]  # noqa: E731
    for merge in ("sum", "quadrature"):
        cover = dc.cover_hessian(f, BOX, merge=merge)
        for x in ([0.5, 1.0], [1.0, 2.0], [0.7, 1.3]):
            assert dc.iscover(cover, dc.hessian(plain, x))
    H = dc.hessian(f, BOX)
    exact = dc.hessian(plain, [0.7, 1.3])
    assert (H.lo <= exact).all()
    assert (exact <= H.hi).all()
    assert (dc.hessian_bound(f, BOX) >= exact).all()


def test_a_dense_form_of_three_slots_has_bounds_but_no_cover():
    C = np.array([[1.0, 2.0, 0.0], [2.0, 0.0, -1.0], [0.0, -1.0, 3.0]])

    def quadratic(x):
        tape, _ = noderef(x[0])
        v = dc.value(x)
        d = sum(Interval(C[:, k]) * v[k] for k in range(3))
        value = np.sum(v * d) / 2
        return pushnode(tape, value, [0, 1, 2], d, DenseCurvature(C)) * 2.0

    box = Interval([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    H = dc.hessian(quadratic, box)
    assert (H.lo == 2 * C).all()
    assert (H.hi == 2 * C).all()
    assert (dc.hessian_bound(quadratic, box) == 2 * np.abs(C)).all()
    with pytest.raises(UnsupportedOperationError, match="dense curvature"):
        dc.cover_hessian(quadratic, box)


def test_submaps_declare_themselves_over_the_box():
    F = lambda v: np.stack([v[0] ** 2 * v[1], v[1] ** 3])  # noqa: E731
    f = lambda x: dc.submap(F, x)[0] * x[0] + dc.submap(F, 2 * x)[1]  # noqa: E731
    plain = lambda x: F(x)[0] * x[0] + F(2 * x)[1]  # noqa: E731
    y, J, S = dc.declare_submap(F, BOX)
    assert S.shape == (2, 2)
    tape, out = dc.tape_function(f, BOX)
    covers = [dc.cover_hessian(tape, out, merge=m) for m in ("sum", "quadrature")]
    B = dc.hessian_bound(tape, out)
    for x in (BOX.lo, BOX.hi, BOX.mid):
        exact, at = dc.hessian(plain, x), dc.jacobian(F, x)
        assert F(x) in y
        assert (J.lo <= at).all()
        assert (at <= J.hi).all()
        assert (np.abs(exact) <= B).all()
        assert all(dc.iscover(cover, exact) for cover in covers)
        assert dc.gradient(plain, x) in covers[0].gradient
    with pytest.raises(UnsupportedOperationError, match="declares a bound"):
        dc.hvp(tape, out, [1.0, 0.0])


def test_a_declaration_at_a_point_is_refused_over_a_box():
    def f(x):
        return dc.submapnode(x, [1.0], [[1.0, 2.0]], [[1.0, 1.0]])[0]

    with pytest.raises(InputTypeError, match="enclos"):
        dc.gradient(f, BOX)
    y, J = Interval([1.0], [3.0]), Interval([[1.0, 1.0]], [[2.0, 2.0]])
    g = dc.gradient(lambda x: dc.submapnode(x, y, J, [[1.0, 1.0]])[0] * 2, BOX)
    assert (g.lo == 2).all()
    assert (g.hi == 4).all()


def test_local_covers_hold_exactly_and_ask_for_scales():
    tape, out = dc.tape_function(
        lambda x: x[0] * x[1], Interval([-1.0, 0.0], [1.0, 0.0])
    )
    assert dc.guards_any_block(tape)
    rho = dc.local_covers(tape, out, scales=[1.0, 4.0])[out]
    assert rho[0] / rho[1] == pytest.approx(4.0)
    assert rho[0] * rho[1] >= 1
    assert dc.cover_hessian(tape, out).asked
