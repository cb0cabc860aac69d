"""The tightest cover of a Hessian for a given number of gradients."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import upper_magnitudes
from ..sweeps import (
    Allowance,
    CoverState,
    Dot,
    Entries,
    Explicit,
    Linear,
    Pair,
    Program,
    Step,
    cover_pass,
    hessian_entries,
    hessian_matrix,
    hybrid_channels,
    quadrature_rows,
    slot_weights,
    tightened,
)
from ..tape import Tape

__all__ = ["BUDGET", "best_within"]

Array = NDArray[Any]
BUDGET = 500  # gradients

# What things cost, in the time that a gradient takes for a node of a long array (1.3 ns).
CALL = 30_000  # a sweep of a short tape
SINGLE = 5  # a node that is not among many alike
ROW = 50  # a node whose row is kept
SLOT = 15  # a slot of a wide node, looked at for rows
ENTRY = 150  # a product of two entries of rows, added to its place


def best_within(
    t: Tape, o: int, program: Program, state: CoverState, budget: int
) -> tuple[str, Array, Array, float]:
    """Merge that was chosen, adjoints, cover, and predicted cost in gradients.

    The exact Hessian is tried first, by products for few inputs and from sparse rows
    otherwise, then quadrature, groups, and the sum, which is always there. The cost
    follows from the sizes of the steps, of the rows and of what they share; tries that
    were given up count.
    """
    adj, g = cover_pass(program, t, o, 1.0, state)
    total = g[: t.ninputs]
    steps = program.below(o)
    wide = sum(map(_slots, steps))
    sweep = CALL + 2 * wide + sum(map(_work, steps))
    rows = 10 * CALL + ROW * o + SLOT * wide
    atoms = sum(step.natoms() for step in steps)
    spent = 2 * sweep
    found: Entries | None = None
    if all(s.curvature.has_exact_partials for s in steps if isinstance(s, Explicit)):
        products = (2 * t.ninputs + 1) * sweep
        if spent + products <= budget * sweep:
            spent += products
            found = _by_products(t, o, program, adj)
        elif spent + rows + 2 * ENTRY * atoms < budget * sweep:
            spent += rows
            allowed = Allowance((budget * sweep - spent) // ENTRY)
            before = allowed.left
            found = hessian_entries(program, t, adj, o, allowed)
            spent += ENTRY * (before - allowed.left)
    if found is not None and np.isfinite(found.value).all():
        return "hessian", adj, tightened(t, total, found), spent / sweep
    if spent + rows < budget * sweep:
        spent += rows
        rho = slot_weights(program, t, adj, state)
        allowed = Allowance((budget * sweep - spent) // sweep)
        before = allowed.left
        h = quadrature_rows(program, t, rho, o, allowed)
        if h is not None:
            return "quadrature", adj, h, spent / sweep + before - allowed.left
        group = CALL + SINGLE * o
        groups = min((budget * sweep - spent) // group, atoms)
        if groups > 1:
            h = hybrid_channels(program, t, rho, o, groups)
            return "hybrid", adj, h, (spent + groups * group) / sweep
    return "sum", adj, total, spent / sweep


def _slots(step: Step) -> int:
    """Slots of wide nodes."""
    return prod(step.args[0][1:]) if isinstance(step, (Linear, Dot)) else 0


def _work(step: Step) -> int:
    """The work of a sweep on other nodes."""
    if isinstance(step, (Linear, Dot)):
        return 0
    n = step.stop - step.start
    return n if isinstance(step, Pair) and step.lines else SINGLE * n


def _by_products(t: Tape, o: int, program: Program, adj: Array) -> Entries:
    size = upper_magnitudes(hessian_matrix(program, t, adj, o))
    i, j = np.nonzero(size)
    return Entries(i, j, size[i, j])
