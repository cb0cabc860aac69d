"""Every way through the sweeps gives the same numbers."""

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import sweeps
from derivative_covers.sweeps import Pair, _lower, _rows, _step, _wide
from derivative_covers.sweeps.kernels import _jit, line, pair, rows, wide
from derivative_covers.sweeps.kernels._jit import Kernel

X = np.random.default_rng(3).uniform(0.3, 1.5, size=24)


def mixed(x):
    """Small and large blocks, scalars, gathers, wide nodes, products of matrices."""
    A = x[:12].reshape(3, 4)
    B = x[12:].reshape(4, 3)
    s = x[0] * x[1] + np.sin(x[2]) / x[3]
    y = x.copy()
    y[::2] *= y[1::2]
    y[3] = s
    big = np.exp(np.outer(x, y)[:, ::-1] / 9).T[:20]
    return (
        np.sum(A @ B @ A)
        + np.log(np.sum(big * big))
        + x @ x
        + np.prod(y[:5])
        + np.sum(np.cumsum(x) ** 2 / 50)
        + np.linalg.norm(y - 0.5 * x)
    )


def grid(x):
    """Dirichlet energy on a grid: supports are small but their spans are wide."""
    u = x.reshape(4, 6)
    return np.sum((u[1:] - u[:-1]) ** 4) + np.sum((u[:, 1:] - u[:, :-1]) ** 4)


def everything(tape, out):
    return [
        dc.gradient(tape, out),
        dc.hessian(tape, out),
        dc.hessian_bound(tape, out),
        dc.cover_hessian(tape, out).h,
        dc.cover_hessian(tape, out, merge="quadrature").h,
        dc.cover_hybrid(tape, out, ngroups=5).h,
        dc.abs_reverse(tape, out, 1.0),
        dc.abs_forward(np.ones(X.size), tape),
    ]


def agree(found, expected, rtol=1e-12):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13 * np.abs(b).max())


@pytest.mark.parametrize("f", [mixed, grid])
@pytest.mark.parametrize("small", [1, 10**9])
def test_gathering_small_blocks_changes_nothing(monkeypatch, f, small):
    expected = everything(*dc.tape_function(f, X))
    monkeypatch.setattr(_lower, "SMALL", small)
    agree(everything(*dc.tape_function(f, X)), expected)


