"""Covers of weighted Gram matrices, which are not formed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputTypeError, OptionError, ShapeError
from ._entries import Entries, entries
from ._measures import iscover, pair
from ._minimal import tightest
from ._support import Support

__all__ = ["gramcover"]

Array = NDArray[Any]

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
_TOO_LARGE = "the cover of A' W A has entries above 1.8e308; scale A or W first."


def gramcover(cover: Any, A: Any, *, W: Any = None) -> Array:
    """A cover of ``A.T @ W @ A`` from one of ``A``, without forming the product.

    Args:
        cover: A pair ``a, b`` that covers ``A``: what :func:`cover` returns, or another
            one that :func:`iscover` takes.
        A: Matrix of shape (m, n). Only the places of its nonzero entries are used.
        W: Weights: None for ones, a vector of m numbers for a diagonal matrix, or a
            matrix of shape (m, m), dense or sparse. Signs do not matter.

    Returns:
        Nonnegative ``h`` of shape (n,) with ``|A' W A|_jk <= h_j h_k``. Exactly zero for
        columns of zeros, and for those whose rows have no weight.

    Raises:
        InputTypeError: If an argument holds no numbers, or is a masked array.
        ShapeError: If sizes do not fit.
        OptionError: If an entry is NaN or infinite, ``cover`` does not cover ``A``, or
            the result leaves the range of floats.

    Guarantee:
        It covers the product in exact arithmetic, wherever ``cover`` covers ``A`` so.
        It does not change when ``a`` is multiplied and ``b`` divided by a number, in all
        or in a block that shares no row and column with others, but for rounding.

    Cost:
        Proportional to the nonzero entries of ``A`` and ``W``; for a matrix ``W`` also a
        :func:`symcover_min` of a matrix with one row for each block of ``A``.

    Source:
        The triangle inequality, block by block.

    Example:
        >>> from derivative_covers.matrix import cover, gramcover
        >>> A = [[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]
        >>> gramcover(cover(A), A).round(6)
        array([5., 2.])
    """
    found = entries(A)
    a, b, _ = pair(cover, found.shape)
    if not iscover(cover, A):
        msg = (
            "cover does not cover A: a product a_i b_j lies below |A_ij|, so that nothing "
            "can be said of A' W A. Take derivative_covers.matrix.cover(A)."
        )
        raise OptionError(msg)
    s = Support.general(found)
    rows = found.shape[0]
    row_block, column_block = s.component[:rows], s.component[rows:]
    used = s.degree > 0
    a = np.where(used[:rows], a, 0.0)
    couplings = None
    if W is not None and np.ndim(W) != 1:
        couplings = _couplings(W, rows)
        coupled = np.zeros(rows, dtype=bool)
        coupled[couplings.i] = coupled[couplings.j] = True
        a = np.where(coupled, a, 0.0)
    elif W is not None:
        a = a * np.sqrt(_weights(W, rows))
    # Blocks may differ in units by any factor; squares are taken of what is near one.
    largest = np.zeros(s.count)
    np.maximum.at(largest, row_block, a)
    near = a / np.where(largest > 0, largest, 1.0)[row_block]
    near = np.where(a > 0, np.maximum(near, _TINY), 0.0)
    if couplings is None:
        scales = np.sqrt(np.bincount(row_block, near**2, s.count).astype(np.float64))
    else:
        scales = _block_scales(near, row_block, couplings, s.count)
    scales = scales[column_block]
    with np.errstate(over="ignore"):
        h = _up(_up(np.where(used[rows:], b, 0.0) * largest[column_block]) * scales)
    if not np.isfinite(h).all():
        raise OptionError(_TOO_LARGE)
    return np.where(scales > 0, h * (1 + (rows + 8) * _EPS), 0.0)


def _up(products: Array) -> Array:
    """The same, and no positive number so small that it has lost digits."""
    return np.where(products > 0, np.maximum(products, _TINY), products)


def _couplings(W: Any, rows: int) -> Entries:
    found = entries(W, "W")
    if found.shape != (rows, rows):
        msg = f"W has shape {found.shape}; A has {rows} rows, so ({rows}, {rows}) is needed."
        raise ShapeError(msg)
    return found


def _block_scales(near: Array, block: Array, W: Entries, count: int) -> Array:
    """A cover ``t`` of the sums of ``a_i |W_ik| a_k`` over pairs of blocks."""
    a, c = near[W.i], near[W.j]
    terms = np.where((a > 0) & (c > 0), np.maximum(a * W.sizes * c, _TINY), 0.0)
    with np.errstate(over="ignore"):
        return _tightest_of(np.stack([block[W.i], block[W.j]]), terms, count)


def _tightest_of(coupled: Array, sums: Array, count: int) -> Array:
    keys, place = np.unique(coupled[0] * count + coupled[1], return_inverse=True)
    total = np.bincount(place.ravel(), sums, keys.size)
    p, q = keys // count, keys % count
    mirrored = np.minimum(p, q) * count + np.maximum(p, q)
    keys, place = np.unique(mirrored, return_inverse=True)
    larger = np.zeros(keys.size)
    np.maximum.at(larger, place.ravel(), total)
    if not np.isfinite(larger).all():
        raise OptionError(_TOO_LARGE)
    # Where W is not symmetric, this was the larger of a sum and its mirror image.
    kept = larger > 0
    keys, larger = keys[kept], larger[kept]
    found = Entries((count, count), keys // count, keys % count, larger, np.float64)
    return tightest(Support.symmetric(found), found, "squared_log")


def _weights(W: Any, rows: int) -> Array:
    w = np.asarray(W)
    if w.dtype.kind not in "biuf":
        msg = f"W holds {w.dtype} entries; real numbers are needed."
        raise InputTypeError(msg)
    if w.size != rows:
        msg = f"W has {w.size} weights; A has {rows} rows, and one for each is needed."
        raise ShapeError(msg)
    w = np.abs(w.astype(np.float64))
    if not np.isfinite(w).all():
        msg = "W has a NaN or infinite weight; weights must be finite."
        raise OptionError(msg)
    return w
