"""Products of arrays: NumPy's bits, derivatives against differences, wide nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from derivative_covers.errors import UnsupportedOperationError
from derivative_covers.tape import Constants, Dot, Linear, TArray, record
from tests._reference import differences, recorded

RNG = np.random.default_rng(11)
POINT = RNG.normal(size=(3, 4))
A = RNG.normal(size=(4, 3))
B = RNG.normal(size=(2, 4, 5))
W = RNG.normal(size=4)

VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "reversed": lambda x: x[::-1, ::-1],
    "doubly_transposed": lambda x: (x.T * 1.0).T,
    "fancy": lambda x: x[[2, 0, 1]],
    "mixed": lambda x: _with_constants(x),
}


def _with_constants(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:] = x[1:] * 2.0
    y[0, 0] = 0.25
    y[0, 1] = x[0, 2]
    return y


PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "inner_product": lambda x: x[0] @ x[1],
    "with_itself": lambda x: x[0] @ x[0],
    "matrix_vector": lambda x: x @ W,
    "vector_matrix": lambda x: x[:, 0] @ x,
    "constant_matrix": lambda x: A @ x,
    "constant_right": lambda x: x @ A,
    "transposed": lambda x: x.T @ x,
    "gram": lambda x: x @ x.T,
    "rows": lambda x: A @ x[:, 1],
    "batched_constant": lambda x: x @ B,
    "batched": lambda x: np.matmul(x.reshape(3, 2, 2), x.reshape(3, 2, 2)),
    "batch_of_one": lambda x: np.matmul(x.reshape(3, 2, 2), x[:2, :2]),
    "batch_broadcast": lambda x: x.reshape(3, 1, 2, 2) @ x[:, :2].reshape(1, 3, 2, 1),
    "batch_vector": lambda x: x.reshape(3, 2, 2) @ x[0, :2],
    "dot": lambda x: np.dot(x, W),
    "dot_2d": lambda x: np.dot(x.T, x),
    "dot_nd": lambda x: np.dot(x.reshape(3, 2, 2), x.reshape(3, 2, 2)),
    "dot_constant_nd": lambda x: np.dot(x, B),
    "dot_scalar": lambda x: np.dot(x, x[0, 0]),
    "vdot": lambda x: np.vdot(x, A.T),
    "vdot_self": lambda x: np.vdot(x, x),
    "inner": lambda x: np.inner(x, x[1:]),
    "inner_nd": lambda x: np.inner(x.reshape(3, 2, 2), x.reshape(3, 2, 2)),
    "outer": lambda x: np.outer(x[0], x[1]),
    "outer_constant": lambda x: np.outer(W, x[1]),
    "multiply_outer": lambda x: np.multiply.outer(x[0], x),
    "subtract_outer": lambda x: np.subtract.outer(x[0], x[0]),
    "tensordot_1": lambda x: np.tensordot(x, A, 1),
    "tensordot_2": lambda x: np.tensordot(x, x, 2),
    "tensordot_axes": lambda x: np.tensordot(x, B, axes=([1], [1])),
    "tensordot_pairs": lambda x: np.tensordot(
        x.reshape(3, 2, 2), x.reshape(2, 3, 2), axes=([0, -1], [1, 0])
    ),
    "tensordot_0": lambda x: np.tensordot(x[0], x[1], 0),
    "kron": lambda x: np.kron(x[:2, :2], x[0]),
    "cross": lambda x: np.cross(x[:, :3], x[::-1, 1:]),
    "multi_dot": lambda x: np.linalg.multi_dot([x, A, x]),
}

EINSUMS = [
    ("ij->ji", 1),
    ("ij->j", 1),
    ("ij->", 1),
    ("ij", 1),
    ("ji", 1),
    ("ij,ij->", 2),
    ("ij,ij->i", 2),
    ("ij,ij->ij", 2),
    ("ij,ij->ji", 2),
    ("ij,kj->ik", 2),
    ("ij,kj->ki", 2),
    ("ij,ik->jk", 2),
    ("ij,ik->kj", 2),
    ("ij,kl->ijkl", 2),
    ("ij,kl->ljki", 2),
    ("ij,kl->ik", 2),
    ("ij,kl", 2),
    ("ij,kj", 2),
    ("...j,...j->...", 2),
    ("i...,i...", 2),
    ("...,...->...", 2),
    ("ij,ij,ij->j", 3),
    ("ij,kj,kl->il", 3),
    ("ij,kl,il->kj", 3),
    ("i j, k j -> i k", 2),
]


def check(f: Callable[[Any], Any], x0: Any = POINT) -> None:
    _, values, jacobian = recorded(f, x0)
    expected = np.asarray(f(x0))
    assert values.shape == expected.shape
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_allclose(jacobian, differences(f, x0), rtol=1e-7, atol=1e-8)
    seen: list[Any] = []

    def g(x: Any) -> Any:
        seen.append(f(x))
        return seen[0]

    tape, _ = record(g, x0)
    if isinstance(seen[0], TArray):
        assert seen[0].strides == expected.strides
        np.testing.assert_array_equal(seen[0].v, expected)
        live = seen[0].node_ids() >= 0
        np.testing.assert_array_equal(
            tape.vals[seen[0].node_ids()[live]], expected[live]
        )


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_product_has_numpys_bits_and_the_derivative(view: str, name: str) -> None:
    check(lambda x: PRODUCTS[name](VIEWS[view](x)))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("subscripts", "n"), EINSUMS)
def test_einsum(view: str, subscripts: str, n: int) -> None:
    def f(x: Any) -> Any:
        y = VIEWS[view](x)
        others = [y, np.cos(x), x[::-1]]
        return np.einsum(subscripts, *others[:n])

    check(f)


@pytest.mark.parametrize(
    ("subscripts", "constant"),
    [
        ("ij,jk->ik", A),
        ("ij,jk->ki", A),
        ("ij,bjk->bik", B),
        ("ij,bjk->ib", B),
        ("ij,j", W),
        ("ij,ij->", POINT + 1.0),
        ("ij,ij->j", POINT + 1.0),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_einsum_with_constants_is_linear(
    subscripts: str, constant: Any, first: bool
) -> None:
    left, arrow, out = subscripts.partition("->")
    a, b = left.split(",")

    def f(x: Any) -> Any:
        if first:
            return np.einsum(subscripts, x, constant)
        return np.einsum(f"{b},{a}{arrow}{out}", constant, x)

    check(f)
    tape, _ = record(f, POINT)
    assert all(isinstance(b, Linear) for b in tape.blocks[1:])


def test_einsum_diagonals_and_the_form_with_lists() -> None:
    square = RNG.normal(size=(3, 3))
    check(lambda x: np.einsum("ii->i", x), square)
    check(lambda x: np.einsum("ii", x), square)
    check(lambda x: np.einsum("ii,ij->j", x, x), square)
    check(lambda x: np.einsum("ii,jj", x, x), square)
    check(lambda x: np.einsum(x, [0, 1], x, [2, 1], [2, 0]), square)
    check(lambda x: np.einsum(x, [0, ...], x, [0, ...]), square)
    check(lambda x: np.einsum("ij,ij,jk->k", x, square, x, optimize=True), square)
    check(lambda x: np.einsum("ij,kj->ik", x[:, :1], x), square)
    check(lambda x: np.einsum(",ij->ij", x[0, 0], x), square)


def test_einsum_diagonal_is_a_view() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        np.einsum("ii->i", y)[...] = x[0] ** 2
        return y

    square = RNG.normal(size=(3, 3))
    check(f, square)


def test_inner_products_are_dot_nodes_with_shared_parents() -> None:
    for f in (
        lambda x: x @ x,
        lambda x: np.dot(x, x),
        lambda x: np.inner(x, x),
        lambda x: np.vdot(x, x),
        lambda x: np.einsum("i,i->", x, x),
        lambda x: np.tensordot(x, x, 1),
    ):
        tape, _ = record(f, W)
        (block,) = tape.blocks[1:]
        assert isinstance(block, Dot)
        assert block.size == 1
        assert block.x.ids is None
        np.testing.assert_array_equal(
            block.x.flat(block.shape), block.y.flat(block.shape)
        )


def test_product_with_itself_among_constants_keeps_one_set_of_parents() -> None:
    def f(x: Any) -> Any:
        y = np.zeros_like(x)
        y[1] = x[1]
        return y @ y

    tape, _ = record(f, W)
    constants, block = tape.blocks[1:]
    assert isinstance(constants, Constants)
    assert isinstance(block, Dot)
    np.testing.assert_array_equal(block.x.flat(block.shape), block.y.flat(block.shape))


def test_products_of_affine_operands_need_no_indices() -> None:
    for f in (
        lambda x: x.T @ x,
        lambda x: A @ x,
        lambda x: x[::-1] @ x.T,
        lambda x: x @ W,
    ):
        tape, _ = record(f, POINT)
        for block in tape.blocks[1:]:
            assert block.x.ids is None  # type: ignore[attr-defined]


def test_empty_products_are_constant() -> None:
    def f(x: Any) -> Any:
        none = x[:, :0]
        return (
            (none @ none.T).sum()
            + np.dot(none, none.T).sum()
            + np.tensordot(none, none, 2)
            + np.einsum("ij,ij->", none, none)
            + np.inner(none, none).sum()
            + x[0, 0]
        )

    _, values, _ = recorded(f, POINT)
    assert float(values) == POINT[0, 0]


def test_lists_and_object_arrays_of_variables() -> None:
    def f(x: Any) -> Any:
        row = [x[0, 0], x[0, 1] * 2.0, 3.0, x[1, 1]]
        return (
            np.dot(x, row) + x @ np.array(row, dtype=object)
            if isinstance(x, TArray)
            else np.dot(x, row) + x @ np.array(row)
        )

    check(f)


def test_products_of_constants_record_nothing() -> None:
    def f(x: Any) -> Any:
        c = np.ones_like(x)
        return x[0, 0] * (c @ c.T).sum() * np.einsum("ij->", c)

    tape, _ = record(f, POINT)
    assert tape.nnodes == POINT.size + 2


def test_single_precision_stays_single() -> None:
    x0 = POINT.astype(np.float32)

    def f(x: Any) -> Any:
        return x.T @ x + (A.astype(np.float32) if isinstance(x, np.ndarray) else A) @ x

    tape, out = record(f, x0)
    assert all(b.values.dtype == np.float32 for b in tape.blocks)
    np.testing.assert_array_equal(tape.vals[out], f(x0))


def test_plain_targets_are_refused() -> None:
    with pytest.raises(UnsupportedOperationError, match="plain array"):
        record(lambda x: np.matmul(x, A, out=np.zeros((3, 3))), POINT)
    with pytest.raises(UnsupportedOperationError, match="plain array"):
        record(lambda x: np.dot(x, A, out=np.zeros((3, 3))), POINT)
    with pytest.raises(ValueError, match=r"match|mismatch"):
        record(lambda x: x @ x, POINT)
