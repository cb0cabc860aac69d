"""The shipped regression problems against NIST's certified values and against JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from examples import nist

jax.config.update("jax_enable_x64", True)

POINTS = ("start 1", "start 2", "certified")


def jax_derivatives(problem: nist.Problem, b: np.ndarray) -> dict[str, np.ndarray]:
    """Derivatives by JAX, which runs the very source of the model."""
    point = jnp.asarray(b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nist, "np", jnp)
        derived: dict[str, Any] = {
            "r": problem.residuals(point),
            "J": jax.jacfwd(problem.residuals)(point),
            "R": jax.hessian(problem.residuals)(point),
            "gradient": jax.grad(problem.objective)(point),
            "H": jax.hessian(problem.objective)(point),
        }
    return {name: np.asarray(array) for name, array in derived.items()}


@pytest.mark.parametrize("name", nist.names())
def test_residual_sum_is_the_certified_one(name: str) -> None:
    problem = nist.load(name)
    rss = np.sum(problem.residuals(problem.points["certified"]) ** 2)
    if name == "Lanczos1":  # the data are exact: what is certified is rounding
        assert rss < 1e-20
    else:
        assert rss == pytest.approx(problem.certified_rss, rel=1e-9)


@pytest.mark.parametrize("name", nist.names())
def test_no_start_is_better_than_the_certified_solution(name: str) -> None:
    problem = nist.load(name)
    values = [problem.objective(problem.points[point]) for point in POINTS]
    assert min(values) == values[-1]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", nist.names())
def test_derivatives_agree_with_jax(name: str, point: str) -> None:
    problem = nist.load(name)
    b = problem.points[point]
    tape, out = dc.tape_function(problem.objective, b)
    expected = jax_derivatives(problem, b)
    # Terms cancel, so errors are measured against the sum of their magnitudes.
    J, r = np.abs(expected["J"]), np.abs(expected["r"])
    gradient_size = J.T @ (r + np.abs(problem.y))
    hessian_size = J.T @ J + np.tensordot(r, np.abs(expected["R"]), 1)
    gradient_error = np.abs(dc.gradient(tape, out) - expected["gradient"])
    hessian_error = np.abs(dc.hessian(tape, out) - expected["H"])
    assert np.all(gradient_error <= 1e-12 * gradient_size)
    assert np.all(hessian_error <= 1e-12 * hessian_size)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", nist.names())
def test_covers_hold(name: str, point: str) -> None:
    problem = nist.load(name)
    b = problem.points[point]
    tape, out = dc.tape_function(problem.objective, b)
    H = jax_derivatives(problem, b)["H"]
    loose = dc.cover_hessian(tape, out, merge="sum")
    tight = dc.cover_hessian(tape, out, merge="quadrature")
    for cover in (loose, tight):
        assert cover.value == problem.objective(b)
        assert np.all(np.outer(cover.h, cover.h) >= np.abs(H) * (1 - 1e-12))
    assert np.all(tight.h <= loose.h * (1 + 1e-12))
