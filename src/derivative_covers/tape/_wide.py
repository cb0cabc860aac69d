"""Wide nodes: sums, products with constants, and inner products of recorded arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ._blocks import Block, Floats, Ids, Operand
from ._storage import ArrayBase, constant, fresh, from_ids, scalar
from ._tape import Tape

__all__ = [
    "contract",
    "from_block",
    "inner_product",
    "remainder",
    "settled",
    "sum_axes",
]

Strides = tuple[int, int, int, int]
_ONE = {np.dtype(t): np.ones(1, dtype=t) for t in "fdFD"}


def from_block(tape: Tape, r: Any, block: Block) -> Any:
    """Result of a wide block whose nodes stand in C order of ``r``."""
    if not isinstance(r, np.ndarray) or r.ndim == 0:
        return scalar(tape, block.start, r)
    r = r.astype(tape.dtype, copy=False)
    if r.flags.c_contiguous and r.base is None:
        return fresh(tape, r, block.start, block)
    ids = np.arange(block.start, block.stop, dtype=np.int64).reshape(r.shape)
    return from_ids(tape, r, ids)


def settled(x: Any) -> Any:
    """``x`` with nodes that depend on nothing in place of the constants among it."""
    if not x.is_constant and not x.has_constants():
        return x
    flat, _, _ = pinned(x)
    assert flat is not None
    v = x.v.copy(order="K")
    return from_ids(x.tape, v, flat.reshape(v.shape))


def pinned(x: ArrayBase) -> tuple[Ids | None, int, tuple[int, ...]]:
    """Ids of all entries (None: affine), first position and strides in entries.

    Constants among the entries become nodes that depend on nothing.
    """
    v = x.v
    steps = tuple(s // v.itemsize for s in v.strides)
    if x.s.ids is None and x.s.start >= 0:
        return None, x.s.start + x._position(), steps
    ids = x.node_ids()
    loose = ids < 0
    if loose.any():
        ids = ids.copy()
        values = np.asarray(v[loose], dtype=x.tape.dtype)
        start = x.tape.constants(values).start
        ids[loose] = np.arange(start, start + values.size)
    ids = np.ascontiguousarray(ids)
    if ids is x.s.ids or ids.base is not None:
        ids = ids.copy()
    return ids.reshape(-1), 0, _c_steps(v.shape)


def _c_steps(shape: Sequence[int]) -> tuple[int, ...]:
    steps = []
    step = 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


def _collapse(
    sizes: Sequence[int], steps: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Fewest levels that walk the same positions in the same order."""
    out_sizes: list[int] = []
    out_steps: list[int] = []
    for size, step in zip(sizes, steps, strict=True):
        if size == 1:
            continue
        if out_sizes and out_steps[-1] == step * size:
            out_sizes[-1] *= size
            out_steps[-1] = step
        else:
            out_sizes.append(size)
            out_steps.append(step)
    return out_sizes, out_steps


def _levels(
    x: ArrayBase, outer: Sequence[int], inner: Sequence[int]
) -> tuple[tuple[int, int, int, int], Operand]:
    """Operand over the outer axes (three levels) and the inner axes (one level)."""
    ids, start, steps = pinned(x)
    shape = x.v.shape
    o_sizes, o_steps = _collapse([shape[a] for a in outer], [steps[a] for a in outer])
    i_sizes, i_steps = _collapse([shape[a] for a in inner], [steps[a] for a in inner])
    n = math.prod(shape[a] for a in outer)
    k = math.prod(shape[a] for a in inner)
    if len(o_sizes) <= 3 and len(i_sizes) <= 1:
        pad = 3 - len(o_sizes)
        sizes = (1,) * pad + tuple(o_sizes)
        strides = (0,) * pad + tuple(o_steps) + (i_steps[0] if i_steps else 0,)
        return (*sizes, k), Operand(start, strides, ids)
    flat = x.node_ids() if ids is None else ids.reshape(shape)
    flat = np.ascontiguousarray(flat.transpose([*outer, *inner])).reshape(-1)
    return (1, 1, n, k), Operand(0, (0, 0, k, 1), flat)


