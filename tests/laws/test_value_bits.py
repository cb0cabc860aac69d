"""Values on a tape have the same bits as plain NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc

Function = Callable[..., Any]

UNARY: dict[str, tuple[float, float]] = {
    "negative": (-3, 3),
    "absolute": (-3, 3),
    "square": (-3, 3),
    "reciprocal": (0.1, 3),
    "sqrt": (0.1, 9),
    "cbrt": (0.1, 9),
    "exp": (-30, 30),
    "exp2": (-30, 30),
    "expm1": (-3, 3),
    "log": (0.01, 50),
    "log2": (0.01, 50),
    "log10": (0.01, 50),
    "log1p": (-0.9, 50),
    "sin": (-50, 50),
    "cos": (-50, 50),
    "tan": (-1.5, 1.5),
    "arcsin": (-0.99, 0.99),
    "arccos": (-0.99, 0.99),
    "arctan": (-9, 9),
    "sinh": (-9, 9),
    "cosh": (-9, 9),
    "tanh": (-9, 9),
    "arcsinh": (-9, 9),
    "arccosh": (1.01, 9),
    "arctanh": (-0.99, 0.99),
    "sign": (-3, 3),
    "floor": (-3, 3),
    "ceil": (-3, 3),
    "rint": (-3, 3),
    "deg2rad": (-300, 300),
    "rad2deg": (-3, 3),
}

BINARY: dict[str, tuple[float, float]] = {
    "add": (-3, 3),
    "subtract": (-3, 3),
    "multiply": (-3, 3),
    "divide": (0.1, 3),
    "power": (0.1, 3),
    "arctan2": (-3, 3),
    "hypot": (-3, 3),
    "logaddexp": (-9, 9),
    "maximum": (-3, 3),
    "minimum": (-3, 3),
    "fmax": (-3, 3),
    "fmin": (-3, 3),
    "mod": (0.1, 9),
    "copysign": (-3, 3),
}

# Each takes a vector of 72 entries. Memory order and strides decide which of NumPy's
# loops runs, and so the last bits.
LAYOUTS: dict[str, Function] = {
    "contiguous": lambda x: x,
    "reversed": lambda x: x[::-1],
    "every other": lambda x: x[::2],
    "backwards by three": lambda x: x[::-3],
    "matrix": lambda x: x.reshape(8, 9),
    "transposed": lambda x: x.reshape(8, 9).T,
    "columns": lambda x: x.reshape(8, 9)[:, 2:7],
    "strided both ways": lambda x: x.reshape(8, 9)[::2, ::-1],
    "three axes": lambda x: np.transpose(x.reshape(3, 4, 6), (2, 0, 1)),
    "gathered": lambda x: x[np.arange(72)[::-5]],
    "broadcast": lambda x: np.broadcast_to(x[:8], (3, 8)),
    "written": lambda x: _written(x),
    "empty": lambda x: x[3:3],
}

REDUCTIONS: dict[str, Function] = {
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "var": np.var,
    "std": np.std,
    "max": np.max,
    "min": np.min,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "norm": np.linalg.norm,
    "sum last": lambda a: np.sum(a, axis=-1),
    "sum first": lambda a: np.sum(a, axis=0, keepdims=True),
    "mean last": lambda a: np.mean(a, axis=-1, keepdims=True),
    "var first": lambda a: np.var(a, axis=0, ddof=1),
    "std last": lambda a: np.std(a, axis=-1),
    "prod first": lambda a: np.prod(a, axis=0),
    "max last": lambda a: np.max(a, axis=-1),
    "min first": lambda a: np.min(a, axis=0),
    "cumsum last": lambda a: np.cumsum(a, axis=-1),
    "cumprod first": lambda a: np.cumprod(a, axis=0),
    "norm last": lambda a: np.linalg.norm(a, axis=-1),
    "method sum": lambda a: a.sum(axis=0),
    "method mean": lambda a: a.mean(),
}


def _written(x: Any) -> Any:
    y = x.copy()
    y[::3] = y[1::3][::-1]
    y[10:20] = y[5:15]
    return y[1:]


def point(low: float, high: float, size: int = 72) -> Any:
    return np.random.default_rng(17).uniform(low, high, size=size)


def assert_same_bits(f: Function, x0: Any) -> None:
    """The recorded value of ``f`` equals its plain value bit for bit."""

    def anchored(x: Any) -> Any:
        # A second output keeps programs apart that would otherwise be constant.
        return np.concatenate([np.ravel(f(x)), x[:1]])

    expected = np.asarray(anchored(x0))
    tape, outs = dc.tape_function(anchored, x0)
    actual = tape.vals[outs]
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", UNARY)
def test_unary_ufuncs(name: str, layout: str) -> None:
    ufunc, arrange = getattr(np, name), LAYOUTS[layout]
    assert_same_bits(lambda x: ufunc(arrange(x)), point(*UNARY[name]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", BINARY)
def test_binary_ufuncs(name: str, layout: str) -> None:
    ufunc, arrange = getattr(np, name), LAYOUTS[layout]
    x0 = point(*BINARY[name], size=144)

    def two(x: Any) -> Any:
        return ufunc(arrange(x[:72]), arrange(x[72:]))

    def left_constant(x: Any) -> Any:
        return ufunc(1.3, arrange(x[:72]))

    def right_constant(x: Any) -> Any:
        return ufunc(arrange(x[:72]), 0.7)

    def mixed_layouts(x: Any) -> Any:
        a = arrange(x[:72])
        return ufunc(a, x[72 : 72 + a.shape[-1]])

    for f in (two, left_constant, right_constant, mixed_layouts):
        assert_same_bits(f, x0)


@pytest.mark.parametrize("exponent", [2, 3, -1, -2, 0.5, 1.5, 2.0, 3.0, 1, 7])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_constant_powers(exponent: float, layout: str) -> None:
    assert_same_bits(lambda x: LAYOUTS[layout](x) ** exponent, point(0.1, 3))


def _defined(name: str, layout: str) -> bool:
    """Not where nothing is reduced to a mean or an extremum, or repeated entries tie."""
    if layout == "empty":
        undefined = ("mean", "var", "std", "max", "min", "norm", "method mean")
        return not name.startswith(undefined)
    return layout != "broadcast" or not name.startswith(("max", "min"))


@pytest.mark.parametrize(
    ("name", "layout"),
    [(n, where) for n in REDUCTIONS for where in LAYOUTS if _defined(n, where)],
)
def test_reductions(name: str, layout: str) -> None:
    reduce, arrange = REDUCTIONS[name], LAYOUTS[layout]
    assert_same_bits(lambda x: reduce(arrange(x)), point(-1.5, 3))


def test_long_reductions() -> None:
    """Long enough for NumPy's pairwise summation to split."""
    x0 = point(-1.0, 1.0, size=3000)
    for f in (
        np.sum,
        np.mean,
        np.cumsum,
        lambda x: np.sum(x[::-1]),
        lambda x: np.sum(x.reshape(30, 100).T, axis=0),
        lambda x: np.sum(x.reshape(30, 100), axis=0),
        lambda x: np.sum(x.reshape(3, 10, 100), axis=(0, 2)),
        lambda x: np.var(x.reshape(30, 100), axis=1),
        lambda x: np.mean(x.reshape(100, 30), axis=0),
    ):
        assert_same_bits(f, x0)


