"""What the forward pass of a second-order sweep carries beside the state.

On one tape of a whole program, some facts of a step's operands come from steps before
it: which entries of the state are constants, which are one node, which have an
identically zero gradient, and their declared scales. A sweep that starts at its last
step and records one step at a time has them only if forward evaluations carry them.

The *pattern* of a state says by entry what its node is to the step that takes it: -1 a
constant, ``j`` below the number of parameters that parameter, and ``nparams + j`` the
entry ``j`` of the state, the first of those that are the same node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plans._cost import PlanCost

__all__ = [
    "NeedsCarry",
    "at_outputs",
    "distinct",
    "fresh_pattern",
    "inputs_of",
    "pattern_of",
]

Ids = NDArray[np.int64]


class NeedsCarry(Exception):
    """A step needs to know what only a forward pass that carries it can tell.

    Attributes:
        step: The step.
        executed: What the sweep had done by then; set by its execution.
    """

    executed: PlanCost

    def __init__(self, step: int) -> None:
        super().__init__(f"step {step}")
        self.step = step


def fresh_pattern(nstate: int, nparams: int) -> Ids:
    """The pattern of a state of distinct variables."""
    return np.arange(nparams, nparams + nstate, dtype=np.int64)


def distinct(outs: Ids, nparams: int) -> bool:
    """Whether outputs are distinct nodes, none of them a constant or a parameter."""
    if outs[0] >= nparams and (outs[1:] > outs[:-1]).all():
        return True
    return bool(outs.min() >= nparams) and np.unique(outs).size == outs.size


def pattern_of(outs: Ids, nparams: int) -> Ids:
    """The pattern of the state whose entries are the nodes ``outs`` (-1: constants)."""
    if distinct(outs, nparams):
        return fresh_pattern(outs.size, nparams)
    _, first, back = np.unique(outs, return_index=True, return_inverse=True)
    found = (nparams + first[back]).astype(np.int64)
    passed = outs < nparams  # constants and parameters keep their numbers
    found[passed] = outs[passed]
    return found


def inputs_of(ids: Ids, nparams: int) -> Ids | None:
    """The pattern as a recording takes it: None where every entry is its own variable."""
    plain = ids[0] == nparams and (ids[1:] == ids[:-1] + 1).all()
    return None if plain else ids


def at_outputs(found: NDArray[Any], outs: Ids, constant: Any) -> NDArray[Any]:
    """Entries of all nodes at the outputs, with a value for constants."""
    return np.where(outs >= 0, found[outs], constant).astype(found.dtype, copy=False)
