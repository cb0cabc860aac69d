"""Ties, empty arrays, scalars, wrong shapes and refusals of NumPy functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.errors import NondifferentiableError, UnsupportedOperationError
from derivative_covers.tape._hints import HINTS

TIED = np.array([1.0, 2.0, 1.0, 0.5])
KNOTS = np.array([0.0, 1.0, 2.0, 3.0])


def scalar(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: np.sum(f(x)) + 0.0 * np.sum(x)


# -- ties ------------------------------------------------------------------------------

REFUSED = {
    "argsort": lambda x: x[np.argsort(x)],
    "argpartition": lambda x: x[np.argpartition(x, 1)],
    "lexsort": lambda x: x[np.lexsort((np.arange(4), x))],
    "argmin": lambda x: x[np.argmin(x[:3])],
    "searchsorted": lambda x: np.searchsorted([0.0, 1.0], x) * x,
    "digitize": lambda x: np.digitize(x, [0.0, 1.0]) * x,
    "histogram": lambda x: np.histogram(x, [0.0, 1.0, 3.0])[0] * x[:2],
    "sort": lambda x: np.sort(x)[1],
    "partition": lambda x: np.partition(x, 2)[2] * np.partition(x, 2)[1],
    "median": lambda x: np.median(x),
    "quantile": lambda x: np.quantile(x, 0.4),
    "unique": lambda x: np.unique(x)[1],
    "max": lambda x: np.max(x[[0, 2, 3]]),
    "maximum.reduceat": lambda x: np.maximum.reduceat(x, [2, 3])[0] + np.max(x[::2]),
    "nanmax": lambda x: np.nanmax(x[::2] * np.ones(2)),
    "nanargmax": lambda x: x[np.nanargmax(x[::2])],
    "interp": lambda x: np.interp(x[1], KNOTS, [0.0, 1.0, 5.0, 2.0]),
    "interp of knots": lambda x: np.interp(0.5, x[::-1], [0.0, 1.0, 2.0, 4.0]),
    "unwrap": lambda x: np.unwrap(x[:2], period=2.0)[1],
    "modf": lambda x: np.modf(x)[0],
    "round": lambda x: np.round(x * 10.0 + 0.5) * x,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_tie_that_an_output_depends_on_is_refused(name: str) -> None:
    with pytest.raises(NondifferentiableError):
        dc.gradient(scalar(REFUSED[name]), TIED)


ALLOWED = {
    "sort": (lambda x: np.sort(x)[3], [0.0, 1.0, 0.0, 0.0]),
    "unique": (lambda x: np.unique(x)[2], [0.0, 1.0, 0.0, 0.0]),
    "quantile": (lambda x: np.quantile(x, 1.0), [0.0, 1.0, 0.0, 0.0]),
    "interp": (
        lambda x: np.interp(x[[1, 3]], KNOTS, [0.0, 1.0, 5.0, 2.0])[1],
        [0, 0, 0, 1.0],
    ),
    "interp at itself": (
        lambda x: np.interp(x[3], x[[3, 1]], [4.0, 5.0]),
        [0.0, 0, 0, 0],
    ),
    "interp on a level": (
        lambda x: np.interp(x[1], KNOTS, [0.0, 5.0, 5.0, 5.0]),
        [0.0, 0, 0, 0],
    ),
    "interp of ordinates": (lambda x: np.interp(1.0, KNOTS, x), [0.0, 1.0, 0.0, 0.0]),
    "isin": (lambda x: x * np.isin(x, [1.0]), [1.0, 0.0, 1.0, 0.0]),
    "histogram": (
        lambda x: np.histogram(x, [0.0, 0.7, 1.5, 3.0], weights=x)[0],
        [1.0] * 4,
    ),
    "argsort of others": (
        lambda x: x[[1, 3]][np.argsort(x[[1, 3]])],
        [0.0, 1.0, 0.0, 1.0],
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_tie_elsewhere_is_none(name: str) -> None:
    f, expected = ALLOWED[name]
    np.testing.assert_array_equal(dc.gradient(scalar(f), TIED), expected)


def test_on_a_tape_that_takes_branches_the_tie_is_noted() -> None:
    for f in (lambda x: np.sort(x)[1], lambda x: x[np.argsort(x)][1], np.median):
        tape, out = dc.tape_function(f, TIED, kinks="branch")
        assert tape.kinks
        assert np.isfinite(dc.gradient(tape, out)).all()


# -- empty arrays ----------------------------------------------------------------------

EMPTY = {
    "sum": lambda e: np.sum(e, initial=2.0),
    "prod": lambda e: np.prod(e),
    "prod initial": lambda e: np.prod(e, initial=3.0),
    "cumsum": lambda e: np.cumsum(e),
    "sort": lambda e: np.sort(e),
    "argsort": lambda e: np.argsort(e) * 1.0,
    "unique": lambda e: np.unique(e),
    "concatenate": lambda e: np.concatenate([e, [4.0]]),
    "diff": lambda e: np.diff(e),
    "ediff1d": lambda e: np.ediff1d(e),
    "unwrap": lambda e: np.unwrap(e),
    "interp": lambda e: np.interp(e, KNOTS, KNOTS),
    "polyval": lambda e: np.polyval([1.0, 2.0], e),
    "vander": lambda e: np.vander(e),
    "kron": lambda e: np.kron(e, [1.0, 2.0]),
    "outer": lambda e: np.outer(e, [1.0, 2.0]),
    "inner": lambda e: np.inner(e, e),
    "vdot": lambda e: np.vdot(e, e),
    "tile": lambda e: np.tile(e, 3),
    "pad": lambda e: np.pad(e, 2),
    "searchsorted": lambda e: np.searchsorted(KNOTS, e) * 1.0,
    "histogram": lambda e: np.histogram(e, 3)[0] * 1.0,
    "bincount": lambda e: np.bincount(np.zeros(0, dtype=int), weights=e, minlength=2),
    "nansum": lambda e: np.nansum(e),
    "where": lambda e: np.where(e > 0.0, e, 1.0),
    "select": lambda e: np.select([e > 0.0], [e]),
    "piecewise": lambda e: np.piecewise(e, [e > 0.0], [lambda z: z]),
    "max initial": lambda e: np.max(e, initial=1.0),
    "meshgrid": lambda e: np.meshgrid(e, KNOTS)[0],
    "trapezoid": lambda e: np.diff(e) * 1.0,
    "split": lambda e: np.array_split(e, 2)[0],
    "linspace": lambda e: np.linspace(e, 1.0, 3),
    "apply_over_axes": lambda e: np.apply_over_axes(np.sum, e, [0]),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_arrays_give_what_numpy_gives(name: str) -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        y = EMPTY[name](x[:0])
        seen.append(dc.value(y))
        return x[0] + np.sum(y)

    np.testing.assert_array_equal(dc.gradient(f, [2.0, 3.0]), [1.0, 0.0])
    expected = EMPTY[name](np.zeros(0))
    assert np.shape(seen[0]) == np.shape(expected)
    np.testing.assert_array_equal(seen[0], expected)


# -- scalars ---------------------------------------------------------------------------

SCALARS = {
    "sum": lambda s: np.sum(s),
    "max": lambda s: np.max(s),
    "median": lambda s: np.median(s),
    "quantile": lambda s: np.quantile(s, 0.3),
    "cumsum": lambda s: np.cumsum(s)[0],
    "interp": lambda s: np.interp(s, KNOTS, KNOTS**2),
    "polyval": lambda s: np.polyval([1.0, 2.0, 0.5], s),
    "kron": lambda s: np.sum(np.kron(s, [1.0, 2.0])),
    "linspace": lambda s: np.sum(np.linspace(s, 2.0, 4)),
    "atleast_2d": lambda s: np.atleast_2d(s)[0, 0],
    "where": lambda s: np.where(s > 0.0, s * s, s),
    "select": lambda s: np.select([s > 0.0], [s * s]),
    "piecewise": lambda s: np.piecewise(s, [s > 0.0], [lambda z: z * z]) * 1.0,
    "clip": lambda s: np.clip(s, 0.0, 1.0),
    "nansum": lambda s: np.nansum(s),
    "angle": lambda s: np.angle(s) + s,
    "modf": lambda s: np.modf(s)[0],
    "divmod": lambda s: np.divmod(s, 0.5)[1],
    "i0": lambda s: np.i0(s),
    "round": lambda s: np.round(s, 1) * s,
    "repeat": lambda s: np.sum(np.repeat(s, 3)),
    "convolve": lambda s: np.sum(np.convolve(np.stack([s, s]), [1.0, 2.0])),
    "pad": lambda s: np.sum(np.pad(np.stack([s, s]), 1, mode="mean")),
    "average": lambda s: np.average(np.stack([s, s * s]), weights=[1.0, 3.0]),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalars_are_taken(name: str) -> None:
    f = SCALARS[name]

    def plain(s: Any) -> float:
        return float(f(np.float64(s)))

    tape, out = dc.tape_function(lambda x: f(x[0]), [0.7])
    assert tape.vals[out] == plain(0.7)
    expected = (plain(0.7 + 1e-6) - plain(0.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose(dc.gradient(tape, out), [expected], rtol=1e-8, atol=1e-9)


# -- wrong input -----------------------------------------------------------------------

WRONG: dict[str, Callable[..., Any]] = {
    "reshape": lambda x: np.reshape(x, (3, 3)),
    "concatenate": lambda x: np.concatenate([x, np.ones((2, 2))]),
    "stack": lambda x: np.stack([x, x[:2]]),
    "inner": lambda x: np.inner(x, np.ones(3)),
    "cross": lambda x: np.cross(x, x),
    "kron": lambda x: np.moveaxis(np.kron(x, x), 0, 3),
    "split": lambda x: np.split(x, 3),
    "take": lambda x: np.take(x, [9]),
    "interp": lambda x: np.interp(x, KNOTS, KNOTS[:2]),
    "gradient": lambda x: np.gradient(x[:1]),
    "gradient edge": lambda x: np.gradient(x, edge_order=3),
    "average": lambda x: np.average(x, weights=np.ones(3)),
    "select": lambda x: np.select([x > 0.0], [x, x]),
    "select of none": lambda x: np.select([], [x, x][:0], x),
    "piecewise": lambda x: np.piecewise(x, [x > 0.0], [1.0, 2.0, 3.0]),
    "max of none": lambda x: np.max(x[:0]),
    "argmax of none": lambda x: np.argmax(x[:0]),
    "max where": lambda x: np.max(x, where=[True, False, True, True]),
    "percentile": lambda x: np.percentile(x, 130),
    "partition": lambda x: np.partition(x, 9),
    "convolve": lambda x: np.convolve(x, x[:0]),
    "searchsorted": lambda x: np.searchsorted(np.ones((2, 2)), x),
    "bincount": lambda x: np.bincount([0, 1], weights=x),
    "pad": lambda x: np.pad(x, -1),
    "pad mode": lambda x: np.pad(x, 1, "backwards"),
    "cumulative": lambda x: np.cumsum(x, axis=3),
    "vander": lambda x: np.vander(x.reshape(2, 2)),
    "nanargmax": lambda x: np.nanargmax(x * np.nan),
    "diff": lambda x: np.diff(x, -1),
    "apply_along_axis": lambda x: np.apply_along_axis(np.sum, 2, x),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_raises_what_numpy_raises(name: str) -> None:
    f = WRONG[name]
    with pytest.raises(Exception) as numpys:  # noqa: PT011
        f(np.array([1.0, 2.5, 3.25, 0.5]))
    with pytest.raises(type(numpys.value)):
        dc.gradient(scalar(f), [1.0, 2.5, 3.25, 0.5])


# -- refusals --------------------------------------------------------------------------

UNSUPPORTED = {
    "fft": (lambda x: np.fft.fft(x), "np.cos"),
    "rfft2": (lambda x: np.fft.rfft2(x.reshape(2, 2)), "np.cos"),
    "roots": (lambda x: np.roots(x), "Newton"),
    "poly": (lambda x: np.poly(x.reshape(2, 2)), "eigvalsh"),
    "ldexp": (lambda x: np.ldexp(x, 2), "2.0"),
    "ldexp of one": (lambda x: np.ldexp(x[0], 2), "2.0"),
    "frexp": (lambda x: np.frexp(x)[0], "power of two"),
    "nextafter": (lambda x: np.nextafter(x, 1.0), "value"),
    "histogram2d": (lambda x: np.histogram2d(x, x), "np.histogram"),
    "intersect1d": (lambda x: np.intersect1d(x, x), "value"),
    "save": (lambda x: np.save("nowhere", x), "value"),
    "quantile": (lambda x: np.quantile(x, x[0] / 9.0), "np.sort"),
    "pad": (lambda x: np.pad(x, 1, lambda *_: None), "np.concatenate"),
    "polyfit": (lambda x: np.polyfit(x, KNOTS, 1), "lstsq"),
    "unique rows": (lambda x: np.unique(x.reshape(2, 2), axis=0), "return_index"),
    "histogram range": (lambda x: np.histogram(x, 3, range=(x[0], x[1])), "linspace"),
    "reduce where": (
        lambda x: np.logaddexp.reduce(x, where=x > 0, initial=0.0),
        "where",
    ),
    "matmul axes": (lambda x: np.matmul(x, x, axes=[0, 0, ()]), "axes"),
    "copyto": (lambda x: np.copyto(np.zeros(4), x), "zeros_like"),
    "add.at": (lambda x: np.add.at(np.zeros(4), [0], x[0]), "zeros_like"),
    "normal": (lambda x: np.random.default_rng(0).normal(x), "value"),
    "vectorize": (lambda x: np.vectorize(lambda z: z)(x), "derivative"),
    "dtype": (lambda x: np.sum(x, dtype=int), "dtype"),
    "divide.at": (lambda x: np.gcd.at(x, [0], 2), "loop"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_refusal_names_the_nearest_way(name: str) -> None:
    f, words = UNSUPPORTED[name]
    with pytest.raises(UnsupportedOperationError, match=words):
        dc.gradient(lambda x: f(x) and 0.0, [1.0, 2.0, 3.0, 0.5])


def test_every_hint_is_a_sentence_and_names_something_of_numpy() -> None:
    for name, text in HINTS.items():
        assert name.startswith("numpy.")
        assert text[0].isupper()
        assert text.endswith((".", ")"))


def test_the_advice_for_the_fourier_transform_is_right() -> None:
    x = np.array([1.0, 2.0, 3.0, 0.5])
    n = x.size
    k = np.outer(np.arange(n), np.arange(n)) * 2 * np.pi / n
    found = np.cos(k) @ x - 1j * np.sin(k) @ x
    np.testing.assert_allclose(found, np.fft.fft(x), atol=1e-14)


# -- the same array twice, aliases and where targets overlap ---------------------------


def test_two_dimensional_cross_products() -> None:
    x0 = np.array([1.0, 2.0, 3.0, 0.5, 4.0])
    for f, expected in (
        (lambda x: np.cross(x[:2], x[2:4]), [0.5, -3.0, -2.0, 1.0, 0.0]),
        (lambda x: np.cross(x[:2], x[2:])[2], [0.5, -3.0, -2.0, 1.0, 0.0]),
        (lambda x: np.cross(x[:2], x[2:])[0], [0.0, 4.0, 0.0, 0.0, 2.0]),
        (lambda x: np.cross(x[2:], x[:2])[1], [4.0, 0.0, 0.0, 0.0, 1.0]),
    ):
        np.testing.assert_array_equal(dc.gradient(f, x0), expected)


def test_nan_to_num_in_place() -> None:
    def f(x: Any) -> Any:
        y = x * np.array([1.0, np.nan])
        assert np.nan_to_num(y, copy=False, nan=5.0) is y
        return np.sum(y * y)

    np.testing.assert_array_equal(dc.gradient(f, [2.0, 3.0]), [4.0, 0.0])


def test_put_along_axis_and_at_update_the_same_entry_in_turn() -> None:
    def f(x: Any) -> Any:
        y = np.zeros_like(x)
        np.add.at(y, [1, 1, 1], x)
        np.multiply.at(y, [1, 1], x[:2])
        return y[1]

    x0 = np.array([2.0, 3.0, 4.0])
    np.testing.assert_allclose(dc.gradient(f, x0), [6.0 + 27.0, 6.0 + 18.0, 6.0])
