"""Covers in JAX on a sample of sif2jax, and what all of it came to.

The whole set takes an hour: `python -m tests.suites.sif2jax_covers`.
"""

from __future__ import annotations

import json

import jax
import pytest

from tests.suites import sif2jax_covers as suite

# Least squares, logarithms, powers, quotients, trigonometry, gathers and matrix products.
SAMPLE = (
    "BROWNDEN",
    "CLIFF",
    "DJTL",
    "ELATVIDU",
    "HS1",
    "HS35",
    "HS62",
    "PALMER5D",
    "ROSENBR",
    "S308",
    "SINEVAL",
    "ZANGWIL2",
)
FOUND = json.loads(suite.FILE.read_text())


def test_hundreds_are_covered_and_few_refused() -> None:
    assert len(FOUND["covered"]) >= 300
    assert len(FOUND["refused"]) < 20
    assert all("primitive" in why for why in FOUND["refused"].values())
    assert set(SAMPLE) <= set(FOUND["covered"])


@pytest.mark.slow
def test_a_sample_is_covered_near_the_start_and_at_it() -> None:
    with jax.enable_x64(True):
        problems = suite.loaded()
        made = dict(suite.candidates(problems, set(SAMPLE), set()))
        found = {name: list(suite.outcomes(made[name])) for name in SAMPLE}
    assert found == dict.fromkeys(SAMPLE, [("covered", "")] * 2)
