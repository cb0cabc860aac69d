"""A recorded program over another box: its enclosures and steps, without NumPy's overhead.

What does not depend on the box is found out once. Arithmetic is enclosed by kernels, with
the bits of NumPy's; blocks of other functions by the route of a recording. Steps are those
of :mod:`._lower`, of the same nodes in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ... import tape as tp
from ...tape import Tape
from ...tape._enclosures import Enclosures
from .._lower import is_small
from ..kernels._jit import charge
from ._columns import Columns, columns
from ._enclosing import Failed, Rows, Work, enclosing, large, small
from ._groups import Group, Made, recorded, stepping
from ._lower import WORK, BoxProgram, _add

__all__ = ["Again"]

_ENTRYWISE = (tp.Unary, tp.Fixed, tp.Binary, tp.Run)


class Again:
    """How a recorded program is enclosed over other boxes.

    Args:
        tape: A finished tape over a box.
    """

    def __init__(self, tape: Tape) -> None:
        self._nodes = tape.nnodes
        self._enclose: list[Callable[[Work], None]] = []
        self._steps: list[Callable[[Work], Made]] = []
        self._groups: list[Group] = []
        self._group: list[tuple[Any, Columns | None]] = []
        self._rows: list[tuple[int, Columns]] = []
        for at, block in enumerate(tape.blocks):
            if block.size:
                self._add(tape, at, block)
        self._end_group()

    def _add(self, tape: Tape, at: int, block: Any) -> None:
        few = is_small(block)
        if not few:
            self._end_group()
        if not isinstance(block, _ENTRYWISE):
            self._enclose.append(enclosing(block, at))
            self._steps.append(stepping(tape, block))
            return
        found = columns(block)
        if found is None and not few:
            self._enclose.append(partial(large, block, at))
            self._steps.append(partial(recorded, block.start))
            return
        self._group.append((block, found))
        if found is not None:
            self._rows.append((block.start, found))
        else:
            self._end_rows()
            place = len(self._groups), block.start - self._group[0][0].start
            self._enclose.append(partial(small, block, at, *place))
        if not few:
            self._end_group()

    def _end_rows(self) -> None:
        if self._rows:
            first = self._group[0][0].start
            self._enclose.append(Rows(self._rows, len(self._groups), first))
            self._rows = []

    def _end_group(self) -> None:
        self._end_rows()
        if self._group:
            made = Group(self._group, len(self._groups))
            self._groups.append(made)
            self._steps.append(made)
            self._group = []

    def __call__(self, tape: Tape) -> bool:
        """Fill a tape of the same blocks with enclosures and steps.

        Gives False, and leaves the tape as it is, where a node meets a fault or has no
        finite ends.
        """
        charge(WORK * self._nodes)
        n = self._nodes
        lo, hi = np.empty(n), np.empty(n)
        lo[: tape.ninputs], hi[: tape.ninputs] = tape.sets[0]
        work = Work(tape, (lo, hi), Enclosures.into(tape, lo, hi))
        program = BoxProgram([], [])
        with np.errstate(all="ignore"):
            try:
                work.parts.extend(group.prepared() for group in self._groups)
                for enclose in self._enclose:
                    enclose(work)
                for made in self._steps:
                    _add(program, *made(work))
            except Failed:
                return False
        work.held.known(len(tape.blocks), n)
        tape.cache["enclosures"] = work.held
        tape.cache["program"] = program
        return True
