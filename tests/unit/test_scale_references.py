"""Scale references of a tape, and the local cover of one node from them."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers import errors, extend, sweeps


def program(x):
    return np.exp(x[0] * x[1]) + x[1] / x[2] + x[0] * (x[2] - x[2])


X = [0.5, -1.5, 2.0]


def test_references_hold_values_liveness_and_declared_scales():
    tape, _ = dc.tape_function(program, X)
    w = [2.0, 3.0, 5.0]
    scales = extend.split_scales(w, tape)
    assert len(scales) == dc.nnodes(tape) == len(scales[:])
    assert not scales.source.built
    np.testing.assert_array_equal([s.value for s in scales], np.abs(tape.vals))
    assert not scales.source.built
    dead = [k for k, s in enumerate(scales) if extend.dead_slot(s)]
    assert dead
    assert all(not dc.jacobian(tape, np.array([k])).any() for k in dead)
    assert not scales.source.built
    np.testing.assert_array_equal(
        [extend.declared_scale(s) for s in scales], dc.sensitivity_scales(w, tape)
    )
    assert scales.source.built
    assert scales[-1].value == scales[len(scales) - 1].value
    with pytest.raises(IndexError, match="not on this tape"):
        scales[len(scales)]


def test_single_nodes_give_what_all_of_them_give():
    tape, out = dc.tape_function(program, X)
    covers = dc.local_covers(tape, out)
    scales = extend.split_scales(None, tape)
    adjoints = np.abs(sweeps.adjoints(sweeps.lower(tape), tape, 1.0, out))
    compared = 0
    for k, rho in enumerate(covers):
        found = extend.local_cover_slots(tape, k, None, adjoints[k], scales)
        parents = tape.parents[k]
        if len(set(parents)) == len(parents):
            assert (found is None) == (rho is None)
        if rho is not None:
            np.testing.assert_allclose(found, rho, rtol=1e-14)
            compared += 1
    assert compared >= 3
    assert extend.local_cover_slots(tape, out, None, 0.0, scales) is None


def test_wrong_arguments_are_refused():
    tape, _ = dc.tape_function(program, X)
    with pytest.raises(errors.ShapeError):
        extend.split_scales([1.0, 2.0], tape)
    with pytest.raises(errors.InputTypeError):
        extend.split_scales(None, program)
    with pytest.raises(errors.DomainError):
        extend.local_cover_slots(tape, 3, None, np.nan, extend.split_scales(None, tape))
