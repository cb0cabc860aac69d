"""Reductions: the values of NumPy bit for bit, derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from derivative_covers.errors import NondifferentiableError, UnsupportedOperationError
from derivative_covers.tape import (
    Accumulate,
    Binary,
    Dot,
    Linear,
    TArray,
    Unary,
    record,
)
from tests._reference import differences, recorded

POINT = np.random.default_rng(5).normal(size=(4, 3, 2))

VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "vector": lambda x: x[:, 1, 0],
    "flat": lambda x: x.ravel(),
    "reversed": lambda x: x[::-1, :, ::-1],
    "transposed": lambda x: x.transpose(2, 0, 1),
    "strided": lambda x: x[::2, ::2],
    "matrix": lambda x: x[:, :, 1].T,
    "fancy": lambda x: x[[2, 0, 0], :, 1],
    "computed": lambda x: np.exp(x)[::-1],
    "mixed": lambda x: _with_constants(x),
}


def _with_constants(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:] = x[1:] * 2.0
    y[0, 0] = 0.25
    y[0, 1] = x[0, 2]
    return y + 0.0 if not isinstance(x, TArray) else y


REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: np.sum(x),
    "sum_first": lambda x: np.sum(x, axis=0),
    "sum_last": lambda x: x.sum(axis=-1),
    "sum_keepdims": lambda x: np.sum(x, axis=0, keepdims=True),
    "sum_all_axes": lambda x: x.sum(tuple(range(x.ndim))),
    "sum_where": lambda x: np.sum(x, where=np.arange(x.shape[-1]) != 1, axis=-1),
    "add_reduce": lambda x: np.add.reduce(x),
    "mean": lambda x: np.mean(x),
    "mean_axis": lambda x: x.mean(axis=0),
    "var": lambda x: np.var(x),
    "var_axis": lambda x: x.var(axis=-1, ddof=1, keepdims=True),
    "std": lambda x: np.std(x, ddof=1),
    "std_axis": lambda x: x.std(axis=0),
    "prod": lambda x: np.prod(x),
    "prod_axis": lambda x: x.prod(axis=-1),
    "prod_first": lambda x: np.prod(x, axis=0, keepdims=True),
    "multiply_reduce": lambda x: np.multiply.reduce(x, axis=-1),
    "cumsum": lambda x: np.cumsum(x),
    "cumsum_axis": lambda x: x.cumsum(axis=0),
    "cumprod": lambda x: x.cumprod(),
    "cumprod_last": lambda x: np.cumprod(x, axis=-1),
    "add_accumulate": lambda x: np.add.accumulate(x),
    "maximum_accumulate": lambda x: np.maximum.accumulate(x * 1.5, axis=-1),
    "logaddexp_reduce": lambda x: np.logaddexp.reduce(x, axis=-1),
    "norm": lambda x: np.linalg.norm(x.ravel()),
    "norm_whole": lambda x: np.linalg.norm(x),
    "norm_axis": lambda x: np.linalg.norm(x, axis=-1),
    "norm_keepdims": lambda x: np.linalg.norm(x, axis=0, keepdims=True),
    "norm_1": lambda x: np.linalg.norm(x, 1, axis=0),
    "norm_inf": lambda x: np.linalg.norm(x, np.inf, axis=-1),
    "norm_3": lambda x: np.linalg.norm(x, 3, axis=0),
    "average": lambda x: np.average(x, axis=0, weights=np.arange(1.0, len(x) + 1)),
    "max": lambda x: np.max(x),
    "max_axis": lambda x: np.max(x * 1.0, axis=0),
    "min_last": lambda x: x.min(axis=-1, keepdims=True),
    "amax": lambda x: np.amax(x, axis=0),
    "ptp": lambda x: np.ptp(x),
    "maximum_reduce": lambda x: np.maximum.reduce(x),
    "median": lambda x: np.median(x, axis=-1),
    "trapezoid": lambda x: np.trapezoid(x, dx=0.5, axis=0),
}


@pytest.mark.parametrize(
    ("view", "name"),
    # The same entry twice is no tie, but two products of it are.
    [(v, n) for v in VIEWS for n in REDUCTIONS if (v, n) != ("fancy", "max_axis")],
)
def test_reduction_has_numpys_bits_and_the_derivative(view: str, name: str) -> None:
    def f(x: Any) -> Any:
        return REDUCTIONS[name](VIEWS[view](x))

    _, values, jacobian = recorded(f, POINT)
    expected = np.asarray(f(POINT))
    assert values.shape == expected.shape
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_allclose(jacobian, differences(f, POINT), rtol=1e-7, atol=1e-8)


AXES: list[Any] = [(0, 1), (0, 2), (1, 2), (2, 0), 1, (-1, 0), ()]


@pytest.mark.parametrize(
    ("name", "axis"),
    # There is no spread and no middle without an axis.
    [(n, a) for n in ("sum", "mean", "prod", "max", "min") for a in AXES]
    + [(n, a) for n in ("var", "std", "median") for a in AXES if a != ()],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_axis_tuples(axis: Any, name: str, keepdims: bool) -> None:
    def f(x: Any) -> Any:
        return getattr(np, name)(x.transpose(1, 2, 0), axis=axis, keepdims=keepdims)

    _, values, jacobian = recorded(f, POINT)
    np.testing.assert_array_equal(values, f(POINT))
    np.testing.assert_allclose(jacobian, differences(f, POINT), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
@pytest.mark.parametrize("keepdims", [False, True])
def test_matrix_norms(ord: Any, keepdims: bool) -> None:
    def f(x: Any) -> Any:
        return np.linalg.norm(x[:, :, 0], ord, None, keepdims)

    _, values, jacobian = recorded(f, POINT)
    np.testing.assert_array_equal(values, f(POINT))
    np.testing.assert_allclose(jacobian, differences(f, POINT), rtol=1e-7, atol=1e-8)


def test_norm_over_two_axes_has_numpys_bits() -> None:
    def f(x: Any) -> Any:
        return np.linalg.norm(x, axis=(0, 2))

    _, values, jacobian = recorded(f, POINT)
    np.testing.assert_array_equal(values, f(POINT))
    np.testing.assert_allclose(jacobian, differences(f, POINT), rtol=1e-7, atol=1e-8)


def kinds(f: Callable[[Any], Any], x0: Any) -> list[type]:
    tape, _ = record(f, x0)
    return [type(b) for b in tape.blocks[1:]]


def test_sums_are_one_linear_node_an_output() -> None:
    tape, _ = record(lambda x: np.sum(x, axis=(0, 2)), POINT)
    (block,) = tape.blocks[1:]
    assert isinstance(block, Linear)
    assert block.size == 3
    assert block.shape[-1] == 8
    assert block.x.ids is not None or block.x.start == 0


def test_sum_of_a_contiguous_array_needs_no_indices() -> None:
    for axis in (None, 0, 1, 2, (0, 1), (1, 2)):
        tape, _ = record(lambda x, axis=axis: np.sum(x, axis=axis), POINT)
        assert tape.blocks[1].x.ids is None  # type: ignore[attr-defined]


def test_norm_is_the_root_of_squares() -> None:
    tape, _ = record(np.linalg.norm, POINT[0, 0])
    squares, root = tape.blocks[1:]
    assert isinstance(squares, Dot)
    assert root.size == 1
    np.testing.assert_array_equal(
        squares.x.flat(squares.shape), squares.y.flat(squares.shape)
    )


def test_products_are_one_cumulative_block() -> None:
    tape, _ = record(lambda x: np.prod(x, axis=1), POINT)
    (block,) = tape.blocks[1:]
    assert isinstance(block, Accumulate)
    assert isinstance(block, Binary)
    assert block.size == 16


def test_product_is_exact_where_factors_vanish() -> None:
    x0 = np.array([3.0, 0.0, 5.0, 7.0])
    _, _, jacobian = recorded(np.prod, x0)
    np.testing.assert_array_equal(jacobian, [0.0, 105.0, 0.0, 0.0])
    _, _, jacobian = recorded(np.prod, np.array([0.0, 2.0, 0.0]))
    np.testing.assert_array_equal(jacobian, np.zeros(3))


def test_selected_entries_keep_their_nodes() -> None:
    tape, out = record(lambda x: np.max(x, axis=0), POINT)
    assert len(tape.blocks) == 1
    np.testing.assert_array_equal(tape.vals[out], POINT.max(axis=0))


def test_ties_are_marked_and_found_only_where_they_matter() -> None:
    x0 = np.array([[1.0, 2.0], [1.0, 3.0]])
    tape, out = record(lambda x: np.max(x, axis=0), x0)
    (block,) = tape.blocks[1:]
    assert isinstance(block, Unary)
    assert block.op.name == "tie"
    np.testing.assert_array_equal(out, [4, 3])
    tape, _ = record(lambda x: np.max(np.stack([x[0, 0], x[0, 0]])), x0)
    assert len(tape.blocks) == 1


def test_tie_with_a_constant() -> None:
    x0 = np.array([1.0, 2.0])
    tape, out = record(lambda x: np.max(np.append(x, 2.0)), x0)
    assert isinstance(tape.blocks[1], Unary)
    assert out == 2
    tape, _ = record(lambda x: np.clip(x, 1.0, 5.0), x0)
    assert [block.op.name for block in tape.blocks[1:]] == ["maximum", "minimum"]


@pytest.mark.parametrize("name", ["argmax", "argmin", "argsort"])
def test_positions_are_plain_and_refuse_ties(name: str) -> None:
    function = getattr(np, name)
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append(function(x))
        seen.append(function(x, axis=0))
        return x.sum()

    record(f, POINT)
    np.testing.assert_array_equal(seen[0], function(POINT))
    np.testing.assert_array_equal(seen[1], function(POINT, axis=0))
    assert not isinstance(seen[0], TArray)
    with pytest.raises(NondifferentiableError, match="tie"):
        record(lambda x: x[function(x)].sum(), np.ones(3))


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_sort(axis: Any) -> None:
    def f(x: Any) -> Any:
        return np.sort(x, axis=axis)

    _, values, jacobian = recorded(f, POINT)
    np.testing.assert_array_equal(values, f(POINT))
    np.testing.assert_allclose(jacobian, differences(f, POINT), atol=1e-8)

    def g(x: Any) -> Any:
        y = x.ravel() * 1.0
        y.sort()
        return y

    np.testing.assert_array_equal(recorded(g, POINT)[1], g(POINT))


def test_empty_reductions_are_constants() -> None:
    def f(x: Any) -> Any:
        empty = x[:0]
        return x.sum() + empty.sum() + np.prod(empty) + np.sum(empty, axis=0).sum()

    _, values, jacobian = recorded(f, POINT)
    assert float(values) == float(f(POINT))
    np.testing.assert_array_equal(jacobian, np.ones(POINT.shape))


def test_means_of_lists_of_variables() -> None:
    def f(x: Any) -> Any:
        row = [x[0, 0, 0], x[1, 1, 1], x[2, 2, 0]]
        return np.mean(row) + np.var(row) * np.std(row) - np.sum(row) * np.prod(row)

    _, values, jacobian = recorded(f, POINT)
    np.testing.assert_allclose(values, f(POINT), rtol=1e-15)
    np.testing.assert_allclose(jacobian, differences(f, POINT), rtol=1e-7, atol=1e-8)


def test_zero_dimensional_arrays() -> None:
    def f(x: Any) -> Any:
        y = x[1, 1, 1].reshape(()) if isinstance(x, np.ndarray) else x[1, 1, 1, ...]
        return np.sum(y) + np.prod(y) + np.max(y) * np.mean(y) + np.linalg.norm(y)

    _, values, jacobian = recorded(f, POINT)
    assert float(values) == float(f(POINT))
    np.testing.assert_allclose(jacobian, differences(f, POINT), rtol=1e-7, atol=1e-8)


def test_single_precision_stays_single() -> None:
    x0 = POINT.astype(np.float32)

    def f(x: Any) -> Any:
        return np.stack(
            [np.sum(x), np.mean(x), np.var(x), np.std(x), np.prod(x), np.linalg.norm(x)]
        )

    tape, out = record(f, x0)
    assert tape.dtype == np.float32
    assert all(b.values.dtype == np.float32 for b in tape.blocks)
    np.testing.assert_array_equal(tape.vals[out], f(x0))


def test_constant_arrays_record_nothing() -> None:
    def f(x: Any) -> Any:
        c = np.zeros_like(x)
        c[...] = 2.0
        total = c.sum() + np.prod(c) + np.linalg.norm(c) + np.max(c) + np.std(c)
        return x[0, 0, 0] * (total + np.cumsum(c)[-1])

    tape, _ = record(f, POINT)
    assert tape.nnodes == POINT.size + 1


def test_results_are_stored_into_recorded_targets_only() -> None:
    def f(x: Any) -> Any:
        y = np.zeros_like(x[0])
        np.sum(x, axis=0, out=y)
        return y

    np.testing.assert_array_equal(recorded(f, POINT)[1], f(POINT))
    with pytest.raises(UnsupportedOperationError, match="plain array"):
        record(lambda x: np.sum(x, axis=0, out=np.zeros((3, 2))), POINT)
    with pytest.raises(UnsupportedOperationError, match="dtype"):
        record(lambda x: np.sum(x, dtype=int), POINT)
    with pytest.raises(UnsupportedOperationError, match="arguments"):
        record(lambda x: np.hypot.reduce(x, where=POINT > 0, initial=0.0), POINT)