CONSTANT = np.random.default_rng(3).normal(size=(9, 9))
PRODUCTS: dict[str, Function] = {
    "dot itself": lambda a: np.dot(a.ravel(), a.ravel()),
    "dot reversed": lambda a: a.ravel()[::-1] @ a.ravel(),
    "dot strided": lambda a: np.dot(a[:, 2], a[:, 5]),
    "dot constant": lambda a: CONSTANT[2] @ a[1],
    "matrix vector": lambda a: a @ a[0],
    "vector matrix": lambda a: a[:, 3] @ a,
    "transposed vector": lambda a: a.T @ a[:, 1],
    "constant matrix": lambda a: CONSTANT @ a,
    "constant transposed": lambda a: CONSTANT.T @ a.T,
    "matrix constant": lambda a: np.matmul(a, CONSTANT[:, ::2]),
    "gram": lambda a: a.T @ a,
    "gram of rows": lambda a: np.dot(a, a.T),
    "squared": lambda a: a @ a,
    "slices": lambda a: a[1:, ::2] @ a[::2, ::-1].T[:5].T[:5],
    "batched": lambda a: np.matmul(a.reshape(9, 3, 3), a.reshape(9, 3, 3)[::-1]),
    "batched constant": lambda a: np.matmul(
        CONSTANT.reshape(9, 3, 3), a.reshape(9, 3, 3)
    ),
    "outer": lambda a: np.outer(a[0], a[:, 0]),
    "tensordot": lambda a: np.tensordot(a, a, axes=([0], [1])),
    "tensordot all": lambda a: np.tensordot(a, CONSTANT, axes=2),
    "einsum product": lambda a: np.einsum("ij,jk->ik", a, a),
    "einsum trace": lambda a: np.einsum("ii->", a),
    "einsum diagonal": lambda a: np.einsum("ii->i", a),
    "einsum quadratic": lambda a: np.einsum("i,ij,j->", a[0], CONSTANT, a[1]),
    "einsum rows": lambda a: np.einsum("ij,ij->i", a, CONSTANT),
    "einsum transposed": lambda a: np.einsum("ij,kj->ki", a, a),
    "einsum batched": lambda a: np.einsum("bij,bjk->bik", *[a.reshape(9, 3, 3)] * 2),
    "einsum implicit": lambda a: np.einsum("ij,jk", a, CONSTANT),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    product = PRODUCTS[name]
    x0 = point(-1.5, 1.5, size=81)
    assert_same_bits(lambda x: product(x.reshape(9, 9)), x0)
    assert_same_bits(lambda x: product(x.reshape(9, 9).T), x0)
    assert_same_bits(lambda x: product((x + 1.0).reshape(9, 9)[::-1]), x0)


SCALAR: dict[str, Function] = {
    "exp": np.exp,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "log1p": np.log1p,
    "log10": np.log10,
    "cbrt": np.cbrt,
    "sin": np.sin,
    "square": lambda t: t**2,
    "cube": lambda t: t**3,
    "root": lambda t: t**0.5,
    "inverse": lambda t: t**-1,
    "power of two": lambda t: 2**t,
    "over": lambda t: 1 / t,
    "fraction": lambda t: (t - 2) * 3 / (t + 0.1),
    "floor division": lambda t: t % 0.3,
    "hypot": lambda t: np.hypot(t, 2.0 * t),
    "integer": lambda t: 3 * t + 1 - 2 * t,
}


@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scalars(name: str, dtype: type) -> None:
    function = SCALAR[name]
    x0 = dtype(point(0.1, 3.0, size=50))
    expected = np.array([function(t) for t in x0])
    tape, outs = dc.tape_function(lambda x: [function(t) for t in x], x0)
    actual = tape.vals[outs]
    assert actual.dtype == expected.dtype == dtype
    np.testing.assert_array_equal(actual.view(np.uint8), expected.view(np.uint8))


FLOAT32: list[Function] = [
    lambda x: np.sum(np.exp(x) * x),
    lambda x: np.sum(x[1:] ** 2 * x[:-1] * 0.5 + 1.0),
    lambda x: np.dot(x, x) * 2,
    lambda x: np.mean(np.sin(x[::-1]) / (1.0 + x**2)),
    lambda x: np.sum(np.float64(0.1) * x),
    lambda x: x[0] * x[1] + math.pi * np.tanh(x[2]) ** 3,
    lambda x: np.sum(np.cumsum(np.sqrt(x)) ** 1.5),
    lambda x: np.linalg.norm(np.outer(x, x)),
]


@pytest.mark.parametrize("f", FLOAT32)
def test_float32_stays_float32(f: Function) -> None:
    x0 = np.array([0.3, 1.7, 0.9, 2.2], dtype=np.float32)
    tape, out = dc.tape_function(f, x0)
    assert tape.dtype == tape.vals.dtype == np.float32
    np.testing.assert_allclose(tape.vals[out], f(np.float64(x0)), rtol=1e-5)
    double, double_out = dc.tape_function(f, np.float64(x0))
    for sweep in (dc.gradient, dc.hessian, dc.hessian_bound):
        single = sweep(tape, out)
        assert single.dtype == np.float32
        expected = sweep(double, double_out)
        size = np.abs(expected).max()
        np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-5 * size)
    covers = [dc.cover_hessian(tape, out, merge=m) for m in ("sum", "quadrature")]
    covers += [dc.cover_hybrid(tape, out, ngroups=2)]
    for cover in covers:
        assert cover.h.dtype == cover.gradient.dtype == np.float32
        assert dc.iscover(cover.h, dc.hessian(double, double_out), rtol=1e-4)
    assert dc.hvp(tape, out, np.ones(4)).dtype == np.float32
    assert dc.abs_forward(np.ones(4), tape).dtype == np.float32


@pytest.mark.parametrize(
    "x0", [[3, 1, 2], np.arange(1, 4), np.array([True, False, True])]
)
def test_integers_are_promoted_to_float64(x0: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(x**2) + x[0] / 2

    tape, out = dc.tape_function(f, x0)
    assert tape.dtype == np.float64
    values = np.asarray(x0, dtype=float)
    expected = 2.0 * values + np.array([0.5, 0.0, 0.0])
    np.testing.assert_array_equal(dc.gradient(tape, out), expected)
