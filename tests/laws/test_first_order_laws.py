"""First-order sweeps against each other and against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import derivative_covers as dc
from tests.laws._random_programs import RandomProgram, monotone_programs, programs

SEEDS = st.integers(0, 2**32 - 1)


@given(programs(zeros=True), SEEDS)
def test_gradient_agrees_with_differences(program: RandomProgram, seed: int) -> None:
    x0 = program.point
    direction = np.random.default_rng(seed).uniform(-1.0, 1.0, size=4)
    step = 1e-6
    up, down = program(x0 + step * direction), program(x0 - step * direction)
    gradient = dc.gradient(program, x0)
    size = np.abs(gradient).max() + abs(up) + 1.0
    assert (up - down) / (2 * step) == pytest.approx(
        gradient @ direction, rel=1e-5, abs=1e-5 * size
    )


@given(programs(), SEEDS)
def test_hessian_agrees_with_differences_of_the_gradient(
    program: RandomProgram, seed: int
) -> None:
    x0 = program.point
    direction = np.random.default_rng(seed).uniform(-1.0, 1.0, size=4)
    step = 1e-6
    up = dc.gradient(program, x0 + step * direction)
    down = dc.gradient(program, x0 - step * direction)
    tape, out = dc.tape_function(program, x0)
    hessian = dc.hessian(tape, out)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12, atol=1e-14)
    product = dc.hvp(tape, out, direction)
    bound = dc.hessian_bound(tape, out)
    size = bound.max() + np.abs(up).max() + 1.0
    np.testing.assert_allclose(
        product, hessian @ direction, rtol=1e-11, atol=1e-13 * size
    )
    np.testing.assert_allclose(
        (up - down) / (2 * step), product, rtol=1e-4, atol=1e-4 * size
    )


@given(programs(zeros=True))
def test_gradient_is_the_row_of_the_jacobian(program: RandomProgram) -> None:
    tape, outs = dc.tape_function(program.vector, program.point)
    jacobian = dc.jacobian(tape, outs)
    assert jacobian.shape == (4, 4)
    for k, out in enumerate(outs):
        np.testing.assert_array_equal(jacobian[k], dc.gradient(tape, int(out)))


@given(programs(zeros=True), SEEDS)
def test_forward_and_reverse_products_are_adjoint(
    program: RandomProgram, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    w, u = rng.normal(size=4), rng.normal(size=4)
    tape, outs = dc.tape_function(program.vector, program.point)
    reverse = dc.gradient(lambda x: np.dot(w, program.vector(x)), program.point)
    jacobian = dc.jacobian(tape, outs)
    size = np.abs(w) @ dc.abs_forward(np.abs(u), tape)[outs]
    assert w @ (jacobian @ u) == pytest.approx(reverse @ u, rel=1e-11, abs=1e-12 * size)


@given(programs(zeros=True), SEEDS)
def test_absolute_sweeps_bound_and_are_adjoint(
    program: RandomProgram, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    w, seeds = rng.uniform(size=4), rng.uniform(size=4)
    tape, outs = dc.tape_function(program.vector, program.point)
    jacobian = np.abs(dc.jacobian(tape, outs))
    columns = np.stack([dc.abs_forward(e, tape)[outs] for e in np.eye(4)], axis=1)
    rows = np.stack([dc.abs_reverse(tape, outs, e) for e in np.eye(4)])
    assert np.all(columns * (1 + 1e-12) >= jacobian)
    np.testing.assert_allclose(rows, columns, rtol=1e-12, atol=1e-300)
    sigma = dc.abs_forward(w, tape)
    assert sigma.shape == (dc.nnodes(tape),)
    assert np.all(np.isfinite(sigma[outs]))
    np.testing.assert_allclose(sigma[outs], columns @ w, rtol=1e-12, atol=1e-300)
    back = dc.abs_reverse(tape, outs, seeds)
    assert seeds @ sigma[outs] == pytest.approx(back @ w, rel=1e-12)


@given(monotone_programs())
def test_absolute_sweeps_are_exact_without_cancellation(program: RandomProgram) -> None:
    tape, outs = dc.tape_function(program.vector, program.point)
    jacobian = dc.jacobian(tape, outs)
    assert np.all(jacobian >= 0)
    for a in range(4):
        column = dc.abs_forward(np.eye(4)[a], tape)[outs]
        np.testing.assert_allclose(column, jacobian[:, a], rtol=1e-12, atol=1e-300)


@given(programs())
def test_sensitivity_scales_are_the_absolute_forward_sweep(
    program: RandomProgram,
) -> None:
    tape, _ = dc.tape_function(program, program.point)
    w = np.array([1.0, 2.0, 0.5, 3.0])
    np.testing.assert_array_equal(
        dc.sensitivity_scales(w, tape), dc.abs_forward(w, tape)
    )
    ones = dc.abs_forward(np.ones(4), tape)
    np.testing.assert_array_equal(dc.sensitivity_scales(None, tape), ones)


@given(programs(zeros=True))
def test_function_and_tape_forms_agree(program: RandomProgram) -> None:
    x0 = program.point
    tape, out = dc.tape_function(program, x0)
    np.testing.assert_array_equal(dc.gradient(program, x0), dc.gradient(tape, out))
    np.testing.assert_array_equal(dc.hessian(program, x0), dc.hessian(tape, out))
    v = np.array([1.0, -2.0, 0.0, 0.5])
    np.testing.assert_array_equal(dc.hvp(program, x0, v), dc.hvp(tape, out, v))
    _, outs = dc.tape_function(program.vector, x0)
    assert outs.dtype == np.int64
    assert dc.jacobian(program.vector, x0).shape == (4, 4)


@given(programs(zeros=True))
def test_views_of_the_tape_describe_the_program(program: RandomProgram) -> None:
    """Adjoints pulled back by hand over ``parents`` and ``ds`` are the gradient."""
    tape, out = dc.tape_function(program, program.point)
    length = dc.nnodes(tape)
    assert tape.ninputs == 4
    adjoint: Any = np.zeros(length)
    adjoint[out] = 1.0
    for k in range(length - 1, 3, -1):
        parents, partials = np.asarray(tape.parents[k]), np.asarray(tape.ds[k])
        assert np.all(parents < k)
        assert parents.shape == partials.shape
        if adjoint[k] != 0.0:
            np.add.at(adjoint, parents, partials * adjoint[k])
    gradient = dc.gradient(tape, out)
    size = dc.abs_forward(np.ones(4), tape)[out]
    np.testing.assert_allclose(adjoint[:4], gradient, rtol=1e-11, atol=1e-12 * size)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3), (2, 1, 2)])
def test_results_have_the_shape_of_the_input(shape: tuple[int, ...]) -> None:
    """Entry by entry, an input of any shape gives what its raveled copy gives."""
    size = int(np.prod(shape))
    x0 = np.linspace(0.3, 1.9, size)

    def f(x: Any) -> Any:
        y = np.ravel(x)
        return np.sum(np.exp(np.sin(y))) * np.sum(y * y[::-1]) + np.prod(y)

    def g(x: Any) -> Any:
        return np.stack([f(x), np.sum(np.ravel(x) ** 3)])

    flat, out = dc.tape_function(f, x0)
    tape, shaped_out = dc.tape_function(f, x0.reshape(shape))
    assert tape.vals[shaped_out] == flat.vals[out]
    assert tape.ninputs == size
    v = np.linspace(-1.0, 2.0, size)
    w = np.linspace(0.5, 2.0, size)

    def same(shaped: Any, raveled: Any, times: int = 1) -> None:
        assert np.shape(shaped) == shape * times
        np.testing.assert_array_equal(np.reshape(shaped, np.shape(raveled)), raveled)

    same(dc.gradient(tape, shaped_out), dc.gradient(flat, out))
    same(dc.hvp(tape, shaped_out, v.reshape(shape)), dc.hvp(flat, out, v))
    same(dc.hessian(tape, shaped_out), dc.hessian(flat, out), 2)
    same(dc.hessian_bound(tape, shaped_out), dc.hessian_bound(flat, out), 2)
    for merge in ("sum", "quadrature"):
        left = dc.cover_hessian(tape, shaped_out, merge=merge, scales=w.reshape(shape))
        right = dc.cover_hessian(flat, out, merge=merge, scales=w)
        same(left.h, right.h)
        same(left.gradient, right.gradient)
    same(
        dc.cover_hybrid(tape, shaped_out, ngroups=2).h,
        dc.cover_hybrid(flat, out, ngroups=2).h,
    )
    sigma = dc.abs_forward(w.reshape(shape), tape)
    np.testing.assert_array_equal(sigma, dc.abs_forward(w, flat))
    many, outs = dc.tape_function(g, x0.reshape(shape))
    assert dc.jacobian(many, outs).shape == (2, *shape)
    assert np.shape(dc.abs_reverse(many, outs, np.array([1.0, 2.0]))) == shape
