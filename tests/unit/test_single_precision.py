"""float32 recordings: nothing is computed in another type, and sums that meet are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.sweeps.kernels._jit import Kernel

SINGLE = np.float32
N = 6_000


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels as they stand: their bits are those of the compiled ones."""
    monkeypatch.setattr(Kernel, "__call__", lambda self, *args: self.plain(*args))


def x0(n: int = 5) -> Any:
    return np.linspace(0.3, 1.7, n).astype(SINGLE)


def mixed(x: Any) -> Any:
    """Arrays and scalars, float64 constants of every kind, products and splits."""
    M = np.linspace(0.1, 1.3, x.size * 3).reshape(3, x.size)  # float64
    y = np.exp(x) * 0.1 + np.float64(0.3) * x[::-1] ** 2.5 + np.sin(x) * M[0]
    w = M @ y
    s = x[0] * np.float64(1.1) + 0.7
    for k in range(1, x.size):
        s = s * x[k] / 1.3 - np.sqrt(x[k]) ** 3 + np.float64(0.2)
    return w @ w + s * np.log(x[1]) + np.mean(y * x) + x @ x


@pytest.mark.parametrize("storage", ["array", "structure"])
def test_every_result_is_single(storage: str) -> None:
    x = x0()
    f, at = (
        (mixed, x)
        if storage == "array"
        else (
            lambda p: mixed(np.concatenate([p["a"], [p["b"]]])),
            {"a": x[:-1], "b": x[-1]},
        )
    )
    tape, out = dc.tape_function(f, at)
    assert {b.values.dtype for b in tape.blocks} == {tape.dtype} == {np.dtype(SINGLE)}
    assert all(d.dtype == SINGLE for d in tape.ds)
    outs = np.array([out, out - 1])
    one = dc.cover_nls(tape, outs, ngroups=None)
    first = dc.cover_jacobian(tape, outs)
    results = [
        dc.gradient(tape, out),
        dc.jacobian(tape, outs),
        dc.hvp(tape, out, at),
        dc.hessian(tape, out),
        dc.hessian_bound(tape, out),
        dc.abs_reverse(tape, out, 1.0),
        dc.abs_forward(at, tape),
        dc.sensitivity_scales(None, tape),
        dc.gramcover(tape, outs),
        first.a,
        first.b,
        one.h,
        one.gradient,
        one.value,
        dc.cover_hybrid(tape, out, ngroups=2).h,
    ]
    for options in ({}, {"merge": "quadrature"}, {"merge": "auto"}):
        cover = dc.cover_hessian(tape, out, **options)
        results += [cover.h, cover.gradient, cover.value]
    if storage == "array":
        forward = dc.forward_cover(f, at)
        results += [forward.h, forward.gradient, forward.value]
        results.append(dc.hessian(tape, out, sparse=True).data)
        results += [r for r in dc.local_covers(tape, out) if r is not None]
    assert {a.dtype for r in results for a in leaves(r)} == {np.dtype(SINGLE)}


def leaves(r: Any) -> list[Any]:
    parts = r.values() if isinstance(r, dict) else r if isinstance(r, tuple) else None
    return [np.asarray(r)] if parts is None else [a for p in parts for a in leaves(p)]


