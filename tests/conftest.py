"""Shared set-up: the hypothesis profiles."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

from tests import _own as _own  # before any test registers elementals of its own

SLOW_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    max_examples=60,
    deadline=None,
    suppress_health_check=SLOW_CHECKS,
)
settings.register_profile(
    "explore",
    max_examples=500,
    deadline=None,
    suppress_health_check=SLOW_CHECKS,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
