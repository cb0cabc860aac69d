"""Regression problems of NIST in random units, against certified sums of squares.

`python -m benchmarks --only units` does the same with all of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.units import close, nist_cases, powers_of_two, scaled, systems

NAMES = ("Misra1a 1", "Rat42 1", "Thurber 2", "Gauss1 2", "Eckerle4 2")


@pytest.fixture(scope="module")
def cases():
    return {case.name: case for case in nist_cases()}


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "trf"])
def test_every_system_of_units_is_as_good(cases, method):
    for name in NAMES:
        case = cases[name]
        runs = [scaled(case, method, u) for u in systems(case.start.size, 2)]
        assert all(run.solved for run in runs), name
        counts = np.array([run.nfev for run in runs])
        assert counts.max() <= 1.25 * counts.min(), (name, counts)


def test_powers_of_two_change_no_bit(cases):
    for name, method in (
        ("MGH17 2", "BFGS"),
        ("Nelson 2", "L-BFGS-B"),
        ("ENSO 2", "trf"),
    ):
        runs = [scaled(c, method, u) for c, u in powers_of_two(cases[name], 2)]
        assert len(set(runs)) == 1, (name, runs)


def test_searches_end_at_rounding(cases):
    # Searches along lines took 56, 80 and 57 evaluations in these units, within rounding.
    for name, method, unlucky in (
        ("Chwirut1 1", "BFGS", 3),
        ("Roszman1 2", "BFGS", 6),
        ("Kirby2 2", "L-BFGS-B", 8),
    ):
        case = cases[name]
        units = systems(case.start.size, 10)
        runs = [scaled(case, method, units[k]) for k in (0, unlucky)]
        assert all(run.solved for run in runs), name
        assert close(runs), (name, runs)
