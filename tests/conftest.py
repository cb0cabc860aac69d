"""Shared set-up: the hypothesis profiles, and tests that need optional packages."""

from __future__ import annotations

import os
from importlib.util import find_spec

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


def pytest_collection_modifyitems(config, items):
    """Deselect what needs a package that is not there: ``optional("torch")``."""
    lacking = [item for item in items if not all(map(find_spec, _needed(item)))]
    if lacking:
        config.hook.pytest_deselected(items=lacking)
        items[:] = [item for item in items if item not in lacking]


def _needed(item):
    return [name for mark in item.iter_markers("optional") for name in mark.args]
