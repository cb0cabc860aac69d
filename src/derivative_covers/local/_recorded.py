"""What forms that record their entries share: the bound and the exact product."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from derivative_covers.elements import magnitude
from derivative_covers.local._curvature import Curvature

__all__ = ["RecordedCurvature"]


class RecordedCurvature(Curvature):
    """A form that can list its nonzero entries."""

    __slots__ = ()

    @abstractmethod
    def entries(self) -> Sequence[tuple[int, int, Any]]:
        """The nonzero entries ``(i, j, C[i, j])`` with ``i <= j``."""

    def bound_contribution(
        self, B: Any, av: Any, ps: Sequence[int], utilde: Any
    ) -> None:
        """Add this node's term of the elementwise bound; see :class:`Curvature`."""
        entries = self.entries()
        if av == 0 or not entries:
            return
        with np.errstate(all="ignore"):
            sizes = np.array([av * magnitude(c) for _, _, c in entries])
            left = np.stack([utilde[ps[i]] for i, _, _ in entries])
            right = np.stack([utilde[ps[j]] for _, j, _ in entries])
            right = _product(sizes[:, None], right)
            term = _sum_of_outer(left, right)
            mixed = np.array([i != j for i, j, _ in entries])
            if mixed.all():
                term = term + term.T
            elif mixed.any():
                term = term + _sum_of_outer(right[mixed], left[mixed])
            B += term

    def curvature_apply(
        self, vbardot: Any, ps: Sequence[int], bk: Any, dv: Any
    ) -> None:
        """Add this node's second-order term of a product; see :class:`Curvature`."""
        if np.all(bk == 0):
            return
        with np.errstate(all="ignore"):
            for i, j, c in self.entries():
                vbardot[ps[i]] += _product(bk, _product(c, dv[ps[j]]))
                if i != j:
                    vbardot[ps[j]] += _product(bk, _product(c, dv[ps[i]]))


def _product(x: Any, y: Any) -> Any:
    """``x * y``, exactly zero where either is, however infinite the other."""
    return np.where(np.equal(x, 0) | np.equal(y, 0), 0, x * y)


def _sum_of_outer(left: Any, right: Any) -> Any:
    """Sum over rows of the outer products, with zeros selected as in ``_product``."""
    if left.dtype.kind == "f" and np.isfinite(left).all() and np.isfinite(right).all():
        return left.T @ right
    return sum(
        _product(x[:, None], y[None, :]) for x, y in zip(left, right, strict=True)
    )