def _line(x: ArrayBase) -> Operand | None:
    """Operand over all entries in C order where they are evenly spaced nodes."""
    s = x.s
    v = x.v
    if s.ids is not None or s.start < 0:
        return None
    if v.flags.c_contiguous:
        return Operand(s.start + x._position(), (0, 0, 0, 1))
    if v.ndim == 1:
        return Operand(s.start + x._position(), (0, 0, 0, v.strides[0] // v.itemsize))
    return None


def inner_product(x: Any, y: Any, r: Any) -> Any:
    """Record the inner product of two evenly spaced vectors; None for anything else."""
    if not (isinstance(x, ArrayBase) and isinstance(y, ArrayBase)):
        return None
    tape = x.s.tape
    if y.s.tape is not tape or x.v.ndim != 1 or y.v.ndim != 1 or not x.v.size:
        return None
    left, right = _line(x), _line(y)
    if left is None or right is None:
        return None
    value = np.array([r], dtype=tape.dtype)
    return scalar(tape, tape.dot((1, 1, 1, x.v.size), left, right, value).start, r)


def sum_axes(x: ArrayBase, axes: tuple[int, ...], r: Any, scale: float = 1.0) -> Any:
    """Record ``scale * x.sum(axes)`` with value ``r``: one linear node an entry."""
    tape = x.tape
    if not x._depends:
        return constant(tape, r)
    coef = _ONE[tape.dtype] if scale == 1.0 else np.full(1, scale, dtype=tape.dtype)
    line = _line(x) if len(axes) == x.v.ndim else None
    if line is not None and r.__class__ is not np.ndarray:
        value = np.array([r], dtype=tape.dtype)
        shape = (1, 1, 1, x.v.size)
        block = tape.linear(shape, line, coef, (0, 0, 0, 0), value)
        if tape.element is not None:
            _note_share(tape, block, scale)
        return scalar(tape, block.start, r)
    outer = [a for a in range(x.v.ndim) if a not in axes]
    shape, operand = _levels(x, outer, sorted(axes))
    values = np.asarray(r, dtype=tape.dtype).ravel()
    block = tape.linear(shape, operand, coef, (0, 0, 0, 0), values)
    if tape.element is not None:
        _note_share(tape, block, scale)
    return from_block(tape, r, block)


def _note_share(tape: Tape, block: Block, scale: float) -> None:
    """Keep what a scale of a mean is exactly: a float stands for the share ``1/n``."""
    n = 1.0 / scale
    for count in (round(n), n):
        if 1.0 / count == scale:
            tape.exact[block.start] = 1 / Fraction(count)
            return


def contract(x: Any, y: Any, r: Any) -> Any:
    """Record ``r = x @ y`` for operands of shapes (b, i, k) and (b, k, j).

    Either may be a plain array; a batch of one broadcasts. ``r`` has ``b*i*j`` entries
    in C order, whatever its shape.
    """
    xs, ys = (
        np.shape(x.v if isinstance(x, ArrayBase) else x),
        np.shape(y.v if isinstance(y, ArrayBase) else y),
    )
    b, i, k, j = max(xs[0], ys[0]), xs[1], xs[2], ys[2]
    x_live = isinstance(x, ArrayBase) and x._depends
    y_live = isinstance(y, ArrayBase) and y._depends
    tape: Tape = x.tape if isinstance(x, ArrayBase) else y.tape
    if not (x_live or y_live) or not k or not np.size(r):
        return constant(tape, r)
    values = np.asarray(r, dtype=tape.dtype).ravel()
    shape = (b, i, j, k)
    if x_live and y_live:
        block: Block = tape.dot(
            shape, _walk(x, (0, 1, None, 2)), _walk(y, (0, None, 2, 1)), values
        )
    elif x_live:
        w = y.v if isinstance(y, ArrayBase) else y
        coef, strides = _coef(tape, w, (0, None, 2, 1))
        block = tape.linear(shape, _walk(x, (0, 1, None, 2)), coef, strides, values)
    else:
        w = x.v if isinstance(x, ArrayBase) else x
        coef, strides = _coef(tape, w, (0, 1, None, 2))
        block = tape.linear(shape, _walk(y, (0, None, 2, 1)), coef, strides, values)
    return from_block(tape, r, block)


def remainder(x: Any, y: Any) -> Any:
    """Record ``dx @ dy`` of deviations from the recorded values, shapes as in `contract`.

    Both operands are recorded. Values and first partials are zero.
    """
    (b, i, k), (c, _, j) = x.v.shape, y.v.shape
    shape = (max(b, c), i, j, k)
    tape: Tape = x.tape
    values = np.zeros(shape[:3], dtype=tape.dtype)
    left, right = _walk(x, (0, 1, None, 2)), _walk(y, (0, None, 2, 1))
    block = tape.dot(shape, left, right, values.ravel(), centred=True)
    return from_block(tape, values, block)


def _walk(x: ArrayBase, axes: tuple[int | None, ...]) -> Operand:
    ids, start, steps = pinned(x)
    shape = x.v.shape
    strides = tuple(0 if a is None or shape[a] == 1 else steps[a] for a in axes)
    return Operand(start, strides, ids)


def _coef(tape: Tape, w: Any, axes: tuple[int | None, ...]) -> tuple[Floats, Strides]:
    steps = _c_steps(w.shape)
    s = tuple(0 if a is None or w.shape[a] == 1 else steps[a] for a in axes)
    return tape.keep(w), s  # type: ignore[return-value]
