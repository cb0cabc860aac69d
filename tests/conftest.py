"""Shared set-up: hypothesis, JAX, the garbage collector, tests of optional packages."""

from __future__ import annotations

import gc
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

# JAX takes far longer to optimise the small oracles than to run them. It reads this
# when it is imported.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

# Collection makes many objects and no garbage: the collector would walk them in vain.
gc.disable()


def pytest_collection_finish():
    """Collect garbage again, but leave out what stays until the end."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config, items):
    """Deselect what needs a package that is not there: ``optional("torch")``."""
    lacking = [item for item in items if not all(map(find_spec, _needed(item)))]
    if lacking:
        config.hook.pytest_deselected(items=lacking)
        items[:] = [item for item in items if item not in lacking]


def _needed(item):
    return [name for mark in item.iter_markers("optional") for name in mark.args]
