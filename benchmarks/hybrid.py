"""Few groups reach quadrature on a partially separable function."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

import derivative_covers as dc

from ._programs import point, rosenbrock, rosenbrock_loop
from ._report import Row
from ._timing import interleaved

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "hybrid"
GROUPS = 8
ROUNDING = 1e-12


def _difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(a - b) / np.maximum(np.abs(b), np.finfo(float).tiny)))


def rows(*, quick: bool) -> Iterator[Row]:
    """The difference from quadrature, and the time of eight groups in sum sweeps."""
    for what, f in (("arrays", rosenbrock), ("loop", rosenbrock_loop)):
        for n in (1000,) if quick else (10, 1000, 100_000):
            tape, out = dc.tape_function(f, point(n))
            exact = dc.cover_hessian(tape, out, merge="quadrature").h
            differences = [
                _difference(dc.cover_hybrid(tape, out, ngroups=g).h, exact)
                for g in range(1, GROUPS + 1)
            ]
            enough = [g for g, d in enumerate(differences, 1) if d <= ROUNDING]
            calls = [
                lambda tape=tape, out=out: dc.cover_hessian(tape, out),
                lambda tape=tape, out=out: dc.cover_hybrid(tape, out, ngroups=GROUPS),
            ]
            total, groups = interleaved(calls, 7)
            yield Row(
                ITEM,
                f"relative difference of 8 groups from quadrature, {what}",
                differences[-1],
                "",
                target=ROUNDING,
                n=n,
                note=f"{median(groups.over(total)):.3g} sum sweeps; "
                f"least groups that do: {min(enough, default='none')}",
            )
