"""A picture of the parts into which a box of two variables was cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ShapeError
from ...results import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._result import BoxMinimum

__all__ = ["plot"]

_COLOURS = {
    "gradient": "#e0e0e0",
    "value": "#a6cee3",
    "mean value": "#fdbf6f",
    "second order": "#b2df8a",
    "none": "#fb9a99",
}


def plot(found: BoxMinimum, ax: Any = None) -> Axes:
    """See :meth:`BoxMinimum.plot`."""
    leaves = found.leaves
    free = np.flatnonzero(np.ravel(found.box.width) > 0)
    if free.size != 2:
        msg = (
            f"the box has {free.size} variables that are not fixed; a picture of its "
            "parts needs two. Fix the others, or look at `leaves`."
        )
        raise ShapeError(msg)
    axes = new_axes(ax)
    i, j = free
    lo, wide = leaves.lo, leaves.hi - leaves.lo
    for kind, colour in _COLOURS.items():
        mine = (leaves.kind == kind) & (wide[:, i] > 0) & (wide[:, j] > 0)
        if mine.any():
            axes.bar(
                lo[mine, i],
                wide[mine, j],
                wide[mine, i],
                lo[mine, j],
                align="edge",
                color=colour,
                edgecolor="black",
                linewidth=0.3,
                label=f"{kind} ({np.count_nonzero(mine)})",
            )
    x = np.ravel(found.x)
    axes.plot(x[i], x[j], "k*", label="best point")
    axes.set(xlabel=found.names[int(i)], ylabel=found.names[int(j)])
    axes.margins(0)
    axes.legend(fontsize="small")
    return axes
