"""Programs as users write them record, with the plain program's bits and derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.rewrite import with_numpy
from tests.unit._rewrite_programs import language, objects, programs

X = np.array([0.6, 1.3, 0.4])
NAMES = {
    name: f
    for module in (programs, objects, language)
    for name, f in vars(module).items()
    if any(f is p for p in module.PROGRAMS)
}


def plain_gradient(f):
    """Central differences with two steps, extrapolated."""

    def slope(h):
        return np.array([(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)])

    return (4.0 * slope(5e-4) - slope(1e-3)) / 3.0


def test_every_program_is_here():
    made = [*programs.PROGRAMS, *objects.PROGRAMS, *language.PROGRAMS]
    assert all(any(f is p for f in NAMES.values()) for p in made)
    assert len(made) >= 80


@pytest.mark.parametrize("name", sorted(NAMES))
def test_program(name):
    f = NAMES[name]
    plain = float(f(X.copy()))
    tape, out = dc.tape_function(with_numpy(f), X)
    assert float(tape.vals[out]) == plain
    np.testing.assert_allclose(
        dc.gradient(tape, out), plain_gradient(f), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", sorted(NAMES))
def test_outside_of_a_recording_it_is_the_function(name):
    f = NAMES[name]
    plain = f(X.copy())
    again = with_numpy(f)(X.copy())
    assert type(again) is type(plain)
    assert again == plain
