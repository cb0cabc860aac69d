"""Exact second-order terms of least squares, and how tight covers of them are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import derivative_covers as dc
from tests._best_cover import above_best

__all__ = ["GROUPS", "NAMES", "Terms", "tightness"]

NAMES = ("h_gn", "h_curv", "h")
GROUPS = (1, 4, None)


@dataclass(frozen=True)
class Terms:
    """A tape of residuals and the matrices that the three covers are of.

    Entries that are rounding of the terms which cancel in them, below ``1e-12`` of the
    sum of their magnitudes, are zero: a rule that does not depend on units.
    """

    tape: dc.Tape
    outs: Any
    exact: dict[str, Any]

    @classmethod
    def of(cls, residuals: Callable[[Any], Any], x: Any) -> Terms:
        """The terms at a point, exact up to rounding, from tapes."""
        tape, outs = dc.tape_function(residuals, x)
        J = dc.jacobian(tape, outs)
        r = tape.vals[outs]
        weighted = dc.tape_function(lambda b: np.dot(r, residuals(b)), x)
        gram, curvature = J.T @ J, dc.hessian(*weighted)
        sizes = np.abs(J).T @ np.abs(J), dc.hessian_bound(*weighted)
        kept = [
            np.where(np.abs(M) > 1e-12 * size, M, 0.0)
            for M, size in zip(
                (gram, curvature, gram + curvature), (*sizes, sum(sizes)), strict=True
            )
        ]
        return cls(tape, outs, dict(zip(NAMES, kept, strict=True)))

    def covers(self, ngroups: int | None) -> dict[str, Any]:
        """The three covers by name."""
        cover = dc.cover_nls(self.tape, self.outs, ngroups=ngroups)
        return {name: getattr(cover, name) for name in NAMES}


def tightness(terms: Terms) -> dict[tuple[str, int | None], float]:
    """Decades above the best cover, by name and number of groups."""
    return {
        (name, ngroups): above_best(h, terms.exact[name])
        for ngroups in GROUPS
        for name, h in terms.covers(ngroups).items()
    }
