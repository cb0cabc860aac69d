"""Matrix routines far from one and at the edge, and faults that later operations hide."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import DomainError, UnsupportedOperationError
from tests._differences import agrees, matrix

# -- scales ----------------------------------------------------------------------------

TALL = matrix(4, 2, seed=3)
RIGHT = matrix(4, 2, seed=4)


@pytest.mark.parametrize("sizes", [(1e200, 1e199), (1e-200, 1e-200), (1e160, 3e158)])
def test_least_squares_keep_their_derivatives_at_every_scale(sizes: Any) -> None:
    """``inv(a'a)`` leaves the range of numbers long before the solution does."""
    columns = np.array([sizes[0], sizes[1]])

    def plain(x: Any) -> Any:
        return np.sum(np.sin(np.linalg.lstsq(x[:, :2], x[:, 2:], rcond=0.0)[0]))

    def scaled(x: Any) -> Any:
        a, b = x[:, :2] * columns, x[:, 2:] * 1e100
        found = np.linalg.lstsq(a, b, rcond=0.0)[0]
        return np.sum(np.sin(found * (columns[:, None] / 1e100)))

    x0 = np.concatenate([TALL, RIGHT], axis=1)
    expected = dc.gradient(plain, x0), dc.hessian(plain, x0)
    np.testing.assert_allclose(dc.gradient(scaled, x0), expected[0], rtol=1e-9)
    np.testing.assert_allclose(
        dc.hessian(scaled, x0), expected[1], rtol=1e-8, atol=1e-9
    )


def test_pseudoinverses_keep_their_derivatives_at_large_scales() -> None:
    columns = np.array([1e200, 1e198])

    def plain(x: Any) -> Any:
        return np.sum(np.linalg.pinv(x) ** 2)

    def scaled(x: Any) -> Any:
        return np.sum((columns[:, None] * np.linalg.pinv(x * columns, rcond=0.0)) ** 2)

    np.testing.assert_allclose(
        dc.gradient(scaled, TALL), dc.gradient(plain, TALL), rtol=1e-8, atol=1e-9
    )
    np.testing.assert_allclose(
        dc.hessian(scaled, TALL), dc.hessian(plain, TALL), rtol=1e-8, atol=1e-8
    )


def test_single_precision_least_squares_of_large_entries() -> None:
    a, b = TALL.astype(np.float32), RIGHT[:, 0].astype(np.float32)
    size = np.float32(1e25)

    def f(x: Any) -> Any:
        return np.linalg.lstsq(x * size, b * size)[0][0]

    expected = dc.gradient(lambda x: np.linalg.lstsq(x, b)[0][0], a)
    np.testing.assert_allclose(dc.gradient(f, a), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [1e-140, 1e140])
@pytest.mark.parametrize("p", [None, -2])
def test_condition_numbers_have_no_units(size: float, p: Any) -> None:
    a = matrix(3, 3)

    def f(x: Any) -> Any:
        return np.linalg.cond(x * size, p)

    tape, out = dc.tape_function(f, a)
    assert tape.vals[out] == f(a)
    expected = dc.hessian(lambda x: np.linalg.cond(x, p), a)
    top = np.abs(expected).max()
    np.testing.assert_allclose(dc.hessian(tape, out), expected, atol=1e-9 * top)


# -- edges -----------------------------------------------------------------------------


def test_the_residual_of_no_columns_is_the_right_side() -> None:
    none = np.zeros((2, 0))

    def f(x: Any) -> Any:
        vector = np.linalg.lstsq(none, x[:2], rcond=None)
        both = np.linalg.lstsq(x[:0].reshape(2, 0), x.reshape(2, 2), rcond=None)
        assert vector[0].shape == (0,)
        assert both[0].shape == (0, 2)
        return vector[1][0] * both[1][1] + x[0]

    agrees(f, [1.0, 2.0, 3.0, 0.5])


def test_the_rank_of_a_pseudoinverse_is_that_of_numpys_cutoff() -> None:
    near = np.diag([1.0, 1e-10])
    tape, outs = dc.tape_function(np.linalg.pinv, near)
    np.testing.assert_array_equal(tape.vals[outs], np.linalg.pinv(near))
    with pytest.raises(UnsupportedOperationError, match="rank 1"):
        dc.tape_function(lambda x: np.linalg.pinv(x, rcond=1e-9), near)
    both = np.stack([np.eye(2), near])
    with pytest.raises(UnsupportedOperationError, match="rank 1"):
        dc.tape_function(lambda x: np.linalg.pinv(x, rcond=np.full(2, 1e-9)), both)
    found = dc.gradient(
        lambda x: np.linalg.pinv(x, rcond=np.array([0.5, 1e-12]))[1, 0, 0], both
    )
    np.testing.assert_allclose(found[1], [[-1.0, 0.0], [0.0, 0.0]], atol=1e-15)
    hilbert = 1.0 / (1.0 + np.arange(11)[:, None] + np.arange(11))
    assert np.all(np.isfinite(dc.gradient(lambda x: np.linalg.pinv(x)[0, 0], hilbert)))


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_pseudoinverse_of_what_is_not_finite_is_refused(bad: float) -> None:
    a = np.array([[2.0, 0.5], [0.5, bad], [1.0, 1.0]])
    with pytest.raises((DomainError, np.linalg.LinAlgError)):
        dc.gradient(lambda x: np.sum(np.linalg.pinv(x * a)), np.ones((3, 2)))


# -- hidden faults ---------------------------------------------------------------------

HIDDEN = {
    "cube of a cube root": (lambda x: np.sum(np.cbrt(x) ** 3), [0.0, 1.0]),
    "of a scalar": (lambda x: np.cbrt(x[0]) ** 3 + x[1], [0.0, 1.0]),
    "fourth power of a root": (lambda x: np.sum(np.sqrt(x) ** 4), [0.0, 1.0]),
    "of a multiple": (lambda x: np.sum((2.0 * np.sqrt(x)) ** 4), [0.0, 1.0]),
    "of a sum": (lambda x: np.sum(np.sqrt(x)) ** 3, [0.0, 0.0]),
    "of an inner product": (lambda x: (np.cbrt(x) @ (x + 1)) ** 3, [0.0, 0.0]),
    "of a running sum": (lambda x: np.sum(np.cumsum(np.cbrt(x)) ** 3), [0.0, 1.0]),
    "cube root of squares": (lambda x: np.cbrt(x @ x) ** 3, [0.0, 0.0]),
    "root of a root": (lambda x: np.sqrt(np.sqrt(x @ x)) ** 3, [0.0, 0.0]),
    "a low power": (lambda x: np.sum((x**0.2) ** 5), [0.0, 1.0]),
    "a low power of a scalar": (lambda x: (x[0] ** 0.2) ** 5 + x[1], [0.0, 1.0]),
    "sums of rows": (
        lambda x: np.sum(np.exp(-np.sum((1 / x).reshape(2, 2), axis=1))),
        [0.0, 1.0, 2.0, 3.0],
    ),
}


@pytest.mark.parametrize("kinks", ["raise", "branch"])
@pytest.mark.parametrize("kind", HIDDEN)
def test_a_root_is_not_hidden_by_a_power_that_is_flat(kind: str, kinks: str) -> None:
    f, x0 = HIDDEN[kind]
    mode: Any = {} if kinks == "raise" else {"kinks": kinks}
    for question in (dc.gradient, dc.hessian, dc.cover_hessian):
        with pytest.raises(DomainError):
            question(f, x0, **mode)


def test_powers_of_distances_stay_smooth_where_points_coincide() -> None:
    def f(x: Any) -> Any:
        d = x[:, None] - x[None, :]
        r = np.sqrt(d**2 + (2.0 * d) ** 2)
        cubes = np.sum(r**3) + np.sum(np.sqrt(np.sum(d[..., None] ** 2, axis=2)) ** 3)
        return cubes + np.sum(np.abs(d) ** 3) + np.sqrt((x[0] - x[0]) ** 2) ** 3

    x0 = np.array([0.5, 0.5, 2.0])
    c = 2 * (5.0**1.5 + 2.0) * 1.5  # each pair twice; both d**3
    slope = 2 * c * 1.5**2
    np.testing.assert_allclose(dc.gradient(f, x0), [-slope, -slope, 2 * slope])
    bend = 2 * slope / 1.5
    expected = [[bend, 0, -bend], [0, bend, -bend], [-bend, -bend, 2 * bend]]
    np.testing.assert_allclose(dc.hessian(f, x0), expected, atol=1e-12)


def test_flat_powers_that_are_not_chosen_do_not_count() -> None:
    def f(x: Any) -> Any:
        hidden = np.cbrt(x) ** 3
        return np.sum(np.where(x > 0.5, hidden, x)) + hidden[1] * x[0]

    np.testing.assert_allclose(dc.gradient(f, [0.0, 1.0]), [2.0, 1.0])


def test_roots_of_what_does_not_move_are_not_steep() -> None:
    def f(x: Any) -> Any:
        still = np.maximum(x, 0.0)
        cubes = np.cbrt(still) ** 3 + np.sqrt(still) ** 3
        return np.sum(cubes) + np.cbrt(max(x[0], 0.0)) ** 3 + x[1]

    np.testing.assert_array_equal(dc.gradient(f, [-1.0, -2.0]), [0.0, 1.0])
    assert not np.any(dc.hessian(f, [-1.0, -2.0]))


def test_many_faults_below_sums_cost_no_walk_over_nodes() -> None:
    x0 = np.tile([0.0, 1.0], 200_000)

    def f(x: Any) -> Any:
        pairs = np.sum((1 / x).reshape(-1, 2), axis=1)
        return np.sum(x**2) + np.sum(pairs[:0])

    tape, out = dc.tape_function(f, x0)
    start = time.perf_counter()
    np.testing.assert_array_equal(dc.gradient(tape, out), 2 * x0)
    assert time.perf_counter() - start < 3.0
