"""Covers of Jacobians: valid, exactly covariant, tight with groups, and cheap."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers import errors
from tests.laws._random_programs import programs

jax.config.update("jax_enable_x64", True)

POWERS = st.lists(st.integers(-8, 8), min_size=4, max_size=4)


def banded(xp, x):
    return xp.sin(x[1:-1]) + x[2:] * x[:-2]


def dense(xp, x):
    t = xp.linspace(0.0, 1.0, 9)
    return x[0] * xp.exp(-x[1] * t) + xp.tanh(x[2] * t) * x[3]


def excess(cover, J):
    nonzero = J != 0
    return float(np.mean(np.log10(np.asarray(cover)[nonzero] / np.abs(J[nonzero]))))


@pytest.mark.parametrize("f", [banded, dense])
@pytest.mark.parametrize("ngroups", [1, 2, 3, 1000])
def test_against_jax(f, ngroups):
    x = np.linspace(0.3, 1.1, 4 if f is dense else 40)
    J = np.asarray(jax.jacfwd(lambda x: f(jnp, x))(x))
    cover = dc.cover_jacobian(lambda x: f(np, x), x, ngroups=ngroups)
    assert (np.abs(J) <= np.asarray(cover) * (1 + 1e-13)).all()
    assert cover.a.shape == J.shape[:1]
    assert cover.b.shape == x.shape


def test_groups_make_a_banded_jacobian_tight():
    x = np.linspace(0.3, 1.1, 60)
    tape, outs = dc.tape_function(lambda x: banded(np, x), x)
    J = dc.jacobian(tape, outs)
    found = [excess(dc.cover_jacobian(tape, outs, ngroups=g), J) for g in (1, 2, 3)]
    assert found[0] > found[1] > found[2]
    rows = [np.abs(J[k]) / np.abs(J[k]).sum() for k in range(len(J))]
    cover = dc.cover_jacobian(tape, outs, ngroups=3)
    np.testing.assert_allclose(cover.b, np.max(rows, axis=0), rtol=1e-13)
    np.testing.assert_allclose(cover.a, np.abs(J).sum(axis=1), rtol=1e-13)


@given(programs(zeros=True), st.sampled_from([1, 2, 4]))
def test_random_programs_are_covered(program, ngroups):
    tape, outs = dc.tape_function(program.vector, program.point)
    bound = np.asarray(dc.cover_jacobian(tape, outs, ngroups=ngroups))
    U = np.array([dc.abs_reverse(tape, int(k), 1.0) for k in outs])
    assert (np.abs(dc.jacobian(tape, outs)) <= bound * (1 + 1e-12)).all()
    assert (bound * (1 + 1e-12) >= U).all()


@given(programs(zeros=True), POWERS, POWERS, st.sampled_from([1, 2]))
def test_units_of_inputs_and_outputs_bit_for_bit(program, inputs, outputs, ngroups):
    units, factors = 2.0 ** np.array(inputs), 2.0 ** np.array(outputs)
    w = np.array([1.0, 0.3, 2.0, 0.7])
    a, b = dc.cover_jacobian(program.vector, program.point, scales=w, ngroups=ngroups)
    moved = dc.cover_jacobian(
        lambda z: program.vector(units * z) * factors,
        program.point / units,
        scales=w / units,
        ngroups=ngroups,
    )
    np.testing.assert_array_equal(moved.a, factors * a)
    np.testing.assert_array_equal(moved.b, units * b)


def test_rows_and_columns_without_a_path_are_exactly_zero():
    a, b = dc.cover_jacobian(lambda x: [x[0] * x[2], 7.0, 0 * x[1]], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(a, [4.0, 0.0, 0.0])
    np.testing.assert_array_equal(b, [0.75, 0.0, 0.25])


def test_shapes_scalars_and_structures():
    scalar = dc.cover_jacobian(lambda x: x[0] * x[1], [1.0, 2.0])
    assert scalar.a.shape == ()
    assert np.asarray(scalar).shape == (2,)
    grid = dc.cover_jacobian(lambda x: 2 * x, np.ones((2, 3)), ngroups=99)
    assert (grid.a.shape, grid.b.shape) == ((2, 3), (2, 3))
    assert np.asarray(grid).shape == (2, 3, 2, 3)
    one = dc.cover_jacobian(lambda x: [x, x**2], 3.0)
    assert (one.a.tolist(), one.b.shape) == ([1.0, 6.0], ())
    named = dc.cover_jacobian(lambda p: p["a"] * p["b"], {"a": 2.0, "b": np.ones(3)})
    assert set(named.b) == {"a", "b"}
    assert np.asarray(named).shape == (3, 4)
    single = dc.cover_jacobian(lambda x: x * x, np.float32([1.0, 2.0]), ngroups=2)
    assert single.a.dtype == single.b.dtype == np.float32


def test_wide_outputs_share_few_groups():
    tape, outs = dc.tape_function(lambda x: np.sin(x) * x[0], np.ones(50))
    J = dc.jacobian(tape, outs)
    for g in (2, 7):
        bound = np.asarray(dc.cover_jacobian(tape, outs, ngroups=g))
        assert (np.abs(J) <= bound * (1 + 1e-13)).all()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"ngroups": 0}, errors.OptionError),
        ({"ngroups": None}, errors.OptionError),
        ({"ngroups": 1.0}, errors.OptionError),
        ({"ngroups": True}, errors.OptionError),
        ({"scales": [1.0]}, errors.ShapeError),
        ({"scales": [1.0, 0.0]}, errors.OptionError),
        ({"scales": [1.0, np.nan]}, errors.OptionError),
    ],
)
def test_bad_options(options, error):
    with pytest.raises(error):
        dc.cover_jacobian(lambda x: x * x, [1.0, 2.0], **options)


def test_programs_without_a_jacobian():
    with pytest.raises(errors.ConstantProgramError):
        dc.cover_jacobian(lambda x: [1.0, 2.0], [1.0])
    with pytest.raises(errors.ShapeError, match="empty"):
        dc.cover_jacobian(lambda x: x[:0], [1.0])
    with pytest.raises(errors.DomainError, match="log"):
        dc.cover_jacobian(lambda x: np.log(x), [-1.0])
    with pytest.raises(errors.DomainError):
        dc.cover_jacobian(lambda x: [x[0] * 1e300 * 1e300 * 1e-300, x[0]], [1e-300])
