"""Programs that are recorded once and replayed: what optimisers call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import special

import derivative_covers as dc
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    OptionError,
    ReplayError,
    ShapeError,
)

RNG = np.random.default_rng(7)


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def loop(x: Any) -> Any:
    total = 0.0
    for k in range(len(x) - 1):
        total = total + 100.0 * (x[k + 1] - x[k] ** 2) ** 2 + (1.0 - x[k]) ** 2
    return total


def fit(p: Any) -> Any:
    t = np.linspace(0.0, 2.0, 20)
    r = p["a"] * np.exp(-p["rates"][0] * t) + p["rates"][1] - t
    return r @ r


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("f", [rosenbrock, loop])
@pytest.mark.parametrize("n", [3, 40])
def test_results_are_those_of_recording(f: Any, n: int) -> None:
    compiled = dc.compile(f, RNG.normal(size=n))
    for _ in range(3):
        x, v = RNG.normal(size=(2, n))
        close(compiled.value(x), f(x))
        close(compiled.gradient(x), dc.gradient(f, x))
        close(compiled.hvp(x, v), dc.hvp(f, x, v))
        found, expected = compiled.cover(x), dc.cover_hessian(f, x)
        close(found.h, expected.h)
        close(found.gradient, expected.gradient)
        assert found.merge == "sum"
        auto = compiled.cover(x, merge="quadrature")
        close(auto.h, dc.cover_hessian(f, x, merge="quadrature").h)
    assert compiled.recordings == 2  # once, and once to be held against the first
    assert compiled.replays == 15


def test_values_of_ieee_operations_have_the_bits_of_numpy() -> None:
    compiled = dc.compile(
        lambda x: np.sqrt(x[:-1] ** 2 + 1.0) / x[1:] - x[1:], [1.0] * 9
    )
    x = RNG.uniform(0.5, 2.0, size=9)
    expected = np.sqrt(x[:-1] ** 2 + 1.0) / x[1:] - x[1:]
    np.testing.assert_array_equal(compiled.value(x), expected)


def test_structure_and_names() -> None:
    x0 = {"a": 2.0, "rates": [0.5, 0.1]}
    compiled = dc.compile(fit, x0)
    x = {"a": 1.5, "rates": np.array([0.7, 0.2])}
    found, expected = compiled.gradient(x), dc.gradient(fit, x)
    close(found["a"], expected["a"])
    close(found["rates"], expected["rates"])
    close(compiled.cover(x).h["rates"], dc.cover_hessian(fit, x).h["rates"])
    with pytest.raises(ShapeError, match="keys"):
        compiled.gradient({"a": 1.0})


def test_a_changed_comparison_is_recorded_again_and_few_are_kept() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        power = 1
        while x[0] * power < 10.0:
            power = power * 2
        return (x[0] - power) ** 2 + x[1] ** 2

    compiled = dc.compile(f, [3.0, 1.0], branches=2)
    for start in (3.0, 0.7, 3.1, 0.71, 6.0, 12.0, 3.2):
        x = [start, 2.0]
        close(compiled.gradient(x), dc.gradient(f, x))
    assert len(compiled._kept.branches()) == 2
    before = len(calls)
    compiled.gradient([3.3, 2.0])
    assert len(calls) <= before + 1


def test_the_object_is_called_and_gives_whole_matrices() -> None:
    f = dc.compile(lambda x: x[0] ** 2 * x[1], [1.0, 2.0])
    assert f([3.0, 5.0]) == f.value([3.0, 5.0]) == 45.0
    close(f.hessian([3.0, 5.0]), [[10.0, 6.0], [6.0, 0.0]])
    close(f.hessian([3.0, 0.5]), [[1.0, 6.0], [6.0, 0.0]])
    both = dc.compile(lambda x: [x[0] * x[1], abs(x[1])], [1.0, 2.0])
    close(both.jacobian([3.0, 5.0]), [[5.0, 3.0], [0.0, 1.0]])
    close(both.jacobian([3.0, -5.0]), [[-5.0, 3.0], [0.0, -1.0]])
    with pytest.raises(ShapeError, match="hessian needs a program with one"):
        both.hessian([1.0, 2.0])


def test_a_compiled_program_is_a_part_of_others() -> None:
    f = dc.compile(lambda x, p: p * x[0] ** 2 * x[1], [1.0, 2.0], args=(3.0,))
    close(dc.gradient(lambda x: f(x) ** 2, [1.0, 2.0]), [144.0, 36.0])
    close(dc.forward_cover(f, [1.0, 2.0]).gradient, [12.0, 3.0])
    assert dc.check(f, [1.0, 2.0]).ok
    two = dc.compile(lambda x, y: x * y[0], (2.0, [3.0]))
    assert two((5.0, [3.0])) == two(5.0, [3.0]) == 15.0
    gx, gy = dc.gradient(two, (2.0, [3.0]))
    close(gx, 3.0)
    close(gy, [2.0])
    named = dc.compile(lambda p: p["a"] * p["b"], {"a": 2.0, "b": 3.0})
    assert named({"a": 5.0, "b": 3.0}) == 15.0
    assert dc.gradient(named, {"a": 5.0, "b": 3.0}) == {"a": 3.0, "b": 5.0}


def test_faults_are_those_of_a_recording() -> None:
    compiled = dc.compile(lambda x: np.sum(np.log(x)), [1.0, 2.0])
    close(compiled.gradient([2.0, 4.0]), [0.5, 0.25])
    with pytest.raises(DomainError, match="log"):
        compiled.gradient([1.0, -1.0])
    close(compiled.gradient([2.0, 4.0]), [0.5, 0.25])
    absolute = dc.compile(lambda x: np.sum(np.abs(x)), [1.0, -2.0])
    close(absolute.gradient([-1.0, 2.0]), [-1.0, 1.0])
    with pytest.raises(dc.errors.NondifferentiableError):
        absolute.gradient([0.0, 1.0])


def test_a_vanishing_factor_asks_for_scales_as_in_recording() -> None:
    f = lambda x: x[0] * x[1] + x[0] ** 2  # noqa: E731
    compiled = dc.compile(f, [1.0, 2.0])
    found = compiled.cover([0.0, 2.0], scales=[1.0, 4.0])
    close(found.h, dc.cover_hessian(f, [0.0, 2.0], scales=[1.0, 4.0]).h)
    assert found.asked


def test_numbers_that_hide_their_origin_are_found() -> None:
    state = {"c": 1.0}

    def f(x: Any) -> Any:
        state["c"] += 1.0
        return state["c"] * np.sum(x**2)

    with pytest.raises(ReplayError, match="constants 2"):
        dc.compile(f, [1.0, 2.0]).gradient([2.0, 3.0])


def test_bare_values_are_recorded_each_time() -> None:
    f = lambda x: np.sum(x**2) * float(dc.value(x[0]))  # noqa: E731
    compiled = dc.compile(f, [1.0, 2.0])
    close(compiled.gradient([3.0, 1.0]), dc.gradient(f, [3.0, 1.0]))
    assert compiled.replays == 0


def test_detached_numbers_are_replayed() -> None:
    f = lambda x: np.sum(x**2) * dc.stop_gradient(x[0])  # noqa: E731
    compiled = dc.compile(f, [1.0, 2.0])
    close(compiled.gradient([3.0, 1.0]), dc.gradient(f, [3.0, 1.0]))
    assert compiled.replays == 1


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_other_types_are_evaluated_by_numpy(dtype: Any) -> None:
    x = np.array([1.5, 2.5], dtype=dtype)
    compiled = dc.compile(rosenbrock, np.ones(2, dtype=dtype))
    found = compiled.gradient(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, dc.gradient(rosenbrock, x), rtol=1e-6)


def test_linear_solves_are_recorded_each_time() -> None:
    A = np.array([[3.0, 1.0], [1.0, 2.0]])
    f = lambda x: np.sum(np.linalg.solve(A + np.diag(x), x))  # noqa: E731
    compiled = dc.compile(f, [1.0, 2.0])
    close(compiled.gradient([0.5, 0.1]), dc.gradient(f, [0.5, 0.1]))


def test_functions_without_a_compiled_form_are_left_to_numpy() -> None:
    f = lambda x: np.sum(special.j0(x) * x) + special.gammaln(x[0])  # noqa: E731
    compiled = dc.compile(f, [1.0, 2.0, 3.0])
    x, v = np.array([0.5, 1.5, 0.3]), np.array([1.0, -1.0, 2.0])
    close(compiled.gradient(x), dc.gradient(f, x))
    close(compiled.hvp(x, v), dc.hvp(f, x, v))
    close(compiled.cover(x).h, dc.cover_hessian(f, x).h)
    close(compiled.gradients(np.stack([x, x + 1]))[1][1], dc.gradient(f, x + 1))


def test_wrong_points_are_refused() -> None:
    compiled = dc.compile(rosenbrock, [1.0, 2.0])
    with pytest.raises(ShapeError, match=r"\(3,\)"):
        compiled.gradient([1.0, 2.0, 3.0])
    with pytest.raises(DomainError):
        compiled.gradient([1.0, np.nan])
    with pytest.raises(InputTypeError):
        compiled.value(np.ones(2, dtype=np.complex128))
    with pytest.raises(ShapeError):
        compiled.hvp([1.0, 2.0], [1.0])
    with pytest.raises(OptionError, match="branches"):
        dc.compile(rosenbrock, [1.0, 2.0], branches=0)
    with pytest.raises(ShapeError, match="outputs"):
        dc.compile(lambda x: x**2, [1.0, 2.0]).gradient([1.0, 2.0])
    with pytest.raises(ShapeError, match="point a row"):
        compiled.gradients([1.0, 2.0])


def test_many_points() -> None:
    f = lambda x: np.sum(np.sqrt(x) * x[::-1]) + (x[0] ** 2 if x[0] > 1.0 else x[1])  # noqa: E731
    compiled = dc.compile(f, [2.0, 3.0, 4.0])
    X = RNG.uniform(0.5, 2.0, size=(300, 3))
    Y, G, H = compiled.covers(X)
    for k in range(0, 300, 23):
        close(Y[k], f(X[k]))
        close(G[k], dc.gradient(f, X[k]))
        close(H[k], dc.cover_hessian(f, X[k]).h)
    close(compiled.values(X), [f(x) for x in X])
    assert compiled.values(X[:0]).shape == (0,)
    assert compiled.gradients(X[:1])[1].shape == (1, 3)
    X[7, 1] = -1.0
    with pytest.raises(DomainError):
        compiled.gradients(X)


def test_threads_share_a_compiled_program() -> None:
    compiled = dc.compile(loop, RNG.normal(size=30))
    X = RNG.normal(size=(64, 30))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(compiled.gradient, X))
    for x, g in zip(X, found, strict=True):
        close(g, dc.gradient(loop, x))


def test_large_arrays_are_computed_by_tiles() -> None:
    x = RNG.uniform(0.5, 1.5, size=30_011)
    v = RNG.normal(size=x.size)

    def f(x: Any) -> Any:
        y = x[1:] * np.sqrt(x[:-1]) - x[::-1][1:] * x[0]
        z = y**2 + np.exp(-y) * x[2]
        return np.sum(z[1:] * z[:-1]) + np.log(np.sum(y * y))

    compiled = dc.compile(f, np.ones(x.size) * 0.9 + 0.01 * v)
    expected = dc.gradient(f, x)
    size = np.abs(expected).max()
    np.testing.assert_allclose(
        compiled.gradient(x), expected, rtol=1e-9, atol=1e-9 * size
    )
    np.testing.assert_allclose(compiled.value(x), f(x), rtol=1e-12)
    expected = dc.hvp(f, x, v)
    size = np.abs(expected).max()
    np.testing.assert_allclose(
        compiled.hvp(x, v), expected, rtol=1e-9, atol=1e-9 * size
    )
    np.testing.assert_allclose(compiled.cover(x).h, dc.cover_hessian(f, x).h, rtol=1e-9)


def test_repr_says_what_happened() -> None:
    compiled = dc.compile(rosenbrock, [1.0, 2.0])
    assert repr(compiled).startswith("<compiled rosenbrock: 2 inputs, ")
    assert "1 recordings, 0 replays" in repr(compiled)
