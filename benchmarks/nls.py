"""Covers of least squares beside the best covers that their matrices can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from examples import nist
from tests.suites._more_garbow_hillstrom import PROBLEMS

from . import _peers
from ._report import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "nls"
MEAN = {("h_gn", None): 0.03, ("h", None): 0.42}
MEDIAN = {("h", None): 0.21}


def nist_points() -> Iterator[tuple[Callable[[Any], Any], Any]]:
    """Every problem at both starts and at its certified solution."""
    for name in nist.names():
        problem = nist.load(name)
        for x in problem.points.values():
            yield problem.residuals, x


def starts() -> Iterator[tuple[Callable[[Any], Any], Any]]:
    """The problems of Moré, Garbow and Hillstrom at their published starts."""
    for problem in PROBLEMS:
        yield problem.residuals, np.array(problem.start)


def rows(*, quick: bool) -> Iterator[Row]:
    """Decades above the best, mean and median; a quick run takes every ninth point."""
    sets = (("NIST", list(nist_points())), ("Moré, Garbow, Hillstrom", list(starts())))
    suite = _peers.module("tests.suites._least_squares")
    if suite is None:
        yield Row(ITEM, "decades above the best", None, "", note="scipy not installed")
        return
    for which, points in sets:
        points = points[:: 9 if quick else 1]
        found = [suite.tightness(suite.Terms.of(f, x)) for f, x in points]
        for name, ngroups in found[0]:
            above = np.array([f[name, ngroups] for f in found])
            certified = which == "NIST" and not quick
            for how, value, targets in (
                ("mean", above.mean(), MEAN),
                ("median", np.median(above), MEDIAN),
            ):
                yield Row(
                    ITEM,
                    f"{which}: {name}, ngroups={ngroups}, {how} decades above the best",
                    float(value),
                    "",
                    target=targets.get((name, ngroups)) if certified else None,
                    n=len(points),
                    note=f"largest {above.max():.3f}",
                )
