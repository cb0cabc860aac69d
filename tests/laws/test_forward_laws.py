"""Forward covers over random programs, against the tape.

For the comparison of covers the tape runs the same scalar operations: it gets an object
array of scalar variables, as the forward backend does.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import derivative_covers as dc
from tests.laws._random_programs import monotone_programs, programs

STORAGES = st.sampled_from(["dense", "sparse"])
# On lists and scalars the tape has nodes of its own for these, with other splits.
LAYERED = {"scalar_loop", "stack", "iterate", "sinc", "norm", "inner_loop"}


def scalar_tape(program):
    def f(x):
        held = np.empty(x.size, dtype=object)
        held[:] = list(x)
        return program(held)

    return dc.tape_function(f, program.point)


def comparable(program):
    return not LAYERED & {s.op for s in program.steps}


@settings(max_examples=40, deadline=None)
@given(programs(4), STORAGES)
def test_gradients_agree_and_covers_hold(program, storage):
    tape, out = dc.tape_function(program, program.point)
    found = dc.forward_cover(program, program.point, storage=storage)
    np.testing.assert_allclose(found.value, tape.vals[out], rtol=1e-10, atol=1e-10)
    gradient = dc.gradient(tape, out)
    # What may cancel in an entry is bounded by the sum over paths.
    paths = dc.abs_reverse(tape, out, 1.0)
    assert (np.abs(found.gradient - gradient) <= 1e-10 * (1 + paths)).all()
    H = dc.hessian(tape, out)
    bound = dc.hessian_bound(tape, out)
    assert (np.outer(found.h, found.h) >= np.abs(H) - 1e-10 * bound).all()


@settings(max_examples=40, deadline=None)
@given(programs(4).filter(comparable), STORAGES)
def test_never_below_the_quadrature_of_the_tape(program, storage):
    found = dc.forward_cover(program, program.point, storage=storage)
    least = dc.cover_hessian(*scalar_tape(program), merge="quadrature").h
    assert (found.h >= least * (1 - 1e-9)).all()
    np.testing.assert_array_equal(found.h[least == 0] > 0, False)


@settings(max_examples=40, deadline=None)
@given(monotone_programs(4).filter(comparable), STORAGES)
def test_equal_to_quadrature_where_no_paths_cancel(program, storage):
    found = dc.forward_cover(program, program.point, storage=storage)
    least = dc.cover_hessian(*scalar_tape(program), merge="quadrature").h
    np.testing.assert_allclose(found.h, least, rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(programs(3))
def test_storage_does_not_change_results(program):
    dense = dc.forward_cover(program, program.point)
    sparse = dc.forward_cover(program, program.point, storage="sparse")
    np.testing.assert_allclose(dense.h, sparse.h, rtol=1e-12, atol=0)
    np.testing.assert_allclose(dense.gradient, sparse.gradient, rtol=1e-12, atol=1e-12)
    assert dense.asked == sparse.asked


@settings(max_examples=30, deadline=None)
@given(programs(3), st.lists(st.integers(-6, 6), min_size=4, max_size=4))
def test_units_of_the_inputs_go_along_bit_for_bit(program, powers):
    D = 2.0 ** np.array(powers)
    base = dc.forward_cover(program, program.point)
    moved = dc.forward_cover(
        lambda y: program(y * D), program.point / D, scales=1.0 / D
    )
    np.testing.assert_array_equal(moved.h, base.h * D)
    np.testing.assert_array_equal(moved.gradient, base.gradient * D)
