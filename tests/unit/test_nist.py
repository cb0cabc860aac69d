"""The shipped regression problems against NIST's certified values and against JAX."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from examples import nist

jax.config.update("jax_enable_x64", True)

POINTS = ("start 1", "start 2", "certified")


@cache
def jax_residuals(name: str) -> Callable[[np.ndarray], tuple[Any, Any, Any]]:
    """Residuals, their Jacobian and their Hessians, from the very source of the model."""
    residuals = nist.load(name).residuals

    def derivatives(b: Any) -> tuple[Any, Any, Any]:
        jacobian = jax.jacfwd(residuals)
        return residuals(b), jacobian(b), jax.jacfwd(jacobian)(b)

    compiled = jax.jit(derivatives)

    def traced_with_jax(b: np.ndarray) -> tuple[Any, Any, Any]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nist, "np", jnp)
            r, J, R = compiled(b)
        return np.asarray(r), np.asarray(J), np.asarray(R)

    return traced_with_jax


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
    r, J, R = jax_residuals(name)(b)
    gradient_error = np.abs(dc.gradient(tape, out) - J.T @ r)
    hessian_error = np.abs(dc.hessian(tape, out) - J.T @ J - np.tensordot(r, R, 1))
    # Terms cancel, so errors are measured against the sum of their magnitudes.
    r, J, R = np.abs(r) + np.abs(problem.y), np.abs(J), np.abs(R)
    assert np.all(gradient_error <= 1e-12 * (J.T @ r))
    assert np.all(hessian_error <= 1e-12 * (J.T @ J + np.tensordot(r, R, 1)))


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", nist.names())
def test_covers_hold(name: str, point: str) -> None:
    problem = nist.load(name)
    b = problem.points[point]
    tape, out = dc.tape_function(problem.objective, b)
    r, J, R = jax_residuals(name)(b)
    H = J.T @ J + np.tensordot(r, R, 1)
    loose = dc.cover_hessian(tape, out, merge="sum")
    tight = dc.cover_hessian(tape, out, merge="quadrature")
    for cover in (loose, tight):
        assert cover.value == problem.objective(b)
        assert np.all(np.outer(cover.h, cover.h) >= np.abs(H) * (1 - 1e-12))
    assert np.all(tight.h <= loose.h * (1 + 1e-12))
