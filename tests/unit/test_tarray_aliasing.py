"""Random programs of views and writes: NumPy's values, and the right derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from derivative_covers.tape import TArray, record
from tests._reference import differences, node_jacobian

PROGRAMS = 20
STEPS = 8


def random_view(rng: Any, a: Any) -> Any:
    """A view of a (4, 3) or similar array, by one to three steps."""
    for _ in range(int(rng.integers(1, 4))):
        choice = int(rng.integers(8))
        if choice == 0:
            a = a[::-1]
        elif choice == 1:
            a = a.T
        elif choice == 2 and a.shape[0] > 2:
            a = a[1:]
        elif choice == 3 and a.ndim == 2 and a.shape[1] > 2:
            a = a[:, ::2]
        elif choice == 4:
            a = a.reshape(-1)
        elif choice == 5 and a.ndim == 2:
            a = a[:, int(rng.integers(a.shape[1]))]
        elif choice == 6 and a.ndim == 1 and a.shape[0] % 2 == 0:
            a = np.reshape(a, (2, -1))
        elif choice == 7 and a.ndim == 2:
            a = np.swapaxes(a, 0, 1)[::-1]
    return a


def source(rng: Any, arrays: list[Any], shape: tuple[int, ...], x: Any) -> Any:
    """Something that broadcasts to ``shape``, made of what is there."""
    choice = int(rng.integers(6))
    other = random_view(rng, arrays[int(rng.integers(len(arrays)))])
    if choice == 0 or not shape:
        return float(rng.normal())
    if choice == 1 and other.shape == shape:
        return other
    if choice == 2 and other.shape[-1] == shape[-1]:
        return other[0] if other.ndim == 2 else other
    if choice == 3 and other.shape[::-1] == shape:
        return other.T
    if choice == 4:
        return x.ravel()[int(rng.integers(x.size))]
    return np.resize(np.ravel(other), shape)


def program(seed: int, x: Any) -> Any:
    """A program that depends on the seed alone, whatever it runs on."""
    rng = np.random.default_rng(seed)
    start = int(rng.integers(4))
    y = (x * 1.0, np.zeros_like(x), x.copy(), (x.T * 0.5).T)[start]
    arrays = [y, x * 0.75]
    for _ in range(STEPS):
        target = random_view(rng, arrays[int(rng.integers(len(arrays)))])
        value = source(rng, arrays, target.shape, x)
        choice = int(rng.integers(8))
        if choice == 0:
            target[...] = value
        elif choice == 1:
            target += value
        elif choice == 2:
            target *= value
        elif choice == 3:
            target[0] = target[-1] * 0.5
        elif choice == 4 and target.shape[0] > 1:
            target[1:] = target[:-1]
        elif choice == 5 and target.shape[0] > 1:
            target[:-1] += target[1:]
        elif choice == 6:
            at = rng.integers(target.shape[0], size=2)
            target[at] = target[at[::-1]] - value if np.ndim(value) == 0 else 1.25
        else:
            arrays.append(np.asarray(0.5) * target + y.sum() * 0.125)
        mask = rng.random(size=y.shape) > 0.8
        if choice == 2:
            y[mask] = 0.5 * y[mask]
    return np.concatenate([np.ravel(a) for a in arrays])


@pytest.mark.parametrize("block", range(5))
def test_random_programs(block: int) -> None:
    for seed in range(block * PROGRAMS, (block + 1) * PROGRAMS):
        x0 = np.random.default_rng(seed + 10**6).normal(size=(4, 3))
        seen: list[Any] = []

        def f(x: Any, seed: int = seed) -> Any:
            return program(seed, x)

        def g(x: Any, seed: int = seed, seen: list[Any] = seen) -> Any:
            seen.append(program(seed, x))
            return x[0, 0]

        tape, _ = record(g, x0)
        y: TArray = seen[0]
        expected = f(x0)
        np.testing.assert_array_equal(y.v, expected, err_msg=f"seed {seed}")
        ids = y.node_ids()
        rows = np.where(ids[:, None] >= 0, node_jacobian(tape)[ids], 0.0)
        live = ids >= 0
        np.testing.assert_array_equal(tape.vals[ids[live]], expected[live])
        exact = differences(f, x0, 1e-3).reshape(rows.shape)
        scale = 1.0 + np.abs(exact).max()
        np.testing.assert_allclose(
            rows / scale, exact / scale, atol=1e-7, err_msg=f"seed {seed}"
        )
