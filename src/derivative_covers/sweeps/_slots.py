"""One slot of an entrywise step whose nodes and parents are consecutive."""

from __future__ import annotations

from typing import Any

from ._step import Array
from .kernels import line

__all__ = ["Line", "slot_cover", "usable"]

Line = tuple[int, Array, int, Any, Array, int, bool]
"""One slot of consecutive parents: first parent, partial (array, stride, factor), second
partial (array, stride), and whether that is active."""


def slot_cover(
    slot: tuple[Any, ...], w: Array, wg: Array, p: Array, pg: Array, first: bool
) -> bool:
    """Joint sweep of one slot; False where a weight is not finite."""
    d, t, m, c, u, curved = slot
    if curved:
        return bool(line.line_cover(w, wg, p, pg, d, t, m, c, u, first))
    if d.dtype.kind == "c":
        line.line(w, p, d, t, m, False, first)
        line.line(wg, pg, abs(d), t, abs(m), True, first)
    else:
        line.line_pair(w, wg, p, pg, d, t, m, first)
    return True


def usable(g: Array) -> float:
    """Bound of the weights and splits that kernels take for products at once."""
    return 1e140 if g.itemsize == 8 else 1e18
