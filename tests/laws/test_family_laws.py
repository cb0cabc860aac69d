"""The rest of the cover family on random programs: weights, units, calls, own curvature."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import derivative_covers as dc
from tests.laws._random_programs import RandomProgram, programs
from tests.thirdparty.test_curvature import log_sum

GROUPS = st.sampled_from([1, 2, None])
STORAGES = st.sampled_from(["dense", "sparse"])
POWERS = st.lists(st.integers(-6, 6), min_size=4, max_size=4)
WEIGHTS = st.lists(
    st.sampled_from([0.0, 0.25, 1.0, 3.0, 1e6]), min_size=4, max_size=4
).map(np.array)
NAMES = ("h", "h_gn", "h_curv")


def assert_covers(h: Any, H: Any, noise: Any) -> None:
    """Up to rounding of the terms that cancel in an entry, of the size of ``noise``."""
    assert np.isfinite(h).all()
    assert (np.outer(h, h) >= np.abs(H) * (1 - 1e-10) - 1e-12 * noise).all()


def terms(f: Any, x: Any, w: Any) -> tuple[Any, ...]:
    """Both terms of weighted least squares from exact sweeps, and their roundings."""
    tape, outs = dc.tape_function(f, x)
    J = dc.jacobian(tape, outs)
    U = np.array([dc.abs_reverse(tape, k, 1.0) for k in outs.tolist()])
    seeds = w * tape.vals[outs]
    curvature = sum(
        s * dc.hessian(tape, k) for s, k in zip(seeds, outs.tolist(), strict=True)
    )
    noise = sum(
        abs(s) * dc.hessian_bound(tape, k)
        for s, k in zip(seeds, outs.tolist(), strict=True)
    )
    return (J.T * w) @ J, curvature, (U.T * w) @ U, noise


@given(programs(4, zeros=True), WEIGHTS, GROUPS)
def test_weighted_least_squares_are_covered(
    program: RandomProgram, w: Any, ngroups: int | None
) -> None:
    gram, curvature, size, noise = terms(program.vector, program.point, w)
    cover = dc.cover_nls(program.vector, program.point, ngroups=ngroups, weights=w)
    assert_covers(cover.h_gn, gram, size)
    assert_covers(cover.h_curv, curvature, noise)
    assert_covers(cover.h, gram + curvature, size + noise)
    assert_covers(dc.gramcover(program.vector, program.point, w), gram, size)
    np.testing.assert_allclose(
        cover.h, np.hypot(cover.h_gn, cover.h_curv), rtol=1e-14, atol=0
    )


@given(programs(4, zeros=True), POWERS, WEIGHTS, GROUPS)
def test_units_of_residuals_go_into_their_weights(
    program: RandomProgram, powers: list[int], w: Any, ngroups: int | None
) -> None:
    units = 2.0 ** np.array(powers)
    x = program.point
    plain = dc.cover_nls(program.vector, x, ngroups=ngroups, weights=w)
    moved = dc.cover_nls(
        lambda x: program.vector(x) * units, x, ngroups=ngroups, weights=w / units**2
    )
    heavier = dc.cover_nls(program.vector, x, ngroups=ngroups, weights=16 * w)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(moved, name), getattr(plain, name))
        np.testing.assert_array_equal(getattr(heavier, name), 4 * getattr(plain, name))


@given(programs(4, zeros=True), STORAGES)
def test_every_output_of_a_forward_cover_is_covered(
    program: RandomProgram, storage: Any
) -> None:
    tape, outs = dc.tape_function(program.vector, program.point)
    found = dc.forward_cover(program.vector, program.point, storage=storage)
    assert found.h.shape == (4, 4)
    for h, k in zip(found.h, outs.tolist(), strict=True):
        assert_covers(h, dc.hessian(tape, k), 100 * dc.hessian_bound(tape, k))
        quadrature = dc.cover_hessian(tape, k, merge="quadrature").h
        assert (h >= quadrature * (1 - 1e-9)).all()


@given(programs(4, zeros=True), st.integers(-6, 6), STORAGES)
def test_the_output_of_a_forward_cover_in_other_units(
    program: RandomProgram, power: int, storage: Any
) -> None:
    x = program.point
    plain = dc.forward_cover(program, x, storage=storage)
    moved = dc.forward_cover(lambda x: program(x) * 4.0**power, x, storage=storage)
    np.testing.assert_array_equal(moved.h, 2.0**power * plain.h)
    np.testing.assert_array_equal(moved.gradient, 4.0**power * plain.gradient)


@given(programs(3), STORAGES)
def test_a_call_in_a_forward_cover(program: RandomProgram, storage: Any) -> None:
    def outer(y: Any) -> Any:
        return np.log(1.0 + np.sum(y**2)) + y[0] * y[3]

    tape, out = dc.tape_function(lambda x: outer(program.vector(x)), program.point)
    found = dc.forward_cover(
        lambda x: outer(dc.submap(program.vector, x)), program.point, storage=storage
    )
    assert_covers(found.h, dc.hessian(tape, out), dc.hessian_bound(tape, out))


def mine(program: RandomProgram) -> Any:
    """Four outputs, two of which have a node with a curvature form of the user's."""

    def f(x: Any) -> Any:
        y = program.vector(x)
        return np.stack([log_sum(list(y)) * x[0], y[1], x[2] * x[3], log_sum(list(x))])

    return f


