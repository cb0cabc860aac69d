"""From the blocks of a tape to the steps of a sweep.

Small blocks that follow each other become one step, so that a program of many tiny
operations still costs a few kernel calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import tape as tp
from ..errors import InputTypeError, TapeError
from ..local import BinaryCurvature, NoCurvature, UnaryCurvature
from ..tape import Tape
from ._arithmetic import over_boxes
from ._doubled import doubled
from ._entrywise import Pair
from ._explicit import Explicit
from ._slots import Line
from ._step import Leaves, Step
from ._wide import Centred, Dot, Linear
from .kernels._jit import charge

__all__ = ["Program", "check_tape", "is_small", "lower", "slots", "walk", "where"]

SMALL = 256  # entrywise blocks below this many nodes are gathered
SHORT = 1 << 16  # nodes of a tape whose values are put together without a thought

_ENTRYWISE = (tp.Binary, tp.Fixed, tp.Unary, tp.Run)
Array = NDArray[Any]
_NO_IDS = np.empty(0, dtype=np.int64)


@dataclass(slots=True)
class Program:
    """The steps of a tape, in order.

    Attributes:
        steps: The steps.
        marks: Per block, which nodes lie outside of their domain or at a kink.
    """

    steps: list[Step]
    marks: list[tuple[int, NDArray[np.bool_]]]

    def below(self, node: int) -> list[Step]:
        """The steps up to the one that holds ``node``."""
        hi = len(self.steps)
        lo = 0
        while lo < hi:
            mid = (lo + hi) // 2
            if self.steps[mid].start <= node:
                lo = mid + 1
            else:
                hi = mid
        return self.steps[:lo]


def check_tape(tape: Any) -> Tape:
    """The tape itself, refusing anything else and a tape that is still recording."""
    if not isinstance(tape, Tape):
        msg = (
            f"a Tape is needed, as tape_function returns it; got {type(tape).__name__}."
        )
        raise InputTypeError(msg)
    if not tape.finished:
        msg = "the tape is still recording; return from the recorded function first."
        raise TapeError(msg)
    return tape


def lower(tape: Tape) -> Program:
    """The program of a finished tape; built on first use and kept with it."""
    found = check_tape(tape).cache.get("program")
    if found is None:
        charge(tape.nnodes)
        with np.errstate(all="ignore"):
            found = tape.cache["program"] = lowered(tape)
    return found


@over_boxes
def lowered(tape: Tape) -> Program:
    """The program of a tape, built anew."""
    steps: list[Step] = []
    marks: list[tuple[int, NDArray[np.bool_]]] = []
    small: list[tp.Block] = []
    for block in tape.blocks:
        if not block.size:
            continue
        bad = tp.marks(tape, block)
        if bad is not None:
            marks.append((block.start, bad))
        if is_small(block):
            small.append(block)
            continue
        if small:
            steps.append(_gathered(tape, small))
            small = []
        steps.append(_step(tape, block))
    if small:
        steps.append(_gathered(tape, small))
    if tape.magtype == np.float32:
        steps = [doubled(step) for step in steps]
    return Program(steps, tp.spread(tape, marks) if marks else marks)


def is_small(block: tp.Block) -> bool:
    """Whether a block is gathered with its neighbours."""
    if isinstance(block, tp.Node):
        forms = NoCurvature, UnaryCurvature, BinaryCurvature
        return 0 < block.parents.size <= 2 and isinstance(block.curvature, forms)
    return isinstance(block, _ENTRYWISE) and block.size < SMALL


def _step(tape: Tape, block: tp.Block) -> Step:
    start, stop = block.start, block.stop
    if isinstance(block, (tp.Inputs, tp.Constants)):
        return Leaves(start, stop, isinstance(block, tp.Inputs))
    if isinstance(block, (tp.Linear, tp.Dot)):
        shape = (start, *block.shape)
        if isinstance(block, tp.Linear):
            ids = _NO_IDS if block.x.ids is None else block.x.ids
            return Linear(
                shape, walk(ids, block.x), (block.coef, 0, *block.coef_strides)
            )
        xid, xv, xo = _values(tape, block.x)
        yid, yv, yo = _values(tape, block.y)
        x, y = walk(xid, block.x), walk(yid, block.y)
        step = Centred if block.centred else Dot
        return step(shape, x, y, (xv, xo, yv, yo), block.merge)
    if isinstance(block, tp.Node):
        return Explicit(tape, start, block.parents, block.d, block.curvature)
    return _pair(tape, block)


def walk(ids: Any, x: tp.Operand) -> Any:
    """An operand of wide nodes as kernels take it."""
    return (ids, x.start, *x.strides)


def _values(tape: Tape, x: tp.Operand) -> tuple[Array, Array, int]:
    if x.ids is not None:
        return x.ids, tape.vals[x.ids], 0
    block = tape.block_of(x.start)
    return _NO_IDS, block.values, block.start


def slots(block: tp.Block) -> tuple[Any, Any]:
    """First and second operand of an entrywise block (the second may be None)."""
    if isinstance(block, tp.Binary):
        return block.x, block.y
    if isinstance(block, (tp.Unary, tp.Fixed)):
        return block.x, None
    if isinstance(block, tp.Node):
        slots = [tp.Operand(int(k), (0,)) for k in block.parents]
        return slots[0], slots[1] if len(slots) == 2 else None
    assert isinstance(block, tp.Run)
    two = ((block.code & 3) == 1).any()
    return tp.Operand(0, (1,), block.a), (tp.Operand(0, (1,), block.b) if two else None)


def where(x: tp.Operand | None, n: int) -> tuple[Array, int, int]:
    """An entrywise operand as ids, or as first node and stride where these are empty."""
    if x is None:
        return _NO_IDS, 0, 0
    if x.ids is None:
        return _NO_IDS, x.start, x.strides[0]
    if x.start == 0 and x.strides == (1,) and x.ids.size == n:
        return x.ids, 0, 0
    return x.flat((n,)), 0, 0


def _column(part: Any, n: int, dtype: Any) -> tuple[Array, int]:
    if np.ndim(part) == 0:
        return np.full(1, part, dtype=dtype), 0
    if part.size == 1 and n != 1:
        return np.asarray(part, dtype=dtype).reshape(1), 0
    return np.ascontiguousarray(part, dtype=dtype), 1


def _active(part: Any) -> bool:
    return bool(np.any(part)) if np.ndim(part) else part != 0.0


def _pair(tape: Tape, block: tp.Block) -> Pair:
    n = block.size
    x, y = slots(block)
    square = _is_square(block)
    if square:
        # As the product x*x, whose partials are the operand itself: nothing to store.
        d1 = d2 = tape.values_of(x, n)
        c11, c12, c22 = 0.0, 1.0, 0.0
        y = x
    else:
        d1, d2, c11, c12, c22 = tp.columns(tape, block)
    curved = _active(c11) or _active(c12) or _active(c22)
    cross = y is not None and not square and _active(c12)
    columns = [_column(c, n, tape.dtype) for c in (d1, d2, c11, c12, c22)]
    if square:
        columns[1] = columns[0]
    topo = (block.start, n, y is not None, *where(x, n), *where(y, n))
    first = (*columns[0], *columns[1])
    twice = (*columns[2], *columns[3], *columns[4])
    refs: tuple[Any, ...] = (*_one(tape), *_one(tape))
    if cross:
        refs = (*_read(tape, x, n), *_read(tape, y, n))
    lines: tuple[Line, ...] = ()
    if n >= SMALL and not isinstance(block, (tp.Run, tp.Accumulate)):
        one, two = tape.dtype.type(1), tape.dtype.type(2)
        if _consecutive(x) and square:
            double = np.full(1, 2, dtype=tape.dtype)
            lines = ((x.start, *columns[0], two, double, 0, True),)
        elif _consecutive(x) and y is None:
            lines = ((x.start, *columns[0], one, *columns[2], _active(c11)),)
        elif _consecutive(x) and _consecutive(y) and x.start != y.start:
            # Where they overlap, an entry gets the part of the later node first, as in
            # a sweep node by node.
            one_slot = (x.start, *columns[0], one, *columns[2], _active(c11))
            other = (y.start, *columns[1], one, *columns[4], _active(c22))
            lines = (one_slot, other) if x.start < y.start else (other, one_slot)
    return Pair(topo, first, twice, refs, curved, cross, lines)


def _is_square(block: tp.Block) -> bool:
    """Whether a block squares its operand, or multiplies it with itself."""
    if type(block) is tp.Binary and block.op.name == "multiply":
        x, y = block.x, block.y
        same = (x.start, x.strides) == (y.start, y.strides)
        return same and x.ids is None and y.ids is None
    return isinstance(block, tp.Unary) and block.op.name == "square"


def _read(tape: Tape, x: tp.Operand, n: int) -> tuple[Array, int]:
    """Values of an operand with a stride; 2: those of the tape, to be read at its ids."""
    if x.ids is not None:
        return tape.held_values(), 2
    return _column(tape.values_of(x, n), n, tape.dtype)


def _consecutive(x: tp.Operand | None) -> bool:
    return x is not None and x.ids is None and x.strides == (1,)


def _one(tape: Tape) -> tuple[Array, int]:
    return np.ones(1, dtype=tape.dtype), 0


def _gathered(tape: Tape, blocks: list[tp.Block]) -> Pair:
    """One step of small blocks in a row."""
    start = blocks[0].start
    n = blocks[-1].stop - start
    a = np.empty(n, dtype=np.int64)
    b = np.empty(n, dtype=np.int64)
    rows = []
    two = False
    end = 0
    for block in blocks:
        first, end = end, end + block.size
        here = slice(first, end)
        x, y = slots(block)
        a[here] = ids = x.flat((end - first,))
        if y is not None:
            two = True
            ids = y.flat((end - first,))
        b[here] = ids
        rows.append(here)
    xs = _values_at(tape, a, rows)
    ys = _values_at(tape, b, rows) if two else xs
    columns = [np.zeros(n, dtype=tape.dtype) for _ in range(5)]
    for block, here in zip(blocks, rows, strict=True):
        if isinstance(block, tp.Node):
            parts: Any = _explicit(block)
        else:
            parts = tp.columns(tape, block, (xs[here], ys[here]))
        for column, part in zip(columns, parts, strict=True):
            if part.__class__ is not float or part != 0.0:
                column[here] = part
    d1, d2, c11, c12, c22 = columns
    cross = bool(c12.any())
    curved = cross or bool(c11.any()) or bool(c22.any())
    topo = (start, n, two, a, 0, 0, b, 0, 0)
    refs: tuple[Any, ...] = (xs, 1, ys, 1) if cross else (*_one(tape), *_one(tape))
    return Pair(topo, (d1, 1, d2, 1), (c11, 1, c12, 1, c22, 1), refs, curved, cross)


def _values_at(tape: Tape, ids: Array, rows: list[slice]) -> Array:
    """Values of nodes, block by block where they are few nodes of a long tape."""
    if tape.nnodes <= max(SHORT, 4 * ids.size):
        found: Array = tape.vals[ids]
    else:
        found = np.concatenate([tape.values_at(ids[here]) for here in rows])
    return found


def _explicit(block: tp.Node) -> tuple[Any, ...]:
    """Partials of a node of one or two parents."""
    c = block.curvature
    d = block.d
    if len(d) == 1:
        c11 = c.c if isinstance(c, UnaryCurvature) else 0.0
        return d[0], 0.0, c11, 0.0, 0.0
    if isinstance(c, BinaryCurvature):
        return d[0], d[1], c.c11, c.c12, c.c22
    return d[0], d[1], 0.0, 0.0, 0.0
