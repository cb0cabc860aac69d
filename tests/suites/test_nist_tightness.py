"""Covers of all certified NIST problems, at both starts and at the solution."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import derivative_covers as dc
from examples import nist
from tests.suites._least_squares import GROUPS, NAMES, Terms, tightness

pytestmark = pytest.mark.slow  # without the compiler


@cache
def points():
    """Terms and decades above the best covers at the 81 points."""
    found = []
    for name in nist.names():
        problem = nist.load(name)
        for x in problem.points.values():
            terms = Terms.of(problem.residuals, x)
            found.append((terms, tightness(terms)))
    return found


def decades(name, ngroups):
    return np.array([above[name, ngroups] for _, above in points()])


def test_every_cover_holds():
    assert len(points()) == 81
    for terms, _ in points():
        for ngroups in GROUPS:
            for name, h in terms.covers(ngroups).items():
                assert dc.iscover(h, terms.exact[name], rtol=1e-9)


def test_quadrature_is_near_the_best_cover_of_the_hessian():
    found = decades("h", None)
    assert found.mean() <= 0.42
    assert np.median(found) <= 0.21


def test_the_gauss_newton_cover_is_the_best_one():
    assert decades("h_gn", None).mean() <= 0.03
    assert abs(decades("h_gn", None)).max() < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_more_groups_are_tighter(name):
    one, four, none = (decades(name, g) for g in GROUPS)
    assert (none <= four + 1e-9).all()
    assert (four <= one + 1e-9).all()


def test_medians_of_the_other_groups_stay():
    assert np.median(decades("h", 4)) <= 1.2
    assert np.median(decades("h", 1)) <= 1.6
