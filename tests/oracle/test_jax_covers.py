"""Covers in JAX and on a tape are the same numbers, program by program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import derivative_covers as dc
from derivative_covers.interop import jax as dcj
from tests._oracle import FAST
from tests._programs import BY_NAME, PROGRAMS

pytestmark = pytest.mark.slow

# Programs of the set that are left out here. What JAX makes of them has other operations
# (hypot, logsumexp), or one product meets an entry twice, which it covers less tightly.
LOOSER = {
    "batched_products",
    "concatenate_and_stack",
    "einsum_forms",
    "helical_valley_arctan2",
    "logsumexp_by_hand",
    "outer_kernel",
    "softmax_cross_entropy",
    "spring_chain",
    "tensordot_forms",
    "transposed_products",
}
LONG = {  # to compile
    "biggs_exp6",
    "boolean_selection",
    "brown_almost_linear",
    "broyden_banded",
    "builtin_max_and_sorted",
    "chebyquad",
    "drop_wave",
    "extended_powell",
    "fancy_selection",
    "gauss_seidel",
    "griewank",
    "gulf",
    "hand_made_cholesky",
    "heat_equation",
    "helical_valley",
    "hyperbolic_functions",
    "inverse_functions",
    "kowalik_osborne",
    "layer_norm",
    "lennard_jones_loop",
    "lennard_jones_pairs",
    "levy",
    "logarithms_and_powers",
    "lotka_volterra_steps",
    "meyer",
    "neural_network",
    "newton_while_loop",
    "object_array_rotation",
    "osborne_peaks",
    "pendulum_energy",
    "portfolio",
    "products_over_axes",
    "remainders_and_signs",
    "thomas_algorithm",
    "variable_exponents",
    "variances",
    "wave_leapfrog",
}
NAMES = [p.name for p in PROGRAMS if p.name not in LOOSER | LONG]


def test_there_are_enough_of_them() -> None:
    assert len(NAMES) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_covers_are_those_of_the_tape_in_all_units(name: str) -> None:
    program = BY_NAME[name]

    def covered(x: Any, units: Any) -> Any:
        return dcj.cover_hessian(lambda z: program.pure(jnp, units * z))(x / units)

    with jax.enable_x64(True):
        compiled = jax.jit(covered, compiler_options=FAST)
        x = np.asarray(program.x0)
        units = np.exp2(np.arange(x.size) % 21 - 10).reshape(x.shape)
        both = [compiled(x, u) for u in (np.ones_like(x), units)]
        found, other = jax.device_get(both)
    tape = dc.cover_hessian(lambda x: program.pure(np, x), program.x0)
    assert int(found.status) == int(other.status) == 0
    np.testing.assert_allclose(found.value, tape.value, rtol=1e-13)
    size = np.abs(tape.gradient).max()
    np.testing.assert_allclose(found.gradient, tape.gradient, 1e-12, 1e-13 * size)
    np.testing.assert_allclose(found.h, tape.h, rtol=1e-13)
    assert np.array_equal(other.h, found.h * units)
