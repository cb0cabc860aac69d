"""Sparse Hessians against JAX, their patterns, and covers for a budget."""

from __future__ import annotations

import builtins
import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

import derivative_covers as dc
from benchmarks.tightness import best
from derivative_covers import errors
from derivative_covers.extend import PairedCurvature, noderef, pushnode
from derivative_covers.sweeps import _second
from tests.laws._random_programs import programs

jax.config.update("jax_enable_x64", True)

N = 24
X = np.linspace(-1.1, 1.3, N) ** 3 + 0.2


def banded(xp, x):
    y = x[1:] * xp.sin(x[:-1]) + x[:-1] ** 3
    return xp.sum(y[2:] * y[:-2]) + xp.sum(y**2)


def arrowhead(xp, x):
    return xp.sum(x[1:] ** 2 * xp.exp(x[0]) + xp.cos(x[1:])) + x[0] ** 4


def block(xp, x):
    z = xp.reshape(x, (-1, 4))
    return xp.sum(xp.sum(z, axis=1) ** 3) + xp.sum(z[:, 0] * z[:, 1] * z[:, 2])


def norm(xp, x):
    return xp.sum(x[: N // 2] ** 2) ** 1.5 + xp.log(1.0 + xp.sum(x[N // 2 :] ** 2))


NONZEROS = {banded: None, arrowhead: 3 * N - 2, block: 4 * N, norm: N * N // 2}


@pytest.mark.parametrize("f", NONZEROS)
def test_sparse_hessians_are_those_of_jax(f):
    H = np.asarray(jax.hessian(lambda x: f(jnp, x))(X))
    found = dc.hessian(lambda x: f(np, x), X, sparse=True)
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), H, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(found.toarray(), found.toarray().T)
    pattern = dc.hessian_sparsity(lambda x: f(np, x), X)
    assert pattern.dtype == bool
    np.testing.assert_array_equal(pattern.toarray() | (H != 0), pattern.toarray())
    np.testing.assert_array_equal(pattern.indices, found.indices)
    if NONZEROS[f]:
        assert pattern.nnz == NONZEROS[f]
    else:
        i, j = pattern.nonzero()
        assert abs(i - j).max() == 3


@settings(max_examples=40, deadline=None)
@given(programs(4, zeros=True))
def test_random_programs(program):
    tape, out = dc.tape_function(program, program.point)
    H, bound = dc.hessian(tape, out), dc.hessian_bound(tape, out)
    found = dc.hessian(tape, out, sparse=True).toarray()
    assert (np.abs(found - H) <= 1e-11 * bound).all()
    assert not H[~dc.hessian_sparsity(tape, out).toarray()].any()


def test_large_ones_take_memory_by_their_nonzeros(monkeypatch):
    monkeypatch.setattr(_second, "CHUNK", 1000)
    n = 20_000
    x = np.linspace(0.5, 1.5, n)

    def f(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    H = dc.hessian(f, x, sparse=True)
    assert H.nnz == 3 * n - 2
    beside = -400.0 * x[:-1]
    np.testing.assert_allclose(H.diagonal(1), beside, rtol=1e-12)
    diagonal = (
        np.r_[1200 * x[:-1] ** 2 - 400 * x[1:] + 2, 0] + np.r_[0, 200 + 0 * x[1:]]
    )
    np.testing.assert_allclose(H.diagonal(), diagonal, rtol=1e-12)


def test_linear_scalar_structured_and_float32_programs():
    assert dc.hessian(lambda x: x @ np.ones(3), np.ones(3), sparse=True).nnz == 0
    assert dc.hessian(lambda x: x**3, 2.0, sparse=True).toarray().tolist() == [[12.0]]
    point = {"a": 2.0, "b": np.ones((2, 2))}
    H = dc.hessian(lambda p: p["a"] * np.sum(p["b"] ** 2), point, sparse=True)
    assert H.shape == (5, 5)
    np.testing.assert_array_equal(H.toarray()[0], [0, 2, 2, 2, 2])
    single = dc.hessian(lambda x: x[0] * x[1] ** 2, np.float32([3, 2]), sparse=True)
    assert single.dtype == np.float32
    cancelled = dc.hessian_sparsity(lambda x: x[0] * x[1] - x[1] * x[0], [1.0, 2.0])
    assert cancelled.nnz == 2


def test_explicit_and_declared_nodes():
    def f(x):
        tape, i = noderef(x[0])
        ids = [i, i + 1, i + 1, i + 2]
        y = pushnode(tape, 1.0, ids, np.ones(4), PairedCurvature(2))
        return np.sin(y) * x[3]

    tape, out = dc.tape_function(f, np.arange(1.0, 5.0))
    H = dc.hessian(tape, out)
    np.testing.assert_allclose(
        dc.hessian(tape, out, sparse=True).toarray(), H, rtol=1e-13
    )

    def declared(x):
        return dc.submap(lambda v: [v[0] * v[1]], x[:2])[0] + x[2] ** 2

    with pytest.raises(errors.UnsupportedOperationError, match="declares a bound"):
        dc.hessian(declared, np.ones(3), sparse=True)
    pattern = dc.hessian_sparsity(declared, np.ones(3)).toarray()
    np.testing.assert_array_equal(pattern, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


def test_without_scipy(monkeypatch):
    def missing(name, *rest):
        if name.startswith("scipy"):
            raise ImportError(name)
        return importlib.__import__(name, *rest)

    monkeypatch.setattr("derivative_covers.covers._sparse.import_module", missing)
    with pytest.raises(errors.MissingPackageError, match="pip install"):
        dc.hessian_sparsity(lambda x: x[0] ** 2, [1.0])
    assert builtins.__import__ is not missing


# -- covers for a budget -----------------------------------------------------------------


@pytest.mark.parametrize("f", NONZEROS)
def test_a_larger_budget_is_never_looser_than_the_sum(f):
    tape, out = dc.tape_function(lambda x: f(np, x), X)
    H = dc.hessian(tape, out)
    loose = dc.cover_hessian(tape, out)
    merges = []
    for budget in (1, 8, 40, 200, 5000):
        found = dc.cover_hessian(tape, out, merge="auto", budget=budget)
        assert dc.iscover(found, H)
        assert (found.h <= loose.h * (1 + 1e-12)).all()
        np.testing.assert_array_equal(found.gradient, loose.gradient)
        merges.append(found.merge)
    assert merges[0] == "sum"
    assert merges[-1] == "hessian"
    exact = dc.cover_hessian(tape, out, merge="auto")
    assert f"merge={exact.merge!r}" in repr(exact)
    assert dc.cover_excess(exact, H) < dc.cover_excess(loose, H)


def test_the_exact_hessian_is_covered_nearly_as_well_as_can_be():
    for f in (banded, arrowhead, block):
        x = X[:12]
        cover = dc.cover_hessian(lambda x, f=f: f(np, x), x, merge="auto", budget=5000)
        H = dc.hessian(lambda x, f=f: f(np, x), x)
        assert cover.merge == "hessian"
        assert dc.cover_excess(cover, H) < best(H) + 0.15


def test_declared_curvature_and_dense_rows_take_another_merge():
    def declared(x):
        return np.sum(np.stack(dc.submap(lambda v: v[:5] * v[1:6], x)) ** 2)

    tape, out = dc.tape_function(declared, X)
    found = dc.cover_hessian(tape, out, merge="auto", budget=1000)
    assert found.merge == "quadrature"
    best = dc.cover_hessian(tape, out, merge="quadrature")
    np.testing.assert_array_equal(found.h, best.h)

    def dense(x):
        return np.sum(
            np.log(1 + (np.cos(np.outer(np.arange(400.0), x[:300])) @ x[:300]) ** 2)
        )

    x = np.linspace(0.1, 1.0, 1000)
    groups = dc.cover_hessian(dense, x, merge="auto", budget=60)
    assert groups.merge in {"hybrid", "sum"}


def test_units_bit_for_bit():
    D = 2.0 ** (np.arange(N) % 7 - 3)
    for f in NONZEROS:
        for budget in (1, 40, 5000):
            base = dc.cover_hessian(
                lambda x, f=f: f(np, x), X, merge="auto", budget=budget
            )
            moved = dc.cover_hessian(
                lambda y, f=f: 4.0 * f(np, y * D),
                X / D,
                merge="auto",
                budget=budget,
                scales=1 / D,
            )
            if base.merge == moved.merge:
                np.testing.assert_array_equal(moved.h, 2.0 * D * base.h)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"merge": "auto", "budget": 0}, "budget is 0"),
        ({"merge": "auto", "budget": 2.5}, "budget is 2.5"),
        ({"merge": "sum", "budget": 3}, "merge is 'sum'"),
        ({"budget": 3}, "budget serves"),
        ({"merge": "best"}, "'auto'"),
    ],
)
def test_refusals(options, match):
    with pytest.raises(errors.OptionError, match=match):
        dc.cover_hessian(lambda x: x[0] ** 2, [1.0], **options)
