"""Tapes over a box contain what a program gives at every point of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers.errors import (
    DomainError,
    NondifferentiableError,
    UndecidedError,
)
from tests.laws._exact_numbers import Ball, Rational, balls, rationals
from tests.laws._random_programs import (
    ALL_OPS,
    BASE,
    FINALS,
    RandomProgram,
    _points,
    _steps,
)

REFUSALS = (DomainError, NondifferentiableError, UndecidedError)
# NumPy has no such functions of objects.
_NO_OBJECTS = "heaviside floor ceil round mod clip logaddexp copysign hypot sinc"
_IRRATIONAL = (
    "power_fraction power_negative power_of_constant sqrt cbrt exp exp2 expm1 log log2 "
    "log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "degrees constant_over power arctan2_right norm std where arctan2 guarded_log"
)
NO_OBJECTS = frozenset(_NO_OBJECTS.split(" "))
IRRATIONAL = frozenset(_IRRATIONAL.split(" "))
POLYNOMIAL = [n for n in ALL_OPS if n not in NO_OBJECTS | IRRATIONAL]


def built(
    names: Any, finals: Any, longest: int = 5
) -> st.SearchStrategy[RandomProgram]:
    steps, points = _steps(tuple(names), longest), _points(BASE, zeros=True)
    return st.builds(RandomProgram, steps, finals, points)


boxes = st.tuples(
    st.sampled_from([0.0, 2.0**-40, 0.01, 0.25, 1.0]), st.integers(0, 2**32 - 1)
)


def box_around(program: RandomProgram, radius: float) -> Any:
    return dc.Interval(program.point - radius, program.point + radius)


def members(box: Any, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    corners = [np.where(rng.random(box.lo.shape) < 0.5, box.lo, box.hi) for _ in "ab"]
    inside = np.clip(
        box.lo + rng.random(box.lo.shape) * (box.hi - box.lo), box.lo, box.hi
    )
    return [*corners, inside]


def holds(program: RandomProgram, drawn: Any, exact: Any, number: Any) -> bool:
    box = box_around(program, drawn[0])
    try:
        tape, out = dc.tape_function(
            lambda x: np.stack([program(x), *program.vector(x)]), box
        )
    except REFUSALS:
        return False
    found = tape.vals[out]
    for x in members(box, drawn[1]):
        y = exact(x)
        values = [program(y), *program.vector(y)]
        for k, v in enumerate(values):
            v = v if isinstance(v, number) else number(number.plain(v))
            assert v.within(float(found.lo[k]), float(found.hi[k])), (x, k, found[k])
    return True


# Rationals double their digits with every product.
@given(built(POLYNOMIAL, st.sampled_from(["sum", "dot", "products"]), 3), boxes)
def test_rational_programs_are_contained_exactly(
    program: RandomProgram, drawn: Any
) -> None:
    holds(program, drawn, rationals, Rational)


@given(built([n for n in ALL_OPS if n not in NO_OBJECTS], FINALS), boxes)
def test_programs_are_contained(program: RandomProgram, drawn: Any) -> None:
    pytest.importorskip("flint")
    holds(program, drawn, balls, Ball)
