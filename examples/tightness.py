"""Covers of least-squares objectives next to their true Hessians."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import derivative_covers as dc

from . import nist

__all__ = ["Covered", "cover", "covered"]


@dataclass(frozen=True)
class Covered:
    """One problem at one parameter vector.

    Attributes:
        problem: The problem.
        point: "start 1", "start 2" or "certified".
        H: The true Hessian of half the residual sum of squares.
        h_sum: Cover by the sum merge.
        h_quadrature: Cover by the quadrature merge.
    """

    problem: nist.Problem
    point: str
    H: np.ndarray
    h_sum: np.ndarray
    h_quadrature: np.ndarray

    def excess(self, merge: str) -> float:
        """Mean over entries of log10(h_i h_j / |H_ij|): 0 is exact."""
        h = self.h_sum if merge == "sum" else self.h_quadrature
        return dc.cover_excess(h, self.H)


def cover(problem: nist.Problem, point: str) -> Covered:
    """Record the objective once; take its Hessian and both covers from the tape."""
    tape, out = dc.tape_function(problem.objective, problem.points[point])
    return Covered(
        problem=problem,
        point=point,
        H=dc.hessian(tape, out),
        h_sum=dc.cover_hessian(tape, out, merge="sum").h,
        h_quadrature=dc.cover_hessian(tape, out, merge="quadrature").h,
    )


def covered() -> Iterator[list[Covered]]:
    """Every problem at both starts and at its certified solution."""
    for name in nist.names():
        problem = nist.load(name)
        yield [cover(problem, point) for point in problem.points]
