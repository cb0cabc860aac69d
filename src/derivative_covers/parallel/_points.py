"""Covers at many points, or over many boxes, on any executor."""

from __future__ import annotations

import os
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..covers import RecordingOptions, cover_hessian, tape_function
from ..covers._structure import flat, vector
from ..elements import Interval
from ..errors import InputTypeError, ShapeError
from ..replay import Compiled, compile
from ..replay._workers import alone
from ..results import Result, Summary
from ..tape import input_array
from ..tape._structure import plan
from ._engines import Here, engine
from ._executors import Located
from ._maps import Batch, over_rows
from ._options import check_recording, merging
from ._store import Store, digest

__all__ = ["PointCovers", "cover_map"]

Array = NDArray[Any]
NODES = 1 << 20  # of all points of a cell, about: some milliseconds
FEWEST, MOST = 64, 4096  # points of a cell
PROBES = 8
KEPT = 8  # programs of a process


@dataclass(frozen=True, eq=False, repr=False)
class PointCovers(Result):
    """Values, gradients and covers at many points, or over many boxes.

    ``numpy.asarray`` of it is ``h``.

    Attributes:
        value: A value for each point, an :class:`Interval` of them over boxes.
        gradient: Gradients of the shape of the points, likewise.
        h: Covers of the shape of the points.

    Example:
        >>> from derivative_covers import parallel
        >>> found = parallel.cover_map(lambda x: x[0] ** 2 * x[1], [[1.0, 2.0], [3.0, 1.0]])
        >>> found.value, found.h.shape
        (array([2., 9.]), (2, 2))
    """

    value: Any
    gradient: Any
    h: Array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return vector(self.h, dtype, copy)

    def __len__(self) -> int:
        """How many points there are."""
        return len(self.h)

    def _summary(self) -> Summary:
        n = int(np.prod(self.h.shape[1:]))
        which = "boxes" if isinstance(self.value, Interval) else "points"
        return Summary(f"PointCovers: {len(self)} {which} of {n} variables", ())


@dataclass(frozen=True)
class _Points:
    """What a worker does with a batch of points."""

    f: Callable[..., Any]
    like: Any
    probes: Array
    cell: int
    each: bool  # record at each point, and replay nothing
    alone: bool
    options: dict[str, Any]
    recording: RecordingOptions
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __call__(self, batch: Batch) -> tuple[Array, ...]:
        program = None if self.each else _program(self)
        parts = []
        with alone() if self.alone else nullcontext():
            for start in range(0, len(batch.rows), self.cell):
                rows = batch.rows[start : start + self.cell]
                parts.append(self._cell(program, rows, batch.first + start))
        return tuple(np.concatenate(a) for a in zip(*parts, strict=True))

    def _cell(
        self, program: Compiled | None, rows: Any, first: int
    ) -> tuple[Array, ...]:
        if program is not None:
            try:
                return program._with_first_alone().covers(
                    rows, ratio=self.options["ratio"]
                )
            except Exception:  # of some point, which is found below
                pass
        found = [self.at(rows[k], first + k) for k in range(len(rows))]
        return tuple(np.stack(a) for a in zip(*found, strict=True))

    def at(self, point: Any, index: int) -> tuple[Array, ...]:
        """The arrays at one point, recorded there."""
        try:
            x = _nested(self.like, point)
            cover = cover_hessian(self.f, x, **self.options, **self.recording)
        except Exception as error:
            raise Located(index, point) from error
        value, shape = cover.value, point.shape
        gradient: Any = flat(cover.gradient).reshape(shape)
        h = flat(cover.h).reshape(shape)
        if not isinstance(value, Interval):
            return np.asarray(value), gradient, h
        ends = (value.lo, value.hi, gradient.lo, gradient.hi)
        return *map(np.asarray, ends), h


_programs: OrderedDict[str, Compiled | None] = OrderedDict()
_locks: dict[int, threading.Lock] = {}  # by process: one that was forked has its own


def _program(task: _Points) -> Compiled | None:
    """The program of a task, recorded once in a process; None where none is replayed."""
    with _locks.setdefault(os.getpid(), threading.Lock()):
        if task.token not in _programs:
            _programs[task.token] = _made(task)
            while len(_programs) > KEPT:
                _programs.popitem(last=False)
        return _programs[task.token]


def _made(task: _Points) -> Compiled | None:
    """Compiled at the first probe, and held against a recording at another one.

    It depends on the task alone, so that all processes decide alike.
    """
    try:
        x0 = _nested(task.like, task.probes[0])
        found: Compiled = compile(task.f, x0, **task.recording)
        first = found._kept.branches()[0]
        first.many()
        for probe in task.probes[1:]:
            at = np.ravel(probe)
            machine = first.machine
            if machine is not None and machine.values(at) is not None:
                found._kept.check(first, at)
                if first.checked:
                    break
        return found
    except Exception:  # raised anew where it can be told at which point
        return None


def _nested(like: Any, row: Any) -> Any:
    """A row as the program takes it: an array, or the structure of ``like``."""
    if like is None:
        return row
    structure, vector = plan(like)
    return row.reshape(vector.shape) if structure is None else structure.split(row)


