"""Inputs on which automatic differentiation is known to go wrong, with right answers.

The kinds are those that users of other libraries have reported: zeros in products and
powers, unselected branches, ties, in-place writes, saturated and tiny arguments, shapes.
"""

from __future__ import annotations

import copy
import gc
import math
import pickle
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import (
    DerivativeError,
    DomainError,
    NondifferentiableError,
)


@dataclass(frozen=True)
class Case:
    """A program, its point, and what must come out; None is not checked."""

    f: Callable[[Any], Any]
    x0: Any
    value: float | None = None
    gradient: Any = None
    hessian: Any = None
    rtol: float = 1e-12


def _rotate(x: Any) -> Any:
    c, s = np.cos(x[0]), np.sin(x[0])
    return np.sum(np.dot(np.array([[c, -s], [s, c]]), x[1:]) * np.array([1.0, 2.0]))


def _typed_zero(x: Any) -> Any:
    return x[0] * x[1] + type(x[0])(0.0)


def _scatter_labels(x: Any) -> Any:
    labels = np.array([[0, 1, 2], [2, 1, 0]])
    r: Any = 0.0
    for i in range(3):
        r = r + np.where(labels == i, x[i], 0.0)
    return np.sum(np.exp(r))


def _block(a: Any) -> Any:
    b = np.zeros_like(a, shape=(4, 4))
    b[:2, :2] = a
    b[2:, 2:] = 2.0 * a
    return np.sum(b * b)


def _rows(p: Any) -> Any:
    r = np.zeros_like(p, shape=3)
    for m in range(3):
        r[m] = np.sum(p[m] * p[0])
    return np.sum(r)


def _augmented(x: Any) -> Any:
    out = np.full_like(x, -0.5, shape=4)
    out[:2] += x
    out[1:3] *= 2.0
    out[0] -= x[1]
    return np.sum(out**2)


def _onto_itself(x: Any) -> Any:
    y = x * 1.0
    y += x
    y *= y
    return np.sum(y)


def _overwrite_after_use(x: Any) -> Any:
    a = np.zeros_like(x)
    a[:] = x
    s = np.sum(a * a)
    a[1] = 5.0 * a[0]
    a[0] = a[1] * a[2]
    return s + np.sum(a**2)


def _mask_write(x: Any) -> Any:
    a = np.empty_like(x)
    a[:] = x * x * x
    a[a < 0] = 0.0
    return np.sum(a)


def _divide_in_place(x: Any) -> Any:
    z = np.ones_like(x, shape=2)
    z /= x[0]
    return np.sum(z)


def _last_write_wins(x: Any) -> Any:
    a = np.zeros_like(x)
    a[np.array([0, 0])] = x
    return np.sum(a**2)


def _buffered_add(x: Any) -> Any:
    a = np.zeros_like(x, shape=2)
    a[np.array([0, 0, 1])] += x
    return np.sum(a**2)


def _closure(x: Any) -> Any:
    def inner(y: Any) -> Any:
        return x * y

    return x * inner(x + 1.0)


def _geometric_series(x: Any) -> Any:
    z = np.eye(2)
    for _ in range(100):
        z = np.dot(x, z) + np.eye(2)
    return np.sum(z)


def _many_terms(x: Any) -> Any:
    s = 0.0
    for i in range(2500):
        s = s + x[0] * x[1] * (i % 3) + x[1]
    return s


def _spectrum(x: Any) -> Any:
    k = np.arange(4)
    angle = 2 * np.pi * np.outer(k, k) / 4
    w = np.array([1.0, 1.0, 0.0, 0.0])
    return np.sum(w * (np.dot(np.cos(angle), x) ** 2 + np.dot(np.sin(angle), x) ** 2))


def _himmelbb(x: Any) -> Any:
    r2 = 1.0 - x[0]
    return (x[0] * x[1] * r2 * (1.0 - x[1] - x[0] * r2**5)) ** 2


def _guarded_oscillation(x: Any) -> Any:
    safe = np.where(x != 0, x, 1.0)
    return np.sum(np.where(x != 0, x**6 * (2 + np.sin(1 / safe)), 0.0))


def _masked_origin(a: Any) -> Any:
    hidden = np.array([False, True, False])
    return np.sum(np.where(hidden, 0.0, np.arctan2(a, a)))


def _guarded_root(x: Any) -> Any:
    root = np.where(x > 0.5, np.sqrt(np.abs(x)), 0.0)
    return np.sum(root + np.where(x < 0.5, x * x, 0.0))


