"""Covers transform exactly under powers of two for inputs and of four for outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import derivative_covers as dc
from tests.laws._random_programs import RandomProgram, programs

MERGES = ("sum", "quadrature")
EXPONENTS = st.lists(st.integers(-8, 8), min_size=4, max_size=4)


def covers(f: Any, x0: Any, scales: Any = None) -> list[Any]:
    tape, out = dc.tape_function(f, x0)
    found = [dc.cover_hessian(tape, out, merge=m, scales=scales).h for m in MERGES]
    found += [
        dc.cover_hybrid(tape, out, ngroups=g, scales=scales).h for g in (1, 2, 3, 8)
    ]
    return found


@given(programs(zeros=True), EXPONENTS)
def test_inputs_in_other_units(program: RandomProgram, exponents: list[int]) -> None:
    units = 2.0 ** np.array(exponents)
    x0 = program.point

    def rescaled(z: Any) -> Any:
        return program(units * z)

    tape, _ = dc.tape_function(program, x0)
    declared = np.array([1.0, 0.3, 2.0, 0.7]) if dc.guards_any_block(tape) else None
    moved = None if declared is None else declared / units
    for h, k in zip(
        covers(program, x0, declared), covers(rescaled, x0 / units, moved), strict=True
    ):
        np.testing.assert_array_equal(k, units * h)


@given(programs(), EXPONENTS)
def test_scales_are_not_read_where_no_block_asks(
    program: RandomProgram, exponents: list[int]
) -> None:
    tape, _ = dc.tape_function(program, program.point)
    if not dc.guards_any_block(tape):
        plain = covers(program, program.point)
        declared = covers(program, program.point, 2.0 ** np.array(exponents))
        for h, k in zip(plain, declared, strict=True):
            np.testing.assert_array_equal(h, k)


@given(programs(zeros=True), st.integers(-6, 6))
def test_output_in_other_units(program: RandomProgram, power: int) -> None:
    x0 = program.point
    factor = 4.0**power

    def rescaled(x: Any) -> Any:
        return program(x) * factor

    for h, k in zip(covers(program, x0), covers(rescaled, x0), strict=True):
        np.testing.assert_array_equal(k, 2.0**power * h)


@given(programs(zeros=True))
def test_a_negated_output_has_the_same_cover(program: RandomProgram) -> None:
    x0 = program.point
    for h, k in zip(
        covers(program, x0), covers(lambda x: -program(x), x0), strict=True
    ):
        np.testing.assert_array_equal(h, k)


@pytest.mark.parametrize("merge", MERGES)
def test_guarded_block_follows_the_declared_scales(merge: Any) -> None:
    def f(x: Any) -> Any:
        return x[0] * x[1]

    tape, out = dc.tape_function(f, [0.0, 3.0])
    assert dc.guards_any_block(tape)
    h = dc.cover_hessian(tape, out, merge=merge, scales=[4.0, 1.0]).h
    np.testing.assert_allclose(h, [0.5, 2.0], rtol=1e-15)
    plain = dc.cover_hessian(tape, out, merge=merge).h
    np.testing.assert_allclose(plain, [1.0, 1.0], rtol=1e-15)


def test_ratio_moves_the_guard() -> None:
    def f(x: Any) -> Any:
        return x[0] * x[1]

    tape, out = dc.tape_function(f, [1e-5, 1.0])
    assert not dc.guards_any_block(tape)
    assert dc.guards_any_block(tape, ratio=1e-4)
    by_values = dc.cover_hessian(tape, out).h
    np.testing.assert_allclose(by_values, [10.0**2.5, 10.0**-2.5], rtol=1e-12)
    by_scales = dc.cover_hessian(tape, out, ratio=1e-4).h
    np.testing.assert_allclose(by_scales, [1.0, 1.0], rtol=1e-12)
    for wrong in (1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="ratio"):
            dc.cover_hessian(tape, out, ratio=wrong)
        with pytest.raises(ValueError, match="ratio"):
            dc.guards_any_block(tape, ratio=wrong)


def test_rosenbrock_in_bad_units() -> None:
    def rosenbrock(x: Any) -> Any:
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    x0 = np.array([-1.2, 1.0, 0.7])
    units = np.array([2.0**20, 1.0, 2.0**-20])
    for h, k in zip(
        covers(rosenbrock, x0),
        covers(lambda z: rosenbrock(units * z), x0 / units),
        strict=True,
    ):
        np.testing.assert_array_equal(k, units * h)
