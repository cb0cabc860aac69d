"""Whether two recordings are one program, constants included."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tape as tp
from ..tape import Tape

__all__ = ["difference"]


def difference(first: Tape, second: Tape, *, inputs: bool = True) -> str | None:
    """What differs between two recordings; None if they are one program.

    Values of nodes may differ, and those of the inputs; operations, operands and
    constants may not, but for constants that cancel from all results.
    """
    if inputs and first.ninputs != second.ninputs:
        return f"the numbers of inputs are {first.ninputs} and {second.ninputs}"
    free = first.guards.free & second.guards.free
    for a, b in zip(first.blocks, second.blocks, strict=False):
        found = _between(a, b, free)
        if found is not None:
            return found
    if len(first.blocks) != len(second.blocks):
        counts = first.nnodes, second.nnodes
        return f"they have {counts[0]} and {counts[1]} operations"
    return None


def _between(a: Any, b: Any, free: set[int]) -> str | None:
    where = f"nodes {a.start} .. {a.stop - 1}" if a.size > 1 else f"node {a.start}"
    if type(a) is not type(b) or a.size != b.size or _name(a) != _name(b):
        return f"{where} are {_said(a)} in one and {_said(b)} in the other"
    if isinstance(a, tp.Inputs):
        return None
    if isinstance(a, tp.Constants):
        return _constants(where, a.values, b.values)
    for slot in ("x", "y"):
        x, y = getattr(a, slot, None), getattr(b, slot, None)
        if x is not None and (y is None or not _same_operand(x, y)):
            return f"{where} ({_name(a)}) have other operands"
    if isinstance(a, tp.Fixed):
        if a.slot != b.slot:
            return f"{where} ({_name(a)}) have other operands"
        if a.start in free:
            return None
        return _constants(f"{where} ({_name(a)})", a.const, b.const)
    if isinstance(a, tp.Linear):
        if a.shape != b.shape or a.coef_strides != b.coef_strides:
            return f"{where} are sums of other shapes"
        return _constants(f"{where} (sums)", a.coef, b.coef)
    if isinstance(a, tp.Dot):
        same = a.shape == b.shape and (a.merge, a.centred) == (b.merge, b.centred)
        return None if same else f"{where} are products of other shapes"
    if isinstance(a, tp.Run):
        if not (np.array_equal(a.code, b.code) and np.array_equal(a.a, b.a)):
            return f"{where} are other scalar operations"
        held = np.ones(a.size, dtype=bool)
        held[[k - a.start for k in free if a.start <= k < a.stop]] = False
        where += " (scalar operations)"
        return _constants(where, a.other[held], b.other[held])
    return None


def _name(block: Any) -> str:
    op = getattr(block, "op", None)
    return type(block).__name__ if op is None else op.name


def _said(block: Any) -> str:
    return f"{block.size} of {_name(block).lower()}"


def _same_operand(x: tp.Operand, y: tp.Operand) -> bool:
    if (x.start, x.strides, x.ids is None) != (y.start, y.strides, y.ids is None):
        return False
    if x.ids is None or y.ids is None:
        return True
    return np.array_equal(x.ids, y.ids)


def _constants(where: str, a: Any, b: Any) -> str | None:
    a, b = np.ravel(a), np.ravel(b)
    if a.size != b.size:
        return f"{where} have {a.size} and {b.size} constants"
    other = ~((a == b) | ((a != a) & (b != b)))
    if not other.any():
        return None
    k = int(np.flatnonzero(other)[0])
    return f"{where} have the constants {a[k].item()!r} and {b[k].item()!r}"