def _two_sums(x: Any) -> Any:
    a, b = np.reshape(x, (3, 1)), np.reshape(x, (1, 3))
    weights = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [2.0, 2.0, 2.0]])
    return np.sum(a * b * weights) + np.sum(x[0:1] * np.ones((5, 4)))


def _contractions(x: Any) -> Any:
    gram = np.tensordot(x, x, axes=([0], [0]))
    return np.sum(gram) + np.tensordot(x, np.ones((2, 3)), axes=([0, 1], [0, 1]))


def _slices(x: Any) -> Any:
    return (
        np.sum(x[::-1] * x) + np.sum(x[::2] ** 3) + x[-1] * x[-2] + np.sum(x[..., None])
    )


def _numpy_scalars_left(x: Any) -> Any:
    left = np.float64(2.0) * x[0] + 1 / x[1] + (2 - x[0]) * 3
    return left + 2 ** x[1] + np.float64(3.0) ** x[0]


def _sinc_chain(t: Any) -> Any:
    return 2 * np.sinc(t) - 3 * np.sinc(2 * t + 1) + 5 * np.sinc(2 - t / 2)


def _range_of_columns(x: Any) -> Any:
    centred = x - np.max(x, axis=1, keepdims=True)
    return np.sum(centred**2) + np.sum(np.min(x, axis=0))


def _branch(x: Any) -> Any:
    return x[0] ** 2 * x[1] if x[0] > x[1] else x[1] ** 3


