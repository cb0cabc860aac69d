"""The rows of several outputs, merged as atoms of one slot each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tape import Tape
from ._arithmetic import over_boxes
from ._atoms import Atoms, references
from ._lower import Program
from ._rows import atom_groups, quadrature_of

__all__ = ["output_groups", "output_quadrature"]

Array = NDArray[Any]


def output_groups(program: Program, tape: Tape, outs: Array, ngroups: int) -> Array:
    """A group for each output, so that outputs of one depend on different inputs.

    Where that takes more groups, what is left is dealt evenly, in order.
    """
    atoms = _as_atoms(tape, outs, np.ones(outs.size, dtype=tape.magtype))
    with np.errstate(all="ignore"):
        groups, _ = atom_groups(program, tape, [atoms], [], ngroups)
    found: Array = groups[atoms.step]
    return found


@over_boxes
def output_quadrature(
    program: Program, tape: Tape, outs: Array, weights: Array, total: Array
) -> Array:
    """``sqrt(sum_k (weights_k d out_k / dx_a)**2)``, from exact rows.

    Args:
        program: The lowered tape.
        tape: The tape.
        outs: Ids of the outputs.
        weights: One nonnegative weight an output.
        total: An upper bound of the result, of about its size.
    """
    atoms = _as_atoms(tape, outs, weights)
    with np.errstate(all="ignore"):
        found = quadrature_of(program, tape, [atoms], [], references(total))
    assert found is not None  # there was no limit
    return found


def _as_atoms(tape: Tape, outs: Array, weights: Array) -> Atoms:
    return Atoms(-1, outs, outs, weights, np.zeros(outs.size, dtype=tape.magtype))
