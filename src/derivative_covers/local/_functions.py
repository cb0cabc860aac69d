"""The methods of a curvature as functions, for those who write nodes by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from derivative_covers.elements import magtype
from derivative_covers.local._curvature import Curvature
from derivative_covers.local._ratio import split_ratio
from derivative_covers.local._scales import SplitScale
from derivative_covers.local._site import CoverSite

__all__ = [
    "atom_slots",
    "bound_contribution",
    "cover_slots",
    "cover_slots_into",
    "curvature_apply",
    "has_exact_partials",
]


def cover_slots(
    C: Curvature,
    ratio: Any,
    site: CoverSite,
    av: Any,
    sl: Sequence[SplitScale],
    *,
    check: bool = True,
) -> np.ndarray[Any, Any] | None:
    """The rank-1 cover of one elemental, one weight a slot.

    Args:
        C: The elemental's second partials.
        ratio: Split threshold in ``[0, 1)``, or None for the default.
        site: Element type and error context.
        av: Nonnegative weight of the second-order term: the absolute adjoint in a
            reverse sweep, 1 in a forward one.
        sl: One ``SplitScale`` a slot, in slot order.
        check: Verify the result against the recorded entries.

    Returns:
        Array ``rho`` of the magnitude type, one entry a slot, with
        ``rho[i] * rho[j] >= av * |C[i, j]|`` for slots that are not dead; None where
        there is no second-order term.

    Raises:
        DomainError: If ``av`` or an entry to be covered is not finite.
        CoverError: If the weights fail the check.
        ShapeError: If ``sl`` does not have one entry a slot.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import BinaryCurvature, SplitScale, TapeSite
        >>> from derivative_covers.extend import cover_slots
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [4.0, 1.0])
        >>> slots = [SplitScale(4.0, 1.0), SplitScale(1.0, 1.0)]
        >>> C = BinaryCurvature(0.0, 1.0, 0.0)
        >>> cover_slots(C, None, TapeSite(tape, out), 1.0, slots)
        array([0.5, 2. ])
    """
    rho: list[Any] = []
    if not cover_slots_into(rho, C, ratio, site, av, sl, check=check):
        return None
    return np.array(rho, dtype=magtype(site.dtype))


def cover_slots_into(
    rho: list[Any],
    C: Curvature,
    ratio: Any,
    site: CoverSite,
    av: Any,
    sl: Sequence[SplitScale],
    *,
    check: bool = True,
) -> bool:
    """Fill the list ``rho`` with the cover of one elemental; see :func:`cover_slots`.

    Args:
        rho: A list that the caller keeps and reuses, resized in place to the number of
            slots; untouched where the answer is False.
        C: The elemental's second partials.
        ratio: Split threshold in ``[0, 1)``, or None for the default.
        site: Element type and error context.
        av: Nonnegative weight of the second-order term.
        sl: One ``SplitScale`` a slot, in slot order.
        check: Verify the result against the recorded entries.

    Returns:
        Whether there is a second-order term.

    Raises:
        DomainError: If ``av`` or an entry to be covered is not finite.
        CoverError: If the weights fail the check.
        ShapeError: If ``sl`` does not have one entry a slot.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import BinaryCurvature, SplitScale, TapeSite
        >>> from derivative_covers.extend import cover_slots_into
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [4.0, 1.0])
        >>> slots = [SplitScale(4.0, 1.0), SplitScale(1.0, 1.0)]
        >>> C = BinaryCurvature(0.0, 1.0, 0.0)
        >>> rho = []
        >>> cover_slots_into(rho, C, None, TapeSite(tape, out), 1.0, slots)
        True
        >>> [float(r) for r in rho]
        [0.5, 2.0]
    """
    threshold = split_ratio(ratio, site.dtype)
    return C.cover_slots_into(rho, threshold, site, av, sl, check=check)


def atom_slots(C: Curvature, nslots: int) -> tuple[tuple[int, ...], ...]:
    """The groups of slots that quadrature combines separately.

    Args:
        C: A node's second partials.
        nslots: Number of its parent slots.

    Returns:
        Disjoint tuples of slots, none of them where there is no curvature.

    Example:
        >>> from derivative_covers.extend import PairedCurvature, atom_slots
        >>> atom_slots(PairedCurvature(2), 4)
        ((0, 2), (1, 3))
    """
    return C.atom_slots(nslots)


def bound_contribution(
    B: Any, C: Curvature, av: Any, ps: Sequence[int], utilde: Any
) -> None:
    """Add a node's term of the elementwise Hessian bound to ``B``, in place.

    The term is ``av * sum_ij |C[i, j]| * utilde[ps[i]] * utilde[ps[j]]'``.

    Args:
        B: Array of shape (n, n).
        C: The node's second partials.
        av: Its absolute adjoint.
        ps: Its parents' node ids, in slot order.
        utilde: Absolute-sensitivity rows (n,) by node id: a mapping or a
            two-dimensional array.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.extend import UnaryCurvature, bound_contribution
        >>> B = np.zeros((2, 2))
        >>> bound_contribution(B, UnaryCurvature(-2.0), 1.0, [0], {0: np.array([1.0, 3.0])})
        >>> B
        array([[ 2.,  6.],
               [ 6., 18.]])
    """
    C.bound_contribution(B, av, ps, utilde)


def curvature_apply(
    vbardot: Any, C: Curvature, ps: Sequence[int], bk: Any, dv: Any
) -> None:
    """Add a node's second-order term of a Hessian-vector product, in place.

    That is ``vbardot[ps[i]] += bk * sum_j C[i, j] * dv[ps[j]]``.

    Args:
        vbardot: Tangents of the adjoints, by node id.
        C: The node's second partials.
        ps: Its parents' node ids, in slot order.
        bk: Its adjoint.
        dv: Tangents, by node id.

    Raises:
        UnsupportedOperationError: If ``C`` records no exact entries.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.extend import UnaryCurvature, curvature_apply
        >>> vbardot = np.zeros(2)
        >>> curvature_apply(vbardot, UnaryCurvature(2.0), [0], 3.0, np.array([5.0, 0.0]))
        >>> vbardot
        array([30.,  0.])
    """
    C.curvature_apply(vbardot, ps, bk, dv)


def has_exact_partials(C: Curvature) -> bool:
    """Whether an exact second-order product can be formed through ``C``.

    Example:
        >>> from derivative_covers.extend import UnaryCurvature, has_exact_partials
        >>> has_exact_partials(UnaryCurvature(2.0))
        True
    """
    return C.has_exact_partials
