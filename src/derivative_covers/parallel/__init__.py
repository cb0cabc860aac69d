"""Sums over data, many points and many boxes, on executors that people already run."""

from __future__ import annotations

from ._boxes import bound_map
from ._nls import cover_nls
from ._points import PointCovers, cover_map
from ._sum import SumCover, cover_sum
from .minimum import BoxLeaves, BoxMinimum, minimize_box

__all__ = [
    "BoxLeaves",
    "BoxMinimum",
    "PointCovers",
    "SumCover",
    "bound_map",
    "cover_map",
    "cover_nls",
    "cover_sum",
    "minimize_box",
]
