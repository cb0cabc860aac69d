"""Instructions that become one at many points: the same bits, from fewer of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.replay import _batch
from derivative_covers.replay._batch import Batch
from derivative_covers.replay.kernels._kinds import GRADIENT

RNG = np.random.default_rng(5)
N = 9


def overlapping(x: Any) -> Any:
    """Neighbours, each in two slots, of which the later one stands first in a product."""
    u, v = x[1:N], x[: N - 1]
    return np.sum((u * v - 3.0 * v) * (1.0 - u) - (v**3 - u / 4.0) ** 2)


def apart(x: Any) -> Any:
    """Two operands that share no entry; huge values with zero adjoints."""
    u, v = x[N : 2 * N], x[2 * N :]
    big = (u * 1e150) ** 2
    return np.sum((v - v) * (big * 1e-300 + v)) + np.sum(((u * v + 2.0) * u - v) * v)


def kept(x: Any) -> Any:
    """What lies between is read twice, or is not good everywhere."""
    y = x[:N] * 2.0 + 1.0
    return np.sum(y * y * y) + np.sum(np.sqrt(y**2 + 1.0))


def everything(x: Any) -> Any:
    return overlapping(x) + apart(x) + kept(x) + (x[0] * x[1] - 2.0) ** 2


@pytest.fixture(scope="module")
def recorded() -> tuple[Any, Any]:
    return dc.tape_function(everything, RNG.normal(size=3 * N))


def test_values_and_gradients_have_the_bits_of_the_parts(
    recorded: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tape, out = recorded
    X = RNG.normal(size=(70, 3 * N))  # more than a tile, and not a multiple of four
    X[5, N] = 0.0
    batch = Batch(tape, [out])
    Y, G, _, failed = batch.sweep(X, GRADIENT)
    monkeypatch.setattr(_batch, "MANY", 1)
    fused = batch._program(GRADIENT, len(X))
    assert fused.count <= batch.tables.count - 12
    y, g, _, bad = batch.sweep(X, GRADIENT)
    assert not failed.any()
    assert not bad.any()
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(g, G)
    np.testing.assert_array_equal(batch.sweep(X, -1)[0], Y)
    there = tape.replay(X[5])
    np.testing.assert_allclose(g[5], dc.gradient(there, out), rtol=1e-12, atol=1e-12)
