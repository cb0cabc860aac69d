"""What a cover is graded by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError

__all__ = ["PENALTIES", "check_penalty"]

Array = NDArray[Any]

# Of excesses z = log(a_i b_j / |A_ij|), one for each nonzero entry.
PENALTIES: dict[str, Callable[[Array], Array]] = {
    "squared_log": np.square,
    "absolute_log": np.abs,
    "squared_ratio": lambda z: np.square(np.expm1(-z)),
    "absolute_ratio": lambda z: np.abs(np.expm1(-z)),
}


def check_penalty(given: Any, known: tuple[str, ...]) -> None:
    """Refuse a penalty that is not among those known.

    Raises:
        OptionError: If it is not.
    """
    if not isinstance(given, str) or given not in known:
        names = ", ".join(map(repr, known))
        msg = f"penalty is {given!r}; here it must be one of {names}."
        raise OptionError(msg)
