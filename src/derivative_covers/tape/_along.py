"""Functions of the user applied along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._protocol import as_array, implements

__all__: list[str] = []


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kw: Any) -> Any:
    """``func1d`` of every lane; its results stand in the place of the axis."""
    x = as_array(arr)
    moved = np.moveaxis(x, axis, -1)
    kept = moved.shape[:-1]
    if 0 in kept:
        msg = "Cannot apply_along_axis when any iteration dimensions are 0"
        raise ValueError(msg)
    lanes = moved.reshape(-1, moved.shape[-1])
    found = [as_array(func1d(lane, *args, **kw), x) for lane in lanes]
    inner = found[0].shape
    y = np.stack(found).reshape(kept + inner)
    place = axis % x.ndim
    n = len(kept)
    order = [*range(place), *range(n, n + len(inner)), *range(place, n)]
    y = y.transpose(order)
    return y if y.ndim else y[()]


@implements(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """``func(a, axis)`` for one axis after the other, dimensions kept."""
    x = as_array(a)
    for axis in np.atleast_1d(axes).tolist():
        found = as_array(func(x, axis), x)
        x = found if found.ndim == x.ndim else np.expand_dims(found, axis)
        if x.ndim != np.ndim(a):
            msg = "function is not returning an array of the correct shape"
            raise ValueError(msg)
    return x
