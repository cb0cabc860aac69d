"""Every call of the table: NumPy's bits, views, float32 tapes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from tests._numpy_calls import BY_NAME, CALLS, NAMES, Call, total


def run(call: Call, x0: Any, see: Any = lambda x: x) -> tuple[Any, Any]:
    """What the call gives inside of a recording, and the gradient of its total."""
    seen: list[Any] = []

    def program(z: Any) -> Any:
        y = call.f(np, see(z))
        seen.append(dc.value(y))
        return total(np, y) + 0.0 * np.sum(z)

    gradient = dc.gradient(program, x0)
    return seen[0], gradient


def plain(call: Call, x0: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call.f(np, x0)


def test_the_table_is_large_and_its_names_are_unique() -> None:
    assert len(CALLS) == len(BY_NAME) >= 450


@pytest.mark.parametrize("name", NAMES)
def test_values_have_numpys_bits(name: str) -> None:
    call = BY_NAME[name]
    expected = np.asarray(plain(call, call.x0.copy()))
    value, _ = run(call, call.x0)
    assert np.shape(value) == expected.shape
    assert np.asarray(value).tobytes() == expected.astype(np.float64).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_view_with_negative_strides_gives_the_same(name: str) -> None:
    call = BY_NAME[name]
    value, gradient = run(call, call.x0)
    big = np.flip(call.x0)
    same, flipped = run(
        call, big, lambda z: z[(slice(None, None, -1),) * z.ndim] if z.shape else z
    )
    np.testing.assert_allclose(same, value, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(np.flip(flipped), gradient, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", NAMES[::3])
def test_float32_tapes_stay_float32(name: str) -> None:
    call = BY_NAME[name]
    x0 = call.x0.astype(np.float32)
    value, gradient = run(call, x0)
    _, exact = run(call, x0.astype(np.float64))
    expected = plain(call, x0.astype(np.float64))
    assert np.asarray(value).dtype == np.float32
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(value, expected, rtol=2e-4, atol=2e-4)
    scale = 1.0 + np.abs(exact).max(initial=0.0)
    np.testing.assert_allclose(gradient, exact, rtol=1e-3, atol=1e-3 * scale)
