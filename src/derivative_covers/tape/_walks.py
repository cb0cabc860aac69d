"""Walks of wide blocks in parts: which nodes and summands belong to each."""

from __future__ import annotations

from collections.abc import Iterator

from ._blocks import Ids, Operand

__all__ = ["ids_of", "pieces", "positions"]

CHUNK = 1 << 22  # summands of a wide block that are looked at together


def pieces(
    shape: tuple[int, int, int, int],
) -> Iterator[tuple[slice, tuple[int, int, int, int], tuple[int, int, int]]]:
    """A wide block in parts of bounded size: nodes, their shape, where they begin."""
    n0, n1, n2, k = shape
    if n1 * n2 * k <= CHUNK:
        step, inner, outer = max(CHUNK // max(n1 * n2 * k, 1), 1), n1 * n2, n0
        for i in range(0, outer, step):
            m = min(step, outer - i)
            yield slice(i * inner, (i + m) * inner), (m, n1, n2, k), (i, 0, 0)
        return
    for i in range(n0):
        if n2 * k <= CHUNK:
            step = max(CHUNK // max(n2 * k, 1), 1)
            for j in range(0, n1, step):
                m = min(step, n1 - j)
                first = (i * n1 + j) * n2
                yield slice(first, first + m * n2), (1, m, n2, k), (i, j, 0)
            continue
        step = max(CHUNK // max(k, 1), 1)
        for j in range(n1):
            for o in range(0, n2, step):
                m = min(step, n2 - o)
                first = (i * n1 + j) * n2 + o
                yield slice(first, first + m), (1, 1, m, k), (i, j, o)


def positions(
    strides: tuple[int, ...],
    shape: tuple[int, int, int, int],
    at: tuple[int, int, int],
    start: int = 0,
) -> Ids:
    """Flat positions of the summands of a part."""
    first = start + sum(a * s for a, s in zip(at, strides, strict=False))
    return Operand(first, strides).flat(shape)


def ids_of(
    x: Operand, shape: tuple[int, int, int, int], at: tuple[int, int, int]
) -> Ids:
    """Nodes of the summands of a part."""
    position = positions(x.strides, shape, at, x.start)
    return position if x.ids is None else x.ids[position]
