"""Functions of intervals by crival: the tightest doubles around them, array at a time."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...elements._outward import Pair

__all__ = ["Fast"]


class Fast:
    """The functions of the module ``ival`` on pairs, by name."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._module, name)
        interval = self._module.Interval

        def evaluate(*operands: Pair) -> Pair:
            given = []
            for lo, hi in operands:
                x = interval.__new__(interval)
                x.lo = np.asarray(lo, dtype=np.float64)
                x.hi = np.asarray(hi, dtype=np.float64)
                given.append(x)
            found = function(*given)
            lo, hi = np.asarray(found.lo), np.asarray(found.hi)
            lost = np.isnan(lo)
            if lost.any():  # nothing of the operands is in the domain
                lo, hi = np.where(lost, -inf, lo), np.where(lost, inf, hi)
            return lo[()], hi[()]

        setattr(self, name, evaluate)
        return evaluate
