"""The best cover of a matrix: optimality conditions, another solver, known cases."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from tests._best_cover import above_best, best_cover, excess


@st.composite
def matrices(draw, largest=6):
    n = draw(st.integers(1, largest))
    logs = st.one_of(st.none(), st.floats(-12, 12))
    H = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            x = draw(logs)
            H[i, j] = H[j, i] = 0.0 if x is None else 10.0**x
    return H


def parts(H):
    i, j = np.nonzero(np.triu(H))
    pairs = np.eye(len(H))[i] + np.eye(len(H))[j]
    return pairs, np.log(H[i, j]), np.where(i == j, 1.0, 2.0)


@given(matrices())
def test_the_optimality_conditions_hold(H):
    h = best_cover(H)
    zero = ~H.any(axis=0)
    assert not h[zero].any()
    if zero.all():
        return
    assert (h[~zero] > 0).all()
    pairs, logs, weight = parts(H)
    with np.errstate(divide="ignore"):
        u = np.where(zero, 0.0, np.log(h))
    slack = pairs @ u - logs
    assert slack.min() >= -1e-12 * np.abs(logs).max()
    # The gradient is a nonnegative combination of those of the entries that are met.
    gradient = pairs.T @ (weight * slack)
    met = slack < 1e-8
    _, left = nnls(pairs[met].T, gradient) if met.any() else (0, np.max(gradient))
    assert left < 1e-8 * (1 + np.abs(logs).max())


def by_enumeration(H):
    """The least cost over all sets of entries that might be met with equality."""
    pairs, logs, weight = parts(H)
    n, least = len(H), np.inf
    normal = 2 * pairs.T @ (weight[:, None] * pairs)
    for count in range(n + 1):
        for met in map(list, combinations(range(len(logs)), count)):
            system = np.zeros((n + count, n + count))
            system[:n, :n], system[:n, n:] = normal, pairs[met].T
            system[n:, :n] = pairs[met]
            right = np.append(2 * pairs.T @ (weight * logs), logs[met])
            u = np.linalg.lstsq(system, right, rcond=None)[0][:n]
            slack = pairs @ u - logs
            if slack.min() > -1e-9:
                least = min(least, weight @ slack**2)
    return least


@pytest.mark.parametrize("seed", range(9))
def test_enumeration_finds_no_better_one(seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed % 3
    H = 10.0 ** rng.uniform(-3, 3, (n, n))
    H = np.triu(H) + np.triu(H, 1).T
    pairs, logs, weight = parts(H)
    cost = weight @ (pairs @ np.log(best_cover(H)) - logs) ** 2
    assert cost == pytest.approx(by_enumeration(H), rel=1e-7, abs=1e-9)


def test_known_matrices():
    np.testing.assert_array_equal(best_cover(np.zeros((2, 2))), [0, 0])
    np.testing.assert_allclose(best_cover(np.diag([4.0, 0.0, 9.0])), [2, 0, 3])
    u = np.array([1e-8, 3.0, 1e6])
    np.testing.assert_allclose(best_cover(np.outer(u, -u)), u)  # met with equality
    h = best_cover([[0.0, 6.0], [6.0, 0.0]])
    np.testing.assert_allclose(h[0] * h[1], 6.0)
    semidefinite = np.array([[4.0, 1.0], [1.0, 1.0]])  # the diagonal is enough
    np.testing.assert_allclose(best_cover(semidefinite), [2, 1])
    assert excess([2, 1], semidefinite) == pytest.approx(np.log10(2) / 2)
    assert above_best([20, 10], semidefinite) == pytest.approx(2)
    assert above_best([0, 0], np.zeros((2, 2))) == 0


@given(matrices(4), st.lists(st.integers(-9, 9), min_size=4, max_size=4))
def test_it_goes_along_with_units(H, powers):
    D = 2.0 ** np.array(powers[: len(H)])
    moved = H * np.outer(D, D)
    h, k = best_cover(H) * D, best_cover(moved)
    for cover in (h, k):
        assert abs(excess(cover, moved) - excess(k, moved)) < 1e-9
