"""Faults that sweeps once had; each stands for its kind."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors, extend
from derivative_covers.sweeps.kernels import _jit

OUT_OF_RANGE = {
    "log": (lambda x: 1e-200 * np.log(1e150 * x[0]), [1e-50]),
    "log, huge": (lambda x: 1e200 * np.log(1e-150 * x[0]), [1e50]),
    "arctan2": (
        lambda x: 1e-200 * np.arctan2(1e150 * x[0], 1e150 * x[1]),
        [1e-150, 2e-150],
    ),
    "quotient": (
        lambda x: 1e-250 * ((1e150 * x[0]) / (1e150 * x[1])),
        [1e-150, 2e-150],
    ),
    "single precision": (
        lambda x: np.float32(1e-25) * np.log(np.float32(1e20) * x[0]),
        np.array([1e-8], dtype=np.float32),
    ),
}


@pytest.mark.parametrize("kind", OUT_OF_RANGE)
def test_covers_hold_where_weight_times_entry_leaves_the_range(kind):
    f, x0 = OUT_OF_RANGE[kind]
    H = dc.hessian(f, x0)
    assert np.abs(H).max() > 0
    for cover in (
        dc.cover_hessian(f, x0),
        dc.cover_hessian(f, x0, merge="quadrature"),
        dc.cover_hybrid(f, x0, ngroups=1),
    ):
        assert dc.iscover(cover, H, rtol=1e-6)


def test_both_slots_of_an_explicit_node_count_where_they_share_a_parent():
    def f(x):
        return extend.binarynode(x[0], x[0], 9.0, 3.0, 3.0, 0.0, 1.0, 0.0)

    assert dc.gradient(f, [3.0]) == [6.0]
    assert dc.hessian(f, [3.0]) == [[2.0]]
    np.testing.assert_allclose(dc.cover_hessian(f, [3.0]).h ** 2, [2.0])


@pytest.mark.parametrize(
    "ask",
    [
        dc.natoms,
        dc.guards_any_block,
        lambda t: dc.abs_forward([1.0, 1.0], t),
        lambda t: dc.sensitivity_scales(None, t),
        lambda t: dc.gradient(t, 0),
    ],
)
def test_a_tape_that_is_still_recording_is_refused(ask):
    def f(x):
        y = x[0] * x[1]
        ask(extend.noderef(y)[0])
        return y

    with pytest.raises(errors.TapeError, match="still recording"):
        dc.tape_function(f, [2.0, 3.0])


@pytest.mark.parametrize("ask", [dc.natoms, dc.guards_any_block])
def test_what_is_no_tape_is_refused(ask):
    with pytest.raises(errors.InputTypeError, match="Tape is needed"):
        ask(np.sin)


@pytest.mark.parametrize("pad", [1.0, None])
def test_a_slot_that_merging_makes_dead_is_covered_diagonally(pad):
    def f(x):
        one = x[0] / x[0]
        return (one if pad is None else one * pad) * x[1]

    np.testing.assert_array_equal(dc.cover_hessian(f, [2.0, 3.0]).h, [0.0, 0.0])


def test_a_one_by_one_output_survives_pickling():
    tape, out = dc.tape_function(lambda x: (x * x).reshape(1, 1), [3.0])
    again = pickle.loads(pickle.dumps(tape))
    np.testing.assert_array_equal(dc.jacobian(again, out), [[[6.0]]])


def test_jacobian_holds_one_node_vector_at_a_time():
    def f(x):
        return x[:, None] * np.ones(2000) + np.arange(2000.0)

    tape, outs = dc.tape_function(lambda x: f(x)[:, :50], np.ones(10))
    found = dc.jacobian(tape, outs)
    assert found.base is None or found.base.size == found.size
    np.testing.assert_array_equal(found.sum(), 500.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_directions_and_seeds_are_finite(bad):
    tape, out = dc.tape_function(lambda x: x[0] * x[1], [2.0, 3.0])
    for ask in (
        lambda: dc.hvp(tape, out, [bad, 1.0]),
        lambda: dc.abs_forward([bad, 1.0], tape),
        lambda: dc.abs_reverse(tape, out, bad),
        lambda: dc.sensitivity_scales([bad, 1.0], tape),
    ):
        with pytest.raises(errors.OptionError, match="finite"):
            ask()


def test_zero_tangents_meet_infinite_coefficients():
    A = np.array([[np.inf, 1.0], [1.0, 1.0]])
    tape, _ = dc.tape_function(lambda x: (A @ x)[1], [1.0, 2.0])
    np.testing.assert_array_equal(dc.abs_forward([0.0, 1.0], tape)[2:], [1.0, 1.0])


def test_a_negative_vector_is_no_cover():
    with pytest.raises(errors.OptionError, match="negative"):
        dc.iscover([-1.0, -1.0], [[1.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize("k", [-40, -1, 3, 50])
def test_quotients_do_not_see_the_units(k):
    rng = np.random.default_rng(7)
    for x0 in rng.lognormal(sigma=4.0, size=(50, 2)):
        f = lambda x: x[0] / x[1]  # noqa: E731
        a = dc.gradient(f, x0)
        b = dc.gradient(f, x0 * 2.0**k)
        np.testing.assert_array_equal(a, b * 2.0**k)


def test_an_overflowing_product_is_found_without_a_loop_over_nodes():
    tape, out = dc.tape_function(
        lambda x: np.exp(np.sum(np.sin(x)) / 1e3), np.ones(20000)
    )
    with pytest.raises(errors.DomainError, match="not finite"):
        dc.hvp(tape, out, np.full(20000, 1e308))


def test_guards_answer_although_a_node_has_no_cover():
    def f(x):
        tape, i = extend.noderef(x[0])
        C = extend.DenseCurvature(np.ones((3, 3)))
        return extend.pushnode(tape, 1.0, [i, i + 1, i + 2], [1.0, 1.0, 1.0], C)

    tape, _ = dc.tape_function(f, [1.0, 2.0, 3.0])
    assert dc.guards_any_block(tape) is True


def test_uncompiled_kernels_warn_of_nothing(monkeypatch):
    monkeypatch.setattr(_jit, "_patience", 10**9)

    def f(x):
        extend.binarynode(x[0], x[0], 1.0, math.inf, -math.inf, 0.0, 1.0, 0.0)
        return x[0] * x[1] + x[1] * 0.0

    tape, out = dc.tape_function(f, [2.0, 3.0])
    for cover in (
        dc.cover_hessian(tape, out),
        dc.cover_hessian(tape, out, merge="quadrature"),
        dc.cover_hybrid(tape, out, ngroups=2),
    ):
        np.testing.assert_allclose(np.prod(cover.h), 1.0)
    assert dc.hessian(tape, out)[0, 1] == 1.0


SINGULAR_INSIDE = {
    "logarithm and exponential": (lambda x: np.exp(np.log(x[0])), [0.0]),
    "array of them": (lambda x: np.sum(np.exp(np.log(x))), [0.0, 1.0] * 200),
    "inverse of an inverse": (lambda x: 1 / (1 / x[0]), [0.0]),
    "harmonic mean": (lambda x: 1 / np.sum(1 / x), [0.0, 1.0]),
    "long harmonic mean": (lambda x: 1 / np.sum(1 / x), [0.0, 1.0] * 200),
    "running sum": (lambda x: np.sum(np.tanh(np.cumsum(1 / x))), [1.0, 0.0, 1.0]),
    "inner product": (lambda x: np.arctan(np.dot(1 / x, x + 1)), [0.0, 1.0]),
    "saturation": (lambda x: np.tanh(np.log(x[0])), [0.0]),
    "two steps": (lambda x: np.exp(-np.log(1 / x[0]) * 2.0), [0.0]),
}


@pytest.mark.parametrize("kind", SINGULAR_INSIDE)
@pytest.mark.parametrize("sweep", [dc.gradient, dc.hessian, dc.cover_hessian])
def test_a_singular_value_is_not_hidden_by_a_zero_partial(kind, sweep):
    f, x0 = SINGULAR_INSIDE[kind]
    with pytest.raises(errors.DomainError):
        sweep(f, x0)


def test_overflow_that_saturates_and_unchosen_faults_are_none():
    def f(x):
        sigmoid = 1 / (1 + np.exp(-x))
        kept = np.where(x > 1.0, 1 / (1 / x), sigmoid)
        return np.sum(kept) + np.maximum(np.log(x[2]), x[1])

    np.testing.assert_array_equal(dc.gradient(f, [-800.0, 2.0, 0.0]), [0.0, 2.0, 0.25])
