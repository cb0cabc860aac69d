"""Covers of weighted Gram matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from derivative_covers import errors, matrix


def exact_gram(A, W):
    A = [[abs(Fraction(v)) for v in row] for row in A.tolist()]
    W = [[abs(Fraction(v)) for v in row] for row in W.tolist()]
    m, n = len(A), len(A[0])
    WA = [
        [sum(W[i][k] * A[k][j] for k in range(m)) for j in range(n)] for i in range(m)
    ]
    return [
        [sum(A[i][j] * WA[i][k] for i in range(m)) for k in range(n)] for j in range(n)
    ]


def check(h, A, W):
    """It covers the product of absolute values, the worst choice of signs."""
    for j, row in enumerate(exact_gram(A, W)):
        for k, v in enumerate(row):
            assert Fraction(h[j]) * Fraction(h[k]) >= v


@pytest.mark.parametrize("seed", range(8))
def test_it_covers(seed):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 7, 2)
    A = np.exp(rng.normal(0, 3, (m, n))) * (rng.random((m, n)) < 0.5)
    pair = matrix.cover_min(A)
    w = rng.normal(size=m)
    W = rng.normal(size=(m, m)) * (rng.random((m, m)) < 0.5)
    check(matrix.gramcover(pair, A), A, np.eye(m))
    check(matrix.gramcover(pair, A, W=w), A, np.diag(w))
    for form in (W, sp.csr_array(W)):
        check(matrix.gramcover(pair, sp.csr_array(A), W=form), A, W)


def test_known_values():
    A = np.array([[1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_allclose(matrix.gramcover(([1, 1], [1, 2]), A), np.sqrt([2, 8]))
    weighted = matrix.gramcover(([1, 1], [1, 2]), A, W=[4, -5])
    np.testing.assert_allclose(weighted, [3, 6])
    # Separate blocks do not add up.
    apart = matrix.gramcover(([3, 4], [1, 1]), np.diag([3.0, 4.0]))
    np.testing.assert_allclose(apart, [3, 4])
    coupled = matrix.gramcover(([3, 4], [1, 1]), np.diag([3.0, 4.0]), W=np.ones((2, 2)))
    np.testing.assert_allclose(coupled, [3, 4])


def test_gauges_and_zeros():
    A = np.array([[2.0, 0, 0, 0], [0, 3, 5, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    a, b = matrix.cover(A)
    W = np.ones((4, 4))
    for c in (1e-200, 1e-3, 1e200):
        block = np.array([1, c, c, 1])
        moved = (a * block, b / np.array([1, c, c, 1]))
        for weights in (None, [1, 2, 3, 4], W):
            h, there = (matrix.gramcover(p, A, W=weights) for p in ((a, b), moved))
            np.testing.assert_allclose(there, h, rtol=1e-12)
            assert h[3] == 0
    assert not matrix.gramcover((a, b), A, W=[0, 1, 1, 1])[0]
    assert not matrix.gramcover((a, b), A, W=np.zeros((4, 4))).any()
    # A number of a column without entries says nothing.
    assert matrix.gramcover((a, b + np.array([0, 0, 0, 1])), A)[3] == 0


def test_rows_far_apart():
    """Squares beyond the range of floats, of rows that weights leave out."""
    A = np.array([[1e200, 0.0], [1e-200, 1e-200]])
    pair = ([1e200, 1e-200], [1, 1])
    for W in (None, np.array([0, 1]), np.diag([0, 1]), np.array([1e-300, 1e300])):
        weights = np.eye(2) if W is None else np.diag(W) if W.ndim == 1 else W
        check(matrix.gramcover(pair, A, W=W), A, weights)
    np.testing.assert_allclose(matrix.gramcover(pair, A, W=[0, 1]), 1e-200)
    small = np.array([[1e-320]])
    check(matrix.gramcover(matrix.cover(small), small), small, np.eye(1))


def test_wrong_input():
    A = np.ones((2, 3))
    pair = matrix.cover(A)
    with pytest.raises(errors.OptionError, match="does not cover"):
        matrix.gramcover(([1, 0.5], [1, 1, 1]), A)
    with pytest.raises(errors.ShapeError, match="3 weights; A has 2 rows"):
        matrix.gramcover(pair, A, W=[1, 2, 3])
    with pytest.raises(errors.ShapeError, match=r"\(2, 2\) is needed"):
        matrix.gramcover(pair, A, W=np.ones((3, 3)))
    with pytest.raises(errors.OptionError, match="NaN"):
        matrix.gramcover(pair, A, W=[1, np.nan])
    with pytest.raises(errors.InputTypeError, match="real numbers"):
        matrix.gramcover(pair, A, W=[1, 1j])
    with pytest.raises(errors.ShapeError, match="W has shape"):
        matrix.gramcover(pair, A, W=3.0)
    with pytest.raises(errors.OptionError, match="scale A or W"):
        matrix.gramcover(([1e200] * 2, [1e200] * 3), A)
