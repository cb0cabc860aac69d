"""What a caller sees of one node: parents, partials and curvature, built on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..local import (
    BinaryCurvature,
    Curvature,
    NoCurvature,
    PairedCurvature,
    UnaryCurvature,
)
from ._blocks import Binary, Dot, Fixed, Floats, Ids, Linear, Node, Run, Unary
from ._partials import columns

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["NodeView", "curvature", "parents", "partials"]


class NodeView(Sequence[Any]):
    """A read-only sequence over the nodes of a tape."""

    def __init__(self, tape: Tape, entry: Callable[[Tape, int], Any]) -> None:
        self._tape = tape
        self._entry = entry

    def __len__(self) -> int:
        return self._tape.nnodes

    @overload
    def __getitem__(self, k: int) -> Any: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[Any]: ...
    def __getitem__(self, k: int | slice) -> Any:
        if isinstance(k, slice):
            return [self[j] for j in range(*k.indices(len(self)))]
        n = len(self)
        if not -n <= k < n:
            msg = f"node {k} is not on this tape of {n} nodes."
            raise IndexError(msg)
        return self._entry(self._tape, k % n)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<{self._entry.__name__} of {len(self)} nodes>"


def parents(tape: Tape, k: int) -> Ids:
    """Ids of the parents of node ``k``, a slot an entry."""
    block, at = _locate(tape, k)
    if isinstance(block, Node):
        return block.parents
    if isinstance(block, Run):
        if block.code[at] & 3 == 1:
            return np.array([block.a[at], int(block.other[at])], dtype=np.int64)
        return block.a[at : at + 1]
    if isinstance(block, (Unary, Fixed)):
        return _entry(block.x, at)
    if isinstance(block, Binary):
        return np.concatenate([_entry(block.x, at), _entry(block.y, at)])
    if isinstance(block, Linear):
        return _row(block.x, block.shape, at)
    if isinstance(block, Dot):
        rows = (_row(block.x, block.shape, at), _row(block.y, block.shape, at))
        return np.concatenate(rows)
    return np.empty(0, dtype=np.int64)


def partials(tape: Tape, k: int) -> Floats:
    """First partials of node ``k``, a slot an entry."""
    block, at = _locate(tape, k)
    if isinstance(block, Node):
        return block.d
    if isinstance(block, Linear):
        n0, n1, n2, nk = block.shape
        i, j, m = np.unravel_index(at, (n0, n1, n2))
        c0, c1, c2, ck = block.coef_strides
        first = int(i * c0 + j * c1 + m * c2)
        return block.coef[first + ck * np.arange(nk)]
    if isinstance(block, Dot):
        if block.centred:
            return np.zeros(2 * block.shape[3], dtype=tape.dtype)
        vals = tape.vals
        x, y = _row(block.x, block.shape, at), _row(block.y, block.shape, at)
        return np.concatenate([vals[y], vals[x]])
    if isinstance(block, (Run, Unary, Fixed, Binary)):
        found = _columns(tape, block)
        two = isinstance(block, Binary) or (
            isinstance(block, Run) and block.code[at] & 3 == 1
        )
        return np.array(
            [_pick(c, at) for c in found[: 2 if two else 1]], dtype=tape.dtype
        )
    return np.empty(0, dtype=tape.dtype)


def curvature(tape: Tape, k: int) -> Curvature:
    """Curvature form of node ``k``."""
    block, at = _locate(tape, k)
    if isinstance(block, Node):
        return block.curvature  # type: ignore[no-any-return]
    if isinstance(block, Dot):
        return PairedCurvature(block.shape[3])
    if isinstance(block, (Run, Unary, Fixed, Binary)):
        scalar = tape.dtype.type
        c11, c12, c22 = (scalar(_pick(c, at)) for c in _columns(tape, block)[2:])
        two = isinstance(block, Binary) or (
            isinstance(block, Run) and block.code[at] & 3 == 1
        )
        if two and (c11 != 0 or c12 != 0 or c22 != 0):
            return BinaryCurvature(c11, c12, c22)
        if not two and c11 != 0:
            return UnaryCurvature(c11)
    return NoCurvature()


def _locate(tape: Tape, k: int) -> tuple[Any, int]:
    if not tape.finished:
        tape.flush()
    block = tape.block_of(k)
    return block, k - block.start


def _columns(tape: Tape, block: Any) -> Any:
    key = ("columns", block.start)
    found = tape.cache.get(key) if tape.finished else None
    if found is None:
        with np.errstate(all="ignore"):
            found = columns(tape, block)
        if tape.finished:
            tape.cache[key] = found
    return found


def _pick(column: Any, at: int) -> Any:
    if np.ndim(column) == 0:
        return column
    return column.ravel()[at if column.size > 1 else 0]


def _entry(x: Any, at: int) -> Ids:
    p = x.start + x.strides[0] * at
    return np.array([p if x.ids is None else x.ids[p]], dtype=np.int64)


def _row(x: Any, shape: tuple[int, int, int, int], at: int) -> Ids:
    i, j, m = np.unravel_index(at, shape[:3])
    s0, s1, s2, sk = x.strides
    p: Ids = int(x.start + i * s0 + j * s1 + m * s2) + sk * np.arange(
        shape[3], dtype=np.int64
    )
    return p if x.ids is None else x.ids[p]
