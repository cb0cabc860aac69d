"""Compiled programs where a replay could differ from a recording unnoticed."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
import derivative_covers.numpy as dnp
from derivative_covers.checkpoint import Chain, StoreAll, Transition, reverse_sweep
from derivative_covers.errors import (
    DomainError,
    InputTypeError,
    ReplayError,
    ShapeError,
)

RNG = np.random.default_rng(11)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def square(x: Any) -> Any:
    return np.sum(x * x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x[0] - x[0] + 5.0) * x[1],
        lambda x: (np.exp(x[0]) + 5.0) * x[1],
        lambda x: (np.exp2(x[0]) + 5.0) * x[1],
        lambda x: np.sum((x - x + 5.0) * x[::-1]),
    ],
)
def test_a_node_that_lost_its_inputs_has_no_share_in_a_cover(f: Any) -> None:
    x = [-2000.0, 2.5]
    compiled = dc.compile(f, [1.0, 2.0])
    close(compiled.cover(x).h, dc.cover_hessian(f, x, merge="sum").h)
    close(compiled.covers([x])[2][0], dc.cover_hessian(f, x, merge="sum").h)


def test_gathered_entries_times_themselves_are_squares_in_tiles() -> None:
    n = 9000
    order = RNG.permutation(n)

    def f(x: Any) -> Any:
        y = x[order]
        z = np.sin(y * y) + (x[::-1] - x[::-1] + 2.0) * x
        return np.sum(z * np.cos(x)) + np.sum(np.tanh(z) * x)

    compiled, x = dc.compile(f, RNG.normal(size=n)), RNG.normal(size=n)
    close(compiled.cover(x).h, dc.cover_hessian(f, x, merge="sum").h)
    expected = dc.gradient(f, x)
    np.testing.assert_allclose(compiled.gradient(x), expected, rtol=1e-10, atol=1e-10)


def test_an_output_that_is_another_node_each_time_is_found() -> None:
    calls = [0]

    def f(x: Any) -> Any:
        calls[0] += 1
        return (x * 2.0)[calls[0] % 2]

    with pytest.raises(ReplayError, match="outputs"):
        dc.compile(f, [1.0, 2.0]).gradient([3.0, 4.0])


def test_a_call_at_the_first_point_does_not_count_as_a_second_look() -> None:
    factor = [1.0]
    compiled = dc.compile(lambda x: factor[0] * square(x), [1.0, 2.0])
    close(compiled.gradient([1.0, 2.0]), [2.0, 4.0])
    compiled.gradients([[1.0, 2.0]])
    assert compiled.recordings == 1
    factor[0] = 5.0
    with pytest.raises(ReplayError, match="constants 1"):
        compiled.gradient([2.0, 3.0])


@pytest.mark.parametrize(
    "f",
    [
        dnp.logsumexp,
        lambda x: dnp.logsumexp(x, b=np.arange(1.0, 7.0)) * x[0],
        lambda x: np.sum(dnp.logsumexp(x.reshape(2, 3), axis=1) ** 2),
        lambda x: dnp.softmax(x) @ np.arange(6.0),
        lambda x: dnp.log_softmax(x)[2] * x[0],
        lambda x: dnp.logsumexp(x[:1]) * x[1],
    ],
)
def test_shifts_that_cancel_are_no_constants_of_the_program(f: Any) -> None:
    compiled = dc.compile(f, RNG.normal(size=6))
    for x in RNG.normal(size=(3, 6)):
        close(compiled.gradient(x), dc.gradient(f, x))
    assert compiled.replays == 3


def test_a_shift_may_depend_on_the_step_where_it_cancels() -> None:
    def step(x: Any, k: int) -> Any:
        return 0.1 * dnp.softmax(x * (k + 1.0)) + x

    def last(x: Any, k: int) -> Any:
        return x[0] * x[1]

    chains = [
        Chain([Chain.uniform(5, f), last]) for f in (Transition.compiled(step), step)
    ]
    found, expected = (
        reverse_sweep(c, np.array([1.0, 2.0, 0.5]), schedule=StoreAll()) for c in chains
    )
    close(found.cotangent, expected.cotangent)


@pytest.mark.parametrize("entry", [0.1, 1e150])
def test_a_mean_of_equal_numbers_is_that_number(entry: float) -> None:
    compiled = dc.compile(np.std, [1.0, 2.0, 4.0])
    assert compiled.value([entry] * 3) == np.std([entry] * 3)
    assert compiled.values([[entry] * 3]) == np.std([entry] * 3)
    mean = dc.compile(np.mean, RNG.normal(size=49))
    assert mean.value(np.full(49, 0.3)) == np.mean(np.full(49, 0.3))


def test_many_points_are_of_the_type_of_the_program() -> None:
    real, wide = dc.compile(square, np.ones(2)), dc.compile(square, np.ones(2) + 0j)
    X = np.array([[1.0 + 2.0j, 3.0], [1.0, 1.0j]])
    with pytest.raises(InputTypeError, match="complex128"):
        real.gradients(X)
    np.testing.assert_array_equal(wide.gradients(X)[1], 2.0 * X)
    single = dc.compile(square, np.ones(2, dtype=np.float32))
    found = single.covers(np.ones((2, 2), dtype=np.float32))
    assert [e.dtype for e in found] == [np.float32] * 3
    tape, out = dc.tape_function(square, np.ones(2))
    with pytest.raises(InputTypeError, match="complex128"):
        tape.replay(X).gradients(out)


def test_scales_are_looked_at_whether_they_are_read_or_not() -> None:
    with pytest.raises(ShapeError, match="scales"):
        dc.compile(square, [1.0, 2.0]).cover([1.0, 2.0], scales=[1.0])


def test_a_cover_at_a_tie_names_it() -> None:
    f = lambda x: x[0] ** 2 if x[0] >= x[1] else x[1] ** 2  # noqa: E731
    found = dc.compile(f, [1.0, 1.0], kinks="branch").cover([2.0, 2.0])
    assert found.kinks == dc.cover_hessian(f, [2.0, 2.0], kinks="branch").kinks
    assert len(found.kinks) == 1


def test_copies_are_compiled_anew() -> None:
    compiled = dc.compile(square, [1.0, 2.0])
    for other in (pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled)):
        close(other.gradient([2.0, 3.0]), [4.0, 6.0])
        assert other.recordings == 2


def test_points_of_a_structured_program_are_flat_rows() -> None:
    f = dc.compile(lambda p: p["a"] * p["b"] ** 2, {"a": 1.0, "b": 2.0})
    close(f.values([[1.0, 2.0], [2.0, 3.0]]), [4.0, 18.0])
    for X in ({"a": [1.0, 2.0], "b": [2.0, 3.0]}, [{"a": 1.0, "b": 2.0}]):
        with pytest.raises(InputTypeError, match=r"\(npoints, 2\)"):
            f.gradients(X)
    pair = dc.compile(lambda a, b: a * b**2, (1.0, 2.0))
    with pytest.raises(InputTypeError, match="tuple of parts"):  # rows or columns?
        pair.values(([1.0, 2.0], [2.0, 3.0]))


def test_functions_of_the_package_take_a_compiled_program() -> None:
    f = dc.compile(lambda x: x**2, 1.0)
    assert dc.gradient(f, 1.0) == 2.0
    with pytest.raises(ShapeError, match=r"\(npoints,\)"):
        f.values(3.0)


def test_an_error_at_many_points_names_the_point() -> None:
    f = dc.compile(lambda x: np.log(x[0]), [1.0])
    with pytest.raises(DomainError) as caught:
        f.values([[2.0], [3.0], [-1.0]])
    assert caught.value.__notes__ == ["The point is X[2]."]
