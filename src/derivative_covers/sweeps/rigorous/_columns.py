"""What the rows of compiled enclosures hold, and which blocks can be such rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import tape as tp
from ...elementals import BY_OPCODE, Elemental
from .._step import Array
from ..kernels import enclosing as kernels

__all__ = ["VARIES", "Columns", "columns"]

VARIES = None
"""A partial that follows from the operands."""

_CODES = {
    "copy": kernels.COPY,
    "positive": kernels.COPY,
    "negative": kernels.NEGATIVE,
    "add": kernels.ADD,
    "subtract": kernels.SUBTRACT,
    "multiply": kernels.MULTIPLY,
    "divide": kernels.DIVIDE,
    "square": kernels.SQUARE,
    "reciprocal": kernels.RECIPROCAL,
    "sqrt": kernels.SQRT,
    "absolute": kernels.ABSOLUTE,
    "maximum": kernels.MAXIMUM,
    "fmax": kernels.MAXIMUM,
    "minimum": kernels.MINIMUM,
    "fmin": kernels.MINIMUM,
    "power": kernels.POWER,
}
_LARGEST = 6  # exponent of a power that is made of products

Parts = tuple[Any, Any, Any, Any, Any]


class Columns(NamedTuple):
    """The nodes of an entrywise block.

    Attributes:
        code: Four times the operation, plus the pattern, one a node.
        a: First parents.
        b: Second parents; the first ones where there is none.
        c: Constant operands; zero where there is none.
        parts: For each of ``d1, d2, c11, c12, c22`` a number, or one a node (NaN where
            it follows from the operands), or :data:`VARIES`.
        mixed: Whether some nodes, but not all, have one parent in both slots.
    """

    code: Array
    a: Array
    b: Array
    c: Array
    parts: Parts
    mixed: bool


def columns(block: Any) -> Columns | None:
    """The rows of a block; None where NumPy has to enclose it."""
    if isinstance(block, tp.Run):
        return _run(block)
    n = block.size
    if type(block) is tp.Unary:
        return _made(block.op, 0, n, block.x.flat((n,)), None, None)
    if type(block) is tp.Fixed:
        given = np.asarray(block.const, dtype=np.float64).ravel()
        c = np.broadcast_to(given, (n,))
        return _made(block.op, 2 + block.slot, n, block.x.flat((n,)), None, c)
    if type(block) is tp.Binary:
        return _made(block.op, 1, n, block.x.flat((n,)), block.y.flat((n,)), None)
    return None


def _made(
    op: Elemental, pattern: int, n: int, a: Array, b: Array | None, c: Any
) -> Columns | None:
    code = _CODES.get(op.name)
    if code is None or not _fits(code, pattern, c):
        return None
    parts = _parts(code, pattern, c)
    same = np.zeros(0, dtype=bool) if b is None else a == b
    if same.any():
        parts = _merged(parts, same)
    return Columns(
        np.full(n, 4 * code + pattern, dtype=np.int16),
        np.array(a),
        np.array(a if b is None else b),
        np.zeros(n) if c is None else np.array(c),
        parts,
        bool(same.any()) and not same.all(),
    )


def _fits(code: int, pattern: int, c: Any) -> bool:
    """Whether kernels know the operation with this pattern and these constants."""
    if code == kernels.POWER:
        whole = pattern == 2 and np.all(c == np.floor(c))
        return bool(whole and np.all(np.abs(c) <= _LARGEST))
    return c is None or bool(np.isfinite(c).all())


def _parts(code: int, pattern: int, c: Any) -> Parts:
    """Partials of an operation; a unary one has its own in the first and third place."""
    two = pattern == 1
    if code in (kernels.COPY, kernels.ADD):
        return (1.0, 1.0 if two else 0.0, 0.0, 0.0, 0.0)
    if code == kernels.NEGATIVE:
        return (-1.0, 0.0, 0.0, 0.0, 0.0)
    if code == kernels.SUBTRACT:
        return (-1.0 if pattern == 3 else 1.0, -1.0 if two else 0.0, 0.0, 0.0, 0.0)
    if code == kernels.MULTIPLY:
        if two:
            return (VARIES, VARIES, 0.0, 1.0, 0.0)
        return (np.array(c), 0.0, 0.0, 0.0, 0.0)
    if code in (kernels.MAXIMUM, kernels.MINIMUM):
        return (VARIES, VARIES if two else 0.0, 0.0, 0.0, 0.0)
    if code == kernels.ABSOLUTE:
        return (VARIES, 0.0, 0.0, 0.0, 0.0)
    if code == kernels.SQUARE:
        return (VARIES, 0.0, 2.0, 0.0, 0.0)
    if code == kernels.DIVIDE and two:
        return (VARIES, VARIES, 0.0, VARIES, VARIES)
    if code == kernels.DIVIDE and pattern == 2:
        return (VARIES, 0.0, 0.0, 0.0, 0.0)
    return (VARIES, 0.0, VARIES, 0.0, 0.0)


def _merged(parts: Parts, same: Array) -> Parts:
    """Two slots of one parent as one; kernels do it for partials that vary."""
    d1, d2, c11, c12, c22 = parts
    if VARIES in (c11, c12, c22):  # a quotient of a node by itself is not enclosed
        return parts
    twice = c11 + c22 + 2 * c12
    first = VARIES if d1 is VARIES else d1 + d2
    if same.all():
        return first, 0.0, twice, 0.0, 0.0
    return (
        VARIES if d1 is VARIES else np.where(same, first, d1),
        np.where(same, 0.0, np.nan if d2 is VARIES else d2),
        np.where(same, twice, c11),
        np.where(same, 0.0, c12),
        np.where(same, 0.0, c22),
    )


def _run(block: tp.Run) -> Columns | None:
    n = block.size
    two = (block.code & 3) == 1
    fixed = (block.code & 3) >= 2
    other = np.asarray(block.other, dtype=np.float64)
    found = Columns(
        np.zeros(n, dtype=np.int16),
        np.array(block.a),
        np.where(two, other, block.a).astype(np.int64),
        np.where(fixed, other, 0.0),
        tuple(np.zeros(n) for _ in range(5)),  # type: ignore[arg-type]
        True,
    )
    for code in np.unique(block.code).tolist():
        at = np.flatnonzero(block.code == code)
        pattern = code & 3
        second = found.b[at] if pattern == 1 else None
        constant = found.c[at] if pattern >= 2 else None
        op = BY_OPCODE[code >> 2]
        made = _made(op, pattern, at.size, found.a[at], second, constant)
        if made is None:
            return None
        found.code[at] = made.code
        for column, part in zip(found.parts, made.parts, strict=True):
            column[at] = np.nan if part is VARIES else part
    return found
