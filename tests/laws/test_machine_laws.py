"""The compiled interpreter against sweeps of a tape recorded at the same point."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import derivative_covers as dc
from derivative_covers.elementals import Elemental
from derivative_covers.errors import ReplayError
from derivative_covers.local import split_ratio
from derivative_covers.replay import _emit
from derivative_covers.replay._batch import Batch
from derivative_covers.replay._forward import Forward
from derivative_covers.replay._machine import Machine
from derivative_covers.replay.kernels._kinds import COVER
from tests.laws._random_programs import RandomProgram, programs

RATIO = float(split_ratio(None, np.float64))


# Compiling each elemental of the programs would take minutes: what is left to NumPy is
# tested along with what is compiled.
COMPILED = frozenset(("add", "subtract", "multiply", "square", "exp", "sqrt"))


@pytest.fixture(autouse=True, scope="module")
def few_are_compiled() -> Iterator[None]:
    make = _emit.functions

    def some(op: Elemental, pattern: int, const: float | None = None) -> Any:
        return make(op, pattern, const) if op.name in COMPILED else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_emit, "functions", some)
        yield


def close(found: object, expected: object) -> None:
    expected = np.ravel(expected)
    size = np.abs(expected).max() + 1.0
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-10, atol=1e-12 * size)


@given(programs(zeros=True), st.integers(0, 2**32 - 1))
def test_machine_gives_what_the_tape_gives(program: RandomProgram, seed: int) -> None:
    x = program.point
    v = np.random.default_rng(seed).normal(size=4)
    tape, out = dc.tape_function(program, x)
    try:
        machine = Machine(tape, out)
    except ReplayError:
        return
    for _ in range(2):  # buffers are used again
        values = machine.values(x)
        assert values is not None
        close(values, tape.vals[out])
        found = machine.gradient(x)
        assert found is not None
        close(found[1], dc.gradient(tape, out))
        products = machine.hvp(x, v)
        assert products is not None
        close(products[2], dc.hvp(tape, out, v))
        cover = machine.cover(x, RATIO)
        if cover is not None:
            close(cover[2], dc.cover_hessian(tape, out).h)


@settings(max_examples=40)
@given(programs(zeros=True))
def test_forward_covers_are_those_of_the_propagation(program: RandomProgram) -> None:
    x = program.point
    tape, out = dc.tape_function(program, x)
    try:
        found = Forward(Machine(tape, out), tape, out).cover(x, RATIO)
    except ReplayError:
        return
    if found is not None:
        expected = dc.forward_cover(program, x)
        close(found[1], expected.gradient)
        close(found[2], expected.h)


@given(programs(zeros=True))
def test_batches_give_what_single_points_give(program: RandomProgram) -> None:
    tape, out = dc.tape_function(program, program.point)
    X = program.point + np.linspace(0.0, 1e-5, 9)[:, None]
    try:
        machine, batch = Machine(tape, out), Batch(tape, out)
    except ReplayError:
        return
    Y, G, H, failed = batch.sweep(X, COVER, RATIO)
    for k in np.flatnonzero(~failed):
        found = machine.cover(X[k], RATIO)
        assert found is not None
        close(Y[k], found[0])
        close(G[k], found[1])
        close(H[k], found[2])
