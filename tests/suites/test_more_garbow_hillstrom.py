"""The problems of Moré, Garbow and Hillstrom: published numbers, and covers at starts."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import least_squares

import derivative_covers as dc
from tests._best_cover import above_best, best_cover
from tests._oracle import FAST
from tests.suites import _more_garbow_hillstrom as mgh
from tests.suites._least_squares import GROUPS, NAMES, Terms, tightness

jax.config.update("jax_enable_x64", True)

BY_NAME = {problem.name: problem for problem in mgh.PROBLEMS}
ALL = pytest.mark.parametrize("problem", mgh.PROBLEMS, ids=list(BY_NAME))

# Sums of squares near published starts that JAX computed from the independent sources of
# sif2jax, where these state the same problem.
NAMED = {
    "BARD": mgh.bard_8,
    "BEALE": mgh.beale_5,
    "BIGGS6": mgh.biggs_18,
    "BOX3": mgh.box_12,
    "BROWNAL": mgh.brown_almost_linear_27,
    "BROWNBS": mgh.brown_badly_scaled_4,
    "BROWNDEN": mgh.brown_dennis_16,
    "GAUSSIAN": mgh.gaussian_9,
    "GULF": mgh.gulf_11,
    "HELIX": mgh.helical_valley_7,
    "JENSMP": mgh.jennrich_sampson_6,
    "OSBORNEA": mgh.osborne_17,
    "ROSENBR": mgh.rosenbrock_1,
    "VARDIM": mgh.variably_dimensioned_25,
    "WATSON": mgh.watson_20,
}
STORED = {
    row["name"]: row
    for row in json.loads(
        Path(__file__).with_name("sif2jax_reference.json").read_text()
    )
}


@pytest.mark.parametrize("name", NAMED)
def test_residuals_are_those_of_an_independent_source(name):
    x = np.array(STORED[name]["x"])
    found = np.sum(NAMED[name](np, x) ** 2)
    assert found == pytest.approx(STORED[name]["value"], rel=1e-12)


@ALL
def test_the_published_minimum(problem):
    """At the published minimiser; where none is, at that which the start leads to."""
    x = problem.minimiser
    if x is None:
        with np.errstate(all="ignore"):  # trial points may overflow
            x = least_squares(
                problem.residuals,
                problem.start,
                jac=partial(dc.jacobian, problem.residuals),
                method="lm",
                x_scale="jac",
                max_nfev=1000,
                **dict.fromkeys(("xtol", "ftol", "gtol"), 1e-15),
            ).x
    found = np.sum(problem.residuals(np.array(x, dtype=float)) ** 2)
    assert found == pytest.approx(problem.minimum, rel=1e-5, abs=1e-25)
    assert np.sum(problem.residuals(np.array(problem.start)) ** 2) > found


def by_jax(problem, x):
    """The three matrices by JAX, and what their entries may lose to cancellation."""

    @partial(jax.jit, compiler_options=FAST)
    def derivatives(x):
        def r(x):
            return problem.function(jnp, x)

        J = jax.jacfwd(r)
        return r(x), J(x), jax.jacfwd(J)(x)

    r, J, R = map(np.asarray, derivatives(jnp.asarray(x, dtype=jnp.float64)))
    gram, curvature = J.T @ J, np.tensordot(r, R, 1)
    sizes = np.abs(J).T @ np.abs(J), np.tensordot(np.abs(r) + 1e-3, np.abs(R), 1)
    matrices = (gram, curvature, gram + curvature)
    sizes = (*sizes, sizes[0] + sizes[1])
    return {
        name: (M, 1e-12 * size)
        for name, M, size in zip(NAMES, matrices, sizes, strict=True)
    }


@ALL
def test_covers_hold_at_the_start(problem):
    x = np.array(problem.start)
    exact = by_jax(problem, x)
    terms = Terms.of(problem.residuals, x)
    for name, (M, noise) in exact.items():
        assert (np.abs(M - terms.exact[name]) <= 10 * noise + 1e-11 * abs(M)).all()
    for ngroups in GROUPS:
        for name, h in terms.covers(ngroups).items():
            M, noise = exact[name]
            assert (np.outer(h, h) >= np.abs(M) * (1 - 1e-11) - noise).all(), name


@ALL
def test_more_groups_come_nearer_to_the_best_cover(problem):
    above = tightness(Terms.of(problem.residuals, np.array(problem.start)))
    for name in NAMES:
        one, four, none = (above[name, g] for g in GROUPS)
        assert none <= four + 1e-9
        assert four <= one + 1e-9
    assert above["h_gn", None] < 1e-9


def test_the_table_is_long_and_its_best_covers_hold():
    assert len(mgh.PROBLEMS) >= 15
    assert len(BY_NAME) == len(mgh.PROBLEMS)
    for problem in mgh.PROBLEMS:
        for M in Terms.of(problem.residuals, np.array(problem.start)).exact.values():
            assert dc.iscover(best_cover(M), M)
            assert above_best(best_cover(M), M) == 0
