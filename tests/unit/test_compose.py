"""Covers of compositions: the two rules, their range, and what they refuse."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.extend import Upward

jax.config.update("jax_enable_x64", True)


def rank_one(m, n, seed):
    rng = np.random.default_rng(seed)
    return rng.random(m) + 0.1, rng.random(n) + 0.1


def test_products_of_rank_one_factors_are_met_with_equality():
    a2, b2 = rank_one(3, 4, 1)
    a1, b1 = rank_one(4, 5, 2)
    cover = dc.compose_jacobian_cover(a2, b2, a1, b1)
    product = np.outer(a2, b2) @ np.outer(a1, b1)
    np.testing.assert_allclose(np.asarray(cover), product, rtol=1e-14)
    root = np.sqrt(b2 @ a1)
    np.testing.assert_allclose(cover.a, root * a2, rtol=1e-15)
    np.testing.assert_allclose(cover.b, root * b1, rtol=1e-15)
    a, b = cover
    assert a is cover.a
    assert b is cover.b


def test_hessian_rule_is_both_merges_of_its_atoms():
    hg, gamma = rank_one(2, 2, 3)
    a, b = rank_one(2, 3, 4)
    S = np.random.default_rng(5).random((2, 3))
    atoms = np.vstack([(a @ hg) * b, np.sqrt(gamma)[:, None] * S])
    cover = dc.compose_hessian_cover(hg, gamma, a, b, S)
    np.testing.assert_allclose(cover.h_sum, atoms.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(cover.h_quad, np.linalg.norm(atoms, axis=0), rtol=1e-14)
    np.testing.assert_array_equal(np.asarray(cover), cover.h_quad)
    total, quadrature = cover
    assert total is cover.h_sum
    assert quadrature is cover.h_quad
    linear = dc.compose_hessian_cover(hg, gamma, a, b)
    np.testing.assert_allclose(linear.h_sum, atoms[0], rtol=1e-15)
    np.testing.assert_array_equal(linear.h_quad, linear.h_sum)


def test_covers_of_a_composition_hold_and_are_above_the_joint_tape():
    def F(xp, x):
        return xp.stack([x[0] * x[1], xp.sin(x[1]) + x[2] ** 2])

    def g(xp, y):
        return xp.exp(0.3 * y[0]) * y[1]

    x = np.array([1.2, 0.4, -0.8])
    H = jax.hessian(lambda x: g(jnp, F(jnp, x)))(x)
    J = jax.jacfwd(lambda x: F(jnp, x))(x)
    y, found, S = dc.declare_submap(lambda x: F(np, x), x)
    np.testing.assert_allclose(found, J, rtol=1e-14)
    outer = dc.cover_hessian(lambda y: g(np, y), y)
    a, b = dc.cover_jacobian(lambda x: F(np, x), x)
    cover = dc.compose_hessian_cover(outer.h, np.abs(outer.gradient), a, b, S)
    assert dc.iscover(cover.h_sum, H)
    assert dc.iscover(cover.h_quad, H)
    tape, out = dc.tape_function(lambda x: g(np, F(np, x)), x)
    assert (dc.cover_hessian(tape, out).h <= cover.h_sum * (1 + 1e-12)).all()
    quadrature = dc.cover_hessian(tape, out, merge="quadrature").h
    assert (quadrature <= cover.h_quad * (1 + 1e-12)).all()


def test_gauss_newton_term_is_above_gramcover():
    def r(x):
        return np.stack([x[0] * x[1], x[1] - x[2] ** 2, 3 * x[0]])

    x = np.array([1.0, 2.0, 0.5])
    a, b = dc.cover_jacobian(r, x)
    ones, at_y = np.ones(3), np.abs(r(x))
    composed = dc.compose_hessian_cover(ones, at_y, a, b).h_sum
    np.testing.assert_allclose(composed, a.sum() * b, rtol=1e-15)
    assert (dc.gramcover(r, x) <= composed * (1 + 1e-15)).all()


def test_entries_beyond_the_range_of_inner_products():
    for big in (1e200, 1e-200):
        a, b = dc.compose_jacobian_cover([1 / big], [big], [big], [1 / big])
        np.testing.assert_allclose([a[0], b[0]], [1.0, 1.0], rtol=1e-14)
    tiny = dc.compose_hessian_cover([1e-200], [3.0], [1e-200], [1e300])
    np.testing.assert_allclose(tiny.h_sum, 1e-100, rtol=1e-13)
    for size in (1e200, 1e-200):
        cover = dc.compose_hessian_cover([1.0], [4.0], [1.0], [size], [[size]])
        np.testing.assert_allclose(cover.h_sum, 3 * size, rtol=1e-14)
        np.testing.assert_allclose(cover.h_quad, np.sqrt(5) * size, rtol=1e-14)
    least = dc.compose_hessian_cover(*(Upward([v]) for v in (1.0, 4.0, 1.0, 5e-324)))
    assert least.h_quad[0] > 0
    with pytest.raises(errors.DomainError, match="overflows"):
        dc.compose_jacobian_cover([1e200], [1e200], [1e200], [1e200])
    with pytest.raises(errors.DomainError, match="overflows"):
        dc.compose_hessian_cover([1e200], [1.0], [1e200], [1.0])


def test_zeros_give_zeros():
    a, b = dc.compose_jacobian_cover([1.0, 0.0], [0.0], [5.0], [1.0])
    assert not a.any()
    assert not b.any()
    cover = dc.compose_hessian_cover([0.0], [0.0], [0.0], [0.0, 1.0], [[0.0, 3.0]])
    np.testing.assert_array_equal(cover.h_sum, [0.0, 0.0])
    np.testing.assert_array_equal(cover.h_quad, [0.0, 0.0])


def test_types_and_shapes_of_results():
    single = [np.float32([v]) for v in (1.0, 2.0, 2.0, 3.0)]
    cover = dc.compose_jacobian_cover(*single)
    assert cover.a.dtype == cover.b.dtype == np.float32
    assert dc.compose_hessian_cover(*single).h_quad.dtype == np.float32
    assert dc.compose_jacobian_cover(1, 2, 2, 3).b.tolist() == [6.0]
    grid = dc.compose_jacobian_cover(np.ones((2, 3)), [1.0], [4.0], np.ones((5, 1)))
    assert (grid.a.shape, grid.b.shape) == ((2, 3), (5, 1))
    assert np.asarray(grid).shape == (2, 3, 5, 1)
    b = np.ones((2, 2))
    for S in (np.ones((3, 4)), np.ones((3, 2, 2))):
        cover = dc.compose_hessian_cover(np.ones(3), np.ones(3), np.ones(3), b, S)
        np.testing.assert_allclose(cover.h_sum, np.full((2, 2), 6.0))
    mixed = dc.compose_jacobian_cover([1.0], [0.1], Upward([0.3]), [5.0])
    assert isinstance(mixed.a, Upward)
    assert np.asarray(mixed, dtype=np.float32).dtype == np.float32


ONE = [1.0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([-1.0], ONE, ONE, ONE), errors.OptionError, "a2 has an entry"),
        ((ONE, [np.nan], ONE, ONE), errors.OptionError, "b2 has an entry"),
        ((ONE, ONE, [np.inf], ONE), errors.OptionError, "a1 has an entry"),
        ((ONE, ONE, Upward([np.inf]), ONE), errors.OptionError, "a1 has an entry"),
        (
            (ONE, [1.0, 2.0], ONE, ONE),
            errors.ShapeError,
            "b2 has 2 entries and a1 has 1",
        ),
        (([], ONE, ONE, ONE), errors.ShapeError, "a2 is empty"),
        ((ONE, ONE, ONE, []), errors.ShapeError, "b1 is empty"),
        ((ONE, [[1.0], [1.0, 2.0]], ONE, ONE), errors.ShapeError, "equally long"),
        (("x", ONE, ONE, ONE), errors.InputTypeError, "a2 holds values"),
        ((ONE, ONE, ONE, [1j]), errors.InputTypeError, "b1 holds values"),
    ],
)
def test_bad_jacobian_factors(arguments, error, message):
    with pytest.raises(error, match=message):
        dc.compose_jacobian_cover(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((ONE, [1.0, 2.0], ONE, ONE), errors.ShapeError, "gamma 2"),
        (([1.0, 2.0], ONE, ONE, ONE), errors.ShapeError, "hg has 2"),
        ((ONE, ONE, ONE, ONE, [1.0]), errors.ShapeError, "one row an output"),
        ((ONE, ONE, ONE, ONE, np.ones((2, 1))), errors.ShapeError, r"\(1, 1\)"),
        ((ONE, ONE, ONE, ONE, np.ones((0, 1))), errors.ShapeError, r"\(1, 1\)"),
        ((ONE, ONE, ONE, ONE, [[-1.0]]), errors.OptionError, "S has an entry"),
        ((ONE, [-1.0], ONE, ONE), errors.OptionError, "gamma has an entry"),
        (([np.inf], ONE, ONE, ONE), errors.OptionError, "hg has an entry"),
        ((ONE, ONE, ONE, None), errors.InputTypeError, "b holds values"),
    ],
)
def test_bad_hessian_pieces(arguments, error, message):
    with pytest.raises(error, match=message):
        dc.compose_hessian_cover(*arguments)
