"""The array namespace of symbols: what rules call as ``xp``."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _special
from ._composed import FUNCTIONS

__all__ = ["Namespace"]


class Namespace:
    """Stands for ``numpy`` in a rule that is called with symbols.

    Attributes:
        special: Stands for ``scipy.special``.
    """

    __name__ = "symbols"
    special = _special
    pi, e, inf, nan = np.pi, np.e, np.inf, np.nan
    euler_gamma = np.euler_gamma
    float64, bool_ = np.float64, np.bool_
    finfo = staticmethod(np.finfo)
    errstate = np.errstate

    def __getattr__(self, name: str) -> Any:
        try:
            return FUNCTIONS[name]
        except KeyError:
            msg = f"{name} has no compiled counterpart."
            raise AttributeError(msg) from None