@pytest.mark.parametrize("f", [mixed, grid])
def test_values_block_by_block_change_nothing(monkeypatch, f):
    expected = everything(*dc.tape_function(f, X))
    monkeypatch.setattr(_lower, "SHORT", -1)
    for a, b in zip(everything(*dc.tape_function(f, X)), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_few_small_operations_do_not_put_a_long_tape_together():
    def f(x):
        y = np.exp(x)
        return np.sum(y) + 3.0 * np.sum(y[10:40] * 2.0)

    tape, out = dc.tape_function(f, np.linspace(0.0, 1.0, 100_000))
    sweeps.check_outputs(tape, out)
    assert "vals" not in tape.cache


@pytest.mark.parametrize("f", [mixed, grid])
def test_expanding_in_chunks_changes_nothing(monkeypatch, f):
    tape, out = dc.tape_function(f, X)
    expected = everything(tape, out)
    for module in (_step, _wide):
        monkeypatch.setattr(module, "CHUNK", 8)
    for a, b in zip(everything(tape, out), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("f", [mixed, grid])
@pytest.mark.parametrize("cap", [1, 2, 5, 10**4])
def test_rows_and_single_sweeps_give_the_same_quadrature(monkeypatch, f, cap):
    tape, out = dc.tape_function(f, X)
    expected = dc.cover_hessian(tape, out, merge="quadrature").h
    monkeypatch.setattr(_rows, "CAP", cap)
    found = dc.cover_hessian(tape, out, merge="quadrature").h
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_few_dense_atoms_take_one_reverse_sweep_each(monkeypatch):
    calls = []
    plain = _rows.adjoints
    monkeypatch.setattr(
        _rows, "adjoints", lambda *a, **k: calls.append(a) or plain(*a, **k)
    )
    n = 400
    x = np.linspace(1.0, 2.0, n)
    cover = dc.cover_hessian(lambda x: np.log(np.sum(x**2)), x, merge="quadrature")
    assert len(calls) == 1
    assert dc.iscover(cover, dc.hessian(lambda x: np.log(np.sum(x**2)), x))


def test_groups_by_support_lose_nothing_where_spans_overlap():
    tape, out = dc.tape_function(grid, X)
    assert not dc.guards_any_block(tape)
    tight = dc.cover_hessian(tape, out, merge="quadrature").h
    np.testing.assert_allclose(
        dc.cover_hybrid(tape, out, ngroups=9).h, tight, rtol=1e-13
    )
    assert (dc.cover_hybrid(tape, out, ngroups=2).h > tight * (1 + 1e-9)).any()


def test_sweeps_of_one_tape_run_in_several_threads_at_once():
    tape, out = dc.tape_function(mixed, X)
    expected = everything(*dc.tape_function(mixed, X))
    results: list = [None] * 6

    def work(k):
        results[k] = everything(tape, out)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for found in results:
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_kernels_release_the_lock_and_keep_ieee_arithmetic():
    kernels = [
        k
        for module in (pair, line, wide, rows)
        for k in vars(module).values()
        if isinstance(k, Kernel)
    ]
    assert len(kernels) > 20
    for k in kernels:
        compiled = k.compiled()
        if numba.config.DISABLE_JIT:
            assert compiled.__code__ is k.plain.__code__
            continue
        assert compiled.targetoptions["nogil"]
        assert not compiled.targetoptions.get("fastmath")


def test_kernels_run_as_they_stand_until_the_compiler_pays(monkeypatch):
    calls = []

    def double(x):
        calls.append(x)
        return 2 * x

    k = Kernel(double)
    monkeypatch.setattr(_jit, "_patience", 100)
    assert k(4) == 8
    assert calls == [4]
    monkeypatch.setattr(k, "_compiled", lambda x: 2 * x)
    assert k(5) == 10
    assert calls == [4]
    _jit.charge(99)
    assert _jit._patience == 1
    _jit.charge(5)
    assert _jit._patience == -4


def test_a_program_of_many_small_operations_is_few_steps():
    def f(x):
        s = x[:3]
        for _ in range(50):
            s = s * x[3:6] + np.sin(s)
        return s[0] * s[1] + s[2]

    tape, _ = dc.tape_function(f, X)
    assert len(tape.blocks) > 100
    assert len(sweeps.lower(tape).steps) == 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_consecutive_operands_split_as_any_other(monkeypatch, dtype):
    def f(x):
        y = x[1:] * x[:-1]
        z = y * np.exp(x[1:] / 4)
        return np.sum(z[1:] * y[:-1]) + np.sum(z * z)

    x = np.random.default_rng(1).lognormal(sigma=0.5, size=700).astype(dtype)
    tape, out = dc.tape_function(f, x)
    used = []
    fast = Pair._cover_products

    def watched(self, *args):
        used.append(fast(self, *args))
        return used[-1]

    monkeypatch.setattr(Pair, "_cover_products", watched)
    found = dc.cover_hessian(tape, out)
    assert used == [True, True, True]
    monkeypatch.setattr(Pair, "_cover_products", lambda *_: False)
    expected = dc.cover_hessian(tape, out)
    eps = np.finfo(dtype).eps
    np.testing.assert_array_equal(found.gradient, expected.gradient)
    np.testing.assert_allclose(found.h, expected.h, rtol=8 * eps)
    for bad in (0.0, 1e-30):
        x[350] = bad
        tape, out = dc.tape_function(f, x)
        used.clear()
        monkeypatch.setattr(Pair, "_cover_products", watched)
        found = dc.cover_hessian(tape, out)
        assert not all(used)
        monkeypatch.setattr(Pair, "_cover_products", lambda *_: False)
        expected = dc.cover_hessian(tape, out)
        np.testing.assert_allclose(found.h, expected.h, rtol=8 * eps)
