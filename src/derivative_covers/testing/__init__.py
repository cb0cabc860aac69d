"""Conformance checks: what an extension must keep, run by those who write one.

Each check raises :class:`ConformanceError` (an ``AssertionError``) that lists all faults
found, and needs no test framework.
"""

from __future__ import annotations

from ..errors import ConformanceError
from ._backend import check_backend
from ._curvature import check_curvature
from ._element import check_element
from ._elemental import check_elemental
from ._schedule import check_schedule
from ._storage import check_storage
from ._transition import check_transition

__all__ = [
    "ConformanceError",
    "check_backend",
    "check_curvature",
    "check_element",
    "check_elemental",
    "check_schedule",
    "check_storage",
    "check_transition",
]
