"""Programs that are recorded over one box and evaluated over others."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import count
from typing import Any

import flint
import numba
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import bounds
from derivative_covers.errors import (
    DerivativeError,
    DomainError,
    InputTypeError,
    NondifferentiableError,
    OptionError,
    ReplayError,
    ShapeError,
    UndecidedError,
)
from derivative_covers.extend import UnaryCurvature, pushnode
from tests.suites._box_checks import points
from tests.suites._box_functions import CASES
from tests.suites._second_order import arb_hessian, to_fraction

Box = dc.Interval
N = 300  # more than a step gathers


def arithmetic(x: Any) -> Any:
    """Every operation that kernels know, in blocks of both sizes and in scalars."""
    y = np.sqrt(1 + x * x) / (2 + x[::-1] ** 2) + 0.3 * x**3 - x**-2
    z = np.maximum(np.abs(x - 9) ** 3, x) - np.minimum(x, 5.0) / 7 + np.reciprocal(x)
    few = (-y[:9] * z[1:10] - y[:9]) / (x[:9] + 0.1)
    return np.sum(y / x) + z @ y + np.mean(few * few) + x[0] * x[1] / 3 - 2 / x[2]


def mixed(x: Any) -> Any:
    """Arithmetic among functions that are enclosed by a library."""
    y = np.exp(-x * x[0]) / (1 + x) + np.cumsum(np.tanh(x[:7]))[-1]
    return np.log(np.sum(y)) + np.sin(x[0]) * x[1] ** 1.5 + x[2] ** x[3]


def part(n: int, shift: float, width: float) -> Any:
    lo = np.random.default_rng(5).uniform(0.5, 0.8, n) + shift
    return Box(lo, lo + width)


def equal(x: Any, y: Any) -> bool:
    if not isinstance(x, Box):
        return np.array_equal(x, y)
    return np.array_equal(x.lo, y.lo) and np.array_equal(x.hi, y.hi)


@pytest.mark.parametrize("f", [arithmetic, mixed])
def test_arrays_have_the_bits_of_recordings(f: Any) -> None:
    compiled = dc.compile(f, part(N, 0.0, 0.25))
    for box in (part(N, 0.1, 0.01), part(N, 0.7, 2.0**-30), part(N, 0.0, 0.2)):
        tape, out = dc.tape_function(f, box)
        for merge in ("sum", "quadrature")[: 2 if f is arithmetic else 1]:
            found = compiled.cover(box, merge=merge)
            expected = dc.cover_hessian(tape, out, merge=merge)
            # scalar operations are rounded by other rules
            np.testing.assert_allclose(found.h, expected.h, rtol=1e-14)
            np.testing.assert_allclose(found.gradient.lo, expected.gradient.lo, 1e-13)
            assert found.merge == merge
        again = compiled.tape_at(box)[0]
        first = tape.blocks[-12].start if f is arithmetic else out
        ends = zip(again.enclosures.all(), tape.enclosures.all(), strict=True)
        assert all(np.array_equal(a[:first], b[:first]) for a, b in ends)
        assert compiled._at(box)[2] is not bool(numba.config.DISABLE_JIT)
    assert compiled.recordings == 2  # once, and once to be held against the first


def vector(x: Any) -> Any:
    """Without scalar operations, so that all bits are those of a recording."""
    y = x * x - x / (1 + x**2) + np.abs(x) * np.sqrt(x)
    z = (y * y[::-1])[1:] + 2.5 * (x[1:] - x[:-1] ** 2) ** 2
    return z @ (z + 1.0)


def test_all_results_are_those_of_recordings() -> None:
    compiled = dc.compile(vector, part(8, 0.0, 0.2))
    box, v = part(8, 0.4, 0.3), np.arange(8.0)
    tape, out = dc.tape_function(vector, box)
    assert equal(compiled(box), tape.vals[out])
    for name in ("gradient", "jacobian", "hessian", "hessian_bound"):
        assert equal(getattr(compiled, name)(box), getattr(dc, name)(vector, box))
    assert equal(compiled.hvp(box, v), dc.hvp(vector, box, v))
    scales = {"merge": "auto", "budget": 40, "scales": v + 1, "ratio": 0.1}
    found, expected = (
        compiled.cover(box, **scales),
        dc.cover_hessian(vector, box, **scales),
    )
    assert equal(found.h, expected.h)
    assert equal(compiled.cover(box).h, dc.cover_hessian(vector, box).h)
    assert equal(
        dc.gradient(lambda x: 2 * compiled(x), box), 2 * compiled.gradient(box)
    )
    copy = pickle.loads(pickle.dumps(compiled))
    assert equal(copy.value(box), compiled.value(box))
    assert "8 inputs" in repr(copy)


@pytest.mark.parametrize(
    "name", ["goldstein-price", "lennard-jones", "beale", "logistic loss"]
)
def test_covers_hold_at_points(name: str) -> None:
    """Hessians in balls of 128 bits, at points of parts of the box."""
    case = next(c for c in CASES if c.name == name)
    whole = Box.box(case.box)
    compiled = dc.compile(case.f, whole)
    for first, last in ((0.0, 0.3), (0.5, 0.6)):
        width = whole.hi - whole.lo
        box = Box(whole.lo + first * width, whole.lo + last * width)
        cover, H = compiled.cover(box), compiled.hessian(box)
        x = points(np.transpose([box.lo, box.hi]), 20)
        for (i, j), balls in arb_hessian(case.f, x).items():
            for ball in np.ravel(np.asarray(balls, dtype=object)):
                size = to_fraction(flint.arb(ball).abs_lower())
                assert size <= Fraction(cover.h[i]) * Fraction(cover.h[j])
                assert flint.arb(ball).overlaps(_ball(H[i, j]))
    assert compiled.replays == 4


def _ball(x: Any) -> Any:
    return flint.arb(float(x.lo)).union(flint.arb(float(x.hi)))


def branches(x: Any) -> Any:
    return np.sum(x**3) if x[0] > 0 else np.sqrt(x[1]) / x[0]


def test_decisions_hold_in_parts_of_a_box() -> None:
    compiled = dc.compile(branches, Box([1.0, 1.0], [4.0, 4.0]))
    for lo in ([1.5, 1.0], [2.0, 3.0]):
        box = Box(lo, np.add(lo, 0.5))
        assert equal(compiled.cover(box).h, dc.cover_hessian(branches, box).h)
    assert (compiled.recordings, compiled.replays) == (2, 2)
    other = Box([-2.0, 1.0], [-1.0, 2.0])
    assert equal(compiled.gradient(other), dc.gradient(branches, other))
    assert compiled.recordings == 3  # no part of the first box
    for lo, hi, error in (
        ([-1.0, 1.0], [1.0, 2.0], UndecidedError),
        ([-2.0, -1.0], [-1.0, 2.0], DomainError),
    ):
        with pytest.raises(error) as found:
            compiled.cover(Box(lo, hi))
        with pytest.raises(error) as expected:
            dc.cover_hessian(branches, Box(lo, hi))
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("lo", "hi"),
    [([-1, 1], [1, 2]), ([1, -1], [2, 1]), ([0, 1], [2, 3]), ([1, 1], [1e200, 1e308])],
)
def test_faults_are_those_of_recordings(lo: Any, hi: Any) -> None:
    def f(x: Any) -> Any:
        return np.sqrt(x[0]) * np.abs(x[1]) + 1 / x[0] + x[0] ** 2 * x[1] ** 2

    compiled, box = dc.compile(f, Box([1.0, 1.0], [4.0, 4.0])), Box(lo, hi)
    with pytest.raises((DomainError, NondifferentiableError)) as found:
        compiled.cover(box)
    with pytest.raises(DerivativeError) as expected:
        dc.cover_hessian(f, box)
    assert (type(found.value), str(found.value)) == (
        type(expected.value),
        str(expected.value),
    )


def test_faults_that_no_output_needs() -> None:
    def f(x: Any) -> Any:
        np.log(x[0])
        return x[0] ** 2 + np.maximum(x[1], 0.0) * 0.0 + x[1]

    compiled = dc.compile(f, Box([1.0, 1.0], [4.0, 4.0]))
    box = Box([-1.0, 1.0], [1.0, 2.0])
    assert equal(compiled.cover(box).h, dc.cover_hessian(f, box).h)
    half_line = Box([1.0, 1.0], [2.0, np.inf])
    assert equal(compiled.cover(half_line).h, dc.cover_hessian(f, half_line).h)


def test_numbers_that_are_hidden() -> None:
    def centred(x: Any) -> Any:
        return (x[0] - dc.value(x[0]).mid) ** 2 * x[1]

    compiled = dc.compile(centred, Box([1.0, 1.0], [4.0, 4.0]))
    for lo in (1.0, 2.0):  # its numbers depend on the box: it is recorded each time
        box = Box([lo, 1.0], [lo + 0.5, 2.0])
        assert equal(compiled.cover(box).h, dc.cover_hessian(centred, box).h)
    assert compiled.replays == 0
    calls = count()
    drifting = dc.compile(lambda x: x[0] ** 2 * next(calls), Box([1.0], [2.0]))
    with pytest.raises(ReplayError, match="has changed"):
        drifting.value(Box([1.0], [1.5]))


def test_explicit_nodes_are_recorded_each_time() -> None:
    calls = count()

    def f(x: Any) -> Any:
        next(calls)
        bent = UnaryCurvature(Box(1.0, 3.0))
        return pushnode(x[0].tape, Box(1.0, 2.0), [x[0].i], [Box(0.0, 1.0)], bent)

    compiled = dc.compile(f, Box([1.0], [2.0]))
    for _ in range(2):
        compiled.cover(Box([1.0], [1.5]))
    assert next(calls) == 3


def test_what_cannot_be_used() -> None:
    box = Box([1.0, 1.0], [2.0, 2.0])
    compiled = dc.compile(lambda x: x[0] * x[1], box)
    with pytest.raises(InputTypeError, match="an Interval is needed"):
        compiled.cover([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"shape \(3,\)"):
        compiled.cover(Box([1.0, 1.0, 1.0]))
    with pytest.raises(OptionError, match="merge"):
        compiled.cover(box, merge="other")
    with pytest.raises(OptionError, match="scales"):
        compiled.cover(box, scales=[1.0, -1.0])
    with pytest.raises(OptionError, match="branches"):
        dc.compile(lambda x: x[0], box, branches=0)
    with pytest.raises(InputTypeError, match="one Interval"):
        dc.compile(lambda a, b: a * b, (box, box))
    with pytest.raises(ShapeError, match="one scalar output"):
        dc.compile(lambda x: x * x, box).cover(box)
    box[0] = Box(0.0, 9.0)  # the recording keeps its own
    assert compiled._first.hi[0] == 2.0


def test_bounds_take_them() -> None:
    f = CASES[0].f
    box = Box([0.1, 0.2], [0.9, 0.7])
    found = bounds.alphabb(dc.compile(f, box), box, max_boxes=6)
    assert equal(found.alpha, bounds.alphabb(f, box, max_boxes=6).alpha)
