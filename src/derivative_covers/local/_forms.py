"""The forms of curvature that the package's own elementals record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from derivative_covers.errors import (
    InputTypeError,
    ShapeError,
    UnsupportedOperationError,
)
from derivative_covers.local._checks import check_nslots
from derivative_covers.local._curvature import Curvature
from derivative_covers.local._recorded import RecordedCurvature
from derivative_covers.local._scales import SplitScale
from derivative_covers.local._site import CoverSite
from derivative_covers.local._weights import cover_pairs, cover_single, cover_two

__all__ = [
    "BinaryCurvature",
    "DenseCurvature",
    "NoCurvature",
    "PairedCurvature",
    "UnaryCurvature",
]


@dataclass(frozen=True, slots=True)
class NoCurvature(Curvature):
    """The curvature of a node without a second-order term.

    Inputs, constants and linear nodes have it, and elementals whose second partials are
    zero at the recorded point. It enters no cover, no bound and no atom.

    Example:
        >>> NoCurvature().atom_slots(3)
        ()
    """

    def cover_slots_into(
        self,
        rho: list[Any],
        ratio: Any,
        site: CoverSite,
        av: Any,
        sl: Sequence[SplitScale],
        *,
        check: bool = True,
    ) -> bool:
        """There is nothing to cover: False."""
        return False

    def bound_contribution(
        self, B: Any, av: Any, ps: Sequence[int], utilde: Any
    ) -> None:
        """Add nothing."""

    def atom_slots(self, nslots: int) -> tuple[tuple[int, ...], ...]:
        """No atoms."""
        return ()

    def curvature_apply(
        self, vbardot: Any, ps: Sequence[int], bk: Any, dv: Any
    ) -> None:
        """Add nothing."""


@dataclass(frozen=True, slots=True)
class UnaryCurvature(RecordedCurvature):
    """The second partial of a node with one parent.

    Attributes:
        c: The second partial.

    Example:
        >>> UnaryCurvature(2.0)[0, 0]
        2.0
    """

    c: Any

    @property
    def shape(self) -> tuple[int, int]:
        """``(1, 1)``."""
        return (1, 1)

    def __getitem__(self, ij: tuple[int, int]) -> Any:
        """The entry ``C[i, j]``."""
        _slots(ij, 1)
        return self.c

    def entries(self) -> Sequence[tuple[int, int, Any]]:
        """The entry, if it is not zero."""
        return _nonzero((0, 0, self.c))

    def cover_slots_into(
        self,
        rho: list[Any],
        ratio: Any,
        site: CoverSite,
        av: Any,
        sl: Sequence[SplitScale],
        *,
        check: bool = True,
    ) -> bool:
        """The root of the weighted entry; see :class:`Curvature`."""
        check_nslots(site, 1, len(sl))
        return cover_single(rho, self.c, site, av, sl, check)


@dataclass(frozen=True, slots=True)
class BinaryCurvature(RecordedCurvature):
    """The second partials ``[c11 c12; c12 c22]`` of a node with two parents.

    Attributes:
        c11: Second partial in the first slot.
        c12: Mixed partial.
        c22: Second partial in the second slot.

    Example:
        >>> BinaryCurvature(0.0, 1.0, 0.0)[1, 0]
        1.0
    """

    c11: Any
    c12: Any
    c22: Any

    @property
    def shape(self) -> tuple[int, int]:
        """``(2, 2)``."""
        return (2, 2)

    def __getitem__(self, ij: tuple[int, int]) -> Any:
        """The entry ``C[i, j]``."""
        i, j = _slots(ij, 2)
        return (self.c11, self.c12, self.c22)[i + j]

    def entries(self) -> Sequence[tuple[int, int, Any]]:
        """The nonzero entries ``(i, j, c)`` with ``i <= j``."""
        return _nonzero((0, 0, self.c11), (0, 1, self.c12), (1, 1, self.c22))

    def cover_slots_into(
        self,
        rho: list[Any],
        ratio: Any,
        site: CoverSite,
        av: Any,
        sl: Sequence[SplitScale],
        *,
        check: bool = True,
    ) -> bool:
        """The split of the block; see :class:`Curvature`."""
        check_nslots(site, 2, len(sl))
        block = (self.c11, self.c12, self.c22)
        return cover_two(rho, block, ratio, site, av, sl, check)


@dataclass(frozen=True, slots=True, eq=False)
class DenseCurvature(RecordedCurvature):
    """Second partials as an explicit symmetric matrix, slot by slot.

    The general form, for a node whose curvature has no structure. A rank-1 cover of a
    matrix larger than 2 by 2 is not one split, so covers reject such a node; the
    elementwise bound and the Hessian-vector product take any size.

    Args:
        C: Symmetric matrix of shape (m, m), which is copied.

    Raises:
        ShapeError: If ``C`` is not a square matrix, or not symmetric.
        InputTypeError: If ``C`` does not hold numbers.

    Example:
        >>> DenseCurvature([[2.0, 1.0], [1.0, 0.0]]).shape
        (2, 2)
    """

    C: Any

    def __post_init__(self) -> None:
        """Copy and validate the matrix."""
        C = np.array(self.C)
        if C.ndim != 2 or C.shape[0] != C.shape[1]:
            message = (
                f"DenseCurvature got an array of shape {C.shape}; give a square matrix, "
                "one row a slot"
            )
            raise ShapeError(message)
        if C.dtype.kind in "iub":
            C = C.astype(np.float64)
        if C.dtype.kind not in "fcO":
            message = f"DenseCurvature got entries of type {C.dtype}; give numbers"
            raise InputTypeError(message)
        if not all(
            C[i, j] == C[j, i] or _both_nan(C[i, j], C[j, i])
            for i in range(len(C))
            for j in range(i)
        ):
            message = (
                "DenseCurvature got a matrix that is not symmetric; second partials "
                "are: give (C + C.T) / 2 if only rounding sets the halves apart"
            )
            raise ShapeError(message)
        C.setflags(write=False)
        object.__setattr__(self, "C", C)

    def __eq__(self, other: object) -> bool:
        """Equal matrices."""
        if not isinstance(other, DenseCurvature):
            return NotImplemented
        return bool(np.array_equal(self.C, other.C))

    def __hash__(self) -> int:
        """A hash of shape and entries."""
        return hash((self.shape, *self.C.ravel().tolist()))

    def __repr__(self) -> str:
        """The matrix as nested lists."""
        return f"DenseCurvature({self.C.tolist()})"

    @property
    def shape(self) -> tuple[int, int]:
        """``(m, m)``."""
        return (len(self.C), len(self.C))

    def __getitem__(self, ij: tuple[int, int]) -> Any:
        """The entry ``C[i, j]``."""
        return self.C[_slots(ij, len(self.C))]

    def entries(self) -> Sequence[tuple[int, int, Any]]:
        """The nonzero entries ``(i, j, c)`` with ``i <= j``."""
        m = len(self.C)
        return _nonzero(*((i, j, self.C[i, j]) for i in range(m) for j in range(i, m)))

    def cover_slots_into(
        self,
        rho: list[Any],
        ratio: Any,
        site: CoverSite,
        av: Any,
        sl: Sequence[SplitScale],
        *,
        check: bool = True,
    ) -> bool:
        """The split of a matrix up to 2 by 2; see :class:`Curvature`.

        Raises:
            UnsupportedOperationError: If the matrix is larger.
        """
        m = len(self.C)
        check_nslots(site, m, len(sl))
        if m > 2:
            message = (
                f"{site.site_label()} has a dense curvature over {m} slots, and a cover "
                "needs at most 2: compose the elemental of smaller ones, or define a "
                "Curvature that knows its structure"
            )
            raise UnsupportedOperationError(message)
        if m == 2:
            block = (self.C[0, 0], self.C[0, 1], self.C[1, 1])
            return cover_two(rho, block, ratio, site, av, sl, check)
        return m == 1 and cover_single(rho, self.C[0, 0], site, av, sl, check)


@dataclass(frozen=True, slots=True)
class PairedCurvature(RecordedCurvature):
    """The curvature of an inner product ``sum_j w_j * x_j`` over ``2q`` slots.

    Slots run ``(w_1 .. w_q, x_1 .. x_q)``, and the entry of slots ``q`` apart is one;
    every other is zero. The matrix is never formed. Pairs are independent, so each is
    an atom of its own.

    Attributes:
        q: Number of pairs.

    Raises:
        ShapeError: If ``q`` is not a nonnegative integer.

    Example:
        >>> PairedCurvature(2).atom_slots(4)
        ((0, 2), (1, 3))
    """

    q: int

    def __post_init__(self) -> None:
        """Validate the number of pairs."""
        if isinstance(self.q, bool) or not isinstance(self.q, (int, np.integer)):
            message = f"PairedCurvature got q = {self.q!r}; give an integer"
            raise ShapeError(message)
        if self.q < 0:
            message = f"PairedCurvature got q = {self.q}; give q >= 0"
            raise ShapeError(message)
        object.__setattr__(self, "q", int(self.q))

    @property
    def shape(self) -> tuple[int, int]:
        """``(2q, 2q)``."""
        return (2 * self.q, 2 * self.q)

    def __getitem__(self, ij: tuple[int, int]) -> Any:
        """The entry ``C[i, j]``: 1.0 for paired slots, else 0.0."""
        i, j = _slots(ij, 2 * self.q)
        return float(abs(i - j) == self.q)

    def entries(self) -> Sequence[tuple[int, int, Any]]:
        """One entry a pair."""
        return [(j, self.q + j, 1.0) for j in range(self.q)]

    def atom_slots(self, nslots: int) -> tuple[tuple[int, ...], ...]:
        """One atom a pair."""
        return tuple((j, self.q + j) for j in range(self.q))

    def cover_slots_into(
        self,
        rho: list[Any],
        ratio: Any,
        site: CoverSite,
        av: Any,
        sl: Sequence[SplitScale],
        *,
        check: bool = True,
    ) -> bool:
        """The split of every pair; see :class:`Curvature`."""
        check_nslots(site, 2 * self.q, len(sl))
        return cover_pairs(rho, self.q, ratio, site, av, sl, check)


def _nonzero(*entries: tuple[int, int, Any]) -> list[tuple[int, int, Any]]:
    return [entry for entry in entries if entry[2] != 0]


def _both_nan(x: Any, y: Any) -> bool:
    return bool(x != x and y != y)


def _slots(ij: tuple[int, int], m: int) -> tuple[int, int]:
    i, j = ij
    if not (0 <= i < m and 0 <= j < m):
        message = f"entry ({i}, {j}) of a curvature over {m} slots"
        raise IndexError(message)
    return i, j
