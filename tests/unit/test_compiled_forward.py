"""Forward covers of compiled programs against the propagation of the program itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    DomainError,
    NondifferentiableError,
    OptionError,
    ShapeError,
)
from derivative_covers.replay import _lower
from derivative_covers.replay import _slots as edges

RNG = np.random.default_rng(11)
A = RNG.normal(size=(9, 6))


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def loop(x: Any) -> Any:
    total = 0.0
    for k in range(len(x) - 1):
        total = total + 100.0 * (x[k + 1] - x[k] ** 2) ** 2 + (1.0 - x[k]) ** 2
    return total


def chained(x: Any) -> Any:
    y, z = x[0], x[-1]
    for _ in range(12):
        y, z = y + 0.1 * z, z - 0.1 * np.sin(y) * x[1]
    return y * z


PROGRAMS = {
    "vectors": rosenbrock,
    "scalars": loop,
    "chained": chained,
    "dense rows": lambda x: np.log(np.sum(np.exp(A @ x))),
    "network": lambda x: np.sum(np.tanh(np.tanh(A @ x) @ A + x) ** 2),
    "inner products": lambda x: (x @ x) * x[0] / (1.0 + (np.sin(x) @ x[::-1]) ** 2),
    "matrix product": lambda x: np.sum((x.reshape(2, 3) @ x.reshape(3, 2)) ** 2),
    "multiples": lambda x: np.sum(np.exp(np.tile(x, 3) - 0.3 * np.tile(x**2, 3))),
    "running sums": lambda x: np.sum(np.cumsum(x) ** 3),
    "outputs": lambda x: [x[0] * x[1], np.sum(np.tanh(A @ x)), x[3], np.prod(x)],
    "matrix of outputs": lambda x: np.outer(np.exp(x[:2]), x[2:]) ** 2,
}


def close(found: Any, expected: Any) -> None:
    for name in ("value", "gradient", "h"):
        one, other = getattr(found, name), getattr(expected, name)
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


def replayed(f: dc.Compiled, x: Any) -> Any:
    """A forward cover by compiled code alone."""
    branch = f._kept.branches()[0].forward()
    assert branch is not None
    return branch.cover(np.ravel(x).astype(float), 1e-8)


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_those_of_the_propagation(name: str) -> None:
    f = PROGRAMS[name]
    compiled = dc.compile(f, RNG.normal(size=6))
    for _ in range(3):
        x = RNG.normal(size=6)
        close(compiled.forward_cover(x), dc.forward_cover(f, x))
        assert replayed(compiled, x) is not None
    assert compiled.recordings == 2


def test_a_cover_holds_for_the_hessian_written_by_hand() -> None:
    x = RNG.normal(size=30)
    H = np.zeros((30, 30))
    k = np.arange(29)
    H[k, k] += 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    H[k + 1, k + 1] += 200.0
    H[k, k + 1] = H[k + 1, k] = -400.0 * x[:-1]
    h = dc.compile(rosenbrock, x).forward_cover(x).h
    assert (np.abs(H) <= np.outer(h, h) * (1 + 1e-12)).all()


def test_forward_cover_of_a_compiled_program_replays_it() -> None:
    runs = []

    def f(x: Any) -> Any:
        runs.append(x)
        return np.sum(x**3 * x[0])

    compiled = dc.compile(f, [1.0, 2.0])
    for x in ([2.0, 3.0], [3.0, 5.0]):  # the first one is recorded, to be compared
        compiled.forward_cover(x)
    before = len(runs)
    found = dc.forward_cover(compiled, [4.0, 3.0], storage="sparse", scales=[1.0, 2.0])
    assert len(runs) == before
    close(found, compiled.forward_cover([4.0, 3.0], scales=[1.0, 2.0]))
    close(found, dc.forward_cover(f, [4.0, 3.0]))
    fields = dc.forward_cover(compiled, [4.0, 3.0], entries=True)  # runs it, as asked
    assert len(runs) > before + 1
    close(found, fields)
    with pytest.raises(OptionError, match="storage"):
        dc.forward_cover(compiled, [4.0, 3.0], storage="banded")


def test_forward_cover_runs_a_compiled_program_at_points_of_another_kind() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**3 * x[0])

    compiled = dc.compile(f, [1.0, 2.0])
    close(dc.forward_cover(compiled, [2.0, 3.0, 4.0]), dc.forward_cover(f, [2, 3, 4]))
    single = np.array([1.0, 2.0], dtype=np.float32)
    assert dc.forward_cover(compiled, single).h.dtype == np.float32
    tree = dc.compile(lambda p: p["a"] * p["b"] ** 2, {"a": 1.0, "b": 2.0})
    found = dc.forward_cover(tree, {"a": np.float32(1.0), "b": np.float32(2.0)})
    assert found.h["b"].dtype == np.float32
    branch = dc.compile(
        lambda x: np.maximum(x[0], 1.0) * x[1], [2.0, 1.0], kinks="branch"
    )
    assert dc.forward_cover(branch, [3.0, 1.0]).h.shape == (2,)

    class Program:
        forward_cover = True  # of the user's own class

        def __call__(self, x: Any) -> Any:
            return f(x)

    close(dc.forward_cover(Program(), [1.0, 2.0]), dc.forward_cover(f, [1.0, 2.0]))


def test_points_may_be_lists_and_have_two_dimensions() -> None:
    compiled = dc.compile(lambda x: np.sum(x**3), [1.0, 2.0])
    np.testing.assert_allclose(compiled.forward_cover([2.0, 3.0]).gradient, [12, 27])
    x = np.array([[1.0, 2.0]])
    compiled = dc.compile(lambda x: np.sum(x**3), x)
    assert compiled.forward_cover(2.0 * x).h.shape == (1, 2)


def test_structured_and_scalar_inputs_keep_their_shapes() -> None:
    def f(p: Any) -> Any:
        return p["a"] * np.sum(np.exp(p["b"]) * p["b"])

    x = {"a": 2.0, "b": np.array([[1.0, 3.0]])}
    found, expected = dc.compile(f, x).forward_cover(x), dc.forward_cover(f, x)
    for key in ("a", "b"):
        assert np.shape(found.h[key]) == np.shape(expected.h[key])
        np.testing.assert_allclose(found.h[key], expected.h[key], rtol=1e-12)
        np.testing.assert_allclose(found.gradient[key], expected.gradient[key])
    again = {"a": 1.5, "b": np.array([[0.5, 2.0]])}  # compiled, and checked
    found, expected = dc.compile(f, x).forward_cover(again), dc.forward_cover(f, again)
    np.testing.assert_allclose(found.h["b"], expected.h["b"], rtol=1e-12)
    one = dc.compile(lambda x: x**2, 3.0).forward_cover(2.0)
    assert one.h.shape == ()
    assert float(one.h) == pytest.approx(np.sqrt(2.0))
    assert isinstance(one.value, np.float64)


def test_declared_scales_are_read_where_values_give_none() -> None:
    def f(x: Any) -> Any:
        return x[0] * x[1] + x[1] ** 2

    compiled = dc.compile(f, [1.0, 2.0])
    for x in ([0.0, 2.0], [0.0, 0.0], [1.0, 2.0]):
        found = compiled.forward_cover(x, scales=[1.0, 3.0])
        expected = dc.forward_cover(f, x, scales=[1.0, 3.0])
        close(found, expected)
        assert found.asked == expected.asked
    assert replayed(compiled, [0.0, 2.0]) is None


def test_zero_partials_leave_the_split_to_the_propagation() -> None:
    def f(x: Any) -> Any:
        return (x[0] ** 2) * np.exp(x[1]) + (x[1] ** 2) * x[2]

    compiled = dc.compile(f, [1.0, 2.0, 3.0])
    for x in ([0.0, 2.0, 1.0], [1.0, 0.0, 2.0], [0.0, 0.0, 0.0]):
        close(compiled.forward_cover(x), dc.forward_cover(f, x))


def test_an_inner_product_of_zeros_with_itself_depends_on_nothing() -> None:
    def f(x: Any) -> Any:
        return np.exp(x[:2] @ x[:2]) * x[2]

    compiled = dc.compile(f, [1.0, 2.0, 3.0])
    X = np.array([[0.0, 0.0, 3.0], [0.0, 1.0, 3.0], [1.0, -1.0, 2.0]])
    for x, h in zip(X, compiled.covers(X)[2], strict=True):
        close(compiled.forward_cover(x), dc.forward_cover(f, x))
        np.testing.assert_allclose(compiled.cover(x).h, dc.cover_hessian(f, x).h)
        np.testing.assert_allclose(h, dc.cover_hessian(f, x).h)
    assert replayed(compiled, X[0]) is None
    assert replayed(compiled, X[1]) is not None


def test_branches_are_recorded_and_kept() -> None:
    def f(x: Any) -> Any:
        return np.log(x[0]) * x[1] if x[0] < 1.0 else x[1] ** 3

    compiled = dc.compile(f, [2.0, 2.0])
    for x in ([2.0, 1.0], [0.5, 1.0], [0.4, 2.0], [3.0, 1.0], [0.3, 2.0]):
        close(compiled.forward_cover(x), dc.forward_cover(f, x))
    assert compiled.recordings == 4  # two branches, each held against another point
    with pytest.raises(DomainError):
        compiled.forward_cover([-1.0, 1.0])


def test_large_programs_use_memory_for_all_nodes() -> None:
    x = np.linspace(-1.0, 1.5, 6000)
    assert _lower.LARGE < 6000 * 7
    compiled = dc.compile(rosenbrock, x)
    assert replayed(compiled, x) is not None
    found = compiled.forward_cover(x)
    close(found, dc.forward_cover(rosenbrock, x, storage="sparse"))


def test_rows_that_take_too_much_memory_are_propagated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from derivative_covers.replay import _forward  # noqa: PLC0415

    f, x = PROGRAMS["network"], np.ones(6)
    monkeypatch.setattr(_forward, "LIMIT", 100)
    compiled = dc.compile(f, x)
    assert compiled._kept.branches()[0].forward() is None
    close(compiled.forward_cover(x), dc.forward_cover(f, x))
    monkeypatch.setattr(edges, "LIMIT", 10)
    compiled = dc.compile(f, x)
    assert compiled._kept.branches()[0].forward() is None


def test_other_types_and_elementals_without_code() -> None:
    x = np.ones(3, dtype=np.float32)
    found = dc.compile(lambda x: np.sum(x**3), x).forward_cover(x)
    assert found.h.dtype == np.float32
    special = pytest.importorskip("scipy.special")

    def f(x: Any) -> Any:
        return np.sum(special.j0(x) * x)

    close(dc.compile(f, np.ones(3)).forward_cover([1.0, 2.0, 3.0]),
          dc.forward_cover(f, [1.0, 2.0, 3.0]))  # fmt: skip


def test_options_and_shapes_that_cannot_be_used_are_refused() -> None:
    compiled = dc.compile(lambda x: x @ x, [1.0, 2.0])
    for options in ({"storage": "x"}, {"scales": [1.0, -1.0]}, {"ratio": 2.0}):
        with pytest.raises(OptionError):
            compiled.forward_cover([1.0, 2.0], **options)
    with pytest.raises(ShapeError):
        compiled.forward_cover([1.0, 2.0, 3.0])
    branching = dc.compile(lambda x: np.sum(abs(x)), [1.0, 2.0], kinks="branch")
    with pytest.raises(OptionError, match="kinks"):
        branching.forward_cover([1.0, 2.0])


def test_rewritten_programs_fall_back_to_what_was_recorded() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(2)
        y[0] = x[0] * x[1]
        y[1] = x[1]
        return np.sum(y**2)

    compiled = dc.compile(f, [1.0, 2.0], numpy="rewrite")
    for x in ([0.0, 2.0], [3.0, 1.0]):
        close(compiled.forward_cover(x), dc.forward_cover(dc.with_numpy(f), x))


def test_threads_do_not_share_memory() -> None:
    compiled = dc.compile(rosenbrock, RNG.normal(size=50))
    X = RNG.normal(size=(40, 50))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda x: compiled.forward_cover(x).h, X))
    for x, h in zip(X[::8], found[::8], strict=True):
        np.testing.assert_allclose(h, dc.forward_cover(rosenbrock, x).h, rtol=1e-11)


_T = np.linspace(0.1, 2.0, 30)
_A = np.random.default_rng(0).normal(size=(12, 20))
MAPS: list[tuple[Any, Any, Any]] = [
    (lambda p: p[0] * np.exp(-p[1] * _T), [1.0, 2.0], [0.0, 0.5]),
    (lambda p: [np.sum(p**2), p[0], 3.0], [1.0, 1.0], [0.0, 1.0]),
    (lambda p: np.outer(p, np.sin(p)), [1.0, 2.0, 3.0], [0.0, 1.0, 2.0]),
    (lambda p: np.tanh(_A @ p), np.ones(20), np.linspace(-1, 1, 20)),
    (lambda p: np.tanh(_A.T @ p), np.ones(12), np.linspace(-1, 1, 12)),
    (lambda p: p["a"] * p["b"], {"a": 2.0, "b": [1.0, 2.0]}, {"a": 3.0, "b": [0.0, 1]}),
    (lambda p: np.linalg.solve(p, [1.0, 2.0]), np.eye(2), [[2.0, 1.0], [0.0, 3.0]]),
    (lambda p: np.maximum(p, 0.3 * p[::-1]), [1.0, 2.0, 3.0], [0.5, 4.0, 0.6]),
]


@pytest.mark.parametrize(("f", "x", "y"), MAPS)
def test_jacobians_are_those_of_reverse_sweeps(f: Any, x: Any, y: Any) -> None:
    compiled = dc.compile(f, x)
    for point in (x, y):
        tape, outs = dc.tape_function(f, point)
        found = compiled.jacobian(point)
        for at in np.ndindex(np.shape(outs)):
            row = dc.gradient(tape, outs[at])
            each = [(found, row)]
            if isinstance(row, dict):
                each = [(found[key], row[key]) for key in row]
            for ours, theirs in each:
                np.testing.assert_allclose(ours[at], theirs, rtol=1e-13, atol=1e-14)


def test_jacobians_at_ties_are_refused() -> None:
    compiled = dc.compile(lambda x: np.maximum(x, 2 * x[::-1]), [1.0, 3.0])
    with pytest.raises(NondifferentiableError):
        compiled.jacobian([1.0, 2.0])
