"""Whether a pair of vectors covers a matrix, and how tightly."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputTypeError, OptionError, ShapeError
from ._entries import entries
from ._exact import below
from ._penalties import PENALTIES, check_penalty

__all__ = ["cover_objective", "iscover", "pair"]

Array = NDArray[Any]


def iscover(cover: Any, A: Any, *, rtol: float | None = None) -> bool:
    """Whether ``a_i b_j >= |A_ij|`` for all entries, to a relative tolerance.

    Args:
        cover: A vector ``h`` for ``a = b = h``, or a pair ``a, b``: what the functions of
            this package return (such as :class:`MatrixCover`, :class:`HessianCover` and
            :class:`JacobianCover`), or a tuple of two vectors.
        A: As in :func:`cover`. It need not be symmetric for a vector.
        rtol: Relative shortfall that is forgiven as rounding; None for 1e-12, or 16
            units of the coarsest type where that is more. With 0 the products are
            compared exactly.

    Returns:
        True if it does.

    Raises:
        InputTypeError: If one of them holds no numbers, or is a masked array.
        ShapeError: If the sizes do not fit.
        OptionError: If ``A`` has an entry, or ``cover`` a number, that cannot be used.

    Example:
        >>> from derivative_covers.matrix import iscover
        >>> iscover(([1.0, 2.0], [3.0]), [[3.0], [-6.0]])
        True
        >>> iscover([2.0, 0.9], [[4.0, 2.0], [2.0, 0.5]])
        False
    """
    found = entries(A)
    a, b, eps = pair(cover, found.shape)
    eps = max(eps, float(np.finfo(found.dtype).eps))
    slack = max(1e-12, 16 * eps) if rtol is None else _tolerance(rtol)
    needed = found.sizes * max(0.0, 1 - slack)
    return not bool(below(a[found.i], b[found.j], needed).any())


def cover_objective(cover: Any, A: Any, *, penalty: str = "squared_log") -> float:
    """The sum of a penalty over the nonzero entries of a matrix.

    Args:
        cover: As in :func:`iscover`.
        A: As in :func:`cover`. All nonzero entries count, on both sides of the diagonal.
        penalty: With the ratio ``r = |A_ij| / (a_i b_j)``: ``"squared_log"`` is
            ``log(r)**2``, ``"absolute_log"`` is ``|log(r)|``, ``"squared_ratio"`` is
            ``(1 - r)**2``, and ``"absolute_ratio"`` is ``|1 - r|``.

    Returns:
        The sum; infinite where ``a_i b_j`` is zero and ``A_ij`` is not.

    Raises:
        InputTypeError: If one of them holds no numbers, or is a masked array.
        ShapeError: If the sizes do not fit.
        OptionError: If the penalty is unknown, or ``A`` has an entry, or ``cover`` a
            number, that cannot be used.

    Example:
        >>> from derivative_covers.matrix import cover_objective, symcover_min
        >>> A = [[4.0, 2.0], [2.0, 16.0]]
        >>> round(cover_objective(symcover_min(A), A), 6)
        3.843624
    """
    check_penalty(penalty, tuple(PENALTIES))
    found = entries(A)
    a, b, _ = pair(cover, found.shape)
    with np.errstate(divide="ignore", over="ignore"):
        z = np.log(a)[found.i] + np.log(b)[found.j] - np.log(found.sizes)
        return float(PENALTIES[penalty](z).sum())


def pair(cover: Any, shape: tuple[int, int]) -> tuple[Array, Array, float]:
    """The two vectors of a cover, in float64, and the coarser precision of the two.

    Raises:
        InputTypeError: If they are no numbers.
        ShapeError: If they do not fit the shape of the matrix.
        OptionError: If a number is negative, NaN or infinite.
    """
    if hasattr(cover, "a") and hasattr(cover, "b"):
        given = (cover.a, cover.b)
    elif hasattr(cover, "h"):
        given = (cover.h, cover.h)
    elif isinstance(cover, (tuple, list)) and any(map(_is_vector, cover)):
        if len(cover) != 2:
            msg = f"cover has {len(cover)} vectors; one, or a pair of them, is needed."
            raise ShapeError(msg)
        given = (cover[0], cover[1])
    else:
        given = (cover, cover)
    a, b = (_vector(v, size) for v, size in zip(given, shape, strict=True))
    eps = max(
        float(np.finfo(v.dtype).eps) if v.dtype.kind == "f" else 0 for v in (a, b)
    )
    return a.astype(np.float64), b.astype(np.float64), eps


def _is_vector(member: Any) -> bool:
    return isinstance(member, (tuple, list)) or getattr(member, "ndim", 0) > 0


def _vector(given: Any, size: int) -> Array:
    try:
        v = np.asarray(given)
    except ValueError:  # members of different lengths
        v = np.asarray(None)
    if v.dtype.kind not in "biuf":
        msg = (
            f"cover holds entries of type {v.dtype} ({type(given).__name__}); a vector of "
            "real numbers, or a pair of them, is needed."
        )
        raise InputTypeError(msg)
    if v.size != size:
        msg = (
            f"a vector of the cover has shape {v.shape}, where A has {size} rows or "
            "columns; one number for each is needed, and a pair of vectors for a matrix "
            "that is not square."
        )
        raise ShapeError(msg)
    if not (np.isfinite(v).all() and (v >= 0).all()):
        msg = "cover has an entry that is negative, NaN or infinite; a cover has none."
        raise OptionError(msg)
    return v.ravel()


def _tolerance(rtol: Any) -> float:
    try:
        value = float(operator.pos(rtol))
    except TypeError:
        value = -1.0
    if not value >= 0:
        msg = f"rtol is {rtol!r}; it must be a number of at least 0."
        raise OptionError(msg)
    return value
