"""A recorded program at many points at once, on all cores."""

from __future__ import annotations

import os
from itertools import count
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ReplayError
from ..tape import Tape
from ._lower import lower
from ._machine import addresses, cover_options
from .kernels import batch
from .kernels._kinds import COVER, GRADIENT

__all__ = ["Batch"]

Array = NDArray[np.float64]
ROOM = 1 << 15  # numbers of memory that stay in cache
SHARE = 500  # points that are worth a thread of their own
TILES = 8  # tiles that a thread takes at a time
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
        self.lanes = int(min(max(ROOM // max(t.size, 1) // 8 * 8, 8), 256))
        self._template: Array | None = None
        self._found: dict[int, tuple[Any, Any, Any]] = {}

    def sweep(self, X: Array, mode: int, ratio: float = 0.0) -> tuple[Any, ...]:
        """Values, gradients and covers, as far as ``mode`` asks, and which failed.

        ``mode`` is -1 for values, GRADIENT or COVER. Points that share a tile with one
        that cannot be replayed are marked as failed.
        """
        t = self.tables
        npoints, n = X.shape
        Y = np.empty((npoints, t.outs.size))
        G = np.empty((npoints, n)) if mode >= GRADIENT else _EMPTY
        H = np.empty((npoints, n)) if mode == COVER else _EMPTY
        failed = np.zeros(npoints, dtype=np.uint8)
        if mode == COVER and t.dead:
            failed[:] = 1
            return Y, G, H, failed != 0
        vl, fl, f2 = self._addresses(mode)
        options = cover_options(ratio)
        run = batch.sweep.compiled()
        B = self.lanes
        template = self._filled()
        starts = count(0, B * TILES)  # who is free takes the next points

        def work_off() -> None:
            size = template.size
            p = template.copy()
            q = np.empty(size if mode >= GRADIENT else 0)
            s = np.empty(size if mode == COVER else 0)
            work = np.empty(B)
            while (first := next(starts)) < npoints:
                last = min(first + B * TILES, npoints)
                run(
                    t.code, t.count, vl, fl, f2, t.wide, t.ids, t.guards, t.outs, p, q,
                    s, options, t.size, B, work, mode, X, first, last, Y, G, H, failed,
                )  # fmt: skip

        workers = min(os.cpu_count() or 1, npoints // SHARE)
        others = [Thread(target=work_off) for _ in range(workers - 1)]
        for thread in others:
            thread.start()
        work_off()
        for thread in others:
            thread.join()
        return Y, G, H, failed != 0

    def _addresses(self, mode: int) -> tuple[Any, Any, Any]:
        """Addresses of values, of the reverse pass, and of what counts zero partials."""
        if mode not in self._found:
            t = self.tables
            vl = addresses(t, "value", None)
            fl = f2 = vl
            if mode >= GRADIENT:
                fl = addresses(t, "cover" if mode == COVER else "adjoint", None)
            if mode == COVER:
                f2 = addresses(t, "zeros", None) if t.crosses else np.zeros_like(vl)
            self._found[mode] = vl, fl, f2
        return self._found[mode]

    def _filled(self) -> Array:
        """Memory with the constants, single, behind the lanes of all entries."""
        if self._template is None:
            t, B = self.tables, self.lanes
            p = np.zeros(t.size * B + t.pool.size)
            for start, values in t.preset:
                here = p[start * B : (start + values.size) * B]
                here.reshape(-1, B)[:] = values[:, None]
            p[t.size * B :] = t.pool
            self._template = p
        return self._template
