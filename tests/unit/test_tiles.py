"""Reverse sweeps in tiles give, bit for bit, what sweeps over whole steps give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import DomainError
from derivative_covers.local import split_ratio
from derivative_covers.sweeps import (
    _lower,
    _tiles,
    adjoints,
    cover_pass,
    cover_state,
    lower,
)


def _rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def _products(x: Any) -> Any:
    return np.sum(x[1:] * x[:-1]) + np.mean(np.exp(x[2:]) * np.sin(x[:-2]))


def _differences(x: Any) -> Any:
    d = x[1:] - x[:-1]
    e = d[1:] - d[:-1]
    return np.sum(e**2) + np.sum(d[2:] * d[:-2]) + np.sum(x**4)


def _sums_inside(x: Any) -> Any:
    u = x[:333].reshape(3, -1)
    r = u[0] * u[1] - u[2]
    t = np.log(1 + np.sum(r**2) ** 2)
    return t * np.sum(np.tanh(r) * u[1])


def _quotients(x: Any) -> Any:
    u = x[1:] / (2 + x[:-1] ** 2)
    return np.sum(np.arctan2(u[3:], u[:-3] * u[1:-2])) + np.sum((u * u) ** (x[1:] ** 2))


def _stores(x: Any) -> Any:
    y = x.copy()
    y[1:-1] = y[2:] + y[:-2]
    z = y * y
    z[5:] += x[:-5]
    return np.sum(z * np.cos(y)) + y[7]


def _grid(x: Any) -> Any:
    u = x[:332].reshape(4, -1)
    along = np.sum((u[:, 1:] - u[:, :-1]) ** 2)
    return np.sum((u[1:] - u[:-1]) ** 2) + along + np.sum(u * u) - np.sum(np.exp(u))


def _gathered(x: Any) -> Any:
    y = np.sin(x) - x
    z = y**2
    return np.sum(z[::-1] * y) + np.sum(z[[5, 9, 9]]) + np.sum(3 * z)


PROGRAMS = [
    _rosenbrock,
    _products,
    _differences,
    _sums_inside,
    _quotients,
    _stores,
    _grid,
    _gathered,
]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of a size for tests."""
    monkeypatch.setattr(_tiles, "TILE", 32)
    monkeypatch.setattr(_tiles, "LONG", 64)
    monkeypatch.setattr(_lower, "SMALL", 64)


def _point(dtype: Any) -> Any:
    x = np.random.default_rng(7).standard_normal(335)
    return (x + 0.5j * x[::-1] if np.dtype(dtype).kind == "c" else x).astype(dtype)


TYPED = [
    (f, dtype)
    for f in PROGRAMS
    for dtype in (np.float64, np.float32, np.complex128)
    if f is not _quotients or dtype is not np.complex128  # arctan2 is not holomorphic
]


def _whole(tape: Any, out: int) -> tuple[Any, Any, Any]:
    program = lower(tape)
    ratio = split_ratio(None, tape.dtype.type)
    ones = np.ones(tape.ninputs)
    state = cover_state(program, tape, ones, ratio, True)
    adj, g = cover_pass(program, tape, out, 1.0, state)
    v = adjoints(program, tape, 1.0, out)
    n = tape.ninputs
    return v[:n], adj[:n], g[:n]


def _same(a: Any, b: Any) -> None:
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(np.signbit(a.real), np.signbit(b.real))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("f", "dtype"), TYPED)
def test_the_bits_are_those_of_whole_steps(f: Callable[[Any], Any], dtype: Any) -> None:
    tape, out = dc.tape_function(f, _point(dtype))
    groups = _tiles.plan(lower(tape).below(out), out, tape.ninputs).items
    assert any(isinstance(group, _tiles.Group) for group in groups)
    v, adj, g = _whole(tape, out)
    _same(dc.gradient(tape, out), v)
    cover = dc.cover_hessian(tape, out)
    _same(cover.gradient, adj)
    _same(cover.h, g)


@pytest.mark.usefixtures("small")
def test_terms_that_meet_at_the_end_of_a_tile_keep_their_order() -> None:
    # Three terms of very different size an input: their sum depends on the order.
    def f(x: Any) -> Any:
        return np.sum(1e16 * x[1:] - x[:-1] * 1e16) + np.sum(x[:-2] - 3 * x[2:])

    x = _point(np.float64)
    tape, out = dc.tape_function(f, x)
    _same(dc.gradient(tape, out), _whole(tape, out)[0])


@pytest.mark.usefixtures("small")
def test_products_in_tiles_that_ask_for_declared_scales() -> None:
    x = _point(np.float64)
    x[100:103] = 0.0
    scales = np.linspace(1.0, 2.0, x.size)
    tape, out = dc.tape_function(_products, x)
    found = dc.cover_hessian(tape, out, scales=scales)
    again = dc.cover_hessian(tape, out, scales=scales)
    ratio = split_ratio(None, np.float64)
    state = cover_state(lower(tape), tape, scales, ratio, True)
    _, g = cover_pass(lower(tape), tape, out, 1.0, state)
    assert found.asked
    _same(found.h, g[: x.size])
    _same(again.h, found.h)


@pytest.mark.usefixtures("small")
def test_overflow_is_refused_as_without_tiles() -> None:
    x = _point(np.float64)
    with pytest.raises(DomainError, match=r"not finite|infinit|overflow"):
        dc.cover_hessian(lambda x: np.sum(1e300 * (1e300 * (1e-200 * x) ** 2)), x)


@pytest.mark.usefixtures("small")
def test_outputs_inside_of_a_group() -> None:
    tape, outs = dc.tape_function(
        lambda x: (x[1:] - x[:-1] ** 2) ** 2, _point(np.float64)
    )
    J = dc.jacobian(tape, outs[[0, 31, 32, 333]])
    for row, out in zip(J, outs[[0, 31, 32, 333]], strict=True):
        _same(row, _whole(tape, int(out))[0])


@pytest.mark.usefixtures("small")
def test_results_hold_the_memory_of_the_inputs_alone() -> None:
    tape, out = dc.tape_function(_rosenbrock, _point(np.float64))
    cover = dc.cover_hessian(tape, out)
    for found in (dc.gradient(tape, out), cover.gradient, cover.h):
        assert found.base is None
        assert found.size == tape.ninputs
