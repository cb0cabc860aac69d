"""What pictures are drawn from: a vector with names, and how far it lies above a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..covers import log_sizes, rounding
from ..errors import InputTypeError, OptionError, ShapeError
from ..results import Named, Result, flattened, labels, names_for

__all__ = ["excesses", "named_vector"]


def named_vector(h: Any, names: Any) -> tuple[NDArray[Any], Sequence[str]]:
    """A cover as one flat vector of float64, and a name for each entry.

    Raises:
        InputTypeError: If it holds no real numbers.
        ShapeError: If it is empty, or there are more or fewer names.
        OptionError: If an entry is negative, infinite or NaN.
    """
    part = getattr(h, "h", h)
    if isinstance(part, Result):
        msg = (
            f"a {type(h).__name__} holds several covers, or none of a Hessian; pass the "
            "vector that you mean."
        )
        raise InputTypeError(msg)
    try:
        v = np.asarray(flattened(part), dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"h is a {type(h).__name__}; a cover, or an array of real numbers, is needed."
        raise InputTypeError(msg) from None
    if isinstance(h, Named) and len(h.names) != v.size:
        msg = (
            f"the {type(h).__name__} covers several outputs; pass what belongs to one, "
            "such as result.h[0]."
        )
        raise ShapeError(msg)
    if not v.size:
        msg = "h is empty; at least one variable is needed."
        raise ShapeError(msg)
    if not (np.isfinite(v).all() and (v >= 0).all()):
        msg = "h holds a negative number, a NaN or an infinity; a cover is nonnegative."
        raise OptionError(msg)
    if names is not None:
        return v, names_for(names, v.size)
    return v, h.names if isinstance(h, Named) else labels(part)


def excesses(h: Any, H: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """``log10(h_i h_j / |H_ij|)``, and ``log10 |H_ij|``, as matrices.

    The first is infinite where ``H_ij`` is zero, 0 where they are equal up to rounding,
    and below 0 where ``h`` does not cover.

    Raises:
        ShapeError: If the sizes do not fit.
        OptionError: If ``h`` is negative, or either holds a NaN or an infinity.
        InputTypeError: If ``H`` holds no numbers.
    """
    try:
        slack = -np.log10(1 - rounding(h, H))
        have, need = log_sizes(h, H.toarray() if hasattr(H, "toarray") else H)
    except (TypeError, ValueError) as error:
        if isinstance(error, (ShapeError, OptionError)):
            raise
        msg = f"H is a {type(H).__name__}; a matrix of numbers is needed."
        raise InputTypeError(msg) from None
    for name, logs in (("h", have), ("H", need)):
        if np.isnan(logs).any() or (logs == np.inf).any():
            msg = f"{name} holds a NaN or an infinity; finite numbers are needed."
            raise OptionError(msg)
    found = np.full(need.shape, np.inf)
    some = need > -np.inf
    found[some] = have[some] - need[some]
    found[np.abs(found) <= slack] = 0.0
    return found, need
