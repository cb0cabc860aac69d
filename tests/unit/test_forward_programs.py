"""What programs the forward backend takes: inputs, outputs and NumPy's functions."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors

STORAGES = ["dense", "sparse"]
X = np.array([0.7, -0.3, 1.2, 0.4])


@pytest.mark.parametrize("storage", STORAGES)
def test_outputs_of_every_shape(storage):
    def several(x):
        return [[x[0] * x[1], x[1]], [2.0, np.exp(x[0])]]

    found = dc.forward_cover(several, [0.5, 2.0], storage=storage)
    assert found.value.shape == (2, 2)
    assert found.gradient.shape == found.h.shape == (2, 2, 2)
    np.testing.assert_allclose(
        found.gradient, [[[2.0, 0.5], [0, 1]], [[0, 0], [np.exp(0.5), 0]]]
    )
    np.testing.assert_allclose(
        found.h, [[[2.0, 0.5], [0, 0]], [[0, 0], [np.exp(0.25), 0]]]
    )
    scalar = dc.forward_cover(lambda x: x**3, 2.0, storage=storage)
    assert scalar.gradient.shape == scalar.h.shape == ()
    assert (scalar.value, scalar.gradient) == (8.0, 12.0)
    np.testing.assert_allclose(scalar.h, np.sqrt(12.0))
    matrix = dc.forward_cover(lambda x: x @ x, np.eye(2) + 1.0, storage=storage)
    assert matrix.h.shape == (2, 2, 2, 2)
    lone = dc.forward_cover(lambda x: np.where(x > 1.5, x, 0.0).sum(), [1.0, 2.0])
    assert lone.value == 2.0
    assert not lone.h.any()
    assert dc.forward_cover(lambda x: x[1], [1.0, 2.0]).gradient.tolist() == [0.0, 1.0]


def test_arrays_follow_numpy():
    def f(x):
        y = np.zeros_like(x)
        y[0] = x[0] * x[1]
        y[1:] += x[1:] ** 2
        y = y.reshape(2, 2).T @ np.array([[1.0, 2.0], [3.0, 5.0]]) * x[0]
        z = np.concatenate([y.ravel(), np.sinc(x), np.arctan2(1.0, x)])
        assert np.isfinite(x).all()
        assert (x != 5.0).all()
        return np.sort(z)[-1] + np.clip(z, -10, 10).sum() + np.max(np.abs(x))

    found = dc.forward_cover(f, X)
    eps = 1e-6
    plain = [(f(X + eps * e) - f(X - eps * e)) / (2 * eps) for e in np.eye(4)]
    np.testing.assert_allclose(found.value, f(X), rtol=1e-13)
    np.testing.assert_allclose(found.gradient, plain, rtol=1e-6)


def test_named_inputs_and_further_arguments():
    def f(p, power, shift=0.0):
        return p["a"] * np.sum(p["b"] ** power) + shift

    point = {"a": 2.0, "b": [3.0, 1.0]}
    found = dc.forward_cover(f, point, args=(3,), kwargs={"shift": 1.0})
    assert found.value == 57.0
    np.testing.assert_array_equal(found.gradient["b"], [54.0, 6.0])
    least = dc.cover_hessian(
        f, point, args=(3,), kwargs={"shift": 1.0}, merge="quadrature"
    )
    np.testing.assert_allclose(np.asarray(found), np.asarray(least), rtol=1e-13)
    assert dc.iscover(found.h, dc.hessian(f, point, args=(3,), kwargs={"shift": 1.0}))
    for key in point:
        np.testing.assert_allclose(found.h[key], least.h[key], rtol=1e-13)
        assert found.gradient[key].shape == np.shape(point[key])
    scaled = dc.forward_cover(
        lambda a, b: a * b, (0.0, 1.0), scales=(4.0, 1.0), storage="sparse"
    )
    assert [float(h) for h in scaled.h] == [0.5, 2.0]
    with pytest.raises(errors.InputTypeError, match="cannot be called so"):
        dc.forward_cover(lambda x: x, (1.0, 2.0))
    with pytest.raises(errors.ShapeError, match="keys"):
        dc.forward_cover(f, point, args=(2,), scales={"a": 1.0})
