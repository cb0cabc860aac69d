"""The threshold below which a pair of values counts as carrying no scale."""

from __future__ import annotations

from functools import cache
from numbers import Real
from typing import Any

import numpy as np

from derivative_covers.elements import magtype
from derivative_covers.errors import OptionError

__all__ = ["split_ratio"]


def split_ratio(ratio: Any, T: Any) -> Any:
    """The threshold at which a cover over the element type ``T`` runs.

    It is how lopsided a pair of values must be to count as carrying no scale, and it
    caps the asymmetry of a split that values choose at ``1 / sqrt(ratio)``. The default
    is half of the digits of the magnitude type: one constant for all precisions would
    lie below the rounding of the coarse ones.

    Args:
        ratio: Number in ``[0, 1)``, or None for ``sqrt(eps)`` of the magnitude type.
        T: Element type or dtype.

    Returns:
        The threshold, of type ``magtype(T)``.

    Raises:
        OptionError: (a ``ValueError``) if ``ratio`` is not in ``[0, 1)``; at 1, every
            pair would be condemned.

    Example:
        >>> import numpy as np
        >>> float(split_ratio(None, np.float64))
        1.4901161193847656e-08
    """
    M = magtype(T)
    if ratio is None:
        return _default(M)  # type: ignore[arg-type]  # a type is hashable
    threshold = M(ratio) if isinstance(ratio, Real) else M(np.nan)
    if not 0 <= threshold < 1:
        message = (
            f"ratio is {ratio!r}, but must be a number in [0, 1); leave it out for "
            f"sqrt(eps) of {M.__name__}"
        )
        raise OptionError(message)
    return threshold


@cache
def _default(M: Any) -> Any:
    return M(np.sqrt(np.finfo(M).eps))
