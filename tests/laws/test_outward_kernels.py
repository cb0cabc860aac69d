"""Kernels of interval arithmetic have the bits of the arithmetic by NumPy."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from derivative_covers.elements import _outward as ow
from derivative_covers.sweeps.kernels import outward as kernels

NUMBERS = [
    0.0, 1.0, 3.0, 0.1, 1 / 3, 2.0**-30, 1.5 * 2.0**40, 5e-324, 3e-310, 2.0**-1022,
    1e-160, 1e-300, 1.1e160, 1e300, 1.7e308,
]  # fmt: skip


def intervals(count: int) -> list[tuple[Any, Any]]:
    """Points and ranges between numbers of all kinds, and random ones."""
    signed = sorted([*NUMBERS, *(-a for a in NUMBERS[1:])])
    rng = np.random.default_rng(3)
    ends = [(a, a) for a in signed]
    ends += [tuple(sorted(rng.choice(signed, 2))) for _ in range(count)]
    ends += [tuple(np.sort(rng.normal(size=2))) for _ in range(count)]
    ends += [tuple(np.sort(rng.integers(-9, 9, 2) / 4.0)) for _ in range(count)]
    return [(np.float64(a), np.float64(b)) for a, b in ends]


def agree(kernel: Any, quick: Any, operands: list[Any]) -> int:
    """How many results a kernel gives; those have the ends of NumPy's arithmetic."""
    columns = [np.array(column) for column in zip(*operands, strict=True)]
    with np.errstate(all="ignore"):
        lo, hi = quick(*((c[:, 0].copy(), c[:, 1].copy()) for c in columns))
        given = 0
        for k, xs in enumerate(operands):
            low, high = kernel.compiled()(*(e for x in xs for e in x))
            if math.isnan(low):
                top = 1e300 if kernel is kernels.add else 1.7e308
                assert not (abs(lo[k]) < top and abs(hi[k]) < top), xs
                continue
            assert (low, high) == (lo[k], hi[k]), xs
            given += 1
    return given


def test_operations() -> None:
    few, many = intervals(20), intervals(150)
    pairs = list(product(few, few))
    assert agree(kernels.add, ow.add, pairs) > len(pairs) // 2
    assert agree(kernels.multiply, ow.multiply, pairs) > len(pairs) // 2
    nonzero = [(x, y) for x, y in pairs if y[0] > 0 or y[1] < 0]
    assert agree(kernels.divide, ow.divide, nonzero) > len(nonzero) // 2
    assert agree(kernels.square, ow.square, [(x,) for x in many]) > len(many) // 2
    positive = [(x,) for x in many if x[0] >= 0]
    assert agree(kernels.square_root, ow.sqrt, positive) == len(positive)


@pytest.mark.parametrize("n", [-3, -2, 0, 1, 2, 3, 6])
def test_powers(n: int) -> None:
    given = [x for x in intervals(60) if n >= 0 or x[0] > 0 or x[1] < 0]
    for lo, hi in given:
        with np.errstate(all="ignore"):
            low, high = kernels.power.compiled()(lo, hi, n)
            least, most = (float(e) for e in ow.power((lo, hi), n))
        if math.isnan(low):
            assert n < 0 or not (abs(least) < 1e300 and abs(most) < 1e300), (lo, hi)
        else:
            assert (low, high) == (least, most), (lo, hi)


@pytest.mark.parametrize(("n", "rows"), [(3, 1), (40, 8), (40, 9), (255, 1), (700, 2)])
def test_sums(n: int, rows: int) -> None:
    """Those of few terms are rounded once: ``math.fsum`` tells both ends."""
    rng = np.random.default_rng(n)
    lo = rng.normal(size=(rows, n)) * 10.0 ** rng.integers(-20, 20, (rows, n))
    lo[:, n // 2] = -lo[:, 0]
    hi = lo + np.abs(lo) * rng.integers(0, 2, (rows, n))
    least, most = ow.total((lo, hi), axis=-1)
    for k in range(rows):
        ends = lo[k].copy(), hi[k].copy()
        low, high = kernels.total.compiled()(*ends, n, rows, np.empty(n))
        assert (low, high) == (least[k], most[k])
        assert low <= math.fsum(lo[k])
        assert high >= math.fsum(hi[k])