TWO = 2.0 * np.eye(2)
CASES: dict[str, Case] = {
    "cube at zero": Case(
        lambda x: x[0] ** 3 * x[1] + x[1] ** 2,
        [0.0, 1.5],
        2.25,
        [0.0, 3.0],
        [[0, 0], [0, 2]],
    ),
    "array cube at zero": Case(
        lambda x: np.sum(x**3), [0.0, 1.5], 3.375, [0.0, 6.75], [[0, 0], [0, 9.0]]
    ),
    "square of a tiny number": Case(lambda x: x**2, 1e-170, 0.0, 2e-170, 2.0),
    "bell at zero": Case(
        lambda x: np.exp(-np.sum(x**2)), [0.0, 0.0], 1.0, [0.0, 0.0], -TWO
    ),
    "first power at zero": Case(lambda x: x**1.0, 0.0, 0.0, 1.0, 0.0),
    "zeroth power at zero": Case(lambda x: x**0.0 + x, 0.0, 1.0, 1.0, 0.0),
    "constant zero base": Case(lambda x: 0.0 ** x[0] + x[0], [1.0], 1.0, [1.0]),
    "negative base": Case(
        lambda x: (-x) ** 3 + x**-2, 2.0, -7.75, -12.25, -12 + 6 / 16
    ),
    "product with one zero": Case(
        np.prod,
        [2.0, 0.0, 3.0, 4.0],
        0.0,
        [0.0, 24.0, 0.0, 0.0],
        [[0, 12, 0, 0], [12, 0, 8, 6], [0, 8, 0, 0], [0, 6, 0, 0]],
    ),
    "product with two zeros": Case(
        np.prod,
        [2.0, 0.0, 3.0, 0.0],
        0.0,
        [0.0, 0.0, 0.0, 0.0],
        [[0, 0, 0, 0], [0, 0, 0, 6], [0, 0, 0, 0], [0, 6, 0, 0]],
    ),
    "products of rows with zeros": Case(
        lambda x: np.sum(np.prod(x, axis=1) * np.array([1.0, 10.0])),
        [[1.0, 2.0, 0.0], [0.0, 5.0, 0.0]],
        0.0,
        [[0.0, 0.0, 2.0], [0.0, 0.0, 0.0]],
    ),
    "cumulative product with a zero": Case(
        lambda x: np.sum(np.cumprod(x) * np.array([1.0, 2.0, 3.0, 4.0])),
        [3.0, 0.0, -1.0, 2.0],
        3.0,
        [1.0, -27.0, 0.0, 0.0],
    ),
    "guarded root": Case(_guarded_root, [4.0, -3.0, 9.0], 14.0, [0.25, -6.0, 1 / 6]),
    "unselected logarithm": Case(
        lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)),
        [-1.0, -0.5, 2.0],
        math.log(2.0),
        [0.0, 0.0, 0.5],
        np.diag([0.0, 0.0, -0.25]),
    ),
    "masked origin of arctan2": Case(
        _masked_origin, [3.0, 0.0, -5.0], -math.pi / 2, [0.0, 0.0, 0.0]
    ),
    "guarded oscillation": Case(
        _guarded_oscillation, [0.0, 0.5], 0.04545777229415127, [0.0, 0.5715024448140117]
    ),
    "sinc at zero": Case(np.sinc, 0.0, 1.0, 0.0, -(math.pi**2) / 3),
    "sinc chained at zero": Case(
        _sinc_chain, -0.5, -1.2265847240664451, 1.8719550506404707, 35.56404073668897
    ),
    "sinc of a tiny number": Case(np.sinc, 1e-200, 1.0, -3.289868133696453e-200),
    "saturated sigmoid": Case(lambda x: 1 / (1 + np.exp(-x)), -800.0, 0.0, 0.0),
    "saturated tanh": Case(np.tanh, 20.0, 1.0, 4 * math.exp(-40.0)),
    "softplus far out": Case(
        lambda x: np.sum(np.logaddexp(0.0, x) * np.array([1.0, 2.0, 3.0])),
        [1000.0, -1000.0, 0.0],
        1000.0 + 3 * math.log(2.0),
        [1.0, 0.0, 1.5],
        np.diag([0.0, 0.0, 0.75]),
    ),
    "expm1 and log1p of a tiny number": Case(
        lambda x: np.expm1(x) * np.log1p(x) * 1e30, 1e-17, 1e-4, 2e13, 2e30
    ),
    "log1p next to its pole": Case(
        np.log1p, -0.9999999999999999, -36.7368005696771, 9007199254740992.0
    ),
    "hypot of huge numbers": Case(
        lambda x: np.hypot(x[0], x[1]), [3e200, 4e200], 5e200, [0.6, 0.8]
    ),
    "remainder of a negative": Case(
        lambda x: np.remainder(x[0], x[1]),
        [-19.0, 3.1],
        2.7,
        [1.0, 7.0],
        np.zeros((2, 2)),
    ),
    "cancellation in the value": Case(lambda x: (1.0 + x) - 1.0, 1e-9, None, 1.0, 0.0),
    "huge beside tiny": Case(
        lambda x: x[0] * x[1] + (x[0] * 1e50) ** 2 + (x[1] * 1e-50) ** 2,
        [1e-100, 3e99],
        None,
        [3e99 + 2.0, 1e-100 + 6e-1],
        [[2e100, 1.0], [1.0, 2e-100]],
    ),
    "variance of equal entries": Case(
        np.var, [1.0, 1.0, 1.0], 0.0, [0.0, 0.0, 0.0], (np.eye(3) - 1 / 3) * 2 / 3
    ),
    "deviation of rows": Case(
        lambda x: np.sum(np.std(x, axis=1, ddof=1)),
        [[1.0, 2.0, 4.0], [0.5, -1.0, 3.0]],
        3.548251173815637,
        [
            [-0.4364357804719848, -0.1091089451179962, 0.5455447255899809],
            [-0.08247860988423225, -0.45363235436327737, 0.5361109642475096],
        ],
    ),
    "zero-dimensional": Case(
        lambda x: np.sin(np.reshape(x, ())) * x,
        1.3,
        1.2526256410423509,
        1.3113066626291565,
        -0.7176279837931762,
    ),
    "integer input": Case(lambda x: x**2, 100, 10000.0, 200.0, 2.0),
    "an input never used": Case(
        lambda x: x[0] * x[2],
        [1.0, 2.0, 3.0],
        3.0,
        [3.0, 0.0, 1.0],
        [[0, 0, 1], [0, 0, 0], [1, 0, 0]],
    ),
    "typed zero": Case(_typed_zero, [2.0, 3.0], 6.0, [3.0, 2.0]),
    "empty slices": Case(
        lambda x: np.sum(x[0:0]) + np.prod(x[2:]) + x[0] * 2,
        [1.0, 2.0],
        3.0,
        [2.0, 0.0],
    ),
    "broadcasting both ways": Case(
        _two_sums,
        [1.0, 2.0, 3.0],
        74.0,
        [41, 12, 21],
        [[2, 2, 5], [2, 2, 2], [5, 2, 4]],
    ),
    "broadcast rows": Case(
        lambda x: np.sum(np.broadcast_to(x, (4, 3)) ** 2),
        [1.0, 2.0, 3.0],
        56.0,
        [8.0, 16.0, 24.0],
        8.0 * np.eye(3),
    ),
    "traces by einsum": Case(
        lambda x: np.einsum("ii->", x) * np.einsum("ij,ji->", x, x),
        [[1.0, 2.0], [3.0, 4.0]],
        145.0,
        [[39.0, 30.0], [20.0, 69.0]],
        [
            [[[14, 6], [4, 10]], [[6, 0], [10, 6]]],
            [[[4, 10], [0, 4]], [[10, 6], [4, 26]]],
        ],
    ),
    "batched product": Case(
        lambda x: np.sum(np.matmul(np.reshape(np.arange(12.0), (3, 2, 2)), x) ** 2),
        [[1.0, 2.0], [0.5, -1.0]],
        707.5,
        [[690.0, 380.0], [786.0, 428.0]],
    ),
    "contractions": Case(
        _contractions,
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
        282.0,
        [[13.0] * 3, [31.0] * 3],
    ),
    "NumPy scalars on the left": Case(
        _numpy_scalars_left,
        [1.5, 0.5],
        13.110365985079726,
        [4.708556905378075, -3.0197418565314527],
        [[6.271490766809549, 0.0], [0.0, 16.67946316836615]],
    ),
    "mean of a list": Case(lambda x: np.mean([x, x + 2.0]) * x, 1.0, 2.0, 3.0, 2.0),
    "mean of a stack": Case(
        lambda x: np.mean(np.stack([x, x + 2.0])) * x, 1.0, 2.0, 3.0, 2.0
    ),
    "array of scalars": Case(
        _rotate,
        [0.3, 1.0, 2.0],
        4.77668244562803,
        [-1.4776010333066978, 1.5463769024482852, 1.6151527715898726],
        [
            [-4.77668244562803, 1.6151527715898726, -1.5463769024482852],
            [1.6151527715898726, 0.0, 0.0],
            [-1.5463769024482852, 0.0, 0.0],
        ],
    ),
    "scalars spread by labels": Case(
        _scatter_labels,
        [0.1, 0.2, 0.3],
        7.352864967623641,
        2 * np.exp([0.1, 0.2, 0.3]),
        np.diag(2 * np.exp([0.1, 0.2, 0.3])),
    ),
    "block assignment": Case(
        _block, [[1.0, 2.0], [3.0, 4.0]], 150.0, [[10.0, 20.0], [30.0, 40.0]]
    ),
    "assignment in a loop": Case(
        _rows,
        [[1.0, 2.0], [0.5, 1.5], [3.0, -1.0]],
        9.5,
        [[5.5, 4.5], [1.0, 2.0], [1.0, 2.0]],
    ),
    "augmented assignment of slices": Case(
        _augmented, [1.0, 2.0], 12.5, [-3.0, 15.0], [[2, -2], [-2, 10]]
    ),
    "augmented by itself": Case(
        _onto_itself, [1.0, 2.0], 20.0, [8.0, 16.0], 8 * np.eye(2)
    ),
    "overwritten after use": Case(
        _overwrite_after_use,
        [1.0, 2.0, 3.0],
        273.0,
        [502.0, 4.0, 162.0],
        [[502, 0, 300], [0, 2, 0], [300, 0, 54]],
    ),
    "assignment by mask": Case(
        _mask_write, [-1.0, 2.0, -3.0, 4.0], 72.0, [0, 12, 0, 48]
    ),
    "division in place": Case(_divide_in_place, [0.1], 20.0, [-200.0], [[4000.0]]),
    "gather with repeats": Case(
        lambda x: np.sum(x[np.array([0, 0, 1]), np.array([1, 1, 0])] ** 2),
        [[1.0, 2.0], [3.0, 4.0]],
        17.0,
        [[0.0, 8.0], [6.0, 0.0]],
    ),
    "last write wins": Case(_last_write_wins, [2.0, 5.0], 25.0, [0.0, 10.0]),
    "buffered addition": Case(_buffered_add, [2.0, 5.0, 1.0], 26.0, [0.0, 10.0, 2.0]),
    "selection by mask": Case(
        lambda x: np.sum(x[np.array([False, True, True])] ** 2),
        [-1.0, 2.0, 3.0],
        13.0,
        [0.0, 4.0, 6.0],
        np.diag([0.0, 2.0, 2.0]),
    ),
    "slices of every kind": Case(
        _slices,
        [1.0, 2.0, 3.0, 4.0],
        70.0,
        [12.0, 7.0, 36.0, 6.0],
        [[6, 0, 0, 2], [0, 0, 2, 0], [0, 2, 18, 1], [2, 0, 1, 0]],
    ),
    "periodic stencil": Case(
        lambda x: np.sum((np.roll(x, -1) - 2 * x + np.roll(x, 1)) ** 2 * x),
        [1.0, 2.0, 4.0],
        118.0,
        [-36.0, -39.0, 117.0],
        [[-12, 6, -18], [6, 18, -30], [-18, -30, 78]],
    ),
    "range of columns": Case(
        _range_of_columns, [[1.0, 5.0], [4.0, 2.0]], 23.0, [[-7.0, 8.0], [4.0, -3.0]]
    ),
    "branch": Case(_branch, [2.0, 1.0], 4.0, [4.0, 4.0], [[2, 4], [4, 0]]),
    "closure": Case(_closure, 3.0, 36.0, 33.0, 20.0),
    "value is detached": Case(lambda x: x * dc.value(x), 2.5, 6.25, 2.5, 0.0),
    "many terms": Case(_many_terms, [0.5, 1.5], 5624.25, [3748.5, 3749.5]),
    "geometric series": Case(
        _geometric_series,
        [[0.5, 0.1], [0.2, 0.4]],
        5.0,
        [
            [7.142857142857143, 7.142857142857143],
            [5.357142857142858, 5.357142857142858],
        ],
        rtol=1e-10,
    ),
    "spectrum": Case(
        _spectrum,
        [1.0, 2.0, -1.0, 0.5],
        12.5,
        [9.0, 8.0, 1.0, 2.0],
        [[4, 2, 0, 2], [2, 4, 2, 0], [0, 2, 4, 2], [2, 0, 2, 4]],
        rtol=1e-10,
    ),
    "published Hessian that was wrong": Case(
        _himmelbb,
        [-1.2, 1.0],
        26656.133455743642,
        [-234250.86976259566, 52450.21682539449],
        [
            [1918433.8471936714, -463603.72767239134],
            [-463603.72767239134, 49878.00576711609],
        ],
    ),
    "flat region of clip": Case(
        lambda x: np.sum(np.clip(x, 0.0, 1.0)),
        [5.0, -2.0],
        1.0,
        [0.0, 0.0],
        np.zeros((2, 2)),
    ),
    "flat region of a hinge": Case(
        lambda x: np.sum(np.maximum(1.0 - x, 0.0) ** 2), [5.0, 2.0], 0.0, [0.0, 0.0]
    ),
    "steps": Case(
        lambda x: np.sum(np.floor(x) + np.sign(x)), [5.5, -2.5], 2.0, [0.0, 0.0]
    ),
    "deep copies": Case(
        lambda x: np.sum(copy.deepcopy(x) ** 2 + copy.copy(x) * np.copy(x) * x.copy()),
        [1.0, -2.0],
        -2.0,
        [5.0, 8.0],
        np.diag([8.0, -10.0]),
    ),
}


