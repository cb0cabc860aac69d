"""The form of curvature that declares a bound instead of recording entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from derivative_covers.elements import boundtype, magtype
from derivative_covers.errors import (
    InputTypeError,
    OptionError,
    ShapeError,
    UnsupportedOperationError,
)
from derivative_covers.local._checks import check_finite_partials, check_nslots
from derivative_covers.local._curvature import Curvature
from derivative_covers.local._scales import SplitScale
from derivative_covers.local._site import CoverSite
from derivative_covers.local._slots import dead_slots

__all__ = ["DeclaredCurvature"]


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredCurvature(Curvature):
    """A bound ``|C[i, j]| <= s[i] * s[j]`` on second partials that nobody recorded.

    What a node has whose inside is not on the tape, such as an output of a sub-map (see
    :func:`submapnode`). Covers need bounds only, so they hold as far as the declaration
    does, which nothing on the tape can verify. ``hvp`` and ``hessian``, which need the
    signed entries, refuse a tape with such a node.

    Args:
        s: Nonnegative and finite, one entry a slot, shape (p,); copied. On a tape, of
            the tape's magnitude type (float64 or float32). All zeros declare a linear
            node.

    Raises:
        ShapeError: If ``s`` is not one-dimensional.
        InputTypeError: If it does not hold real numbers.
        OptionError: If an entry is negative, NaN or infinite.

    Example:
        >>> from derivative_covers.extend import DeclaredCurvature
        >>> C = DeclaredCurvature([2.0, 0.5])
        >>> C.shape, C.has_exact_partials, C.atom_slots(2)
        ((2, 2), False, ((0, 1),))
    """

    s: Any

    def __post_init__(self) -> None:
        """Copy and validate the bound."""
        s = np.array(self.s)
        if s.ndim != 1:
            message = (
                f"DeclaredCurvature got an array of shape {s.shape}; give one bound a "
                "slot, shape (p,)"
            )
            raise ShapeError(message)
        if s.dtype.kind in "iub" or not s.size:
            s = s.astype(np.float64)
        if s.dtype.kind != "f":
            message = (
                f"DeclaredCurvature got entries of type {s.dtype}; give real numbers"
            )
            raise InputTypeError(message)
        bad = np.flatnonzero(~(np.isfinite(s) & (s >= 0)))
        if bad.size:
            message = (
                f"DeclaredCurvature got s[{bad[0]}] = {s[bad[0]]}; a bound is "
                "nonnegative and finite"
            )
            raise OptionError(message)
        s.setflags(write=False)
        object.__setattr__(self, "s", s)

    def __eq__(self, other: object) -> bool:
        """Equal bounds."""
        if not isinstance(other, DeclaredCurvature):
            return NotImplemented
        return bool(np.array_equal(self.s, other.s))

    def __hash__(self) -> int:
        """A hash of the bounds."""
        return hash(tuple(self.s.tolist()))

    def __repr__(self) -> str:
        """The bounds as a list, shortened where there are many."""
        with np.printoptions(threshold=8, edgeitems=3):
            return f"DeclaredCurvature({self.s})"

    @property
    def shape(self) -> tuple[int, int]:
        """``(p, p)``."""
        return (self.s.size, self.s.size)

    @property
    def has_exact_partials(self) -> bool:
        """False: no entry is known."""
        return False

    def atom_slots(self, nslots: int) -> tuple[tuple[int, ...], ...]:
        """One atom of all slots; none where all bounds are zero."""
        return (tuple(range(nslots)),) if self.s.any() else ()

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
        """The declared bound times the root of ``av``; see :class:`Curvature`.

        It is the cover, so there is no split to choose and nothing to check against.
        """
        check_nslots(site, self.s.size, len(sl))
        if av == 0 or not self.s.any():
            return False
        s = np.where(dead_slots(sl), 0, self.s)
        if not s.any():
            return False
        check_finite_partials(site, av, (s.max(),))
        M, bound = magtype(site.dtype), boundtype(site.dtype)
        with np.errstate(all="ignore"):
            found = np.asarray(np.sqrt(bound(av)) * s, dtype=M)
        # A weight below the normal range would lose more than a rounding of the bound.
        least = np.finfo(M).smallest_normal
        rho[:] = np.where((s > 0) & (found < least), least, found)
        return True

    def bound_contribution(
        self, B: Any, av: Any, ps: Sequence[int], utilde: Any
    ) -> None:
        """Add ``av * w * w'`` with ``w = sum_i s[i] * utilde[ps[i]]`` to ``B``."""
        used = np.flatnonzero(self.s)
        if av == 0 or not used.size:
            return
        with np.errstate(all="ignore"):
            w = sum(self.s[i] * np.asarray(utilde[int(ps[i])]) for i in used.tolist())
            term = np.outer(av * w, w)
            # The entry of a zero is zero, however infinite the other factor.
            term[w == 0, :] = term[:, w == 0] = 0
            B += np.maximum(term, term.T)

    def curvature_apply(
        self, vbardot: Any, ps: Sequence[int], bk: Any, dv: Any
    ) -> NoReturn:
        """There are no entries to apply.

        Raises:
            UnsupportedOperationError: Always.
        """
        message = (
            "a declared curvature bounds second partials without their signs, so no "
            "exact Hessian-vector product passes through it: use a cover or "
            "hessian_bound, or record the sub-program itself"
        )
        raise UnsupportedOperationError(message)
