"""Blocks of every size may go through the kernels for consecutive operands."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given

import derivative_covers as dc
from derivative_covers.sweeps import _lower
from tests.laws._random_programs import RandomProgram, programs


def _everything(program: RandomProgram) -> list[Any]:
    tape, out = dc.tape_function(program, program.point)
    return [
        dc.gradient(tape, out),
        dc.hessian(tape, out),
        dc.cover_hessian(tape, out).h,
        dc.cover_hessian(tape, out, merge="quadrature").h,
        dc.abs_reverse(tape, out, 1.0),
    ]


@given(programs(zeros=True))
def test_they_give_what_the_general_ones_give(program: RandomProgram) -> None:
    expected = _everything(program)
    kept = _lower.SMALL
    try:
        _lower.SMALL = 1
        found = _everything(program)
    finally:
        _lower.SMALL = kept
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
