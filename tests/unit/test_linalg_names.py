"""Names of NumPy 2 in numpy.linalg, products of stacks of vectors, and plain ranks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from tests._differences import agrees, matrix

CUBE, ROW = matrix(2, 3, 3), matrix(3, seed=3)
PROGRAMS: list[tuple[str, Any]] = [
    ("multi_dot", lambda g, x: g([x[0], x[1], ROW])),
    ("diagonal", lambda g, x: g(x, offset=1)),
    ("trace", lambda g, x: g(x)),
    ("matrix_norm", lambda g, x: g(x)),
    ("matrix_norm", lambda g, x: g(x, ord="nuc", keepdims=True)),
    ("vector_norm", lambda g, x: g(x)),
    ("vector_norm", lambda g, x: g(x, keepdims=True)),
    ("vector_norm", lambda g, x: g(x, axis=(0, 2), keepdims=True, ord=3)),
    ("vector_norm", lambda g, x: g(x, axis=-1)),
    ("matrix_transpose", lambda g, x: g(x)),
    ("outer", lambda g, x: g(x[0, 0], ROW)),
    ("cross", lambda g, x: g(x, ROW)),
    ("matmul", lambda g, x: g(x, ROW)),
    ("tensordot", lambda g, x: g(x, ROW, axes=1)),
    ("vecdot", lambda g, x: g(x, ROW)),
    ("vecdot", lambda g, x: g(x, x, axis=1)),
    ("svdvals", lambda g, x: g(x)),
]
TOP: list[tuple[str, Any]] = [
    ("diagonal", lambda g, x: g(x, 0, 1, 2)),
    ("matrix_transpose", lambda g, x: g(x)),
    ("vecdot", lambda g, x: g(x, ROW)),
    ("matvec", lambda g, x: g(x, ROW)),
    ("vecmat", lambda g, x: g(ROW, x)),
]
REFUSED: list[tuple[str, Any]] = [
    ("norm", lambda g, x: g(x, "fro", 0)),
    ("matrix_transpose", lambda g, x: g(x[0, 0])),
    ("outer", lambda g, x: g(x[0], ROW)),
    ("cross", lambda g, x: g(x[..., :2], x[..., :2])),
]


def present(space: Any, table: list[tuple[str, Any]]) -> list[Any]:
    """Programs of the functions that this NumPy has."""
    return [
        pytest.param(partial(f, getattr(space, name)), id=name)
        for name, f in table
        if hasattr(space, name)
    ]


@pytest.mark.parametrize("f", present(np.linalg, PROGRAMS) + present(np, TOP))
def test_other_names_agree_with_numpy(f: Any) -> None:
    tape, outs = dc.tape_function(f, CUBE)
    expected = f(CUBE)
    assert np.shape(outs) == np.shape(expected)
    np.testing.assert_array_equal(tape.vals[outs], expected)
    agrees(lambda x: np.sum(np.sin(f(x))), CUBE)


@pytest.mark.parametrize("f", present(np.linalg, REFUSED))
def test_what_numpy_refuses_is_refused(f: Any) -> None:
    with pytest.raises(ValueError) as plain:  # noqa: PT011
        f(CUBE)
    with pytest.raises(ValueError) as recorded:  # noqa: PT011
        dc.tape_function(f, CUBE)
    assert str(recorded.value) == str(plain.value)


def test_ranks_are_plain_numbers() -> None:
    def f(x: Any) -> Any:
        return np.sum(x) * np.linalg.matrix_rank(x)

    np.testing.assert_array_equal(dc.gradient(f, np.ones((3, 2))), np.ones((3, 2)))
