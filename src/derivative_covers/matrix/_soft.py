"""Products near a matrix, above and below: covers without the guarantee."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._entries import Entries, entries, symmetric_entries
from ._heuristics import heuristic
from ._linear import step
from ._lp import least_absolute
from ._penalties import check_penalty
from ._program import least_excess
from ._results import MatrixCover, as_cover, as_vector
from ._support import Support

__all__ = ["soft_cover", "soft_symcover"]

Array = NDArray[Any]
SoftPenalty = Literal["squared_ratio", "squared_log", "absolute_log"]

_KNOWN = ("squared_ratio", "squared_log", "absolute_log")
_STEPS = 500


def soft_symcover(A: Any, *, penalty: SoftPenalty = "squared_ratio") -> Array:
    """Numbers whose products are near the sizes of the entries of a symmetric matrix.

    No cover: products may lie below entries, so that a few large ones do not decide.

    Args:
        A: As in :func:`symcover`.
        penalty: What is made small, summed over nonzero entries, with the ratio
            ``r = |A_ij| / (h_i h_j)``. ``"squared_ratio"``: ``(1 - r)**2``, at most 1 for
            an entry far below its product; a local minimum, the best from several
            starts. ``"squared_log"``: ``log(r)**2``, whose minimum is unique.
            ``"absolute_log"``: ``|log(r)|``, and the least squares of all that are
            optimal.

    Returns:
        Nonnegative ``h`` of shape (n,), of the type that :func:`symcover` gives. Exactly
        zero where a row holds only zeros.

    Raises:
        InputTypeError: If ``A`` holds no numbers, or is a masked array.
        ShapeError: If ``A`` is not square.
        OptionError: If an entry is NaN or infinite, absolute values are not symmetric,
            the penalty is unknown, or ``h`` leaves the range of floats.
        MissingPackageError: If SciPy is not installed, for ``"absolute_log"``.
        CoverError: If the conditions of an optimum are not met, for ``"absolute_log"``.

    Guarantee:
        None of entries. The products at nonzero entries follow a change of units.

    Cost:
        Up to some hundreds of factorisations of a matrix with the pattern of ``A`` for
        ``"squared_ratio"``, a few for ``"squared_log"``, and a linear program with two
        conditions an entry for ``"absolute_log"``.

    Source:
        Soft covers as in MatrixCovers.jl, by Newton's method in logarithms.

    Example:
        >>> from derivative_covers.matrix import soft_symcover
        >>> soft_symcover([[4.0, -1.0], [-1.0, 0.0]]).round(6)
        array([2. , 0.5])
    """
    check_penalty(penalty, _KNOWN)
    found = symmetric_entries(A)
    return _soft(Support.symmetric(found), found, penalty)


def soft_cover(A: Any, *, penalty: SoftPenalty = "squared_ratio") -> MatrixCover:
    """Numbers whose products are near the sizes of the entries of any matrix.

    Args:
        A: As in :func:`cover`.
        penalty: As in :func:`soft_symcover`.

    Returns:
        A :class:`MatrixCover` ``a, b``, which covers nothing. Exactly zero where a row or
        column holds only zeros.

    Raises:
        InputTypeError: If ``A`` holds no numbers, or is a masked array.
        ShapeError: If ``A`` has not two dimensions.
        OptionError: If an entry is NaN or infinite, the penalty is unknown, or a number
            leaves the range of floats.
        MissingPackageError: If SciPy is not installed, for ``"absolute_log"``.
        CoverError: If the conditions of an optimum are not met, for ``"absolute_log"``.

    Guarantee:
        As for :func:`soft_symcover`.

    Cost:
        As for :func:`soft_symcover`, of a matrix of ``m + n`` rows.

    Source:
        As for :func:`soft_symcover`.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.matrix import soft_cover
        >>> np.asarray(soft_cover([[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]])).round(3)
        array([[1.933, 1.972, 2.507],
               [4.971, 5.073, 6.447]])
    """
    check_penalty(penalty, _KNOWN)
    found = entries(A)
    return as_cover(_soft(Support.general(found), found, penalty), found)


def _soft(s: Support, found: Entries, penalty: str) -> Array:
    start = heuristic(s, 3)
    if penalty == "absolute_log":
        x = least_absolute(s, start, hard=False)
    else:
        free = np.zeros(s.logs.size)
        x, _, _ = least_excess(s, start, free, free)
        if penalty == "squared_ratio":
            x = _least_ratio(s, [x, *_without_outliers(s, x), start])
    return as_vector(s, s.balanced(x), found.dtype).astype(found.dtype)


def _without_outliers(s: Support, x: Array) -> list[Array]:
    """The fit without the entry that is the lowest below it, and without the lowest tenth.

    They are those that count least where ratios count.
    """
    z = s.over(x)
    starts = []
    for share in (0.0, 0.1):
        if z.size < 2:
            break
        out = z >= np.quantile(z, 1 - share)
        weight = np.where(out, 1e-6, s.weight)
        lighter = Support(s.count, s.p, s.q, s.logs, weight)
        starts.append(x + step(s, weight, -lighter.adjoint(weight * z)))
    return starts


def _least_ratio(s: Support, starts: list[Array]) -> Array:
    """Local minima of ``sum(weight * (1 - r)**2)``, the best start of each component."""
    ends = np.array([_descended(s, x) for x in starts])
    terms = [s.weight * _ratios(s.over(x)) for x in ends]
    values = np.array([np.bincount(s.component[s.p], v, s.count) for v in terms])
    # Ties go to the first start, whatever rounding says.
    close = values <= values.min(axis=0) * (1 + 1e-9) + 1e-18
    chosen = np.argmax(close, axis=0)[s.component]
    found: Array = ends[chosen, np.arange(s.count)]
    return found


def _ratios(z: Array) -> Array:
    found: Array = np.expm1(-np.maximum(z, -300.0)) ** 2
    return found


def _descended(s: Support, x: Array) -> Array:
    """Newton's method in logarithms, with other second derivatives where it climbs."""
    z = s.over(x)
    value = s.weight @ _ratios(z)
    for _ in range(_STEPS):
        r = np.exp(-np.maximum(z, -300.0))
        gradient = s.adjoint(s.weight * r * (1 - r))
        direction = _downhill(s, r, gradient)
        change = direction[s.p] + direction[s.q]
        largest = float(np.abs(change).max(initial=0.0))
        slope = float(gradient @ direction)
        if largest <= 1e-10 or slope >= 0:
            break
        length = min(1.0, 2.0 / largest)
        while True:
            then = s.weight @ _ratios(z + length * change)
            if then <= value + 1e-4 * length * slope:
                break
            length /= 2
            if length < 1e-10:
                return x
        x = x + length * direction
        z, value = s.over(x), then
    return x


def _downhill(s: Support, r: Array, gradient: Array) -> Array:
    """Newton's step where second derivatives are positive, else one that goes down."""
    bend = s.weight * r * (2 * r - 1)
    with suppress(np.linalg.LinAlgError):
        return step(s, bend, -gradient, definite=True)
    # Ratios may be so far apart that some vanish beside others in one sum.
    bend = np.maximum(r * np.maximum(2 * r - 1, 0.1), 1e-9)
    return step(s, s.weight * bend, -gradient, ridge=1e-10)
