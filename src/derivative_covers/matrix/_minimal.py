"""The tightest covers, by a penalty of their excesses."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import CoverError
from ._entries import Entries, entries, symmetric_entries
from ._heuristics import heuristic
from ._lp import least_absolute
from ._penalties import check_penalty
from ._program import least_excess
from ._results import MatrixCover, as_cover, covering
from ._support import Support

__all__ = ["cover_min", "symcover_min", "tightest"]

Array = NDArray[Any]
LogPenalty = Literal["squared_log", "absolute_log"]


def symcover_min(A: Any, *, penalty: LogPenalty = "squared_log") -> Array:
    """The tightest cover of a symmetric matrix.

    Its ``h`` has the least sum, over the nonzero entries of the full matrix, of a penalty
    of the excess ``log(h_i h_j / |A_ij|)``, which is nowhere negative.

    Args:
        A: As in :func:`symcover`.
        penalty: ``"squared_log"``: squares of excesses. The products ``h_i h_j`` at
            nonzero entries are unique, and so is ``h``, but for blocks whose nonzero
            entries all join two groups of variables: there, one group may be multiplied
            and the other divided by any number, which equal geometric means over the
            nonzero entries settle. ``"absolute_log"``: excesses themselves, so that
            fewer of them are large and more are zero. Of all that are optimal, the one
            with the least squares.

    Returns:
        Nonnegative ``h`` of shape (n,), float32 if ``A`` is in single precision and else
        float64, with ``|A_ij| <= h_i h_j``. Exactly zero where a row holds only zeros.

    Raises:
        InputTypeError: If ``A`` holds no numbers, or is a masked array.
        ShapeError: If ``A`` is not square.
        OptionError: If an entry is NaN or infinite, absolute values are not symmetric,
            the penalty is unknown, or the cover leaves the range of floats.
        MissingPackageError: If SciPy is not installed, for ``"absolute_log"``.
        CoverError: If the conditions of an optimum are not met in the end.

    Guarantee:
        ``h_i h_j >= |A_ij|`` for the floats that come back, in exact arithmetic. Excesses
        are the optimal ones up to some units of rounding of the logarithms. So the
        products at nonzero entries follow a change of units.

    Cost:
        Some tens of factorisations of a matrix with the pattern of ``A``: dense up to
        500 variables or for one nonzero entry in five, else sparse, by SciPy. For large
        matrices with a random pattern, whose factors are dense, take :func:`symcover`.
        ``"absolute_log"`` solves a linear program with one condition an entry before.

    Source:
        Convex optimality conditions; linear programs by HiGHS.

    Example:
        >>> from derivative_covers.matrix import symcover_min
        >>> A = [[4.0, 1.0, 0.0], [1.0, 1.0, 5.0], [0.0, 5.0, 2.0]]
        >>> symcover_min(A).round(4)
        array([2.    , 1.4427, 3.4657])
        >>> symcover_min(A, penalty="absolute_log").round(4)
        array([2., 1., 5.])
    """
    check_penalty(penalty, ("squared_log", "absolute_log"))
    found = symmetric_entries(A)
    return tightest(Support.symmetric(found), found, penalty)


def cover_min(A: Any, *, penalty: LogPenalty = "squared_log") -> MatrixCover:
    """The tightest cover of any matrix.

    Its ``a`` and ``b`` have the least sum, over the nonzero entries, of a penalty of the
    excess ``log(a_i b_j / |A_ij|)``, which is nowhere negative.

    Args:
        A: As in :func:`cover`.
        penalty: ``"squared_log"`` or ``"absolute_log"``, as in :func:`symcover_min`. The
            products ``a_i b_j`` at nonzero entries are unique.

    Returns:
        A :class:`MatrixCover` ``a, b`` with ``|A_ij| <= a_i b_j``. Exactly zero where a
        row or column holds only zeros. ``a`` and ``b`` have equal geometric means over
        the nonzero entries, in every block that shares no row and column with others.

    Raises:
        InputTypeError: If ``A`` holds no numbers, or is a masked array.
        ShapeError: If ``A`` has not two dimensions.
        OptionError: If an entry is NaN or infinite, the penalty is unknown, or the cover
            leaves the range of floats.
        MissingPackageError: If SciPy is not installed, for ``"absolute_log"``.
        CoverError: If the conditions of an optimum are not met in the end.

    Guarantee:
        ``a_i b_j >= |A_ij|`` for the floats that come back, in exact arithmetic. Excesses
        are the optimal ones up to some units of rounding of the logarithms.

    Cost:
        As for :func:`symcover_min`, of a matrix of ``m + n`` rows.

    Source:
        As for :func:`symcover_min`.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.matrix import cover_min
        >>> A = [[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]]
        >>> np.asarray(cover_min(A)).round(4)
        array([[2.2104, 2.    , 3.    ],
               [6.    , 5.4288, 8.1433]])
        >>> np.asarray(cover_min(A, penalty="absolute_log")).round(4)
        array([[2.4, 2. , 3. ],
               [6. , 5. , 7.5]])
    """
    check_penalty(penalty, ("squared_log", "absolute_log"))
    found = entries(A)
    return as_cover(tightest(Support.general(found), found, penalty), found)


def tightest(s: Support, found: Entries, penalty: str) -> Array:
    """The minimal cover of the entries of a graph."""
    x = heuristic(s, 3)
    if penalty == "absolute_log":
        x = least_absolute(s, x, hard=True)
    else:
        free, bound = np.zeros(s.logs.size), np.full(s.logs.size, np.inf)
        x, broken, rounding = least_excess(s, x, free, bound)
        if broken > rounding:
            msg = (
                f"the conditions of the tightest cover are still broken by {broken:.2g}, "
                f"and {rounding:.2g} would be rounding. Please report this matrix, and "
                "take symcover or cover meanwhile."
            )
            raise CoverError(msg)
    return covering(s, s.balanced(x), found)
