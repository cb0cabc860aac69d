"""Many points of a compiled program: by each of its recordings, the rest one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DerivativeError
from ._recordings import Recordings

__all__ = ["sweep_rows"]

Array = NDArray[Any]


def sweep_rows(
    recordings: Recordings,
    points: Array,
    mode: int,
    ratio: float,
    one: Callable[[Any], tuple[Any, ...]],
) -> tuple[Array, ...]:
    """Values, gradients and covers of points, as far as ``mode`` asks for them.

    Args:
        recordings: Of the program.
        points: Points, a row each.
        mode: Kind of the sweep.
        ratio: Of the covers.
        one: Values, gradient and cover at one point in the program's own form, for
            those where no recording can be replayed; flat, as far as they are asked for.

    Raises:
        DerivativeError: As ``one`` does, with a note that names the point.
    """
    left = np.arange(points.shape[0])
    found: tuple[Array, ...] | None = None
    for branch in recordings.branches():
        batch = branch.many()
        if batch is None:
            continue
        if found is not None and not left.size:
            break
        rows = points if found is None else points[left]
        *parts, failed = batch.sweep(rows, mode, ratio)
        done = left[~failed] if failed.any() else left
        if not branch.checked:
            others = done[(points[done] != branch.point).any(axis=1)]
            if others.size:
                recordings.check(branch, points[others[0]])
        if found is None:
            found = tuple(parts)
        else:
            for whole, part in zip(found, parts, strict=True):
                if part.size:
                    whole[done] = part[~failed]
        recordings.replays += int(done.size)
        left = left[failed]
    if found is None:  # nothing is compiled
        like = recordings.inputs.like
        outputs = (left.size, int(np.size(recordings.out)))
        found = (
            np.empty(outputs, dtype=like.dtype),
            np.empty(points.shape, dtype=like.dtype),
            np.empty(points.shape, dtype=like.magtype),
        )
    for k in left.tolist():
        try:
            results = one(recordings.inputs.nested(points[k]))
        except DerivativeError as error:
            error.add_note(f"The point is X[{k}].")
            raise
        for whole, part in zip(found, results, strict=False):
            whole[k] = part
    return found
