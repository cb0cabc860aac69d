"""Regression problems of NIST in random units, against certified sums of squares.

`python -m benchmarks --only units` does the same with all of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.units import nist_cases, scaled, systems

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