def check(actual: Any, expected: Any, rtol: float) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape
    # Entries that should vanish may carry the rounding of their neighbours.
    size = np.abs(expected).max() if np.abs(expected).max() < 1e50 else 0.0
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-14 * size)


@pytest.mark.parametrize("kind", CASES)
def test_value_gradient_and_hessian(kind: str) -> None:
    case = CASES[kind]
    tape, out = dc.tape_function(case.f, case.x0)
    if case.value is not None:
        check(tape.vals[out], case.value, case.rtol)
    if case.gradient is not None:
        check(dc.gradient(tape, out), case.gradient, case.rtol)
    hessian = dc.hessian(tape, out)
    assert np.all(np.isfinite(hessian))
    if case.hessian is not None:
        check(hessian, case.hessian, case.rtol)
    for merge in ("sum", "quadrature"):
        h = dc.cover_hessian(tape, out, merge=merge).h
        assert np.all(np.isfinite(h) & (h >= 0))
        n = h.size
        products = np.multiply.outer(h, h).reshape(n, n)
        floor = 1e-14 * dc.hessian_bound(tape, out).reshape(n, n)
        assert np.all(products >= np.abs(hessian).reshape(n, n) * (1 - 1e-12) - floor)


ERRORS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "half power at zero": (lambda x: x**0.5, 0.0),
    "inverse at zero": (lambda x: x**-1.0, 0.0),
    "division by zero": (lambda x: 1 / x, 0.0),
    "variable exponent at base zero": (lambda x: x[0] ** x[1], [0.0, 2.0]),
    "variable exponent of a negative": (lambda x: x[0] ** x[1], [-2.0, 3.0]),
    "logarithm at zero": (lambda x: np.sum(np.log(x)), [0.0, 1.0]),
    "norm at zero": (np.linalg.norm, [0.0, 0.0]),
    "root of a square at zero": (lambda x: np.sqrt((x - 1.0) ** 2), 1.0),
    "tie in where": (
        lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)),
        [-1.0, 0.0, 2.0],
    ),
    "origin of arctan2": (lambda x: np.arctan2(x[0], x[1]), [0.0, 0.0]),
    "rectifier at zero": (lambda x: np.sum(np.maximum(x, 0.0)), [0.0, 2.0, -1.0]),
    "maximum of equals": (lambda x: np.max(x), [3.0, 1.0, 3.0]),
    "builtin maximum of equals": (lambda x: max(x[0], x[1]) * 2.0, [1.0, 1.0]),
    "deviation of equal entries": (np.std, [1.0, 1.0, 1.0]),
    "clip at its bound": (lambda x: np.clip(x, 0.0, 1.0), 1.0),
    "ackley at its optimum": (
        lambda x: -20 * np.exp(-0.2 * np.sqrt(np.sum(x**2) / 2)),
        [0.0, 0.0],
    ),
    "arcsin at one": (np.arcsin, 1.0),
    "abs at zero": (abs, 0.0),
    "abs at minus zero": (abs, -0.0),
}


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("sweep", [dc.gradient, dc.hessian, dc.cover_hessian])
def test_singular_points_raise(kind: str, sweep: Any) -> None:
    f, x0 = ERRORS[kind]
    with pytest.raises(
        (DomainError, NondifferentiableError), match=r"\w+ \w+"
    ) as caught:
        sweep(f, x0)
    assert caught.value.status in {"DOMAIN_ERROR", "NONDIFFERENTIABLE"}


