"""Shared set-up: import path of the helper modules, markers, hypothesis profiles."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
for folder in (TESTS, TESTS / "laws"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

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
    max_examples=2000,
    deadline=timedelta(seconds=20),
    suppress_health_check=SLOW_CHECKS,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than five seconds")