def test_bits_are_those_of_single_precision() -> None:
    """Where float64, rounded, gives other bits, those of float32 come out."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0.2, 2.0, 400).astype(SINGLE)
    c = rng.uniform(0.5, 1.5, 400)  # cast first
    tape, out = dc.tape_function(lambda x: np.sum(np.exp(x) * c), x)
    s = c.astype(SINGLE)
    e = np.exp(x)
    np.testing.assert_array_equal(tape.vals[800:1200], e * s)
    assert tape.vals[out] == np.sum(e * s)
    cover = dc.cover_hessian(tape, out)
    wide = x.astype(np.float64), c
    for got, want, other in (
        (cover.gradient, e * s, np.exp(wide[0]) * c),
        (cover.h, np.sqrt(s) * np.sqrt(e), np.sqrt(np.exp(wide[0]) * c)),
        (dc.hvp(tape, out, x), s * (e * x), np.exp(wide[0]) * c * wide[0]),
    ):
        np.testing.assert_array_equal(got, want)
        assert (other.astype(SINGLE) != want).mean() > 0.1  # the test can tell


CASTS = [
    (lambda x: x ** np.float64(2.7), lambda x: x ** SINGLE(2.7)),
    (lambda x: x ** np.float64(2.0), lambda x: x * x),
    (lambda x: np.power(x, np.full(x.shape, 2.7)), lambda x: x ** SINGLE(2.7)),
    (lambda x: np.float64(1.1) ** x, lambda x: SINGLE(1.1) ** x),
    (lambda x: x / np.float64(0.3), lambda x: x / SINGLE(0.3)),
    (lambda x: x * np.full(x.shape, 0.1), lambda x: x * SINGLE(0.1)),
    (lambda x: np.arctan2(x, np.pi), lambda x: np.arctan2(x, SINGLE(np.pi))),
    (lambda x: np.hypot(np.float64(0.1), x), lambda x: np.hypot(SINGLE(0.1), x)),
    (lambda x: np.float_power(x, 2.7), lambda x: np.float_power(x, 2.7).astype(SINGLE)),
]


@pytest.mark.parametrize(("f", "want"), CASTS)
def test_constants_are_cast_first(f: Any, want: Any) -> None:
    x = np.random.default_rng(0).uniform(0.2, 2.0, 64).astype(SINGLE)
    tape, _ = dc.tape_function(lambda x: np.sum(f(x)), x)
    block = tape.blocks[1].values
    assert block.dtype == SINGLE
    np.testing.assert_array_equal(block, want(x))
    for k in (0, 7):
        t, o = dc.tape_function(lambda x, k=k: f(x[k]), x)
        assert t.vals.dtype == SINGLE
        assert t.vals[o] == want(x[k : k + 1])[0] or f is CASTS[-1][0]


def test_scalar_loops_have_the_bits_of_numpy_scalars() -> None:
    def f(a: Any, b: Any) -> Any:
        for _ in range(200):
            a = a * 0.999 + b * 1e-3 - np.sin(a) / 7 + 2 * a**3 * 1e-4
        return a

    x = x0(2)
    tape, out = dc.tape_function(lambda x: f(x[0], x[1]), x)
    plain = f(x[0], x[1])
    assert plain.dtype == SINGLE
    assert tape.vals[out] == plain
    assert SINGLE(f(float(x[0]), float(x[1]))) != plain


def test_covers_hold_to_the_rounding_of_single() -> None:
    for n in (3, 6):
        x = x0(n)
        H = dc.hessian(mixed, x.astype(np.float64))
        tape, out = dc.tape_function(mixed, x)
        exact = dc.gradient(mixed, x.astype(np.float64))
        np.testing.assert_allclose(dc.gradient(tape, out), exact, rtol=1e-4)
        size = np.abs(H).max()
        np.testing.assert_allclose(dc.hessian(tape, out), H, atol=1e-5 * size)
        assert (dc.hessian_bound(tape, out) >= np.abs(H) - 1e-5 * size).all()
        for cover in (
            dc.cover_hessian(tape, out),
            dc.cover_hessian(tape, out, merge="quadrature"),
            dc.cover_hybrid(tape, out, ngroups=2),
            dc.forward_cover(mixed, x),
        ):
            assert dc.iscover(cover, H, rtol=1e-5)


def rows(x: Any) -> Any:
    return np.random.default_rng(4).normal(size=(N, 3)).astype(x.dtype)


MEETING = [
    lambda x: np.sum(x[0] * np.full(N, 0.1, x.dtype) + x[1]),
    lambda x: np.sum((rows(x) @ x[:3]) ** 2),
    lambda x: np.sum(np.exp(x[0] * x[3:]) * x[1]),
    lambda x: np.sum((x[None, :3] * np.abs(rows(x))) ** 2),
    lambda x: np.sum(x[np.arange(N) % 3] ** 3),
    lambda x: np.sum(np.outer(x[3:403], x[:50]) @ x[:50]),
]


@pytest.mark.parametrize("f", MEETING)
@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_terms_that_meet_in_one_entry_lose_nothing(f: Any, kind: Any) -> None:
    x = np.random.default_rng(2).uniform(0.5, 1.0, N + 3).astype(SINGLE).astype(kind)
    wide = x.astype(np.complex128 if kind is np.complex64 else np.float64)

    def all_results(at: Any) -> list[Any]:
        tape, out = dc.tape_function(f, at)
        cover = dc.cover_hessian(tape, out)
        return [
            cover.gradient,
            cover.h,
            dc.hvp(tape, out, np.ones_like(at)),
            dc.abs_reverse(tape, out, 1.0),
            dc.abs_forward(np.ones(at.size), tape)[out],
            dc.cover_hybrid(tape, out, ngroups=2).h,
        ]

    for got, want in zip(all_results(x), all_results(wide), strict=True):
        assert got.dtype.itemsize * 2 == want.dtype.itemsize
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-30)
