"""Global minima over boxes: branch and bound by subdivision, proved."""

from __future__ import annotations

from ._minimize_box import minimize_box
from ._result import BoxLeaves, BoxMinimum

__all__ = ["BoxLeaves", "BoxMinimum", "minimize_box"]
