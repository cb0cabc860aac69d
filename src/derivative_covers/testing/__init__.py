"""Conformance checks: what an extension must keep, run by those who write one.

Each check raises :class:`ConformanceError` (an ``AssertionError``) that lists all faults
found, and needs no test framework.
"""

from __future__ import annotations

from ..errors import ConformanceError
from ._backend import check_backend
from ._curvature import check_curvature
from ._elemental import check_elemental

__all__ = [
    "ConformanceError",
    "check_backend",
    "check_curvature",
    "check_elemental",
]
