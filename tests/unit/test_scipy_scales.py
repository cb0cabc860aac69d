"""Products with a vanishing factor, whose covers read typical sizes of the variables."""

from __future__ import annotations

import numpy as np

from derivative_covers.interop.scipy import minimize, scaling, x_scale

UNITS = np.array([2.0**14, 2.0**-9])
START = np.array([2.0, 1.0])


def value(x):
    return x[0] * np.log(x[1]) + x[1] ** 2 + x[0] ** 2


def residuals(x):
    return np.stack([x[0] * np.log(x[1]) - 1, x[1] - 2, x[0]])


def test_sizes_of_the_start_stand_in():
    here = scaling(value, START)
    there = scaling(lambda z: value(z / UNITS), START * UNITS)
    assert here.asked
    assert there.asked
    assert (there.step == here.step * UNITS).all()
    declared = scaling(value, START, scales=START)
    assert (here.step == declared.step).all()
    steps = x_scale(lambda z: residuals(z / UNITS), START * UNITS)
    assert (steps == x_scale(residuals, START) * UNITS).all()


def test_a_minimisation_that_asks_is_the_same_in_powers_of_two():
    here = minimize(value, START, bounds=[(None, None), (0.25, None)])
    there = minimize(
        lambda z: value(z / UNITS),
        START * UNITS,
        bounds=[(None, None), (0.25 * UNITS[1], None)],
    )
    assert here.success
    assert here.asked
    assert there.nfev == here.nfev
    assert (there.x == here.x * UNITS).all()


def test_a_search_asks_for_no_point_within_rounding():
    """CG does not end before it finds no decrease; its last searches are not evaluated."""
    t = np.linspace(0, 3, 30)
    data = 2.5 * np.exp(-1.3 * t) + 0.3 * np.sin(17 * t)

    def f(x):
        return np.sum((x[0] * np.exp(-x[1] * t) - data) ** 2) + 1e3

    values = []

    def seen(x):
        values.append(float(f(x)))

    found = minimize(f, [1.0, 1.0], method="CG", callback=seen)
    least = minimize(lambda x: f(x) - 1e3, [1.0, 1.0])
    assert found.reason == "converged"
    assert found.nfev <= 23
    assert abs(found.fun - 1e3 - least.fun) <= 1e-12 * 1e3
    assert np.all(np.diff(values) < 0)
