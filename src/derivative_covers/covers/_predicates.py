"""Whether a vector covers a matrix, and how tightly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval, magnitude
from ..errors import OptionError, ShapeError
from ._structure import flat, flat_matrix

__all__ = ["cover_excess", "iscover", "log_sizes", "rounding", "that_count"]

Array = NDArray[Any]


def log_sizes(h: Any, H: Any) -> tuple[Array, Array]:
    """Logarithms of ``h_i h_j`` and of ``|H_ij|``, which neither over- nor underflow.

    Matrices, and for a sparse matrix two vectors: its stored entries.
    """
    v, M = _sized(h, H)
    with np.errstate(divide="ignore"):
        log_v = np.log10(v)
        if hasattr(M, "data") and hasattr(M, "row"):  # only what it stores is nonzero
            return log_v[M.row] + log_v[M.col], np.log10(M.data)
        return log_v[:, None] + log_v[None, :], np.log10(M)


def that_count(h: Any, H: Any, threshold: float) -> Any:
    """Which entries of :func:`log_sizes` count as nonzero, whatever their units.

    Those above ``threshold`` times a cover of the matrix alone, which shares its units.

    Raises:
        OptionError: If ``H`` holds a NaN or an infinity, or the threshold is no number
            in [0, 1).
    """
    if not isinstance(threshold, (int, float)) or not 0 <= threshold < 1:
        msg = f"threshold is {threshold!r:.40}; a number in [0, 1) is needed."
        raise OptionError(msg)
    from ..matrix import cover  # noqa: PLC0415 - most programs do without

    _, M = _sized(h, H)
    if not np.isfinite(M.data if hasattr(M, "row") else M).all():
        msg = "H holds a NaN or an infinity; how tight a cover is takes finite numbers."
        raise OptionError(msg)
    a, b = cover(M)
    with np.errstate(divide="ignore"):
        log_a, log_b = np.log10(a), np.log10(b)
        if hasattr(M, "row"):
            need = np.log10(M.data)
            own = log_a[M.row] + log_b[M.col]
        else:
            need = np.log10(M)
            own = log_a[:, None] + log_b[None, :]
        # Both are -inf in a row of zeros.
        return (need > -np.inf) & (need > own + np.log10(threshold))


def _sized(h: Any, H: Any) -> tuple[Array, Any]:
    """``h`` as a vector, and absolute values of a matrix: an array, or SciPy's sparse one.

    Raises:
        ShapeError: If the sizes do not fit.
        OptionError: If ``h`` has a negative entry.
    """
    h, H = _plain(h, H)
    v = np.asarray(h, dtype=np.float64).ravel()
    if (v < 0).any():
        msg = "h has a negative entry; a cover is nonnegative."
        raise OptionError(msg)
    sparse = hasattr(H, "tocoo")
    M: Any = H.tocoo(copy=True) if sparse else _sizes(H)
    if math.prod(M.shape) != v.size**2:
        msg = (
            f"h has {v.size} entries and H has shape {M.shape}; a matrix of "
            f"{v.size} x {v.size} entries is needed."
        )
        raise ShapeError(msg)
    if sparse:
        M.sum_duplicates()
        return v, abs(M)
    return v, M.reshape(v.size, v.size)


def _sizes(H: Any) -> Array:
    """Absolute values of the entries of a real or complex matrix, in float64.

    Of intervals, the largest ones of members.
    """
    if isinstance(H, Interval):
        found: Array = np.asarray(magnitude(H))
        return found
    kind = np.complex128 if np.iscomplexobj(H) else np.float64
    return np.abs(np.asarray(H, dtype=kind))


def _plain(h: Any, H: Any) -> tuple[Any, Any]:
    """The same without structure: a vector and a matrix."""
    h = getattr(h, "h", h)  # what covers come back as holds it
    if not isinstance(h, (Mapping, tuple)):
        if isinstance(H, Mapping):
            msg = (
                "H is a nest of blocks and h is one array; give h in the structure of "
                "the inputs, as cover_hessian returns it."
            )
            raise ShapeError(msg)
        return h, H
    if isinstance(H, Mapping):
        return flat(h), flat_matrix(h, H)
    if isinstance(H, tuple):
        with suppress(
            ShapeError
        ):  # rows of an ordinary matrix may come in a tuple, too
            return flat(h), flat_matrix(h, H)
    return flat(h), H


def rounding(h: Any, H: Any) -> float:
    """What a product may fall short of an entry by rounding alone, relatively."""
    types = [getattr(a, "dtype", None) or np.asarray(a).dtype for a in _plain(h, H)]
    eps = [np.finfo(t).eps for t in types if t.kind in "fc"]
    return max(1e-12, 16 * float(max(eps, default=0.0)))


def iscover(h: Any, H: Any, *, rtol: float | None = None) -> bool:
    """Whether ``h_i h_j >= |H_ij|`` for all entries, to a relative tolerance.

    Args:
        h: Cover, any shape with n entries (the result of a cover works, and a nest of
            dictionaries and tuples).
        H: Matrix with n x n entries, real or complex, SciPy's sparse ones among them,
            or the nest of blocks that :func:`hessian` gives. An :class:`Interval` of
            matrices counts by its largest absolute values.
        rtol: Relative shortfall that is forgiven as rounding; None for 1e-12, or 16
            units of the coarser of the two types where that is more.

    Returns:
        True if it does; False too where either holds a NaN.

    Raises:
        ShapeError: If the sizes do not fit.
        OptionError: If ``h`` has a negative entry.

    Example:
        >>> from derivative_covers import iscover
        >>> iscover([2.0, 1.0], [[4.0, 2.0], [2.0, 0.5]])
        True
        >>> iscover([2.0, 0.9], [[4.0, 2.0], [2.0, 0.5]])
        False
    """
    have, need = log_sizes(h, H)
    slack = rounding(h, H) if rtol is None else rtol
    return bool((need + np.log10(1 - slack) <= have).all())


def cover_excess(h: Any, H: Any, *, threshold: float = 1e-12) -> float:
    """Mean of ``log10(h_i h_j / |H_ij|)`` over the nonzero entries of a matrix.

    Args:
        h: Cover, any shape with n entries (the result of a cover works, and a nest of
            dictionaries and tuples).
        H: As in :func:`iscover`.
        threshold: Entries up to this fraction of a cover of ``H`` alone
            (:func:`derivative_covers.matrix.cover`) count as zero, so that rounding in
            what should be zero is left out, whatever the units.

    Returns:
        Decades by which the cover is too large on average; 0 for a matrix without
        nonzero entries.

    Raises:
        ShapeError: If the sizes do not fit.
        OptionError: If ``h`` has a negative entry, ``H`` holds a NaN or an infinity, or
            the threshold is no number in [0, 1).

    Example:
        >>> from derivative_covers import cover_excess
        >>> cover_excess([10.0, 1.0], [[10.0, 0.0], [0.0, 1.0]])
        0.5
    """
    have, need = log_sizes(h, H)
    counted = that_count(h, H, threshold)
    if not counted.any():
        return 0.0
    return float((have[counted] - need[counted]).mean())
