"""Objectives of sif2jax with `derivative_covers.numpy` in the place of `jax.numpy`.

Values, gradients and Hessian products are held against those that JAX computed in double
precision from the same sources (`make_sif2jax_reference.py`).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special

import derivative_covers as dc
import derivative_covers.numpy as dcnp
from tests.suites._sif2jax import Problems, direction, vmap_of

REFERENCE = {
    row["name"]: row
    for row in json.loads(
        Path(__file__).with_name("sif2jax_reference.json").read_text()
    )
}

# Objectives that do not run: JAX's own way to store into an array, which NumPy lacks.
AT = "'at'"
REFUSED = dict.fromkeys(
    [
        "ACOPP14",
        "BQPGABIM",
        "BQPGASIM",
        "HATFLDGLS",
        "HS70",
        "LUKSAN11LS",
        "LUKSAN21LS",
        "LUKSAN22LS",
        "OPTCNTRL",
        "POWERSUM",
        "QPNBOEI2",
        "TOINTPSP",
        "TRUSPYR1",
        "TRUSPYR2",
    ],
    AT,
)


@cache
def problems() -> Problems:
    return Problems(dcnp, vmap_of(dcnp), scipy.special)


def recorded(name: str) -> tuple[dc.Tape, Any]:
    row = REFERENCE[name]
    problem = problems().problem(row["module"], row["name"])
    args = problem.args
    return dc.tape_function(lambda y: problem.objective(y, args), row["x"])


def close(found: Any, expected: Any) -> None:
    """To rounding of the sums that form an entry, of which the largest entry tells."""
    expected = np.asarray(expected)
    floor = 1e-10 * np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=floor)


@pytest.mark.parametrize("name", sorted(set(REFERENCE) - set(REFUSED)))
def test_value_gradient_and_product_are_those_of_jax(name: str) -> None:
    row = REFERENCE[name]
    tape, out = recorded(name)
    close(tape.vals[out], row["value"])
    close(dc.gradient(tape, out), row["gradient"])
    v = direction(np.shape(row["x"]))
    product = dc.hvp(tape, out, v)
    close(product, row["product"])
    h = dc.cover_hessian(tape, out).h
    bound = h * np.sum(h * np.abs(v))
    assert np.all(np.abs(product) <= bound * (1 + 1e-9) + 1e-300)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_does_not_run_says_so(name: str) -> None:
    with pytest.raises(AttributeError, match=REFUSED[name]):
        recorded(name)


def test_there_are_enough_of_them() -> None:
    assert len(set(REFERENCE) - set(REFUSED)) >= 250
