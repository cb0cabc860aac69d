"""What the tape layer asks compiled code for: values of all nodes, and many points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import tape as tp
from ..errors import ReplayError
from ..tape import Tape
from ._machine import Machine

__all__ = ["node_values"]

Array = NDArray[np.float64]
SCALARS = 2000  # scalar nodes from which compiled code is worth it


def node_values(tape: Tape, x: Array) -> Array | None:
    """Values of all nodes of a program with many scalar operations; None for others.

    NumPy evaluates arrays as fast, and with the bits of recording.
    """
    kept = tape.cache.setdefault("machines", {})
    if "values" not in kept:
        kept["values"] = _machine(tape)
    machine: Machine | None = kept["values"]
    return None if machine is None else machine.values(x)


def _machine(tape: Tape) -> Machine | None:
    runs = sum(b.size for b in tape.blocks if isinstance(b, tp.Run))
    if runs < SCALARS:
        return None
    try:
        return Machine(tape, np.arange(tape.nnodes))
    except ReplayError:
        return None
