"""Upward results against exact rational arithmetic: never below it, and barely above."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from derivative_covers.extend import Upward

TYPES = (np.float64, np.float32)
SIZE = 20


def numbers(width: int) -> st.SearchStrategy[float]:
    """Nonnegative finite floats: any, ends of the range, and those that end in a one."""
    info = np.finfo(np.float64 if width == 64 else np.float32)
    ends = [
        0.0,
        1.0,
        info.smallest_subnormal,
        info.tiny,
        info.max,
        info.eps,
        1 + info.eps,
    ]
    any_float = st.floats(0, float(info.max), width=width)  # type: ignore[arg-type]
    moderate = st.floats(0.5, 2.0, width=width)  # type: ignore[arg-type]
    return st.one_of(any_float, moderate, st.sampled_from([float(e) for e in ends]))


def arrays(T: Any) -> st.SearchStrategy[Any]:
    entry = numbers(np.dtype(T).itemsize * 8)
    return st.lists(entry, min_size=SIZE, max_size=SIZE).map(lambda v: np.array(v, T))


PAIRS = st.sampled_from(TYPES).flatmap(lambda T: st.tuples(arrays(T), arrays(T)))
SINGLE = st.sampled_from(TYPES).flatmap(arrays)


def exact(x: Any) -> Fraction:
    return Fraction(float(x))


def below(x: Any, steps: int) -> Any:
    for _ in range(steps):
        x = np.nextafter(x, x.dtype.type(-np.inf))
    return x


def assert_close_above(found: Any, truth: Fraction, steps: int) -> None:
    """``found`` is at least ``truth``; ``steps`` numbers further down it is not above."""
    if np.isinf(found):
        largest = np.finfo(found.dtype).max
        assert exact(below(largest, steps)) < truth
        return
    assert exact(found) >= truth
    lower = below(found, steps)
    assert lower < 0 or exact(lower) <= truth


@given(PAIRS)
def test_sums(pair: Any) -> None:
    for x, y, found in zip(*pair, np.asarray(Upward(pair[0]) + pair[1]), strict=True):
        assert_close_above(found, exact(x) + exact(y), 2)
        if x == 0 or y == 0:
            assert found == x + y


@given(PAIRS)
def test_products(pair: Any) -> None:
    for x, y, found in zip(*pair, np.asarray(pair[0] * Upward(pair[1])), strict=True):
        assert_close_above(found, exact(x) * exact(y), 2)
        if {x, y} & {0, 1}:
            assert exact(found) == exact(x) * exact(y)


@given(PAIRS)
def test_quotients(pair: Any) -> None:
    divisor = np.where(pair[1] == 0, 1, pair[1]).astype(pair[1].dtype)
    found = np.asarray(Upward(pair[0]) / Upward(divisor))
    for x, y, f in zip(pair[0], divisor, found, strict=True):
        assert_close_above(f, exact(x) / exact(y), 2)
        if y == 1 or x == 0:
            assert f == x


@given(SINGLE)
def test_roots(x: Any) -> None:
    for v, found in zip(x, np.asarray(np.sqrt(Upward(x))), strict=True):
        assert exact(found) ** 2 >= exact(v)
        lower = below(found, 2)
        assert lower < 0 or exact(lower) ** 2 <= exact(v)
        if v in (0, 1):
            assert found == v


@given(PAIRS)
def test_hypot(pair: Any) -> None:
    for x, y, found in zip(
        *pair, np.asarray(np.hypot(Upward(pair[0]), pair[1])), strict=True
    ):
        truth = exact(x) ** 2 + exact(y) ** 2
        if np.isinf(found):
            assert exact(below(np.finfo(found.dtype).max, 8)) ** 2 < truth
            continue
        assert exact(found) ** 2 >= truth
        lower = below(found, 8)
        assert lower < 0 or exact(lower) ** 2 <= truth
        if x == 0 or y == 0:
            assert found == max(x, y)


@given(SINGLE, st.integers(-6, 9))
def test_powers(x: Any, n: int) -> None:
    x = np.where(x == 0, 1, x).astype(x.dtype) if n < 0 else x
    for v, found in zip(x, np.asarray(Upward(x) ** n), strict=True):
        truth = exact(v) ** n
        if np.isinf(found):
            assert exact(np.finfo(found.dtype).max) * (1 - Fraction(1, 10**4)) < truth
            continue
        assert exact(found) >= truth
        tiny = exact(np.finfo(found.dtype).tiny)
        slack = 1 + 16 * exact(np.finfo(found.dtype).eps)
        if v and min(exact(v) ** k for k in (n, 1, -1)) > tiny:
            assert exact(found) <= truth * slack


@given(PAIRS)
def test_sums_and_dots_of_all_entries(pair: Any) -> None:
    x, y = pair
    total = sum((exact(v) for v in x), Fraction())
    found = Upward(x).sum()
    assert np.isinf(found) or exact(found) >= total
    moderate = total > exact(np.finfo(x.dtype).tiny) and not np.isinf(found)
    slack = 1 + 2 * math.ceil(math.log2(SIZE)) * exact(np.finfo(x.dtype).eps)
    assert not moderate or exact(found) <= total * slack
    inner = sum((exact(v) * exact(w) for v, w in zip(x, y, strict=True)), Fraction())
    for dot in (Upward(x) @ y, np.dot(x, Upward(y)), Upward(x).dot(y)):
        assert np.isinf(dot) or exact(dot) >= inner


@given(
    st.lists(numbers(64), min_size=6, max_size=6),
    st.lists(numbers(64), min_size=6, max_size=6),
)
def test_matrix_products(x: Any, y: Any) -> None:
    A, B = np.reshape(x, (2, 3)), np.reshape(y, (3, 2))
    found = np.asarray(Upward(A) @ B)
    for i in range(2):
        for j in range(2):
            truth = sum((exact(A[i, k]) * exact(B[k, j]) for k in range(3)), Fraction())
            assert np.isinf(found[i, j]) or exact(found[i, j]) >= truth


@given(st.fractions(0, 10**30), st.sampled_from(TYPES))
@example(Fraction(1, 3), np.float32)
@example(Fraction(2**53 + 1), np.float64)
@example(Fraction(1, 10**400), np.float64)
@example(Fraction(10**400), np.float64)
def test_conversion_of_exact_numbers(x: Fraction, T: Any) -> None:
    found = Upward(x, T).v
    assert np.isinf(found) or exact(found) >= x
    assert below(found, 2) < 0 or np.isinf(found) or exact(below(found, 2)) <= x


@given(SINGLE, st.integers(-1200, 1200))
def test_shifts_by_powers_of_two(x: Any, n: int) -> None:
    for v, found in zip(x, np.asarray(np.ldexp(Upward(x), n)), strict=True):
        truth = exact(v) * Fraction(2) ** n
        if np.isinf(found):
            assert truth > exact(np.finfo(found.dtype).max)
        elif truth >= exact(np.finfo(found.dtype).tiny) or v == 0:
            assert exact(found) == truth
        else:
            assert_close_above(found, truth, 2)


@pytest.mark.parametrize("T", TYPES)
def test_plain_arithmetic_would_fail_these_laws(T: Any) -> None:
    third = T(1) / T(3)
    assert exact(third + third + third * T(0.1)) != 0
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 1000)).astype(T)
    short = [exact(a * b) < exact(a) * exact(b) for a, b in zip(x, y, strict=True)]
    assert 300 < sum(short) < 700
