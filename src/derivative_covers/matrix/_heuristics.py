"""Covers in time linear in the number of entries."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ._entries import entries, symmetric_entries
from ._linear import fitted
from ._results import MatrixCover, as_cover, covering
from ._support import Support

__all__ = ["cover", "geometric_means", "heuristic", "symcover"]

Array = NDArray[Any]

_WIDTH = float(np.log(2.0)) / 4
_FITTING = 30  # steps of conjugate gradients


def symcover(A: Any, *, iterations: int = 3) -> Array:
    """A cover of a symmetric matrix, nearly the tightest, in linear time.

    Args:
        A: Matrix of shape (n, n) with symmetric absolute values: array_like, or one of
            SciPy's sparse matrices and arrays. Signs, and the phases of complex numbers,
            do not matter. Two mirrored entries may differ by rounding (relatively, by
            the root of the precision); then the larger one counts.
        iterations: How often the cover is lowered where there is room.

    Returns:
        Nonnegative ``h`` of shape (n,), float32 if ``A`` is in single precision and else
        float64, with ``|A_ij| <= h_i h_j``. Exactly zero where a row holds only zeros.

    Raises:
        InputTypeError: If ``A`` holds no numbers, or is a masked array.
        ShapeError: If ``A`` is not square.
        OptionError: If an entry is NaN or infinite, absolute values are not symmetric,
            ``iterations`` is no natural number, or the cover leaves the range of floats.

    Guarantee:
        ``h_i h_j >= |A_ij|`` for the floats that come back, in exact arithmetic.

    Cost:
        Proportional to the number of nonzero entries: about a second for a million.

    Source:
        The least-squares fit of logarithms (of a full matrix: geometric means of its
        rows), raised greedily and lowered again, as in MatrixCovers.jl.

    Example:
        >>> from derivative_covers.matrix import symcover
        >>> symcover([[4.0, 1.0], [1.0, 1.0]]).round(3)
        array([2., 1.])
    """
    found = symmetric_entries(A)
    s = Support.symmetric(found)
    return covering(s, heuristic(s, _count(iterations)), found)


def cover(A: Any, *, iterations: int = 3) -> MatrixCover:
    """A cover of any matrix, nearly the tightest, in linear time.

    Args:
        A: Matrix of shape (m, n): array_like, or one of SciPy's sparse matrices and
            arrays. Signs, and the phases of complex numbers, do not matter.
        iterations: How often the cover is lowered where there is room.

    Returns:
        A :class:`MatrixCover` ``a, b`` of shapes (m,) and (n,) with ``|A_ij| <= a_i b_j``.
        Exactly zero where a row or column holds only zeros. ``a`` may be multiplied and
        ``b`` divided by any number, separately for blocks that share neither rows nor
        columns; that is settled, up to a power of two, by equal geometric means of ``a``
        and ``b`` over the nonzero entries.

    Raises:
        InputTypeError: If ``A`` holds no numbers, or is a masked array.
        ShapeError: If ``A`` has not two dimensions.
        OptionError: If an entry is NaN or infinite, ``iterations`` is no natural number,
            or the cover leaves the range of floats.

    Guarantee:
        ``a_i b_j >= |A_ij|`` for the floats that come back, in exact arithmetic.

    Cost:
        Proportional to the number of nonzero entries: about a second for a million.

    Source:
        As for :func:`symcover`.

    Example:
        >>> from derivative_covers.matrix import cover
        >>> a, b = cover([[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]])
        >>> a.round(3), b.round(3)
        (array([1.254, 3.476]), array([1.726, 1.622, 2.391]))
    """
    found = entries(A)
    s = Support.general(found)
    x = s.balanced(heuristic(s, _count(iterations)), unit=4 * _WIDTH)
    return as_cover(covering(s, x, found), found)


def _count(iterations: Any) -> int:
    try:
        number = operator.index(iterations)
    except TypeError:
        number = -1
    if number < 0 or isinstance(iterations, bool):
        msg = f"iterations is {iterations!r}; it must be an integer of at least 0."
        raise OptionError(msg)
    return number


def geometric_means(s: Support) -> Array:
    """Logarithms of the geometric means of rows, less half of that of the component.

    Where no entry is zero they are the least-squares fit.
    """
    rows = s.total(s.logs)
    degree = np.bincount(s.component, s.degree)
    mean = np.bincount(s.component, rows) / np.maximum(degree, 1.0)
    found: Array = rows / np.maximum(s.degree, 1.0) - mean[s.component] / 2
    return found


def heuristic(s: Support, iterations: int) -> Array:
    """The least-squares fit, raised until it covers, and lowered where there is room."""
    x = _raised(s, fitted(s, geometric_means(s), _FITTING))
    for _ in range(iterations):
        room = s.least(s.over(x))
        x -= np.where(s.degree > 0, room, 0.0) / 2
    return x


def _raised(s: Support, x: Array) -> Array:
    """Raise both ends of entries that are not covered, roughly the worst first.

    An entry waits in a bucket, a quarter of a factor 2 wide, and goes to a lower one if
    others have helped it in the meantime.
    """
    lack = -s.over(x)
    short = np.flatnonzero(lack > 0)
    if not short.size:
        return x
    bucket = (lack[short] / _WIDTH).astype(int)
    waiting: list[list[int]] = [[] for _ in range(int(bucket.max()) + 1)]
    for k, e in zip(bucket.tolist(), short.tolist(), strict=True):
        waiting[k].append(e)
    p, q, logs, raised = s.p.tolist(), s.q.tolist(), s.logs.tolist(), x.tolist()
    for level in reversed(range(len(waiting))):
        bottom = level * _WIDTH
        for e in waiting[level]:
            a, b = p[e], q[e]
            missing = logs[e] - raised[a] - raised[b]
            if missing <= 0:
                continue
            if missing < bottom:
                waiting[int(missing / _WIDTH)].append(e)
                continue
            raised[a] += missing / 2
            if a != b:
                raised[b] += missing / 2
    return np.array(raised)
