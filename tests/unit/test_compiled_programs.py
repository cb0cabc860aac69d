"""Functions that numba compiled are recorded by their Python source."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest

import derivative_covers as dc


@numba.njit
def _square(a: Any) -> Any:
    return a * a


@numba.njit
def _rosenbrock(x: Any) -> Any:
    terms = np.zeros(len(x))
    for i in range(len(x) - 1):
        terms[i] = 100 * _square(x[i + 1] - x[i] ** 2) + _square(1 - x[i])
    return terms.sum() + math.exp(x[0])


def _caller(x: Any) -> Any:
    return _rosenbrock(x)


def _expected(x: Any) -> Any:
    g = np.zeros(x.size)
    gap = x[1:] - x[:-1] ** 2
    g[:-1] -= 400 * x[:-1] * gap + 2 * (1 - x[:-1])
    g[1:] += 200 * gap
    g[0] += np.exp(x[0])
    return g


POINT = np.linspace(0.5, 1.5, 5)


def test_a_compiled_program_is_recorded() -> None:
    np.testing.assert_allclose(dc.gradient(_rosenbrock, POINT), _expected(POINT), 1e-14)
    assert not _rosenbrock.signatures  # nothing was compiled for it


def test_compiled_callees_are_recorded_where_the_program_is_rewritten() -> None:
    found = dc.gradient(_caller, POINT, numpy="rewrite")
    np.testing.assert_allclose(found, _expected(POINT), 1e-14)


def test_other_calls_of_compiled_functions_say_what_to_do() -> None:
    with pytest.raises(numba.errors.TypingError) as caught:
        dc.gradient(_caller, POINT)
    assert "numpy='rewrite'" in "".join(caught.value.__notes__)
