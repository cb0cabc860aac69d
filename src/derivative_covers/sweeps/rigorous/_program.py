"""Which lowering serves a tape: that over a box, or that of objects."""

from __future__ import annotations

from ...tape import Tape
from . import _lower
from ._elements import element_program

__all__ = ["lowered"]


def lowered(tape: Tape) -> _lower.BoxProgram:
    """The program of a tape over a box, or of one whose numbers are objects."""
    return _lower.lowered(tape) if tape.element is None else element_program(tape)
