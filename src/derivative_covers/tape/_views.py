"""What a caller sees of one node: parents, partials and curvature, built on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..elements import Interval, decided_zero
from ..local import (
    BinaryCurvature,
    Curvature,
    NoCurvature,
    PairedCurvature,
    UnaryCurvature,
)
from ._block_enclosures import coefficients
from ._blocks import Binary, Dot, Fixed, Ids, Linear, Node, Run, Unary
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
            return np.array([block.a[at], int(block.other[at].real)], dtype=np.int64)
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


def partials(tape: Tape, k: int) -> Any:
    """First partials of node ``k``, a slot an entry; an :class:`Interval` over a box."""
    block, at = _locate(tape, k)
    if tape.element is not None:
        return _element_partials(tape, block, at)
    if tape.box is not None:
        return _partials_over_box(tape, block, at)
    if isinstance(block, Node):
        return block.d
    if isinstance(block, Linear):
        return block.coef[_coef_places(block, at)]
    if isinstance(block, Dot):
        if block.centred:
            return np.zeros(2 * block.shape[3], dtype=tape.dtype)
        vals = tape.vals
        x, y = _row(block.x, block.shape, at), _row(block.y, block.shape, at)
        return np.concatenate([vals[y], vals[x]])
    if isinstance(block, (Run, Unary, Fixed, Binary)):
        found = _columns(tape, block)
        two = _is_pair(block, at)
        return np.array(
            [_pick(c, at) for c in found[: 2 if two else 1]], dtype=tape.dtype
        )
    return np.empty(0, dtype=tape.dtype)


def _coef_places(block: Linear, at: int) -> Ids:
    n0, n1, n2, nk = block.shape
    i, j, m = np.unravel_index(at, (n0, n1, n2))
    c0, c1, c2, ck = block.coef_strides
    first = int(i * c0 + j * c1 + m * c2)
    places: Ids = first + ck * np.arange(nk, dtype=np.int64)
    return places


def _is_pair(block: Any, at: int) -> bool:
    """Whether a node of elementals has two recorded operands."""
    run = isinstance(block, Run) and block.code[at] & 3 == 1
    return isinstance(block, Binary) or bool(run)


def _element_partials(tape: Tape, block: Any, at: int) -> Any:
    if isinstance(block, Linear):
        found = tape.elements.coefficients(block)
        return found[_coef_places(block, at)]
    if isinstance(block, Dot):
        x, y = _row(block.x, block.shape, at), _row(block.y, block.shape, at)
        return tape.elements.numbers(np.concatenate([y, x]))
    if isinstance(block, (Run, Unary, Fixed, Binary)):
        columns = tape.elements.partials(block)[: 2 if _is_pair(block, at) else 1]
        return np.array([column[at] for column in columns], dtype=object)
    return np.empty(0, dtype=object)


def _element_curvature(tape: Tape, block: Any, at: int) -> Curvature:
    c11, c12, c22 = (column[at] for column in tape.elements.partials(block)[2:])
    if all(decided_zero(c) for c in (c11, c12, c22)):
        return NoCurvature()
    return (
        BinaryCurvature(c11, c12, c22) if _is_pair(block, at) else UnaryCurvature(c11)
    )


def _partials_over_box(tape: Tape, block: Any, at: int) -> Interval:
    if isinstance(block, Node):
        return block.d if isinstance(block.d, Interval) else Interval(block.d, block.d)
    if isinstance(block, Linear):
        found, _ = coefficients(block)
        lo, hi = (block.coef, block.coef) if found is None else found
        places = _coef_places(block, at)
        return Interval(lo[places], hi[places])
    if isinstance(block, Dot):
        x, y = _row(block.x, block.shape, at), _row(block.y, block.shape, at)
        return Interval(*tape.enclosures.of(np.concatenate([y, x])))
    if isinstance(block, (Run, Unary, Fixed, Binary)):
        picked = _enclosed_parts(tape, block, at)[: 2 if _is_pair(block, at) else 1]
        return Interval([lo for lo, _ in picked], [hi for _, hi in picked])
    return Interval(np.empty(0), np.empty(0))


def _enclosed_parts(tape: Tape, block: Any, at: int) -> list[tuple[float, float]]:
    """Ends of the partials of one node: ``(d, c)``, or those of two operands."""
    key = ("enclosed", block.start)
    found = tape.cache.get(key) if tape.finished else None
    if found is None:
        found = tape.enclosed(block)
        if tape.finished:
            tape.cache[key] = found
    parts = found.parts
    if isinstance(block, Run) and not _is_pair(block, at):
        parts = (parts[0], parts[2])
    out = []
    for part in parts:
        ends = part if isinstance(part, tuple) else (part, part)
        lo, hi = (float(_pick(np.asarray(e), at)) for e in ends)
        out.append((lo, hi))
    return out


def _curvature_over_box(tape: Tape, block: Any, at: int) -> Curvature:
    parts = _enclosed_parts(tape, block, at)
    two = _is_pair(block, at)
    second = [Interval(lo, hi) for lo, hi in parts[2 if two else 1 :]]
    if all(c.lo == 0 and c.hi == 0 for c in second):
        return NoCurvature()
    return BinaryCurvature(*second) if two else UnaryCurvature(*second)


def curvature(tape: Tape, k: int) -> Curvature:
    """Curvature form of node ``k``; its entries are intervals over a box."""
    block, at = _locate(tape, k)
    if isinstance(block, Node):
        return block.curvature  # type: ignore[no-any-return]
    if isinstance(block, Dot):
        return PairedCurvature(block.shape[3])
    if tape.box is not None:
        entrywise = isinstance(block, (Run, Unary, Fixed, Binary))
        found = _curvature_over_box if tape.element is None else _element_curvature
        return found(tape, block, at) if entrywise else NoCurvature()
    if isinstance(block, (Run, Unary, Fixed, Binary)):
        scalar = tape.dtype.type
        c11, c12, c22 = (scalar(_pick(c, at)) for c in _columns(tape, block)[2:])
        two = _is_pair(block, at)
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