# The parts are singular, the whole has these derivatives; None where it has none.
SINGULAR_PARTS: dict[str, tuple[Callable[[Any], Any], Any, Any, Any]] = {
    "square of a norm": (lambda x: np.linalg.norm(x) ** 2, [0.0, 0.0], [0.0, 0.0], TWO),
    "square of abs": (
        lambda x: np.abs(x[0]) ** 2 + x[1],
        [0.0, 1.0],
        [0.0, 1.0],
        np.diag([2, 0]),
    ),
    "square of a root": (lambda x: np.sqrt(x[0]) ** 2 * x[1], [0.0, 1.0], None, None),
    "abs times zero": (lambda x: np.abs(x[0]) * x[1], [0.0, 0.0], [0.0, 0.0], None),
    "root times zero": (lambda x: np.sqrt(x[0]) * x[1], [0.0, 0.0], None, None),
    "squared tie": (
        lambda x: np.maximum(x[0], x[1]) ** 2,
        [0.0, 0.0],
        [0.0, 0.0],
        None,
    ),
    "squared tie of max": (lambda x: np.max(x) ** 2, [0.0, 0.0], [0.0, 0.0], None),
    "squared tie of clip": (lambda x: np.clip(x[0], 0.0, 1.0) ** 2, [0.0], [0.0], None),
    "cube of abs": (lambda x: np.abs(x[0]) ** 3, [0.0], [0.0], [[0.0]]),
    "flat tie": (
        lambda x: np.maximum(x[0] ** 2, x[1] ** 2),
        [0.0, 0.0],
        [0.0, 0.0],
        None,
    ),
    "arccos of a clipped one": (
        lambda x: np.sum(np.arccos(np.clip(x, -1.0, 1.0))),
        [10.0, 0.5],
        [0.0, -(0.75**-0.5)],
        np.diag([0.0, -0.5 * 0.75**-1.5]),
    ),
    "1.5th power times zero": (lambda x: x[0] * x[0] ** 1.5, [0.0], [0.0], [[0.0]]),
    "logarithm times zero": (lambda x: np.log(x[0]) * x[1], [0.0, 0.0], None, None),
    "floor times zero": (lambda x: np.floor(x[0]) * x[1], [1.0, 0.0], None, None),
    "norm at zero times zero": (
        lambda x: np.linalg.norm(x) * x[0],
        [0.0, 0.0],
        [0.0, 0.0],
        None,
    ),
}


