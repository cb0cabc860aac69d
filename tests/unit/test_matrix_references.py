"""Covers of matrices: reference optima and the published values of heuristics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import derivative_covers as dc
from derivative_covers import matrix
from examples import nist

# Least sums of squared and of absolute excesses, over all nonzero entries, and the cover
# with the least squares.
SYMMETRIC = [
    ([[4, 2], [2, 16]], 3.84362411135, 2.77258872224, [2, 4]),
    (
        [[2.4, 1.2, 1.2], [1.2, 1.4, 2.4], [1.2, 2.4, 0.6]],
        3.89483678441,
        4.69787958409,
        [1.54919334, 1.78416529, 1.34516685],
    ),
    (
        [[4, 1, 0], [1, 1, 5], [0, 5, 2]],
        5.99686928401,
        3.91202300543,
        [2, 1.44269991, 3.46572422],
    ),
    (
        [[2, 1, 0.5], [1, 3, 1], [0.5, 1, 2.5]],
        8.12232401629,
        6.80239476332,
        np.sqrt([2, 3, 2.5]),
    ),
    (
        [[1, 0, 2], [0, 0, 0], [2, 0, 3]],
        0.0413804874051,
        0.287682072452,
        [1.07456993, 0, 1.86120972],
    ),
    ([[0, 0, 1], [0, 0, 2], [1, 2, 1]], 0.0, 0.0, [1, 2, 1]),
    ([[1e6, 1e3, 1], [1e3, 1, 1e-3], [1, 1e-3, 1e-6]], 0.0, 0.0, [1e3, 1, 1e-3]),
]
GENERAL = [
    (
        [[1, 2, 3], [6, 5, 4]],
        1.14128105743,
        1.50407739678,
        [[2.2104189, 2, 3], [6, 5.42883523, 8.14325285]],
    ),
    ([[0, 0, 0, 1], [1, 1, 0, 2], [1, 0, 2, 1]], 0.240226506959, 0.69314718056, None),
    (
        [[1, 2, 0.5], [0.25, 3, 1]],
        2.53908003188,
        2.07944154168,
        [[1, 3.30192725, 1.10064242], [0.9085603, 3, 1]],
    ),
    (
        [[1, 2, 3], [4, 5, 6]],
        0.250383156638,
        0.69314718056,
        [[1.4736126, 2, 3], [4, 5.42883523, 8.14325285]],
    ),
]


def objective(cover, A, penalty="squared_log"):
    return matrix.cover_objective(cover, A, penalty=penalty)


@pytest.mark.parametrize(("A", "squares", "sums", "h"), SYMMETRIC)
def test_symmetric(A, squares, sums, h):
    found = matrix.symcover_min(A)
    np.testing.assert_allclose(found, h, rtol=1e-8)
    assert objective(found, A) == pytest.approx(squares, rel=1e-11, abs=1e-15)
    found = matrix.symcover_min(A, penalty="absolute_log")
    assert objective(found, A, "absolute_log") == pytest.approx(
        sums, rel=1e-11, abs=1e-11
    )
    assert matrix.iscover(found, A, rtol=0)


@pytest.mark.parametrize(("A", "squares", "sums", "products"), GENERAL)
def test_general(A, squares, sums, products):
    found = matrix.cover_min(A)
    if products is not None:
        np.testing.assert_allclose(found, products, rtol=1e-8)
    assert objective(found, A) == pytest.approx(squares, rel=1e-11)
    found = matrix.cover_min(A, penalty="absolute_log")
    assert objective(found, A, "absolute_log") == pytest.approx(sums, rel=1e-11)
    assert matrix.iscover(found, A, rtol=0)


def test_least_sums_of_excesses():
    A = [[4, 1, 0], [1, 1, 5], [0, 5, 2]]
    h = matrix.symcover_min(A, penalty="absolute_log")
    np.testing.assert_allclose(h, [2, 1, 5], rtol=1e-12)
    found = matrix.cover_min([[1, 2, 3], [6, 5, 4]], penalty="absolute_log")
    np.testing.assert_allclose(found, [[2.4, 2, 3], [6, 5, 7.5]], rtol=1e-12)


def test_published_heuristic():
    A = [[1, 2, 3], [6, 5, 4]]
    a, b = matrix.cover(A)
    np.testing.assert_allclose(a, [1.25446107757, 3.47590597675], rtol=1e-11)
    b_published = [1.72616867088, 1.62176276131, 2.39146519063]
    np.testing.assert_allclose(b, b_published, rtol=1e-11)
    assert objective((a, b), A) == pytest.approx(1.146646, abs=5e-7)


def test_published_soft_covers():
    found = matrix.soft_cover([[1, 2, 3], [6, 5, 4]])
    published = [[1.93288, 1.97239, 2.50673], [4.97144, 5.07307, 6.44741]]
    np.testing.assert_allclose(found, published, atol=5e-6)
    np.testing.assert_allclose(matrix.soft_symcover([[4, -1], [-1, 0]]), [2, 0.5])
    np.testing.assert_allclose(matrix.soft_symcover([[0, 1], [1, 0]]), [1, 1])


def test_a_scale_for_rounding_errors():
    """A linear system in badly chosen units: scaled by its cover, sums of order one."""
    A, b = np.array([[1e6, 1e3], [1e3, 4]]), np.array([1500, 6])
    h = matrix.symcover(A)
    np.testing.assert_allclose(h, [1000, 2])
    assert np.sum(np.abs(b / h)) == pytest.approx(4.5)
    assert np.sum(np.abs(np.linalg.solve(A, b) * h)) == pytest.approx(3)


def test_conditions_that_nearly_imply_each_other():
    """Three conditions of the block of ones are one but for 2e-9."""
    problem = nist.load("MGH17")
    H = dc.hessian(problem.objective, problem.points["start 1"])
    h = matrix.symcover_min(H)
    assert dc.iscover(h, H)
    logs = np.log(np.abs(H))
    p, q = np.triu_indices(5)
    weight = np.where(p == q, 1.0, 2.0)
    sums = np.zeros((p.size, 5))
    np.add.at(sums, (np.arange(p.size), p), 1.0)
    np.add.at(sums, (np.arange(p.size), q), 1.0)
    excess = sums @ np.log(h) - logs[p, q]
    held = excess < 1e-8
    # Multipliers of the conditions that are met as equations: none is negative.
    multipliers, rest = optimize.nnls(sums[held].T, sums.T @ (weight * excess))
    assert rest < 1e-6 * np.abs(multipliers).max()
