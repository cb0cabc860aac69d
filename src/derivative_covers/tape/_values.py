"""Values of all nodes of a recorded program at another point, by NumPy, block by block.

Every block is evaluated by the call that recorded it, on operands of the same layout
where that is known, so that values have the bits of a recording at that point up to the
order of additions in a sum.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elementals import BY_OPCODE, Elemental
from ._blocks import (
    Accumulate,
    Binary,
    Constants,
    Dot,
    Fixed,
    Floats,
    Ids,
    Inputs,
    Linear,
    Node,
    Run,
    Unary,
)

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["evaluated"]

NARROW = 16  # so many rows of a run are evaluated together, fewer one by one

Given = dict[int, tuple[Any, Any, Any]]
"""Value, partials and curvature form of explicit nodes, by their ids."""


def evaluated(tape: Tape, x: Floats) -> tuple[Floats, Given]:
    """Values of all nodes at the flat point ``x``, and what rules gave for explicit nodes."""
    vals = np.empty(tape.nnodes, dtype=tape.dtype)
    given: Given = {}
    with np.errstate(all="ignore"):
        for block in tape.blocks:
            here = vals[block.start : block.stop]
            if isinstance(block, Inputs):
                here[:] = x
            elif isinstance(block, Constants):
                here[:] = block.values
            elif isinstance(block, Run):
                _run(tape, block, vals)
            elif isinstance(block, Node):
                given[block.start] = _node(block, vals)
                here[:] = given[block.start][0]
            elif isinstance(block, (Linear, Dot)):
                here[:] = np.ravel(_wide(block, vals))
            elif isinstance(block, Accumulate):
                here[:] = _accumulated(block, vals)
            else:
                assert isinstance(block, (Unary, Fixed, Binary))
                here[:] = _entrywise(block, vals)
    return vals, given


def _node(block: Node, vals: Floats) -> tuple[Any, Any, Any]:
    found: tuple[Any, Any, Any] = block.rule(vals[block.parents])
    return found


def _entrywise(block: Unary | Fixed | Binary, vals: Floats) -> Any:
    n = block.size
    x = block.x.read(vals, n)
    if isinstance(block, Unary):
        return block.op.value(np, x)
    if isinstance(block, Binary):
        return block.op.value(np, x, block.y.read(vals, n))
    const = block.const if block.const.size > 1 else block.const[0]
    pair = (x, const) if block.slot == 0 else (const, x)
    return block.op.value(np, *pair)


def _accumulated(block: Accumulate, vals: Floats) -> Any:
    """A running operation along the first axis of lanes: those that enter it come first."""
    x = block.x.flat((block.size,))
    lanes = int(np.count_nonzero(x < block.start))
    whole = np.concatenate([vals[x[:lanes]], vals[block.y.flat((block.size,))]])
    ufunc = getattr(np, block.op.name)
    return ufunc.accumulate(whole.reshape(-1, lanes), axis=0)[1:].ravel()


# -- sums and products -----------------------------------------------------------------


def _wide(block: Linear | Dot, vals: Floats) -> Any:
    shape = block.shape
    x = block.x.walk(vals, shape)
    if isinstance(block, Dot):
        if block.centred:
            return np.zeros(shape[:3], dtype=vals.dtype)
        return _product(x, block.y.walk(vals, shape))
    if block.coef.size == 1:
        return _scaled(np.add.reduce(_thin(x), axis=-1), block.coef[0])
    step = block.coef.itemsize
    strides = tuple(s * step for s in block.coef_strides)
    coef = np.ndarray(shape, block.coef.dtype, block.coef, 0, strides)
    return _product(x, coef)


def _thin(x: Floats) -> Floats:
    """Without the leading levels of one node, as NumPy saw the array."""
    while x.ndim > 1 and x.shape[0] == 1:
        x = x[0]
    return x


def _scaled(total: Any, scale: Any) -> Any:
    """A sum times a constant; NumPy divides by the count where it is the share of one."""
    if scale == 1:
        return total
    if scale.real and math.isfinite(scale.real):
        count = np.rint(1.0 / scale.real)
        if scale == total.dtype.type(1.0 / count):
            return total / total.dtype.type(count)
    return total * scale


def _product(x: Floats, y: Floats) -> Any:
    """``sum_k x[a, b, c, k] y[a, b, c, k]`` as a matrix product where it is one."""
    for left, right in ((x, y), (y, x)):
        if _is_still(left, 2) and _is_still(right, 1):
            a, b = left[:, :, 0], right[:, 0].swapaxes(-1, -2)
            if a.shape[1] == b.shape[2] == 1:
                if a.shape[0] == 1:
                    return np.dot(a[0, 0], b[0, :, 0])
                break
            return np.matmul(a[0], b[0]) if a.shape[0] == 1 else np.matmul(a, b)
    return np.einsum("abck,abck->abc", x, y)


def _is_still(x: Floats, axis: int) -> bool:
    return x.strides[axis] == 0 or x.shape[axis] == 1


# -- runs of scalar operations ---------------------------------------------------------


def _run(tape: Tape, block: Run, vals: Floats) -> None:
    parts = tape.cache.setdefault("runs", {})
    if block.start not in parts:
        parts[block.start] = _parts(block)
    for rows, alike in parts[block.start]:
        (_together if alike else _one_by_one)(block, rows, vals)


def _parts(block: Run) -> list[tuple[Ids, bool]]:
    """Rows in an order in which parents come first; whether they are alike.

    Rows are alike that have one code and do not need each other. Where those are few, as
    in a running sum, rows go one by one.
    """
    start, first = block.start, (block.a - block.start).tolist()
    second = (block.b - start).tolist()
    depth = [0] * block.size
    for i, (j, k) in enumerate(zip(first, second, strict=True)):
        level = depth[j] if j >= 0 else 0
        if k >= 0 and depth[k] > level:
            level = depth[k]
        depth[i] = level + 1
    levels = np.array(depth)
    order = np.lexsort((block.code, levels))
    code, level = block.code[order], levels[order]
    new = (code[1:] != code[:-1]) | (level[1:] != level[:-1])
    ends = [0, *(np.flatnonzero(new) + 1).tolist(), block.size]
    found: list[tuple[Ids, bool]] = []
    waiting = 0  # first of the rows that wait to go one by one
    for lo, hi in pairwise(ends):
        if hi - lo >= NARROW:
            if waiting < lo:
                found.append((order[waiting:lo], False))
            found.append((order[lo:hi], True))
            waiting = hi
    if waiting < block.size:
        found.append((order[waiting:], False))
    return found


def _together(block: Run, rows: Ids, vals: Floats) -> None:
    code = int(block.code[rows[0]])
    op, pattern = BY_OPCODE[code >> 2], code & 3
    x = vals[block.a[rows]]
    other = block.other[rows]
    if pattern == 0:
        r = op.value(np, x)
    elif pattern == 1:
        r = op.value(np, x, vals[other.real.astype(np.int64)])
    else:
        c = other.astype(vals.dtype)
        c = c[0] if (c == c[0]).all() else c
        r = op.value(np, x, c) if pattern == 2 else op.value(np, c, x)
    vals[block.start + rows] = r


_PLAIN: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "square": lambda x: x * x,
    "sqrt": math.sqrt,
}


def _one_by_one(block: Run, rows: Ids, vals: Floats) -> None:
    """Rows of which each may need the ones before."""
    double = vals.dtype == np.float64
    place = np.full(block.size + 1, -1)  # the last one is for nodes of other blocks
    place[rows] = np.arange(rows.size)
    found: list[Any] = []
    for code, i, j, x, y in _listed(block, rows, place, vals):
        op, pattern = BY_OPCODE[code >> 2], code & 3
        left = found[i] if i >= 0 else x
        if pattern == 0:
            operands: tuple[Any, ...] = (left,)
        elif pattern == 1:
            operands = (left, found[j] if j >= 0 else y)
        else:
            operands = (left, y) if pattern == 2 else (y, left)
        found.append(_scalar(op, operands, vals.dtype, double))
    vals[block.start + rows] = found


def _listed(
    block: Run, rows: Ids, place: Ids, vals: Floats
) -> Iterator[tuple[int, int, int, Any, Any]]:
    """Code, where the parents are among the rows (-1: elsewhere), and known operands."""
    code, a, b = (e[rows] for e in (block.code, block.a, block.b))
    two = (code & 3) == 1
    i, j = (place[np.maximum(e - block.start, -1)] for e in (a, b))
    y = np.where(two, vals[b], block.other[rows].astype(vals.dtype))
    lists = (e.tolist() for e in (code, i, np.where(two, j, -1), vals[a], y))
    return zip(*lists, strict=True)


def _scalar(op: Elemental, operands: tuple[Any, ...], dtype: Any, double: bool) -> Any:
    plain = _PLAIN.get(op.name) if double else None
    if plain is not None:
        try:
            return plain(*operands)
        except (ArithmeticError, ValueError):
            pass
    found = op.value(np, *map(dtype.type, operands))
    return found.item() if double else dtype.type(found)
