"""Sparse Hessians where intermediate gradients are dense, or all is."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import OptionError
from derivative_covers.sweeps import _second


def running_sum(x):
    total = 0.0
    for entry in list(x[1:]):
        total = total + 3.0 * entry
    return x[0] * total + np.sum(x**3)


def means(x):
    return np.mean(x) * x[0] ** 2 + np.sqrt(np.sum(x[5:12] ** 2)) + np.sum(x[:4]) ** 2


@pytest.mark.parametrize("f", [running_sum, means])
@pytest.mark.parametrize("few", [0, 8])
def test_both_ways_to_dense_rows_agree_with_products(f, few, monkeypatch):
    monkeypatch.setattr(_second, "FEW", few)
    x = np.linspace(0.5, 2.0, 130)
    tape, out = dc.tape_function(f, x)
    found = dc.hessian(tape, out, sparse=True)
    np.testing.assert_allclose(
        found.toarray(), dc.hessian(tape, out), rtol=1e-12, atol=1e-14
    )
    assert found.nnz < x.size**2 / 4


@pytest.mark.slow
def test_a_long_running_sum_is_an_arrowhead():
    n = 20_000
    H = dc.hessian(running_sum, np.linspace(0.5, 2.0, n), sparse=True)
    assert H.nnz == 3 * n - 2
    np.testing.assert_array_equal(H[[0], 1:].toarray(), np.full((1, n - 1), 3.0))
    np.testing.assert_allclose(H.diagonal(), 6 * np.linspace(0.5, 2.0, n))


def norm(x):
    return np.sqrt(np.sum(x**2))


def square_of_running_sum(x):
    return running_sum(x) ** 2


def running_sums(x):
    return np.sum(np.cumsum(x) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("f", [norm, square_of_running_sum, running_sums])
@pytest.mark.parametrize(
    "ask",
    [lambda f, x: dc.hessian(f, x, sparse=True), dc.hessian_sparsity],
    ids=["hessian", "sparsity"],
)
def test_too_many_nonzeros_are_refused_before_they_are_formed(f, ask, monkeypatch):
    monkeypatch.setattr(_second, "MOST", 1 << 16)
    x = np.linspace(0.5, 2.0, 700)
    with pytest.raises(OptionError, match=r"700 x 700.*Use hvp, or a cover"):
        ask(f, x)
    few = x[:100]
    assert dc.hessian_sparsity(f, few).nnz == 100**2


def test_a_hundred_thousand_dense_entries_end_at_once():
    with pytest.raises(OptionError, match="not sparse"):
        dc.hessian(norm, np.ones(100_000), sparse=True)


@pytest.mark.slow
def test_auto_takes_another_merge_there():
    x = np.linspace(0.5, 2.0, 20_000)
    tape, out = dc.tape_function(norm, x)
    cover = dc.cover_hessian(tape, out, merge="auto")
    assert cover.merge == "quadrature"
    for j in (0, 7000, 19_999):
        column = -x * x[j] / np.linalg.norm(x) ** 3
        column[j] += 1 / np.linalg.norm(x)
        assert (cover.h * cover.h[j] >= np.abs(column) * (1 - 1e-12)).all()
