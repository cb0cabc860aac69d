"""The demonstration: what it claims, and that it prints and draws it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from examples import demo, nist, units

Runs = Mapping[tuple[str, tuple[float, float], bool], units.Run]


@pytest.fixture(scope="module")
def runs() -> Runs:
    return {(run.method, run.units, run.scaled): run for run in units.runs()}


@pytest.mark.parametrize("method", units.METHODS)
def test_raw_scipy_reports_success_far_from_the_minimum(
    runs: Runs, method: str
) -> None:
    run = runs[method, (1e6, 1.0), False]
    assert run.success
    assert run.f > 4
    assert run.evaluations < 10


@pytest.mark.parametrize("method", units.METHODS)
def test_scaled_variables_reach_the_minimum_in_any_units(
    runs: Runs, method: str
) -> None:
    scaled = [runs[method, factors, True] for factors in units.UNITS]
    counts = [run.evaluations for run in scaled]
    assert all(run.success for run in scaled)
    assert max(run.f for run in scaled) < 1e-8
    # The same iterates up to rounding, which conjugate gradients amplify at the end.
    assert max(counts) - min(counts) <= (5 if method == "CG" else 1)


@pytest.mark.parametrize("method", units.METHODS)
def test_scaled_iterates_are_the_same_in_any_units(runs: Runs, method: str) -> None:
    histories = [runs[method, factors, True].history[:40] for factors in units.UNITS]
    for history in histories[1:]:
        np.testing.assert_allclose(history, histories[0], rtol=1e-5)


def test_main_prints_both_tables_and_draws_both_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.main(["--out", str(tmp_path)]) == 0
    rows = [
        line.split()[0]
        for line in capsys.readouterr().out.splitlines()
        if " | " in line
    ]
    assert all(rows.count(method) == len(units.UNITS) for method in units.METHODS)
    assert all(name in rows for name in nist.names())
    for picture in ("rosenbrock-units.png", "nist-tightness.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
