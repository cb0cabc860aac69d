"""Programs that fill plain arrays in place, which others lose or refuse.

Each runs rewritten and, with its `np` replaced, on the namespace itself.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
import derivative_covers.numpy as dcnp


def block(a: Any) -> Any:
    b = np.zeros((4, 4))
    b[:2, :2] = a
    b[2:, 2:] = 2.0 * a
    return np.sum(b * b)


def rows(p: Any) -> Any:
    r = np.zeros(3)
    for m in range(3):
        r[m] = np.sum(p[m] * p[0])
    return np.sum(r)


def diagonals(x: Any) -> Any:
    a = np.zeros((4, 4))
    a[:2, :2] = np.diag(x)
    a[2:, 2:] = np.diag(x**2)
    return np.sum(a * np.arange(16.0).reshape(4, 4))


def augmented(x: Any) -> Any:
    out = np.full(4, -0.5)
    out[:2] += x
    out[1:3] *= 2.0
    out[0] -= x[1]
    return np.sum(out**2)


def overwritten(x: Any) -> Any:
    a = np.zeros(3)
    a[:] = x
    s = np.sum(a * a)
    a[1] = 5.0 * a[0]
    a[0] = a[1] * a[2]
    return s + np.sum(a**2)


def masked(x: Any) -> Any:
    a = np.empty(4)
    a[:] = x * x * x
    a[a < 0] = 0.0
    return np.sum(a)


def divided(x: Any) -> Any:
    z = np.ones(2)
    z /= x[0]
    return np.sum(z)


def last_wins(x: Any) -> Any:
    a = np.zeros(3)
    a[np.array([0, 0])] = x
    return np.sum(a**2)


def buffered(x: Any) -> Any:
    a = np.zeros(2)
    a[np.array([0, 0, 1])] += x
    return np.sum(a**2)


def unbuffered(x: Any) -> Any:
    a = np.zeros(2)
    np.add.at(a, np.array([0, 0, 1]), x)
    return np.sum(a**2)


def sweeps(x: Any) -> Any:
    u = np.zeros(5)
    u[1:4] = x
    for _ in range(3):  # each entry sees the new value of its left neighbour
        for i in range(1, 4):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) + 0.1 * x[i - 1] ** 2
    return np.sum(u * u)


def overlapping(x: Any) -> Any:
    a = np.array([x[0], x[1], x[2], 1.0])
    a[1:] += a[:-1]
    a[:-1] *= a[1:]
    return np.sum(a)


def alias(x: Any) -> Any:
    a = np.zeros((2, 3))
    row = a[1]
    row[:] = x
    a.T[0] = x[:2] ** 2
    return np.sum(a**3) + row[0]


def triangle(x: Any) -> Any:
    a = np.zeros((3, 3))
    a[np.triu_indices(3)] = x
    return np.linalg.det(a + a.T + 3.0 * np.eye(3))


def joined(x: Any) -> Any:
    t = np.r_[0.0, np.cumsum(x), 9.0]
    c = np.c_[t[:-1], np.diff(t)]
    return np.sum(c[:, 0] * c[:, 1])


def table(x: Any) -> Any:
    grid = np.linspace(0.0, 1.0, 4)
    return np.interp(x[0], grid, np.array([x[1], x[2], x[1] * x[2], 1.0]))


def indexed(x: Any) -> Any:
    return x[int(x[0])] * x[2]


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    f.__name__: (f, np.array(x0))
    for f, x0 in (
        (block, [[1.0, 2.0], [3.0, 4.0]]),
        (rows, [[1.0, 2.0], [0.5, 1.5], [3.0, -1.0]]),
        (diagonals, [1.0, 2.0]),
        (augmented, [1.0, 2.0]),
        (overwritten, [1.0, 2.0, 3.0]),
        (masked, [-1.0, 2.0, -3.0, 4.0]),
        (divided, [0.1]),
        (last_wins, [2.0, 5.0]),
        (buffered, [2.0, 5.0, 1.0]),
        (unbuffered, [2.0, 5.0, 1.0]),
        (sweeps, [1.0, -2.0, 0.5]),
        (overlapping, [1.0, 2.0, -3.0]),
        (alias, [1.0, 2.0, 3.0]),
        (triangle, [0.3, -0.2, 0.5, 0.1, 0.7, -0.4]),
        (joined, [1.0, 2.0, 0.5]),
        (table, [0.45, 2.0, -1.0]),
        (indexed, [1.2, 5.0, 7.0]),
    )
}

# Right values, worked out by hand.
GRADIENTS = {
    "block": [[10.0, 20.0], [30.0, 40.0]],
    "rows": [[5.5, 4.5], [1.0, 2.0], [1.0, 2.0]],
    "augmented": [-3.0, 15.0],
    "overwritten": [502.0, 4.0, 162.0],
    "masked": [0.0, 12.0, 0.0, 48.0],
    "divided": [-200.0],
    "last_wins": [0.0, 10.0],
    "buffered": [0.0, 10.0, 2.0],
    "unbuffered": [14.0, 14.0, 2.0],
    "indexed": [0.0, 7.0, 5.0],
}


def on_namespace(f: Any) -> Any:
    return types.FunctionType(f.__code__, {**f.__globals__, "np": dcnp}, f.__name__)


def third_order(f: Any, x: Any, v: Any) -> float:
    """Slope along a direction by differences, extrapolated twice."""
    h = 1e-3

    def slope(h: float) -> float:
        return float((f(x + h * v) - f(x - h * v)) / (2 * h))

    a, b, c = slope(h), slope(h / 2), slope(h / 4)
    d, e = (4 * b - a) / 3, (4 * c - b) / 3
    return (16 * e - d) / 15


@pytest.mark.parametrize("way", [dc.with_numpy, on_namespace])
@pytest.mark.parametrize("name", PROGRAMS)
def test_filled_arrays_keep_the_derivative(name: str, way: Any) -> None:
    f, x0 = PROGRAMS[name]
    tape, out = dc.tape_function(way(f), x0)
    assert tape.vals[out] == f(x0)
    gradient = dc.gradient(tape, out)
    if name in GRADIENTS:
        np.testing.assert_allclose(gradient, GRADIENTS[name], rtol=1e-13, atol=1e-14)
    v = np.cos(np.arange(x0.size)).reshape(x0.shape)
    expected = third_order(f, x0, v)
    np.testing.assert_allclose(np.sum(gradient * v), expected, rtol=1e-9, atol=1e-9)
    g = dc.with_numpy(f)
    curved = third_order(lambda x: np.sum(dc.gradient(g, x) * v), x0, v)
    product = np.sum(dc.hvp(tape, out, v) * v)
    np.testing.assert_allclose(product, curved, rtol=1e-7, atol=1e-8)
    assert dc.iscover(dc.cover_hessian(tape, out), dc.hessian(tape, out))


def test_an_integer_part_at_its_jump_is_refused() -> None:
    with pytest.raises(dc.errors.NondifferentiableError, match=r"int\(2\.0\)"):
        dc.gradient(indexed, [2.0, 5.0, 7.0])
    tape, out = dc.tape_function(indexed, [2.0, 5.0, 7.0], kinks="branch")
    np.testing.assert_array_equal(dc.gradient(tape, out), [0.0, 0.0, 14.0])
    assert [kink.elemental for kink in tape.kinks]
    assert dc.gradient(lambda x: x[int(x[0])] + x[1], [0.0, 1.0]).tolist() == [1.0, 1.0]


# The derivative of the branch that NumPy's value takes.
BRANCHES: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "abs": (lambda x: np.sum(np.abs(x)), [0.0, -2.0], [0.0, -1.0]),
    "norm": (np.linalg.norm, [0.0, 0.0], [0.0, 0.0]),
    "square of a norm": (lambda x: np.linalg.norm(x) ** 2, [0.0, 0.0], [0.0, 0.0]),
    "deviation": (np.std, [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]),
    "largest": (np.max, [3.0, 1.0, 3.0], [1.0, 0.0, 0.0]),
    "first largest": (lambda x: x[np.argmax(x)], [3.0, 1.0, 3.0], [1.0, 0.0, 0.0]),
    "builtin": (lambda x: max(x[0], x[1]) * 2.0, [1.0, 1.0], [2.0, 0.0]),
    "unselected logarithm": (
        lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)),
        [-1.0, 0.0, 2.0],
        [0.0, 0.0, 0.5],
    ),
    "rectifier": (
        lambda x: np.sum(np.maximum(x, 0.0)),
        [0.0, 2.0, -1.0],
        [1.0, 1.0, 0.0],
    ),
    "steps": (lambda x: np.floor(x[0]) + x[1], [2.0, 1.0], [0.0, 1.0]),
}


@pytest.mark.parametrize("kind", BRANCHES)
def test_a_branch_is_taken_and_told(kind: str) -> None:
    f, x0, gradient = BRANCHES[kind]
    with pytest.raises((dc.errors.NondifferentiableError, dc.errors.DomainError)):
        dc.gradient(f, x0)
    tape, out = dc.tape_function(f, x0, kinks="branch")
    np.testing.assert_array_equal(dc.gradient(tape, out), gradient)
    cover = dc.cover_hessian(tape, out)
    assert cover.kinks
    assert np.isfinite(cover.h).all()
