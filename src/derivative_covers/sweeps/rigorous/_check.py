"""Errors over a box that count only where an output depends on the node."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import DomainError
from ...tape import Tape, reason
from .._check import reached
from .._lower import Program, lower

__all__ = ["check_outputs", "not_finite"]


def check_outputs(tape: Tape, outs: Any) -> Program:
    """Raise if an output depends on a node without derivatives somewhere in the box.

    An output over an unbounded box need not be bounded; its derivatives tell.

    Raises:
        DomainError: For the first such node whose operands leave its domain, or where
            an output over a bounded box is not bounded.
        NondifferentiableError: For the first one that meets a kink, jump or tie.
    """
    assert tape.box is not None
    program = lower(tape)
    outs = np.ravel(outs)
    lo, hi = tape.enclosures.all()
    finite = np.isfinite(lo) & np.isfinite(hi)
    bounded = bool(finite[outs].all())
    if not program.marks and bounded:
        return program
    mark = reached(program, tape.nnodes, outs, 1 if bounded else 2)
    for start, bad in program.marks:
        hit = np.flatnonzero(bad & (mark[start : start + bad.size] != 0))
        if hit.size:
            raise reason(tape, start + int(hit[0]))
    if not bounded and np.isfinite(tape.box).all():
        k = int(np.flatnonzero((mark != 0) & ~finite)[0])
        msg = (
            f"the enclosure of node {k}, on which an output depends, is unbounded: "
            f"[{lo[k]!r}, {hi[k]!r}]. Take a smaller box, or rescale the program."
        )
        raise DomainError(msg, node=k)
    return program


def not_finite(tape: Tape, outs: Any, what: str) -> DomainError:
    """The exception for a sweep whose result is not bounded: names the first culprit."""
    program = lower(tape)
    mark = reached(program, tape.nnodes, np.ravel(outs), 1)
    for step in program.steps:
        mine = mark[step.start : step.stop] != 0
        hit = np.flatnonzero(mine & ~step.finite())
        if hit.size:
            k = step.start + int(hit[0])
            msg = (
                f"{what} is not bounded over this box: the partials of node {k} are not. "
                "Take a smaller box."
            )
            return DomainError(msg, node=k)
    msg = (
        f"{what} is not bounded over this box: products of bounded partials overflow "
        "along the program. Take a smaller box, or rescale the variables."
    )
    return DomainError(msg)
