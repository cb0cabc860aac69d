"""Covers of least squares: both terms against JAX, groups, weights and refusals."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.sweeps import _rows
from examples import nist
from tests.laws._random_programs import programs

jax.config.update("jax_enable_x64", True)

GROUPS = (1, 2, 4, None)


def decay(xp, x):
    t = xp.linspace(0.0, 2.0, 12)
    return x[0] * xp.exp(-x[1] * t) + xp.sin(x[2] * t) * x[3] - 1.0 / (1.0 + t)


X = np.array([1.5, 0.7, 2.0, -0.4])
W = np.linspace(0.1, 3.0, 12)


FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


@partial(jax.jit, compiler_options=FAST)
def terms(x, w):
    """Gauss-Newton and curvature terms of the decay, and the gradient, by JAX."""

    def r(x):
        return decay(jnp, x)

    values, jacobian = r(x), jax.jacfwd(r)
    J, second = jacobian(x), jax.jacfwd(jacobian)(x)
    curvature = jnp.einsum("k,kij->ij", w * values, second)
    return (J.T * w) @ J, curvature, J.T @ (w * values)


@pytest.mark.parametrize("ngroups", GROUPS)
@pytest.mark.parametrize("weights", [None, 2.5, W])
def test_both_terms_and_their_sum_are_covered(ngroups, weights):
    w = np.ones(12) if weights is None else np.broadcast_to(weights, 12)
    G, C, g = map(np.asarray, terms(X, w))
    cover = dc.cover_nls(lambda x: decay(np, x), X, ngroups=ngroups, weights=weights)
    assert dc.iscover(cover.h_gn, G)
    assert dc.iscover(cover.h_curv, C)
    assert dc.iscover(cover, G + C)
    np.testing.assert_allclose(cover.h, np.hypot(cover.h_gn, cover.h_curv), rtol=1e-15)
    r = decay(np, X)
    np.testing.assert_allclose(cover.value, np.sum(w * r * r) / 2, rtol=1e-14)
    np.testing.assert_allclose(cover.gradient, g, rtol=1e-12)


def test_no_cover_of_the_gauss_newton_term_is_below_that_of_exact_rows():
    w = W
    G = np.asarray(terms(X, w)[0])
    cover = dc.cover_nls(lambda x: decay(np, x), X, ngroups=None, weights=w)
    np.testing.assert_allclose(cover.h_gn**2, np.diag(G), rtol=1e-12)


def test_more_groups_are_tighter():
    tape, outs = dc.tape_function(lambda x: decay(np, x), X)
    found = [dc.cover_nls(tape, outs, ngroups=g) for g in (1, 12, None)]
    for loose, tight in pairwise(found):
        for name in ("h", "h_gn", "h_curv"):
            assert (getattr(tight, name) <= getattr(loose, name) * (1 + 1e-12)).all()


def test_one_group_is_gramcover_and_the_seeded_sum_merge():
    tape, outs = dc.tape_function(lambda x: decay(np, x), X)
    cover = dc.cover_nls(tape, outs, weights=W)
    np.testing.assert_array_equal(cover.h_gn, dc.gramcover(tape, outs, W))
    U = np.array([dc.abs_reverse(tape, int(k), 1.0) for k in outs])
    np.testing.assert_allclose(cover.h_gn, np.sqrt(W) @ U, rtol=1e-13)
    seeds = W * decay(np, X)
    linear = dc.cover_hessian(lambda x: np.dot(seeds, decay(np, x)), X)
    np.testing.assert_allclose(cover.h_curv, linear.h, rtol=1e-12)


@given(programs(4, zeros=True))
def test_random_programs(program):
    tape, outs = dc.tape_function(program.vector, program.point)
    r = program.vector(program.point)
    J = dc.jacobian(tape, outs)
    U = np.array([dc.abs_reverse(tape, int(k), 1.0) for k in outs])
    H, bound = np.zeros((4, 4)), np.zeros((4, 4))
    for k, value in zip(outs.tolist(), r, strict=True):
        H += value * dc.hessian(tape, k)
        bound += np.abs(value) * dc.hessian_bound(tape, k)
    for ngroups in GROUPS:
        cover = dc.cover_nls(tape, outs, ngroups=ngroups)
        gram = np.outer(cover.h_gn, cover.h_gn)
        assert (gram >= np.abs(J.T @ J) * (1 - 1e-11) - 1e-12 * U.T @ U).all()
        curved = np.outer(cover.h_curv, cover.h_curv)
        assert (curved >= np.abs(H) * (1 - 1e-10) - 1e-12 * bound).all()


@given(programs(4, zeros=True))
def test_units_bit_for_bit(program):
    units = 2.0 ** np.array([-3, 0, 5, 2])
    w = np.array([1.0, 0.3, 2.0, 0.7])
    for ngroups in GROUPS:
        plain = dc.cover_nls(program.vector, program.point, ngroups=ngroups, scales=w)
        moved = dc.cover_nls(
            lambda z: program.vector(units * z) * 4.0,
            program.point / units,
            ngroups=ngroups,
            scales=w / units,
        )
        for name in ("h_gn", "h_curv"):
            np.testing.assert_array_equal(
                getattr(moved, name), 4.0 * units * getattr(plain, name)
            )


@pytest.mark.parametrize("name", ["Misra1a", "MGH10", "Thurber", "BoxBOD"])
def test_certified_problems(name):
    problem = nist.load(name)
    for point in problem.points.values():
        H = dc.hessian(problem.objective, point)
        factor = problem.objective(point) / (np.sum(problem.residuals(point) ** 2) / 2)
        for ngroups in (1, 4, None):
            cover = dc.cover_nls(problem.residuals, point, ngroups=ngroups)
            assert dc.iscover(cover.h * np.sqrt(factor), H, rtol=1e-8)
        assert dc.cover_excess(cover.h * np.sqrt(factor), H) < 2.0


def test_banded_residuals_need_few_groups():
    def chain(x):
        return np.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])

    x = np.linspace(-1.0, 1.0, 500)
    tape, outs = dc.tape_function(chain, x)
    few = dc.cover_nls(tape, outs, ngroups=4)
    best = dc.cover_nls(tape, outs, ngroups=None)
    np.testing.assert_allclose(few.h, best.h, rtol=1e-12)


def test_fewer_inputs_than_residuals_take_forward_columns(monkeypatch):
    n, m = 60, 300  # more inputs than a sparse row holds, and every row is dense
    A = np.random.default_rng(0).normal(size=(m, n)) / n
    tape, outs = dc.tape_function(lambda x: np.tanh(A @ x) - 0.1, np.ones(n))
    counted = {"adjoints": 0, "tangents": 0}
    for name in counted:
        inner = getattr(_rows, name)

        def count(*args, name=name, inner=inner, **more):
            counted[name] += 1
            return inner(*args, **more)

        monkeypatch.setattr(_rows, name, count)
    cover = dc.cover_nls(tape, outs, ngroups=None)
    assert counted == {"adjoints": 0, "tangents": 2 * n}  # for each of the two terms
    J = dc.jacobian(tape, outs)
    np.testing.assert_allclose(cover.h_gn, np.sqrt((J**2).sum(axis=0)), rtol=1e-12)


def test_residuals_that_are_zero_constant_repeated_or_scalar():
    zero = dc.cover_nls(lambda x: [x[0] * x[1] - 2.0], [1.0, 2.0])
    assert zero.value == 0
    assert not zero.h_curv.any()
    np.testing.assert_array_equal(zero.h_gn, [2.0, 1.0])
    constant = dc.cover_nls(lambda x: [3.0, x[0]], [1.0, 2.0])
    assert constant.value == 5.0
    np.testing.assert_array_equal(constant.h, [1.0, 0.0])
    twice = dc.cover_nls(lambda x: [x[0], x[0]], [1.0], ngroups=None)
    np.testing.assert_allclose(twice.h_gn, [2**0.5])
    np.testing.assert_allclose(twice.gradient, [2.0])
    scalar = dc.cover_nls(lambda x: x[0] * x[1], [1.0, 2.0])
    np.testing.assert_allclose(scalar.h_gn, [2.0, 1.0])
    grid = dc.cover_nls(lambda x: x * x, np.ones((2, 2)), weights=np.ones((2, 2)))
    assert grid.h.shape == (2, 2)
    dropped = dc.cover_nls(lambda x: x * x, [1.0, 2.0], weights=[1.0, 0.0])
    assert dropped.h[1] == 0
    named = dc.cover_nls(lambda p: p["a"] * p["b"], {"a": 2.0, "b": np.ones(3)})
    assert np.asarray(named).shape == (4,)
    assert named.h_gn["b"].shape == (3,)
    single = dc.cover_nls(lambda x: x * x, np.float32([1.0, 2.0]), ngroups=None)
    assert single.h.dtype == single.h_gn.dtype == np.float32


def test_declared_calls_take_part():
    def r(x):
        return dc.submap(lambda v: [v[0] * v[1], v[0] ** 2], x)

    for ngroups in GROUPS:
        cover = dc.cover_nls(r, [1.0, 2.0], ngroups=ngroups)
        assert dc.iscover(cover.h_curv, [[2.0, 2.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"weights": [1.0]}, errors.ShapeError),
        ({"weights": [1.0, -1.0]}, errors.OptionError),
        ({"weights": np.inf}, errors.OptionError),
        ({"weights": "heavy"}, errors.InputTypeError),
        ({"ngroups": 0}, errors.OptionError),
        ({"ngroups": 2.0}, errors.OptionError),
        ({"scales": [1.0, -1.0]}, errors.OptionError),
        ({"scales": [1.0]}, errors.ShapeError),
        ({"ratio": 1.0}, errors.OptionError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error):
        dc.cover_nls(lambda x: x * x, [1.0, 2.0], **options)


def test_bad_programs():
    with pytest.raises(errors.ConstantProgramError):
        dc.cover_nls(lambda x: [1.0, 2.0], [1.0])
    with pytest.raises(errors.ShapeError, match="empty"):
        dc.cover_nls(lambda x: x[:0], [1.0])
    with pytest.raises(errors.DomainError, match="log"):
        dc.cover_nls(lambda x: np.log(x), [-1.0])
    with pytest.raises(errors.DomainError, match="not finite"):
        dc.cover_nls(lambda x: [1e200 * x[0]], [1.0])
    with pytest.raises(errors.OptionError):
        dc.gramcover(lambda x: x * x, [1.0, 2.0], [1.0, -1.0])
    with pytest.raises(errors.ShapeError):
        dc.gramcover(lambda x: x * x, [1.0, 2.0], [1.0])