def right_or_refused(sweep: Callable[[], Any], is_right: Callable[[Any], bool]) -> bool:
    """Whether a sweep raises the documented error or is right."""
    try:
        result = sweep()
    except (DomainError, NondifferentiableError):
        return True
    return is_right(result)


@pytest.mark.parametrize("kind", SINGULAR_PARTS)
def test_never_a_wrong_number_through_singular_parts(kind: str) -> None:
    f, x0, gradient, hessian = SINGULAR_PARTS[kind]

    def equals(expected: Any) -> Callable[[Any], bool]:
        return lambda r: expected is not None and np.allclose(r, expected, rtol=1e-12)

    def covers(result: Any) -> bool:
        return hessian is not None and dc.iscover(result.h, np.asarray(hessian, float))

    def bounds(result: Any) -> bool:
        return hessian is not None and bool(
            np.all(result * (1 + 1e-12) >= np.abs(hessian))
        )

    v = np.linspace(1.0, 2.0, len(x0))
    product = None if hessian is None else np.asarray(hessian, float) @ v
    assert right_or_refused(lambda: dc.gradient(f, x0), equals(gradient))
    assert right_or_refused(lambda: dc.hessian(f, x0), equals(hessian))
    assert right_or_refused(lambda: dc.hvp(f, x0, v), equals(product))
    assert right_or_refused(lambda: dc.hessian_bound(f, x0), bounds)
    for merge in ("sum", "quadrature"):
        cover: Callable[[], Any] = partial(dc.cover_hessian, f, x0, merge=merge)
        assert right_or_refused(cover, covers)
    for groups in (1, 3):
        cover = partial(dc.cover_hybrid, f, x0, ngroups=groups)
        assert right_or_refused(cover, covers)