def plain(program: RandomProgram) -> Any:
    """The same without it."""

    def total(y: Any) -> Any:
        return np.sum(np.log(1 + y * y))

    def f(x: Any) -> Any:
        y = program.vector(x)
        return np.stack([total(y) * x[0], y[1], x[2] * x[3], total(x)])

    return f


@settings(max_examples=40)
@given(programs(3), WEIGHTS, GROUPS)
def test_own_curvature_in_least_squares_and_jacobians(
    program: RandomProgram, w: Any, ngroups: int | None
) -> None:
    x, f = program.point, mine(program)
    gram, curvature, size, noise = terms(plain(program), x, w)
    cover = dc.cover_nls(f, x, ngroups=ngroups, weights=w)
    assert_covers(cover.h_gn, gram, size)
    assert_covers(cover.h_curv, curvature, noise)
    assert_covers(dc.gramcover(f, x, w), gram, size)
    bound = np.asarray(dc.cover_jacobian(f, x, ngroups=ngroups or 4))
    J = dc.jacobian(plain(program), x)
    assert (np.abs(J) <= bound * (1 + 1e-10)).all()


@settings(max_examples=40)
@given(programs(3), STORAGES)
def test_own_curvature_in_calls_compositions_and_forward_covers(
    program: RandomProgram, storage: Any
) -> None:
    x, f = program.point, mine(program)
    direct = plain(program)
    tape, out = dc.tape_function(lambda x: np.sum(direct(x) ** 2), x)
    H, noise = dc.hessian(tape, out), 10 * dc.hessian_bound(tape, out)
    forward = dc.forward_cover(lambda x: np.sum(f(x) ** 2), x, storage=storage)
    assert_covers(forward.h, H, noise)

    def called(x: Any) -> Any:
        return np.sum(dc.submap(f, x) ** 2)

    assert_covers(dc.cover_hessian(called, x).h, H, noise)
    assert_covers(dc.cover_hessian(called, x, merge="quadrature").h, H, noise)
    assert_covers(dc.forward_cover(called, x, storage=storage).h, H, noise)
    y, _, S = dc.declare_submap(f, x)
    inner = dc.cover_jacobian(f, x)
    both = dc.compose_hessian_cover(np.full(4, 2**0.5), 2 * np.abs(y), *inner, S)
    assert_covers(both.h_sum, H, noise)
    assert_covers(both.h_quad, H, noise)
    gradient = np.abs(dc.gradient(tape, out))
    a, b = dc.compose_jacobian_cover([1.0], 2 * np.abs(y), *inner)
    assert (gradient <= a * b * (1 + 1e-10)).all()
