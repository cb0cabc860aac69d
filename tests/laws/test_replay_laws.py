"""A replay at another point is a recording there, on random programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers.errors import BranchChangedError, DerivativeError
from tests.laws._random_programs import RandomProgram, programs

SHIFTS = st.lists(
    st.sampled_from([0.0, 0.03125, -0.0625, 0.4, -2.5]), min_size=4, max_size=4
)


def close(a: Any, b: Any) -> None:
    """Up to the order of additions."""
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11 * (1.0 + np.abs(b).max()))


@given(programs(), SHIFTS)
def test_a_replay_is_a_recording_there_or_a_decision_changed(
    program: RandomProgram, shift: list[float]
) -> None:
    tape, out = dc.tape_function(program, program.point)
    there = program.point + np.array(shift)
    try:
        replayed = tape.replay(there)
    except BranchChangedError:
        return
    except DerivativeError as error:  # no other error than a recording would give
        try:
            dc.tape_function(program, there)
        except type(error):
            return
        raise
    fresh, other = dc.tape_function(program, there)
    close(replayed.vals[out], fresh.vals[other])
    try:
        expected = dc.gradient(fresh, other)
    except DerivativeError as error:
        try:
            dc.gradient(replayed, out)
        except type(error):
            return
        raise
    close(dc.gradient(replayed, out), expected)
    close(dc.hvp(replayed, out, np.array(shift)), dc.hvp(fresh, other, np.array(shift)))


@given(programs(zeros=True))
def test_a_replay_at_the_same_point_changes_nothing(program: RandomProgram) -> None:
    tape, out = dc.tape_function(program, program.point)
    replayed = tape.replay(program.point)
    np.testing.assert_allclose(replayed.vals, tape.vals, rtol=1e-14, atol=1e-14)
    covers = [dc.cover_hessian(t, out).h for t in (replayed, tape)]
    np.testing.assert_allclose(*covers, rtol=1e-5, atol=1e-6)


@given(programs(), SHIFTS)
def test_there_and_back(program: RandomProgram, shift: list[float]) -> None:
    tape, _ = dc.tape_function(program, program.point)
    try:
        there = tape.replay(program.point + np.array(shift))
    except DerivativeError:
        return
    first, back = tape.replay(program.point), there.replay(program.point)
    assert back.vals.tobytes() == first.vals.tobytes()
