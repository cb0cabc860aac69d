"""Which entries of two operands are one entry of the same array.

Slots of an operation with one parent are merged. Results of reshaping, slicing and the like
remember where they come from, so that this is found out while tracing, by doing the same to
an array of numbers of places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._context import Context
from ._node import Node

__all__ = ["alike", "meetings", "remember", "same"]

# Entries, and products of a contraction; beyond, slots stay apart: a looser cover.
_LIMIT, _PRODUCTS = 10**7, 2 * 10**6


def _broadcast(a: Any, p: Any) -> Any:
    inner = [1] * len(p["shape"])
    for axis, n in zip(p["broadcast_dimensions"], a.shape, strict=True):
        inner[axis] = n
    return np.broadcast_to(a.reshape(inner), p["shape"])


def _slice(a: Any, p: Any) -> Any:
    steps = p["strides"] or [1] * a.ndim
    ends = zip(p["start_indices"], p["limit_indices"], steps, strict=True)
    return a[tuple(slice(*end) for end in ends)]


_MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "broadcast_in_dim": _broadcast,
    "convert_element_type": lambda a, p: a,
    "copy": lambda a, p: a,
    "reshape": lambda a, p: a.reshape(p["new_sizes"]),
    "rev": lambda a, p: np.flip(a, p["dimensions"]),
    "slice": _slice,
    "squeeze": lambda a, p: np.squeeze(a, axis=tuple(p["dimensions"])),
    "transpose": lambda a, p: a.transpose(p["permutation"]),
}


def remember(ctx: Context, token: int, parent: Node, eqn: Any) -> None:
    """Note that a result holds entries of an operand in other places."""
    if eqn.primitive.name in _MOVES and parent.token is not None:
        ctx.origins[token] = (parent.token, eqn)


def _chain(ctx: Context, token: int) -> tuple[int, list[Any]]:
    """The token of the array that the entries come from, and what was done to it."""
    steps = []
    while token in ctx.origins:
        token, eqn = ctx.origins[token]
        steps.append(eqn)
    return token, steps[::-1]


def _places(ctx: Context, x: Node, y: Node) -> tuple[Any, Any] | None:
    """Places in their common origin of the entries of two nodes; None if there is none."""
    if not (x.varies and y.varies) or x.token is None or y.token is None:
        return None
    if max(np.size(x.value), np.size(y.value)) > _LIMIT:
        return None
    root, steps = _chain(ctx, x.token)
    other, more = _chain(ctx, y.token)
    if root != other:
        return None
    return _numbers(x, steps), _numbers(y, more)


def _numbers(x: Node, steps: Sequence[Any]) -> Any:
    shape = steps[0].invars[0].aval.shape if steps else np.shape(x.value)
    numbers = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    for eqn in steps:
        numbers = _MOVES[eqn.primitive.name](numbers, eqn.params)
    return numbers


def same(x: Node, y: Node) -> bool:
    """Whether two nodes that vary are the same entries in the same order."""
    known = x.varies and y.varies and x.token is not None
    return known and x.token == y.token and np.shape(x.value) == np.shape(y.value)


def alike(ctx: Context, operands: Sequence[Node]) -> Any:
    """Where two operands are the same entry: True everywhere, None nowhere, or a mask."""
    if len(operands) != 2:
        return None
    x, y = operands
    shapes = np.shape(x.value), np.shape(y.value)
    if same(x, y):
        return True
    if int(np.prod(np.broadcast_shapes(*shapes), dtype=int)) > _LIMIT:
        return None
    found = _places(ctx, x, y)
    if found is None:
        return None
    mask = found[0] == found[1]
    return True if mask.all() else mask if mask.any() else None


def meetings(
    ctx: Context, x: Node, y: Node, dimension_numbers: Any
) -> tuple[Any, Any, Any] | None:
    """Products within a contraction of arrays of which both factors are one entry.

    Returns:
        Flat places in the result, in ``x`` and in ``y``, one of each a product; None if
        there are none.
    """
    (cx, cy), (bx, by) = dimension_numbers
    of_x = _grouped(np.shape(x.value), bx, cx)
    of_y = _grouped(np.shape(y.value), by, cy)
    (b, k, i), (_, _, j) = of_x.shape, of_y.shape
    if b * k * i * j > _PRODUCTS:
        return None
    found = _places(ctx, x, y)
    if found is None:
        return None
    px, py = found[0].ravel()[of_x], found[1].ravel()[of_y]
    at = np.nonzero(px[:, :, :, None] == py[:, :, None, :])
    if not at[0].size:
        return None
    into = (at[0] * i + at[2]) * j + at[3]
    return into, of_x[at[:3]], of_y[at[0], at[1], at[3]]


def _grouped(shape: tuple[int, ...], batch: Any, contract: Any) -> Any:
    """Flat places of an operand's entries, by batch, by summand and by the rest."""
    free = [a for a in range(len(shape)) if a not in (*batch, *contract)]
    flat = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    sizes = [int(np.prod([shape[a] for a in axes])) for axes in (batch, contract, free)]
    return flat.transpose([*batch, *contract, *free]).reshape(sizes)
