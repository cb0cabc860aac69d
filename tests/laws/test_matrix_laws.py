"""Laws that covers of matrices keep, each for all functions that it concerns."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, nnls

from derivative_covers import matrix
from tests._best_cover import best_cover

pytestmark = pytest.mark.slow  # no kernel takes part: once is enough

L1 = {"penalty": "absolute_log"}
HARD = {
    "symcover": matrix.symcover,
    "symcover_min": matrix.symcover_min,
    "symcover_min_l1": partial(matrix.symcover_min, **L1),
    "cover": matrix.cover,
    "cover_min": matrix.cover_min,
    "cover_min_l1": partial(matrix.cover_min, **L1),
}
SOFT = {
    "soft_symcover": matrix.soft_symcover,
    "soft_symcover_log": partial(matrix.soft_symcover, penalty="squared_log"),
    "soft_symcover_l1": partial(matrix.soft_symcover, **L1),
    "soft_cover": matrix.soft_cover,
    "soft_cover_log": partial(matrix.soft_cover, penalty="squared_log"),
    "soft_cover_l1": partial(matrix.soft_cover, **L1),
}
ALL = HARD | SOFT


def matrices(name, count=8, largest=6, spread=4.0):
    """Matrices with zeros, some in whole rows; symmetric ones where they must be."""
    rng = np.random.default_rng(len(name))
    for _ in range(count):
        m, n = rng.integers(1, largest + 1, 2)
        if "sym" in name:
            n = m
        A = np.exp(rng.normal(0, spread, (m, n))) * rng.choice([-1, 1], (m, n))
        A *= rng.random((m, n)) < rng.choice([0.3, 0.7, 1.0])
        yield np.triu(A) + np.triu(A, 1).T if "sym" in name else A


def products(result):
    if isinstance(result, np.ndarray):
        return np.outer(result, result)
    return np.asarray(result)


def at_entries(result, A):
    """Products where the matrix is not zero: those that no choice of gauge changes."""
    return products(result)[np.nonzero(A)]


@pytest.mark.parametrize("name", HARD)
def test_products_hold_in_exact_numbers(name):
    for A in matrices(name):
        result = HARD[name](A)
        a, b = (result, result) if "sym" in name else result
        for i, j in np.argwhere(A):
            assert Fraction(a[i]) * Fraction(b[j]) >= abs(Fraction(A[i, j]))
        assert matrix.iscover(result, A, rtol=0)


@pytest.mark.parametrize("name", ALL)
def test_zero_rows_and_columns_are_exactly_zero(name):
    for A in matrices(name):
        result = ALL[name](A)
        a, b = (result, result) if "sym" in name else result
        np.testing.assert_array_equal(a > 0, A.any(axis=1))
        np.testing.assert_array_equal(b > 0, A.any(axis=0))


@pytest.mark.parametrize("name", ALL)
def test_units(name):
    rng = np.random.default_rng(3)
    for A in matrices(name, count=6):
        d, e = (
            10 ** rng.uniform(-6, 6, A.shape[0]),
            10 ** rng.uniform(-6, 6, A.shape[1]),
        )
        if "sym" in name:
            e = d
        moved = A * np.outer(d, e)
        there = at_entries(ALL[name](moved), A)
        here = at_entries(ALL[name](A), A) * np.outer(d, e)[np.nonzero(A)]
        np.testing.assert_allclose(there, here, rtol=1e-9 if name in HARD else 1e-7)


@pytest.mark.parametrize("name", ALL)
def test_signs_phases_and_storage_do_not_matter(name):
    for A in matrices(name, count=3):
        expected = products(ALL[name](np.abs(A)))
        for same in (A, sp.csr_matrix(A), sp.coo_array(A), A.tolist()):
            np.testing.assert_array_equal(products(ALL[name](same)), expected)
        turned = products(ALL[name](A * 1j))
        np.testing.assert_array_equal(turned, expected)


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"soft_symcover", "soft_cover"}))
def test_blocks_do_not_see_each_other(name):
    one, two, *_ = (A for A in matrices(name) if A.size > 4 and A.any())
    both = sp.block_diag([one, 1e6 * two]).toarray()
    m, n = one.shape
    found = products(ALL[name](both))
    first, second = ALL[name](one), ALL[name](1e6 * two)
    np.testing.assert_allclose(found[:m, :n][one != 0], at_entries(first, one), 1e-7)
    np.testing.assert_allclose(found[m:, n:][two != 0], at_entries(second, two), 1e-7)


def test_the_tightest_symmetric_cover_is_that_of_another_solver():
    for A in matrices("sym", count=30, spread=3.0):
        with np.errstate(divide="ignore"):
            mine, other = matrix.symcover_min(A), best_cover(A)
        np.testing.assert_allclose(at_entries(mine, A), at_entries(other, A), rtol=1e-8)


def test_the_tightest_cover_meets_the_conditions_of_an_optimum():
    """Gradients are a nonnegative combination of those of the entries that are met."""
    for A in matrices("general", count=20, largest=9):
        if not A.any():
            continue
        i, j = np.nonzero(A)
        z = np.log(at_entries(matrix.cover_min(A), A) / np.abs(A[i, j]))
        R = np.hstack([np.eye(A.shape[0])[i], np.eye(A.shape[1])[j]])
        met = z < 1e-9
        gradient = R.T @ z
        left = np.max(np.abs(gradient))
        if met.any():
            left = nnls(R[met].T, gradient)[1]
        assert left < 1e-8


@pytest.mark.parametrize("kind", ["sym", "general"])
@pytest.mark.parametrize("hard", [True, False])
def test_sums_of_excesses_are_least(kind, hard):
    """By the dual program, for full matrices as they are written."""
    for A in matrices(kind, count=8):
        i, j = np.nonzero(A)
        if not i.size:
            continue
        eye = np.eye(A.shape[0])
        R = (
            eye[i] + eye[j]
            if kind == "sym"
            else np.hstack([eye[i], np.eye(A.shape[1])[j]])
        )
        logs = np.log(np.abs(A[i, j]))
        # max y'logs with R'y = R'1, y >= 0 (hard), or R'y = 0, |y| <= 1.
        right = R.sum(axis=0) if hard else np.zeros(R.shape[1])
        ends = (0, None) if hard else (-1, 1)
        dual = linprog(-logs, A_eq=R.T, b_eq=right, bounds=ends, method="highs-ipm")
        least = -dual.fun - (logs.sum() if hard else 0)
        if kind == "sym":
            f = matrix.symcover_min if hard else matrix.soft_symcover
        else:
            f = matrix.cover_min if hard else matrix.soft_cover
        found = matrix.cover_objective(f(A, **L1), A, **L1)
        assert found == pytest.approx(least, rel=1e-7, abs=1e-7)


def test_soft_covers_are_stationary():
    for A in matrices("soft", count=12):
        i, j = np.nonzero(A)
        if not i.size:
            continue
        r = np.abs(A[i, j]) / at_entries(matrix.soft_cover(A), A)
        slope = r * (1 - r)
        scale = np.sum(r * np.maximum(r, 0.1))
        for end, size in ((i, A.shape[0]), (j, A.shape[1])):
            assert np.abs(np.bincount(end, slope, size)).max() < 1e-6 * scale


@pytest.mark.parametrize("kind", ["sym", "general"])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_the_heuristic_is_near_the_optimum(kind, share):
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(40):
        A = rng.integers(1, 21, (5, 5)) * (rng.random((5, 5)) < share)
        if kind == "sym":
            A = np.triu(A) + np.triu(A, 1).T
            fast, best = matrix.symcover(A), matrix.symcover_min(A)
        else:
            fast, best = matrix.cover(A), matrix.cover_min(A)
        fast, best = matrix.cover_objective(fast, A), matrix.cover_objective(best, A)
        assert best <= fast * (1 + 1e-9) + 1e-20
        if best > 1e-9:
            ratios.append(fast / best)
    assert len(ratios) > 30
    assert np.median(ratios) < (1.02 if share == 1 else 1.05)
    assert max(ratios) < 1.5


def banded(n):
    rng = np.random.default_rng(0)
    i = np.arange(n)
    values = np.exp(rng.normal(0, 3, 2 * n - 1))
    A = sp.coo_array(
        (values, (np.r_[i, i[1:]], np.r_[i, i[:-1]])), shape=(n, n)
    ).tocsr()
    return A + A.T


def test_a_large_sparse_matrix():
    A = banded(550)
    fast, best = matrix.symcover(A), matrix.symcover_min(A)
    assert matrix.iscover(fast, A, rtol=0)
    assert matrix.iscover(best, A, rtol=0)
    assert matrix.cover_objective(best, A) < matrix.cover_objective(fast, A)


@pytest.mark.parametrize("name", ["symcover_min", "cover_min", "soft_cover_log"])
def test_sparse_equations_give_what_dense_ones_give(name, monkeypatch):
    A = banded(25).toarray()
    dense = at_entries(ALL[name](A), A)
    monkeypatch.setattr("derivative_covers.matrix._linear._DENSE", 0)
    np.testing.assert_allclose(at_entries(ALL[name](A), A), dense, rtol=1e-9)


@pytest.mark.parametrize("noise", [1e-16, 1e-13, 1e-11, 1e-8])
def test_matrices_that_nearly_have_rank_one(noise):
    """Many conditions nearly coincide, below the tolerances of the linear program."""
    rng = np.random.default_rng(0)
    u = np.exp(rng.normal(0, 10, 9))
    A = np.outer(u, u) * (1 + noise * rng.normal(size=(9, 9)))
    A = np.triu(A) + np.triu(A, 1).T
    for name, f in HARD.items():
        found = f(A)
        assert matrix.iscover(found, A, rtol=0), name
        np.testing.assert_allclose(products(found), A, rtol=20 * noise + 1e-12)
