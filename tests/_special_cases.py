"""Definitions in mpmath of the special functions, and where to look at them.

A name may stand several times: each case is a definition with its points.
"""

from __future__ import annotations

from tests import _special_smooth, _special_waves
from tests._special_tools import CASES, Case

__all__ = ["CASES", "FAMILIES", "Case"]

FAMILIES = (_special_smooth, _special_waves)