def cover_map(
    f: Any,
    X: Any,
    *,
    like: Any = None,
    merge: str = "sum",
    budget: int | None = None,
    scales: Any = None,
    ratio: float | None = None,
    executor: Any = None,
    progress: bool = False,
    folder: Any = None,
    **recording: Unpack[RecordingOptions],
) -> PointCovers:
    """Values, gradients and covers of a scalar function at many points, on any executor.

    Args:
        f: Function as in :func:`tape_function`.
        X: Points, a row each; or an :class:`Interval` of boxes, a row each.
        like: An example of a point where ``f`` takes a dictionary or several arguments;
            a row of ``X`` then holds all numbers in their order. None: ``X[k]`` is it.
        merge: As in :func:`cover_hessian`.
        budget: As in :func:`cover_hessian`.
        scales: As in :func:`cover_hessian`.
        ratio: As in :func:`cover_hessian`.
        executor: As in :func:`cover_sum`.
        progress: Draw a bar (extra ``progress``).
        folder: A folder on disk for finished batches, made where there is none. Where it
            holds those of the same call, this goes on from there. Remove it when the
            results are no longer needed.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`.

    Returns:
        A :class:`PointCovers`, with all results in memory.

    Raises:
        WorkerError: If ``f`` raised at a point (its index, the point; the error itself is
            the ``__cause__``), or a worker or the scheduler was lost for good. Points
            that were finished stay in ``folder``.
        StorageError: If ``folder`` is in use, is damaged, or holds something else: other
            points, options, or another value, gradient or cover at the first, the middle
            or the last point. A function that differs between these alone is not
            noticed: give each its own folder.
        ShapeError: If ``X`` has no rows, or rows that do not fit ``like``.
        InputTypeError: For points or an executor of a wrong type, and for a function that
            cannot be sent to another process.
        OptionError: For options that cannot be used.

    Guarantee:
        As :func:`cover_hessian` at every point. The bits are the same on any number of
        workers of one kind, in whatever batches, and after any interruption.

    Cost:
        With the sum merge as :meth:`Compiled.covers`: a few nanoseconds an operation of
        the program and point, on all cores where ``executor`` is None and one core a
        worker otherwise. Other merges, declared scales, boxes, and programs that cannot
        be replayed are recorded at each point. A batch takes about half a second.

    Source:
        The points are independent.

    Example:
        >>> import numpy as np
        >>> from derivative_covers import parallel
        >>> found = parallel.cover_map(lambda x: x[0] * x[1] ** 2, [[1.0, 2.0], [3.0, 1.0]])
        >>> found.gradient
        array([[4., 4.],
               [1., 6.]])
    """
    check_recording(recording)
    options = merging(merge, None, budget, ratio, ("auto", "quadrature", "sum"))
    options["scales"] = scales
    if not callable(f):
        msg = f"f is of type {type(f).__name__}; a function is needed."
        raise InputTypeError(msg)
    rows = _rows(X, like)
    count = len(rows)
    boxes = isinstance(rows, Interval)
    each = boxes or merge != "sum" or budget is not None or scales is not None
    on = engine(executor)
    probes = rows[np.unique(np.linspace(0, count - 1, PROBES).astype(int))]
    cell = 1 if each else _cell_size(f, _nested(like, probes[0]), recording)
    inner = not isinstance(on, Here)
    task = _Points(f, like, probes, cell, each, inner, options, recording)
    store = None if folder is None else Store(folder, _header(task, rows))
    try:
        arrays = over_rows(
            task,
            rows,
            count,
            cell,
            on,
            what="box" if boxes else "point",
            progress=progress,
            store=store,
        )
    finally:
        _programs.pop(task.token, None)
        if store is not None:
            store.close()
    if boxes:
        value_lo, value_hi, lo, hi, h = arrays
        return PointCovers(Interval(value_lo, value_hi), Interval(lo, hi), h)
    return PointCovers(*arrays)


def _rows(X: Any, like: Any) -> Any:
    """Points or boxes, a row each.

    Raises:
        ShapeError: There are none, or they do not fit.
    """
    rows = X if isinstance(X, Interval) else input_array(X, "X", finite=False)
    if rows.ndim < 1:
        msg = f"X has shape {rows.shape}; a point a row is needed."
        raise ShapeError(msg)
    if like is not None:
        structure, vector = plan(like)
        shape = vector.shape if structure is None else (vector.size,)
        if rows.shape[1:] != shape:
            msg = f"X has rows of shape {rows.shape[1:]}; like needs {shape}."
            raise ShapeError(msg)
    return rows


def _cell_size(f: Any, x0: Any, recording: RecordingOptions) -> int:
    """Points of a cell: by the size of the program alone."""
    try:
        tape, _ = tape_function(f, x0, **recording)
    except Exception:  # it will be raised where it can be told which point it is
        return FEWEST
    return min(max(NODES // tape.nnodes, FEWEST), MOST)


def _header(task: _Points, rows: Any) -> dict[str, Any]:
    """What tells this map from others, for JSON."""
    ends = (rows.lo, rows.hi) if isinstance(rows, Interval) else (rows,)
    some = []
    for k in sorted({0, len(rows) // 2, len(rows) - 1}):
        try:
            some.append(digest(*task.at(rows[k], k)))
        except Located as error:  # which the map itself will raise
            some.append(f"raises {type(error.__cause__).__name__}")
    return {
        "kind": "cover_map",
        "points": digest(*ends),
        "rows of a cell": task.cell,
        "options": {key: repr(value) for key, value in task.options.items()},
        "function, by some results": some,
    }
