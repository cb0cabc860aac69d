"""Gradient, Hessian and Hessian-vector product agree with JAX on every program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derivative_covers as dc
from tests._oracle import jax_derivatives
from tests._programs import BY_NAME, PROGRAMS

pytestmark = pytest.mark.slow
NAMES = [p.name for p in PROGRAMS]


def assert_close(actual: Any, expected: Any, rtol: float = 1e-10) -> None:
    """Equal in norm, and entry by entry down to the rounding of the largest."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    size = np.abs(expected).max()
    assert np.linalg.norm(actual - expected) <= rtol * np.linalg.norm(expected)
    assert np.all(np.abs(actual - expected) <= rtol * np.abs(expected) + 1e-13 * size)


def test_the_set_is_large_and_its_names_are_unique() -> None:
    assert len(PROGRAMS) == len(BY_NAME) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_agree_with_jax(name: str) -> None:
    program = BY_NAME[name]
    value, gradient, hessian = jax_derivatives(name)
    tape, out = dc.tape_function(program, program.x0)
    assert tape.vals[out] == program(program.x0)
    np.testing.assert_allclose(tape.vals[out], value, rtol=1e-12)
    assert_close(dc.gradient(tape, out), gradient)
    assert_close(dc.hessian(tape, out), hessian)
    for seed in range(2):
        v = np.random.default_rng(seed).normal(size=program.x0.shape)
        product = np.tensordot(hessian, v, axes=v.ndim)
        assert_close(dc.hvp(tape, out, v), product, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_other_units_scale_the_hessian(name: str) -> None:
    program = BY_NAME[name]
    _, gradient, hessian = jax_derivatives(name)
    units = 10.0 ** np.linspace(-4.0, 4.0, program.x0.size).reshape(program.x0.shape)

    def rescaled(z: Any) -> Any:
        return program(units * z)

    z0 = program.x0 / units
    # x -> units * (x / units) moves x by an ulp, so only the conditioning of the
    # program at its point separates the two sides.
    assert_close(dc.gradient(rescaled, z0), units * gradient, rtol=1e-8)
    scale = np.multiply.outer(units, units)
    size = np.abs(hessian).max()
    error = np.abs(dc.hessian(rescaled, z0) / scale - hessian)
    assert np.all(error <= 1e-8 * np.abs(hessian) + 1e-9 * size)


@pytest.mark.parametrize("name", NAMES)
def test_covers_and_bound_hold_against_jax(name: str) -> None:
    program = BY_NAME[name]
    _, _, hessian = jax_derivatives(name)
    tape, out = dc.tape_function(program, program.x0)
    magnitude = np.abs(hessian)
    bound = dc.hessian_bound(tape, out)
    slack = 1e-10 * magnitude + 1e-12 * bound
    assert np.all(bound >= magnitude - slack)
    covers = [dc.cover_hessian(tape, out, merge=m) for m in ("sum", "quadrature")]
    covers += [dc.cover_hybrid(tape, out, ngroups=g) for g in (2, 8)]
    for cover in covers:
        assert cover.h.shape == program.x0.shape
        assert np.all(np.isfinite(cover.h) & (cover.h >= 0))
        assert np.all(np.multiply.outer(cover.h, cover.h) >= magnitude - slack)
