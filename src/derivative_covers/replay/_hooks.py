"""What the tape layer asks compiled code for: values of all nodes, and many points."""

from __future__ import annotations

from typing import Any

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
    machine = tape.cache.get("values")
    if machine is None:
        machine = tape.cache["values"] = _machine(tape)
    if machine is False:
        return None
    found: Array | None = machine.values(x)
    return found


def _machine(tape: Tape) -> Any:
    runs = sum(b.size for b in tape.blocks if isinstance(b, tp.Run))
    if runs < SCALARS:
        return False
    try:
        return Machine(tape, np.arange(tape.nnodes))
    except ReplayError:
        return False