def test_arctan2_of_tiny_numbers() -> None:
    """Sums of squares underflow here, and second partials overflow."""
    slope = dc.gradient(lambda x: np.arctan2(x[0], x[1]), [1e-200, 1e-200])
    np.testing.assert_allclose(slope, [5e199, -5e199], rtol=1e-13)


def test_logaddexp_of_two_infinities_is_refused() -> None:
    def f(x: Any) -> Any:
        return np.logaddexp(-np.inf + x[0], -np.inf)

    with pytest.raises(DerivativeError):
        dc.gradient(f, [0.0])


def test_rows_that_do_not_depend_on_the_input() -> None:
    tape, outs = dc.tape_function(
        lambda x: np.stack([x[0], 0.0 * x[1], x[1] * 0 + 3.0]), [1.0, 1.0]
    )
    np.testing.assert_array_equal(tape.vals[outs], [1.0, 0.0, 3.0])
    np.testing.assert_array_equal(dc.jacobian(tape, outs), [[1, 0], [0, 0], [0, 0]])


def test_constants_beside_other_outputs_get_their_own_node() -> None:
    tape, outs = dc.tape_function(
        lambda x: [x[0] * x[1], 4.0, x[1], x[1], 4.0], [2.0, 3.0]
    )
    np.testing.assert_array_equal(tape.vals[outs], [6.0, 4.0, 3.0, 3.0, 4.0])
    assert outs[2] == outs[3] == 1
    np.testing.assert_array_equal(
        dc.jacobian(tape, outs), [[3, 2], [0, 0], [0, 1], [0, 1], [0, 0]]
    )


def test_the_input_itself_as_output() -> None:
    tape, outs = dc.tape_function(lambda x: x, [1.0, 2.0])
    np.testing.assert_array_equal(outs, [0, 1])
    np.testing.assert_array_equal(dc.jacobian(tape, outs), np.eye(2))
    tape, out = dc.tape_function(lambda x: x[1], [1.0, 2.0])
    assert out == 1
    np.testing.assert_array_equal(dc.gradient(tape, out), [0.0, 1.0])
    np.testing.assert_array_equal(dc.cover_hessian(tape, out).h, [0.0, 0.0])


@pytest.mark.parametrize(
    ("f", "x0", "shape"),
    [
        (lambda x: x[:1], [1.0, 2.0], (1, 2)),
        (lambda x: np.outer(x, x), [1.0, 2.0], (2, 2, 2)),
        (lambda x: x**2, [[1.0, 2.0]], (1, 2, 1, 2)),
        (lambda x: [x, x * 2], 3.0, (2,)),
        (lambda x: np.reshape(x, (1,)), 3.0, (1,)),
        (lambda x: x[3:], [1.0, 2.0], (0, 2)),
        (lambda x: [[x[0], 1.0], [x[1], x[0]]], [1.0, 2.0], (2, 2, 2)),
        (lambda x: (x[0], x[1]), [1.0, 2.0], (2, 2)),
    ],
)
def test_shapes_of_jacobians(f: Any, x0: Any, shape: tuple[int, ...]) -> None:
    if shape[0] == 0:
        with pytest.raises(DerivativeError):
            dc.jacobian(f, x0)
        return
    assert dc.jacobian(f, x0).shape == shape


