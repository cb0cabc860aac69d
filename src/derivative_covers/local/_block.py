"""The split of one block, from the scale references of its two slots."""

from __future__ import annotations

from typing import Any

import numpy as np

from derivative_covers.local._scales import SplitScale, declared_scale
from derivative_covers.local._split import balanced_split, declared_pair, needs_scale

__all__ = ["split_block", "split_limit"]


def split_limit(T: Any) -> float:
    """The bound of ``balanced_split`` for results held in the floating type ``T``.

    Args:
        T: Floating-point type or dtype.

    Returns:
        The inverse of its smallest normal number.

    Example:
        >>> split_limit(np.float32) == 2.0**126
        True
    """
    return 1.0 / float(np.finfo(T).smallest_normal)


_LIMIT_64 = split_limit(np.float64)
_LIMIT_32 = split_limit(np.float32)


def split_block(
    ratio: Any, c11: Any, c12: Any, c22: Any, s1: SplitScale, s2: SplitScale
) -> tuple[Any, Any]:
    """The cover of a 2x2 block that balances its two slots.

    Values of the parents choose it where they carry a usable scale, and declared scales
    elsewhere, so that it transforms with the slots' units wherever a local choice can.
    Declared scales are resolved only by a block that needs them. The caller drops the
    entries of dead slots beforehand.

    Args:
        ratio: Threshold from :func:`split_ratio`.
        c11: First diagonal entry, ``|adjoint| * |C_11|``.
        c12: Off-diagonal entry.
        c22: Second diagonal entry.
        s1: References of the first slot.
        s2: References of the second slot.

    Returns:
        ``(rho1, rho2)`` with ``rho_i * rho_j >= c_ij`` to rounding, of float32 where
        the entries are, else as the arithmetic of the entries gives.

    Example:
        >>> one = SplitScale(1.0, 1.0)
        >>> rho1, rho2 = split_block(1e-8, 0.0, 1.0, 0.0, SplitScale(4.0, 1.0), one)
        >>> float(rho1), float(rho2)
        (0.5, 2.0)
    """
    z1, z2 = s1.value, s2.value
    single = isinstance(c12, np.float32)
    with np.errstate(all="ignore"):
        if needs_scale(ratio, c11, c12, c22, z1, z2):
            z1, z2 = declared_pair(declared_scale(s1), declared_scale(s2))
        limit = _LIMIT_32 if single else _LIMIT_64
        rho1, rho2 = balanced_split(c11, c12, c22, z1, z2, limit)
    return (np.float32(rho1), np.float32(rho2)) if single else (rho1, rho2)
