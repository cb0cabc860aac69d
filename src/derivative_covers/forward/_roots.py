"""Which nodes of a recording something in the program can still reach."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tape import Block, Operand, Tape, TVar, record
from ..tape._storage import Storage
from ._renumber import Renumbering

__all__ = ["operation", "reachable"]

_PACKAGE = __name__.partition(".")[0]


def operation() -> FrameType:
    """The frame of the package's function that the program has called."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _own(frame.f_back):
        frame = frame.f_back
    return frame


def _own(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == _PACKAGE


def reachable(
    tape: Tape, witness: list[Any], numbering: Renumbering
) -> NDArray[np.int64]:
    """Nodes behind variables that exist, and those in work, ascending, with new ids.

    Variables refer to their tape, so Python's garbage collector knows them all. Node ids
    that functions of this package have in hand are taken from their frames. ``witness``
    refers to the tape, too, and is older than any variable: where it is not listed,
    variables were hidden from the collector (``gc.freeze``), and all nodes count.
    """
    held = np.zeros(tape.nnodes - numbering.shift, dtype=bool)

    def mark(ids: Any) -> None:
        ids = np.ravel(ids)
        found = numbering.found(ids[(ids >= 0) & (ids < tape.nnodes)])
        held[found[found >= 0]] = True

    single: list[int] = []
    things = gc.get_referrers(tape)
    if not any(thing is witness for thing in things):
        return np.arange(held.size)
    for thing in things:
        if isinstance(thing, TVar):
            single.append(getattr(thing, "i", -1))
        elif isinstance(thing, Storage):
            if thing.ids is not None:
                mark(thing.ids)
            elif thing.start >= 0:
                mark(np.arange(thing.start, thing.start + thing.v.size))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not record.__code__:
        if _own(frame):
            for local in list(frame.f_locals.values()):
                for ids in _in_hand(local, 3):
                    if isinstance(ids, int):
                        single.append(ids)
                    else:
                        mark(ids)
        frame = frame.f_back
    mark(np.array(single, dtype=np.int64))
    return np.flatnonzero(held)


def _in_hand(thing: Any, depth: int) -> Iterator[Any]:
    """Whatever in a local variable may be node ids; what is none does no harm."""
    if type(thing) is int:
        if abs(thing) < 1 << 62:
            yield thing
    elif isinstance(thing, np.ndarray):
        if thing.dtype == np.int64:
            yield thing
    elif isinstance(thing, Operand):
        yield thing.start if thing.ids is None else thing.ids
    elif isinstance(thing, Block):
        yield np.arange(thing.start, thing.stop)
    elif isinstance(thing, (list, tuple)) and depth:
        for part in thing:
            yield from _in_hand(part, depth - 1)
