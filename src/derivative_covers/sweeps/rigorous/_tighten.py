"""Entries of Hessians over a box, and covers of them that hold exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import UnsupportedOperationError
from ...tape import Tape
from .._atoms import Allowance
from .._second import Entries, tightened_to_rounding
from .._step import Array
from ..kernels import upward

__all__ = ["hessian_entries", "tightened"]


def hessian_entries(
    program: Any, tape: Tape, vbar: Any, out: int, allowed: Allowance | None = None
) -> None:
    """There are none from sparse rows: refused, or None where they are one of many ways."""
    if allowed is None:
        msg = (
            "a sparse Hessian is not formed over a box, nor of numbers of another type "
            "than floats and complex numbers. Use hessian_bound or hessian, or a cover; or "
            "the pattern at a point of floats."
        )
        raise UnsupportedOperationError(msg)


def tightened(tape: Tape, h: Array, entries: Entries) -> Array:
    """A cover of the entries that is to rounding nowhere above the cover ``h``."""
    found = tightened_to_rounding(h, entries)
    with np.errstate(all="ignore"):
        upward.lift(entries.i, entries.j, np.abs(entries.value), found)
    return found
