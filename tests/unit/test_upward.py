"""Upward: conversions, what it refuses, and how it behaves as an array."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors
from derivative_covers.extend import Upward


def test_scalars_and_arrays():
    u = Upward(2.0)
    assert float(u) == 2.0
    assert (u.shape, u.ndim, u.size, u.dtype) == ((), 0, 1, np.float64)
    assert u
    assert not Upward(0.0)
    assert Upward(-0.0).v == 0
    assert not np.signbit(Upward(-0.0).v)
    a = Upward([[1.0, 2.0], [3.0, 4.0]])
    assert (a.shape, a.ndim, a.size, len(a)) == ((2, 2), 2, 4, 2)
    assert [float(x) for x in a[1]] == [3.0, 4.0]
    assert isinstance(a[0, 1], Upward)
    np.testing.assert_array_equal(np.asarray(a.T), [[1.0, 3.0], [2.0, 4.0]])
    assert Upward([Upward(1.0), 2.0]).v.tolist() == [1.0, 2.0]
    assert a[1, 1].item() == 4.0
    assert repr(Upward(np.nextafter(1.0, 2))) == "Upward(1.0000000000000002)"
    assert repr(Upward([0.5], np.float32)) == "Upward([0.5], dtype=float32)"


def test_it_is_a_copy_and_views_share_as_numpys_do():
    source = np.array([1.0, 2.0, 3.0])
    u = Upward(source)
    source[0] = 9.0
    assert u[0] == 1.0
    view = u[1:]
    view[0] = 7
    assert u[1] == 7.0
    same = u
    same += 1
    assert u[0] >= 2.0
    s = t = Upward(1.0)
    s += 1
    assert (float(t), s > 1.5) == (1.0, True)
    with pytest.raises(TypeError, match="no entries"):
        t[0] = 1.0
    with pytest.raises(errors.OptionError, match="nonnegative"):
        u[0] = -1.0


@pytest.mark.parametrize(
    "x", [-1.0, math.nan, [1.0, -1e-300], np.array([np.nan]), -3, Fraction(-1, 3)]
)
def test_negative_numbers_and_nan_are_refused(x):
    with pytest.raises(errors.OptionError, match="nonnegative"):
        Upward(x)


@pytest.mark.parametrize("x", [1j, "one", None, [object()], np.array(["1"]), [1j]])
def test_what_is_no_real_number_is_refused(x):
    with pytest.raises(errors.InputTypeError, match="real numbers"):
        Upward(x)
    with pytest.raises(errors.InputTypeError, match="real numbers"):
        Upward(1.0) * x


def test_other_types_are_refused_and_narrow_ones_widened():
    with pytest.raises(errors.InputTypeError, match="float16"):
        Upward(1.0, np.float16)
    assert Upward(np.float16(0.1)).dtype == np.float32
    assert Upward(np.int32(3)).dtype == np.float64
    assert Upward([True, False]).v.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "lose",
    [
        lambda u: u - 1,
        lambda u: 1 - u,
        lambda u: -u,
        lambda u: np.subtract(u, u),
        lambda u: np.exp(u),
        lambda u: np.log(u),
        lambda u: np.sin(u),
        lambda u: np.cbrt(u),
        lambda u: u // 2,
        lambda u: u % 2,
        lambda u: u**0.5,
        lambda u: 2.0**u,
        lambda u: np.float_power(u, 2),
        lambda u: np.mean(u),
        lambda u: np.cumsum(u),
        lambda u: np.linalg.norm(u),
        lambda u: np.prod(u),
        lambda u: np.multiply.reduce(u),
        lambda u: np.add.at(u, [0], 1.0),
        lambda u: np.add.reduce(u, initial=2.0),
        lambda u: np.add(u, u, where=[True, False]),
        lambda u: np.add(u, 1.0, out=np.zeros(2)),
        lambda u: np.round(u),
        lambda u: int(u[0]),
    ],
)
def test_what_would_lose_the_bound_is_refused(lose):
    with pytest.raises(errors.UnsupportedOperationError) as caught:
        lose(Upward([1.0, 2.0]))
    assert "Upward" in str(caught.value)


def test_a_plain_array_never_absorbs_the_result():
    x = np.ones(2)
    with pytest.raises(errors.UnsupportedOperationError, match="cannot be stored"):
        x += Upward([1.0, 2.0])
    assert isinstance(x * Upward(1.0), Upward)
    assert isinstance(np.float64(2.0) * Upward(1.0), Upward)
    assert isinstance(np.add([1.0, 2.0], Upward(1.0)), Upward)
    assert isinstance(sum(Upward([1.0, 2.0])), Upward)


def test_recorded_variables_do_not_lose_their_derivative():
    for f in (
        lambda x: np.sum(x * Upward([1.0, 2.0])),
        lambda x: np.sum(Upward([1.0, 2.0]) * x),
        lambda x: Upward(2.0) * x[0],
        lambda x: x[0] * Upward(2.0),
        lambda x: Upward(x[0]),
        lambda x: Upward(x),
    ):
        with pytest.raises(errors.DerivativeError):
            dc.gradient(f, [1.0, 2.0])


def test_comparisons_are_exact_and_plain():
    u = Upward([0.5, 1.0, np.inf])
    assert (u <= 1.0).tolist() == [True, True, False]
    assert (u > -1).all()
    assert (u < 2.0).tolist() == [True, True, False]
    assert np.isfinite(u).tolist() == [True, True, False]
    assert np.maximum(u, 0.75).v.tolist() == [0.75, 1.0, np.inf]
    assert np.minimum(Upward(3.0), u).v.tolist() == [0.5, 1.0, 3.0]
    assert (float(max(Upward(1.0), Upward(3.0))), float(u.min())) == (3.0, 0.5)
    single = Upward(0.1, np.float32)
    assert single > 0.1  # the float32 above, not the one that 0.1 rounds to
    assert float(single) == float(np.float32(0.1))
    assert (u == Upward([0.5, 1.0, 2.0])).tolist() == [True, True, False]


def test_float32_stays_and_takes_numbers_upward():
    u = Upward([1.0], np.float32)
    tenth = u * 0.1
    assert tenth.dtype == np.float32
    assert tenth.v[0] >= 0.1
    assert (u * np.float64(0.1)).dtype == np.float64
    assert (u + Upward(1e-30)).dtype == np.float64
    assert np.asarray(Upward(1e-60), dtype=np.float32) > 0
    assert np.asarray(Upward(1 / 3), dtype=np.float32) >= 1 / 3
    assert np.asarray(Upward([1.5]), dtype=np.float32).dtype == np.float32
    target = Upward([0.0], np.float32)
    target += 1e-60
    assert target.v[0] > 0


def test_underflow_and_overflow_go_up():
    tiny = Upward(5e-324)
    assert tiny * tiny == 5e-324
    assert tiny / 2.0 == 5e-324
    assert tiny**3 == 5e-324
    assert Upward(3.0) ** 2.0 == Upward(3.0) ** 2
    assert Upward(1e308) * 10 == math.inf
    assert Upward(math.inf) + 1 == math.inf
    assert np.sqrt(Upward(math.inf)) == math.inf
    assert np.hypot(Upward(math.inf), math.inf) == math.inf
    assert np.hypot(Upward(1e-200), 1e-200) >= 1.4142135623730950e-200
    assert np.hypot(Upward(1e200), 1e200) < 1.415e200
    single = Upward(np.float32(1e-45))
    assert single * single == float(np.finfo(np.float32).smallest_subnormal)


def test_zero_rule_and_operations_without_a_value():
    assert Upward(0.0) * math.inf == 0
    assert Upward(1.0) / 0.0 == math.inf
    assert Upward(0.0) / 5 == 0
    assert Upward(0.0) ** 0 == 1
    assert Upward(0.0) ** -1 == math.inf
    for x in (0.0, math.inf):
        with pytest.raises(errors.DomainError, match="no value"):
            Upward([1.0, x]) / x


def test_reductions_over_axes_and_empty_arrays():
    a = Upward(np.arange(24.0).reshape(2, 3, 4))
    for axis in (None, 0, -1, (0, 2), (1, 0, 2)):
        np.testing.assert_allclose(
            np.asarray(a.sum(axis)), a.v.sum(axis=axis), rtol=1e-14
        )
        np.testing.assert_array_equal(np.asarray(np.max(a, axis)), a.v.max(axis))
    assert a.sum(1, keepdims=True).shape == (2, 1, 4)
    assert np.add.reduce(a).shape == (3, 4)
    assert np.sum([Upward(1.0), Upward(2.0)]) == 3.0
    assert Upward([]).sum() == 0
    assert Upward(np.zeros((0, 3))).sum(axis=0).v.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(IndexError):
        a.sum(3)


def test_products_of_matrices_and_vectors_have_numpys_shapes():
    rng = np.random.default_rng(1)
    A, B, v, w = rng.random((2, 3)), rng.random((3, 4)), rng.random(3), rng.random(2)
    for x, y in [(A, B), (A, v), (w, A), (v, v), (rng.random((5, 2, 3)), B)]:
        found = Upward(x) @ y
        np.testing.assert_allclose(np.asarray(found), x @ y, rtol=1e-14)
        assert (np.asarray(found) >= x @ y * (1 - 1e-16)).all()
        assert (x @ Upward(y)).shape == found.shape
    with pytest.raises(ValueError, match="matmul"):
        Upward(A) @ A
    with pytest.raises(errors.InputTypeError, match="scalar"):
        Upward(2.0) @ A
    np.testing.assert_allclose(np.asarray(np.outer(Upward(w), v)), np.outer(w, v))
    np.testing.assert_allclose(float(np.vdot(Upward(A), A)), np.vdot(A, A))
    np.testing.assert_allclose(float(np.inner(Upward(v), v)), v @ v)


def test_functions_that_only_arrange():
    u = Upward([1.0, 2.0])
    assert np.stack([u, u]).shape == (2, 2)
    assert np.concatenate([u, [3.0]]).v.tolist() == [1.0, 2.0, 3.0]
    assert np.where([True, False], u, 5.0).v.tolist() == [1.0, 5.0]
    assert np.where(u > 1, 0.0, u).v.tolist() == [1.0, 0.0]
    assert np.zeros_like(u).v.tolist() == [0.0, 0.0]
    assert np.ones_like(u).v.tolist() == [1.0, 1.0]
    assert np.reshape(u, (2, 1)).shape == np.transpose(u.reshape(1, 2)).shape == (2, 1)
    assert (np.shape(u), np.ndim(u), np.size(u)) == ((2,), 1, 2)
    assert np.ravel(u.reshape(2, 1)).shape == (2,)
    assert np.array_equal(np.copy(u), [1.0, 2.0])
    assert abs(+u).v.tolist() == [1.0, 2.0]


def test_copies_and_pickles():
    u = Upward([0.1, 2.0], np.float32)
    for other in (copy.copy(u), copy.deepcopy(u), pickle.loads(pickle.dumps(u))):
        assert other.dtype == np.float32
        assert np.array_equal(other, u)
    with pytest.raises(TypeError, match="unhashable"):
        hash(u)