@pytest.mark.parametrize(
    "x0",
    [
        np.array([[1.0, 2.0]]).view(np.matrix),
        np.ma.masked_array([1.0, 2.0], mask=[False, True]),
        np.array([1.0, 2.0], dtype=np.longdouble),
        np.array([1.0, 2.0], dtype=np.float16),
    ],
)
def test_kinds_of_arrays_that_are_not_taken(x0: Any) -> None:
    with pytest.raises(DerivativeError, match=r"\w+ \w+") as caught:
        dc.gradient(lambda x: np.sum(x * x), x0)
    assert isinstance(caught.value, TypeError)


def test_the_callers_array_is_not_touched() -> None:
    x0 = np.array([1.0, 2.0])

    def f(x: Any) -> Any:
        x += 1.0
        return np.sum(x * x)

    np.testing.assert_array_equal(dc.gradient(f, x0), [4.0, 6.0])
    np.testing.assert_array_equal(x0, [1.0, 2.0])


def test_covers_of_badly_scaled_forms() -> None:
    h = dc.cover_hessian(
        lambda x: 0.5 * (1e100 * x[0]) ** 2 + x[0] * x[1] + 0.5 * (1e-100 * x[1]) ** 2,
        [1.0, 1e200],
        scales=[1.0, 1e200],
    ).h
    assert np.all(
        np.outer(h, h) >= np.array([[1e200, 1.0], [1.0, 1e-200]]) * (1 - 1e-14)
    )
    assert np.all(h <= 4 * np.array([1e100, 1e-100]))


def test_threads_record_independently() -> None:
    def task(k: int) -> Any:
        x0 = np.linspace(0.1, 2.0, 20) + k / 10

        def f(x: Any) -> Any:
            total = x[0] * 0.0
            for t in x:
                total = total + np.sin(t) * t
            return total * np.sum(np.exp(-x))

        return dc.cover_hessian(f, x0, merge="quadrature").h.tobytes()

    alone = [task(k) for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(task, range(8))) == alone


def test_a_pickled_tape_is_the_same_or_refused() -> None:
    tape, out = dc.tape_function(lambda x: np.sum(x**2 * np.exp(x)), [0.3, -1.0])
    try:
        twin = pickle.loads(pickle.dumps(tape))
    except TypeError as error:
        refusal = str(error).lower()
    else:
        refusal = ""
    if refusal:
        assert "tape" in refusal
        return
    assert dc.gradient(twin, out).tobytes() == dc.gradient(tape, out).tobytes()
    assert (
        dc.cover_hessian(twin, out).h.tobytes()
        == dc.cover_hessian(tape, out).h.tobytes()
    )


def test_tapes_are_freed_without_the_garbage_collector() -> None:
    """Each tape here holds some 3 MB; thirty of them must not pile up."""
    a = np.ones((300, 1))
    x0 = np.linspace(0.0, 1.0, 300)

    def f(x: Any) -> Any:
        return np.sum((a + x) * (a * x))

    dc.gradient(f, x0)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(30):
            dc.gradient(f, x0)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert held < 10_000_000


HESSIANS: dict[str, tuple[Callable[[Any], Any], list[float], Any]] = {
    "no diagonal": (lambda x: x[0] * x[1], [2.0, 3.0], [[0, 1], [1, 0]]),
    "four hundred orders apart": (
        lambda x: 0.5 * (1e100 * x[0]) ** 2 + x[0] * x[1] + 0.5 * (1e-100 * x[1]) ** 2,
        [0.0, 0.0],
        [[1e200, 1.0], [1.0, 1e-200]],
    ),
    "arrow": (
        lambda x: x[0] * np.sum(x[1:]) + 0.5 * np.sum(x * x),
        [1.0] * 6,
        np.eye(6)
        + np.outer([1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1])
        + np.outer([0, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]),
    ),
}


@pytest.mark.parametrize("merge", ["sum", "quadrature"])
@pytest.mark.parametrize("kind", HESSIANS)
def test_matrices_without_a_plain_diagonal_are_covered(kind: str, merge: str) -> None:
    """No tolerance: these are products of few roundings; and units change exactly."""
    f, x0, hessian = HESSIANS[kind]
    h = dc.cover_hessian(f, x0, merge=merge).h
    assert np.isfinite(h).all()
    assert np.all(np.outer(h, h) >= np.abs(hessian))
    units = np.array([2.0, 0.25, 1.0, 8.0, 1.0, 1.0])[: h.size]
    moved = dc.cover_hessian(
        lambda y: f(y / units), np.array(x0) * units, merge=merge, scales=units
    )
    np.testing.assert_array_equal(moved.h * units, h)
