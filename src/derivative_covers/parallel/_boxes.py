"""Bounds of Hessians over many boxes, on any executor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..bounds import hessian_bound
from ..bounds._boxes import as_interval
from ..bounds._curvature import Method, check_method
from ..bounds._options import Options, split_options
from ..covers import tape_function
from ..elements import Interval
from ..errors import InputTypeError, ShapeError
from ._engines import engine
from ._executors import Located
from ._maps import Batch, over_rows
from ._store import Store, digest
from .minimum._steps import digest_of, steps_of

__all__ = ["bound_map"]

Array = NDArray[Any]


@dataclass(frozen=True)
class _Boxes:
    """What a worker does with a batch of boxes."""

    f: Callable[..., Any]
    method: Method
    options: Options

    def __call__(self, batch: Batch) -> tuple[Array, ...]:
        return (
            np.stack(
                [
                    self.at(batch.rows[k], batch.first + k)
                    for k in range(len(batch.rows))
                ]
            ),
        )

    def at(self, box: Interval, index: int) -> Array:
        """The bound over one box."""
        try:
            return hessian_bound(self.f, box, method=self.method, **self.options)
        except Exception as error:
            raise Located(index, box) from error


def bound_map(
    f: Any,
    boxes: Any,
    *,
    method: Method = "auto",
    folder: Any = None,
    **options: Unpack[Options],
) -> Array:
    """Entrywise bounds of a Hessian over many boxes, on any executor.

    Covers over many boxes are those of :func:`cover_map` at an :class:`Interval`.

    Args:
        f: As in :func:`derivative_covers.bounds.alphabb`.
        boxes: An :class:`Interval` whose rows are boxes; a tuple ``(lo, hi)`` of arrays
            whose rows are ends; or a list of boxes, each in a form that ``alphabb`` takes.
        method: As in :func:`derivative_covers.bounds.alphabb`.
        folder: As in :func:`cover_map`.
        **options: As in :func:`derivative_covers.bounds.alphabb`, for each box; but
            ``executor`` is for all boxes, as in :func:`cover_sum`, and so is
            ``progress``.

    Returns:
        Array of shape ``(nboxes, *shape, *shape)``: for every box a symmetric ``B`` with
        ``|H_ij| <= B_ij`` at every point of it, exactly.

    Raises:
        WorkerError: If a box raised (its index, the box; the error itself is the
            ``__cause__``), or a worker or the scheduler was lost for good.
        StorageError: As in :func:`cover_map`; functions are told apart by their
            operations and constants over the first, the middle and the last box (by
            their bounds there where they take different branches or hold a black box).
        ShapeError: If there are no boxes, or they have different shapes.
        OptionError: If ``lo > hi``, or an end is NaN; and for options that cannot be used.
        InputTypeError: For boxes or an executor of a wrong type, and for a function that
            cannot be sent to another process.

    Guarantee:
        As :func:`derivative_covers.bounds.hessian_bound`. The same bits on any number of
        workers and after any interruption.

    Cost:
        That of each box, on one core a worker.

    Source:
        The boxes are independent.

    Example:
        >>> from derivative_covers import parallel
        >>> boxes = [[(0, 1), (0, 1)], [(0, 2), (0, 1)]]
        >>> parallel.bound_map(lambda x: x[0] ** 2 * x[1], boxes)[:, 0]
        array([[2., 2.],
               [2., 4.]])
    """
    check_method(method)
    if not callable(f):
        msg = f"f is of type {type(f).__name__}; a function is needed."
        raise InputTypeError(msg)
    executor: Any = options.pop("executor", None)
    progress = options.pop("progress", False)
    split_options(options)
    rows = _as_rows(boxes)
    task = _Boxes(f, method, options)
    on = engine(executor)
    store = None if folder is None else Store(folder, _header(task, rows))
    try:
        (found,) = over_rows(
            task,
            rows,
            len(rows),
            1,
            on,
            what="box",
            progress=progress,
            store=store,
        )
    finally:
        if store is not None:
            store.close()
    return found


def _as_rows(boxes: Any) -> Interval:
    if isinstance(boxes, list):
        each = [as_interval(box) for box in boxes]
        if len({box.shape for box in each}) > 1:
            shapes = sorted({box.shape for box in each})
            msg = f"boxes have the shapes {shapes}; all need the same."
            raise ShapeError(msg)
        if each:
            return Interval(
                np.stack([box.lo for box in each]), np.stack([box.hi for box in each])
            )
    elif isinstance(boxes, Interval) or (isinstance(boxes, tuple) and len(boxes) == 2):
        rows = boxes if isinstance(boxes, Interval) else Interval(*boxes)
        if rows.ndim and len(rows):
            return rows
    else:
        msg = (
            f"boxes is of type {type(boxes).__name__}; an Interval whose rows are boxes, "
            "a tuple (lo, hi) of such ends or a list of boxes is needed."
        )
        raise InputTypeError(msg)
    msg = "there are no boxes; at least one is needed."
    raise ShapeError(msg)


def _header(task: _Boxes, rows: Interval) -> dict[str, Any]:
    """What tells this map from others, for JSON."""
    some = sorted({0, len(rows) // 2, len(rows) - 1})
    return {
        "kind": "bound_map",
        "boxes": digest(rows.lo, rows.hi),
        "method": task.method,
        "options": {key: repr(value) for key, value in sorted(task.options.items())},
        "function, over some boxes": [_program(task, rows[k], k) for k in some],
    }


def _program(task: _Boxes, box: Interval, index: int) -> str:
    """What the function is over a box: its operations and constants, or else its bound."""
    recording, _ = split_options(task.options)
    try:
        tape, out = tape_function(task.f, box, **recording)
        _, steps = steps_of(tape, out)
        return digest_of(steps, out)
    except Exception:  # it is not bounded as a whole, or holds a black box
        pass
    try:
        return digest(task.at(box, index))
    except Located as error:  # which the map itself will raise
        return f"raises {type(error.__cause__).__name__}"
