"""Forms of calls, memory and ties of NumPy functions that once went wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sc

import derivative_covers as dc
from derivative_covers.elementals import _special
from derivative_covers.errors import (
    DomainError,
    NondifferentiableError,
    UnsupportedOperationError,
)
from tests._numpy_calls import total

POINT = np.array([[0.4, -1.2, 0.7, 0.3], [-0.6, 2.1, 0.2, 0.8], [1.1, 0.9, -0.5, 0.6]])
HOLES = np.where(POINT > 1.0, np.nan, 1.0)


def leaves(y: Any) -> list[Any]:
    return [e for part in y for e in leaves(part)] if isinstance(y, tuple) else [y]


def differences(f: Callable[[Any], float], x0: Any) -> Any:
    """Central differences, extrapolated once."""
    slope = np.empty(x0.size)
    for k in range(x0.size):
        e = np.zeros(x0.size)
        e[k] = 1e-3
        e = e.reshape(x0.shape)
        wide = (f(x0 + e) - f(x0 - e)) / 2e-3
        slope[k] = (4.0 * (f(x0 + e / 2) - f(x0 - e / 2)) / 1e-3 - wide) / 3.0
    return slope.reshape(x0.shape)


FORMS: dict[str, Callable[[Any], Any]] = {
    # the first argument by its name
    "flip": lambda x: np.flip(m=x, axis=1),
    "tril": lambda x: np.tril(m=x, k=1),
    "hstack": lambda x: np.hstack(tup=(x, x)),
    "column_stack": lambda x: np.column_stack(tup=(x[:, 0], x[:, 1])),
    "delete": lambda x: np.delete(arr=x, obj=1, axis=0),
    "tile": lambda x: np.tile(A=x, reps=(2, 1)),
    "broadcast_to": lambda x: np.broadcast_to(array=x, shape=(2, 3, 4)),
    "real": lambda x: np.real(val=x) * x,
    "array_split": lambda x: np.array_split(ary=x, indices_or_sections=2)[0],
    "any": lambda x: x * np.any(a=x > 0.0),
    "allclose": lambda x: x * np.allclose(a=x, b=x),
    "empty_like": lambda x: np.empty_like(prototype=x) * 0.0 + x,
    # further arguments
    "clip dtype": lambda x: np.clip(x, -0.55, 0.55, dtype=np.float64, casting="safe"),
    "clip where": lambda x: np.clip(x, -0.5, 0.5, out=x * 2.0, where=x > 0.0),
    "nan_to_num": lambda x: np.nan_to_num(x * HOLES, True, 3.0, 1.0, 2.0),
    "nan_to_num recorded": lambda x: np.nan_to_num(x * HOLES, nan=x[0, 0]),
    "zeros_like": lambda x: np.zeros_like(x, float, "C", True, (2,)) + x[0, 0],
    "einsum": lambda x: np.einsum("ij->i", x, dtype=float, order="K", casting="safe"),
    "nanargmin out": lambda x: x * np.nanargmin(x, 1, np.zeros(3, dtype=int))[0],
    "two outputs where": lambda x: sc.sici(
        np.abs(x), where=POINT > 0.5, out=(x * 1.0, x * 2.0)
    ),
    # one entry is reduced to its size, for hypot starts at zero
    "hypot of one": lambda x: np.hypot.reduce(x[:1]),
    "hypot of none": lambda x: np.hypot.reduce(x, axis=()),
    "hypot.reduceat": lambda x: np.hypot.reduceat(x, [3, 0, 1, 3], axis=1),
    # an initial value that is an entry as well
    "max initial": lambda x: np.max(x, initial=x[1, 1]),
    "min initial": lambda x: np.min(x, axis=1, initial=x[0, 1], keepdims=True),
    "maximum.reduce initial": lambda x: np.maximum.reduce(x, axis=0, initial=x[1, 1]),
    # nothing to repeat, nowhere to put, rows of coefficients
    "resize": lambda x: (np.resize(x[:0], (2, 3)), x),
    "polyval of rows": lambda x: np.polyval(x, 2.0),
    "polyval of rows at an array": lambda x: np.polyval(x, x[0]),
    "histogram of recorded edges": lambda x: np.histogram(
        [-0.4, 0.2, 0.6], np.sort(x[0]), weights=[1.0, 2.0, 3.0], density=True
    ),
    # scalars and axes that are not there
    "kron": lambda x: np.kron(x[0, 0], x[1, 1]),
    "argsort": lambda x: x * (1.0 + np.argsort(x[0, 0])),
    "gradient": lambda x: (x, *np.gradient(x[0, 0])),
    "array2string": lambda x: x * (len(np.array2string(x[0, 0])) > 2),
    "convolve of constants": lambda x: (
        x[0, 0] * np.convolve(np.zeros_like(x[0]) + 2.0, np.ones_like(x[0]))
    ),
    "correlate of constants": lambda x: (
        x[0, 0] * np.correlate(np.zeros_like(x[0]) + 2.0, np.ones_like(x[0]))
    ),
}


if hasattr(np, "unstack"):  # NumPy 2 has the argument
    FORMS |= {
        "nanquantile weights": lambda x: np.nanquantile(
            x * HOLES, [0.45, 0.85], 0, weights=np.abs(POINT), method="inverted_cdf"
        ),
        "nanpercentile all weights": lambda x: np.nanpercentile(
            x * HOLES, 40.0, weights=np.abs(POINT), method="inverted_cdf"
        ),
    }


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_calls_have_numpys_bits_and_the_right_slope(name: str) -> None:
    f = FORMS[name]
    seen: list[Any] = []

    def program(x: Any) -> Any:
        parts = leaves(f(x))
        seen.extend(dc.value(e) for e in parts)
        return sum(total(np, e) for e in parts) + 0.0 * np.sum(x)

    def plain(x: Any) -> float:
        return float(sum(total(np, e) for e in leaves(f(x))))

    gradient = dc.gradient(program, POINT)
    for found, expected in zip(seen, leaves(f(POINT)), strict=True):
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
        assert np.shape(found) == np.shape(expected)
    expected = differences(plain, POINT)
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv"])
@pytest.mark.parametrize("x", [0.0, -1.5])
def test_bessel_functions_of_a_broken_order_have_a_domain(name: str, x: float) -> None:
    f = getattr(sc, name)
    with pytest.raises(DomainError, match=name):
        dc.gradient(lambda z: f(0.5, z[0]) + z[1], [x, 1.0])


def test_a_rule_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tape, out = dc.tape_function(lambda x: np.sum(np.i0(x)), [0.5, 1.0])
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "scipy.special", None)
        _special._functions.cache_clear()
        with pytest.raises(UnsupportedOperationError, match="pip install scipy"):
            dc.gradient(tape, out)
    _special._functions.cache_clear()
    np.testing.assert_allclose(dc.gradient(tape, out), sc.i1([0.5, 1.0]), rtol=1e-14)


def test_clip_with_where_and_no_target_says_what_to_write() -> None:
    with pytest.raises(UnsupportedOperationError, match=r"np\.where"):
        dc.gradient(lambda x: np.sum(np.clip(x, 0.0, 1.0, where=x > 0.0)), POINT)


def test_put_of_nothing_stores_nothing() -> None:
    def f(x: Any) -> Any:
        y = x * x
        np.put(y, [], x[0])
        return np.sum(y)

    np.testing.assert_array_equal(dc.gradient(f, [1.0, 2.0]), [2.0, 4.0])


def test_an_axis_that_is_not_there_is_named() -> None:
    with pytest.raises(np.exceptions.AxisError, match="axis 1 is out of bounds"):
        dc.gradient(lambda x: np.sum(np.diff(x, axis=1)), [1.0, 2.0])


def test_diff_of_a_scalar_raises_as_numpy_does() -> None:
    with pytest.raises(ValueError, match="at least one dimensional"):
        dc.gradient(lambda x: np.sum(np.diff(x[0])), [1.0])


# -- results and operands are separate memory, or one, as NumPy has it -----------------

MEMORY: dict[str, Callable[[Any], Any]] = {
    "unwrap": lambda x: np.unwrap(3.0 * x, axis=0),
    "unwrap untouched": lambda x: np.unwrap(x, period=1e3),
    "interp": lambda x: np.interp(x, [-3.0, 0.2, 3.0], [1.0, 2.0, 5.0]),
    "pad": lambda x: np.pad(x, 0, "mean"),
    "meshgrid": lambda x: np.meshgrid(x[0], x[1])[0],
    "max": lambda x: np.max(x[:0], axis=0, initial=x[0, 0]),
}


@pytest.mark.parametrize("name", MEMORY)
def test_storing_into_a_result_leaves_what_was_recorded_alone(name: str) -> None:
    def program(x: Any, poison: bool) -> Any:
        base = x * 1.0
        y = MEMORY[name](base)
        z = total(np, y * y) + 0.0 * np.sum(x)
        if poison:
            y[...] = 99.0
            assert np.all(dc.value(base) == POINT)
        return z

    tapes = [
        dc.tape_function(program, POINT, args=(poison,), kinks="branch")
        for poison in (False, True)
    ]
    clean, poisoned = (dc.hessian(tape, out) for tape, out in tapes)
    np.testing.assert_array_equal(poisoned, clean)
    clean, poisoned = (dc.gradient(tape, out) for tape, out in tapes)
    np.testing.assert_array_equal(poisoned, clean)


def test_meshgrid_without_copies_gives_views() -> None:
    def f(x: Any) -> Any:
        base = x * 1.0
        grid = np.meshgrid(base, np.ones(2), copy=False)[0]
        base[0] = base[1] ** 2
        return np.sum(grid)

    np.testing.assert_array_equal(dc.gradient(f, [3.0, 5.0]), [0.0, 22.0])


# -- ties ------------------------------------------------------------------------------


def test_trim_zeros_takes_the_branch_and_notes_it() -> None:
    def f(x: Any) -> Any:
        return np.sum(3.0 * np.trim_zeros(x))

    tape, out = dc.tape_function(f, [0.0, 1.0, 0.0], kinks="branch")
    np.testing.assert_array_equal(dc.gradient(tape, out), [0.0, 3.0, 0.0])
    assert [kink.elemental for kink in tape.kinks] == ["trim_zeros"] * 2
    with pytest.raises(NondifferentiableError):
        dc.gradient(f, [0.0, 1.0, 0.0])


def test_a_quantile_at_an_entry_does_not_see_its_neighbours() -> None:
    x = np.array([0.1, 0.5, 0.9, 0.9, 1.2, 1.3])
    for q, at in ((0.2, 1), (0.8, 4)):
        expected = np.arange(6) == at
        np.testing.assert_array_equal(
            dc.gradient(lambda x, q=q: np.quantile(x, q), x), expected
        )


def test_constant_lanes_have_no_kink_in_their_deviation() -> None:
    def f(x: Any) -> Any:
        y = np.zeros_like(x, shape=(2, 3))
        y[0] = x
        y[1] = 2.0
        return np.sum(np.std(y, axis=1))

    x = np.array([1.0, 2.0, 4.0])
    expected = (x - x.mean()) / (3.0 * x.std())
    np.testing.assert_allclose(dc.gradient(f, x), expected, rtol=1e-14)
