"""A recorded program at many points at once, on all cores."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ReplayError
from ..tape import Tape
from ._fresh import firsts
from ._fuse import fused
from ._lower import lower
from ._machine import addresses, cover_options
from ._tables import Tables
from ._workers import CORES, shared
from .kernels import batch
from .kernels._kinds import COVER, GRADIENT

__all__ = ["Batch"]

Array = NDArray[np.float64]
ROOM = 1 << 14  # numbers of memory that stay in cache
SHARE = 500  # points that are worth a thread of their own
LARGE = 1 << 20  # numbers of memory that are not kept between calls
LINE = 8  # numbers in a cache line
MANY = 1000  # points for which a program's own instructions are worth being compiled
PARTS = 4  # parts of the points for each thread
_EMPTY = np.empty((0, 0))


class Batch:
    """Values, gradients and sum covers of one program at many points.

    Args:
        tape: A finished float64 tape, recorded at a point.
        outs: Nodes that are the outputs.

    Raises:
        ReplayError: If some elemental of the program is not compiled.
    """

    def __init__(self, tape: Tape, outs: Any) -> None:
        self.tables = t = lower(tape, outs, batch=True)
        if t.outside:
            msg = (
                f"{t.outside[0].op.name} is not compiled, so that there are no batches."
            )
            raise ReplayError(msg)
        self._fused: Tables | None = None
        self.lanes = int(min(max(ROOM // max(t.size, 1) // 8 * 8, 8), 256))
        self._free: list[tuple[Array, ...]] = []
        self._found: dict[tuple[int, bool], tuple[Any, ...]] = {}

    def sweep(self, X: Array, mode: int, ratio: float = 0.0) -> tuple[Any, ...]:
        """Values, gradients and covers, as far as ``mode`` asks, and which failed.

        ``mode`` is -1 for values, GRADIENT or COVER. Points that share a tile with one
        that cannot be replayed are marked as failed.
        """
        npoints, n = X.shape
        t = self._program(mode, npoints)
        Y = np.empty((npoints, t.outs.size))
        G = np.empty((npoints, n)) if mode >= GRADIENT else _EMPTY
        H = np.empty((npoints, n)) if mode == COVER else _EMPTY
        failed = np.zeros(npoints, dtype=np.uint8)
        if mode == COVER and t.dead:
            failed[:] = 1
            return Y, G, H, failed != 0
        vl, fl, f2, fresh, zeroed = self._passes(t, mode)
        options = cover_options(ratio)
        run = batch.sweep.compiled()
        B = self.lanes
        workers = max(min(CORES, npoints // SHARE), 1)
        part = -(-npoints // (PARTS * workers * B)) * B
        starts = count(0, part)  # who is free takes the next points

        def work_off() -> None:
            p, q, s, work = room = self._room()
            while (first := next(starts)) < npoints:
                last = min(first + part, npoints)
                run(
                    t.code, t.count, vl, fl, f2, fresh, zeroed, t.wide, t.ids, t.guards,
                    t.outs, p, q, s, options, t.size, B, work, mode, X, first, last, Y,
                    G, H, failed,
                )  # fmt: skip
            if p.size <= LARGE:
                self._free.append(room)

        shared(work_off, workers)
        return Y, G, H, failed != 0

    def _program(self, mode: int, npoints: int) -> Tables:
        """The program in as few instructions as there can be, where that pays."""
        if mode == COVER or npoints < MANY:
            return self.tables
        if self._fused is None:
            self._fused = fused(self.tables)
        return self._fused

    def _passes(self, t: Tables, mode: int) -> tuple[Any, ...]:
        """Addresses of values, of the reverse pass, and of what goes with it.

        That is what counts zero partials for a cover; for a gradient, what writes
        adjoints. Then the instructions that write, and what has to be zero before.
        """
        key = mode, t is self.tables
        if key not in self._found:
            vl = addresses(t, "value", None)
            fl = f2 = vl
            fresh = np.zeros(t.count, dtype=np.uint8)
            zeroed = np.array([[0, t.size]])
            if mode == GRADIENT:
                fresh, zeroed = firsts(t)
                fl = addresses(t, "adjoint", None, fresh == 0)
                f2 = addresses(t, "fresh", None, fresh == 1)
            elif mode == COVER:
                fl = addresses(t, "cover", None)
                f2 = addresses(t, "zeros", None) if t.crosses else np.zeros_like(vl)
            self._found[key] = vl, fl, f2, fresh, zeroed
        return self._found[key]

    def _room(self) -> tuple[Array, ...]:
        """Memory for a tile: values, adjoints, those of a cover, and a sum.

        Constants stand in it, single, behind the lanes of all entries.
        """
        try:
            return self._free.pop()
        except IndexError:
            pass
        t, B = self.tables, self.lanes
        entries = t.size * B
        p, q, s = (_aligned(entries + t.pool.size) for _ in range(3))
        for start, values in t.preset:
            here = p[start * B : (start + values.size) * B]
            here.reshape(-1, B)[:] = values[:, None]
        p[entries:] = t.pool
        return p, q, s, _aligned(B)


def _aligned(size: int) -> Array:
    """Memory in which vectors of lanes straddle no cache lines."""
    room = np.zeros(size + LINE - 1)
    first = -(room.ctypes.data // room.itemsize) % LINE
    return room[first : first + size]
