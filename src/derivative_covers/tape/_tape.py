"""The tape: blocks of nodes, and the recorder that appends them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..elementals import BY_OPCODE, Elemental
from ..elements import Interval, ends_of, magtype
from ..errors import TapeError, UnsupportedOperationError
from ._blocks import (
    Accumulate,
    Binary,
    Block,
    Constants,
    Dot,
    Fixed,
    Floats,
    Ids,
    Inputs,
    Linear,
    Node,
    Operand,
    Run,
    Unary,
)
from ._elements import Elements
from ._enclosures import Enclosures
from ._guards import Guards
from ._holomorphic import refuse_elemental
from ._refusals import refuse_finished, refuse_rounding
from ._replay import replay
from ._views import NodeView, curvature, parents, partials

if TYPE_CHECKING:
    from ..elementals._enclosures import Enclosed
    from ._kinks import Kink
    from ._structure import Structure

__all__ = ["EXACT", "RUN_LIMIT", "Tape"]

RUN_LIMIT = 65536  # scalar operations kept as Python objects before they become columns
EXACT = 1 << 53  # no smaller integer is lost in a float
KEPT = 8  # constant arrays whose copies are kept for the next use
WORTH_KEEPING = 256  # entries; smaller arrays are copied faster than compared


class Tape:
    """A recorded program: values and local derivatives of every intermediate result.

    Node ids run from 0; the first ``ninputs`` nodes are the inputs and every parent
    precedes its child. A tape records while the function given to
    :func:`tape_function` runs and is read-only afterwards.

    Args:
        x0: Point of recording, any shape, float64, float32, complex128 or complex64.

    Attributes:
        dtype: Working precision of the whole construction.
        magtype: Type of its magnitudes: that of the parts for complex, else ``dtype``.
        is_complex: Whether the inputs are complex numbers; then every operation is
            holomorphic.
        shape: Shape of ``x0``; gradients and covers come in it.
        ninputs: Number of inputs.
        blocks: The recorded blocks, for sweeps.
        structure: Nest of dictionaries and tuples in which the inputs came; None for one
            array. ``shape`` is then that of the flat vector behind them.
        branch: Whether kinks and ties take the value's branch (``kinks="branch"``).
        kinks: Where they did, on the way to the outputs; a tuple of :class:`Kink`.
        finished: Whether recording has ended.
        guards: The decisions that recorded values took: comparisons, orders, roundings
            to integers. :meth:`replay` checks them.
        outputs: Ids of the outputs; None where a part of a program was recorded.
        box: What the inputs range over, an :class:`Interval` in their shape; None where
            they are a point. Over a box the blocks hold NaN for values, and
            ``enclosures`` says what the nodes can be.
        element: Type of the numbers where they are objects, such as ``Fraction``; None
            for floats. Such a tape is one over the box of the floats around its inputs,
            and ``vals`` holds the numbers.

    Example:
        >>> import derivative_covers as dc
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [2.0, 3.0])
        >>> tape.ninputs, out, float(tape.vals[out])
        (2, 2, 6.0)
    """

    run_limit = RUN_LIMIT

    def __init__(self, x0: Floats) -> None:
        x = np.array(x0, order="C", copy=True)
        self.dtype = x.dtype
        self.magtype, self._column, self.is_complex = _kinds(x.dtype)
        self.shape = x.shape
        self.ninputs = int(x.size)
        self.blocks: list[Block] = [Inputs(0, x.ravel())]
        self.starts: list[int] = [0]
        self.structure: Structure | None = None
        self.branch = False
        self.kinks: tuple[Kink, ...] = ()
        self.ties: list[Any] = []  # noted by comparisons, where branches are taken
        self.detached: list[tuple[int, int]] = []  # nodes made by stop_gradient
        self.guards = Guards()
        self.outputs: Any = None
        self.box: Interval | None = None
        self.sets: dict[int, Any] = {}  # ends, or elements, of blocks that are given
        self.element: type[Any] | None = None
        self.exact: dict[int, Any] = {}  # constants that no float holds, by node
        self.finished = False
        self.scalar: Callable[[Any], Any] = (
            float if x.dtype == np.float64 else x.dtype.type
        )
        self.cache: dict[Any, Any] = {}
        self._copies: dict[Any, Floats] = {}
        self._n = self.ninputs
        self._rows: list[Any] = []
        self.put: Callable[[tuple[Any, ...]], None] = self._rows.extend
        if self.is_complex:
            self.put = self._put_holomorphic
        self.next: Callable[[], int] = iter(
            range(self._n, self._n + self.run_limit)
        ).__next__

    @classmethod
    def over(cls, box: Interval) -> Tape:
        """A tape whose inputs range over a box."""
        tape = cls(np.full(np.shape(box.lo), np.nan))
        tape.box = box
        tape.sets[0] = (np.ravel(box.lo), np.ravel(box.hi))
        return tape

    @classmethod
    def of_elements(cls, x: Any, T: type[Any]) -> Tape:
        """A tape whose numbers are objects of a registered type."""
        tape = cls(np.full(np.shape(x), np.nan))
        tape.element = T
        tape.sets[0] = np.ravel(x)
        lo, hi = np.array([ends_of(e) for e in tape.sets[0]], dtype=np.float64).T
        tape.box = Interval(lo.reshape(tape.shape), hi.reshape(tape.shape))
        tape.put = tape._put_exactly
        tape.scalar = _exactly
        return tape

    def _put_exactly(self, row: tuple[Any, ...]) -> None:
        """Append a scalar operation; an integer that no float holds is kept apart."""
        large = row and row[2].__class__ is int and abs(row[2]) > EXACT
        if large and float(row[2]) != row[2]:
            self.exact[self._n + len(self._rows) // 4] = row[2]
        self._rows.extend(row)

    # -- recording ---------------------------------------------------------------

    def _put_holomorphic(self, row: tuple[Any, ...]) -> None:
        if row:
            try:
                _admit(BY_OPCODE[row[0] >> 2])
            except UnsupportedOperationError:
                # The id that was taken for the row is given back.
                ids = range(self.nnodes, self._n + self.run_limit)
                self.next = iter(ids).__next__
                raise
        self._rows.extend(row)

    def flush(self) -> None:
        """Turn the pending scalar operations into a block of columns."""
        rows = self._rows
        if rows:
            table = np.fromiter(rows, self._column, len(rows)).reshape(-1, 4)
            rows.clear()
            block = Run(
                self._n,
                table[:, 3].astype(self.dtype),
                table[:, 0].real.astype(np.int16),
                table[:, 1].real.astype(np.int64),
                table[:, 2].copy(),
            )
            self._add(block)
            self.guards.settle(self)

    def _add(self, block: Block) -> None:
        self.blocks.append(block)
        self.starts.append(block.start)
        self._n = n = block.start + int(block.values.size)
        self.next = iter(range(n, n + self.run_limit)).__next__

    def next_after_flush(self) -> int:
        """First id after the pending operations were turned into columns."""
        self.flush()
        return self.next()

    def _begin(self) -> int:
        if self.finished:
            refuse_finished()
        if self._rows:
            self.flush()
        return self._n

    def unary(self, op: Elemental, x: Operand, values: Floats) -> Unary:
        """Record an elemental of one operand."""
        if self.is_complex:
            _admit(op)
        block = Unary(self._begin(), values, op, x)
        self._add(block)
        return block

    def fixed(
        self, op: Elemental, x: Operand, slot: int, const: Floats, values: Floats
    ) -> Fixed:
        """Record an elemental of two operands with a constant in the other slot."""
        if self.is_complex:
            _admit(op)
        block = Fixed(self._begin(), values, op, x, slot, const)
        self._add(block)
        return block

    def binary(self, op: Elemental, x: Operand, y: Operand, values: Floats) -> Binary:
        """Record an elemental of two recorded operands."""
        if self.is_complex:
            _admit(op)
        block = Binary(self._begin(), values, op, x, y)
        self._add(block)
        return block

    def accumulate(
        self, op: Elemental, x: Callable[[int], Operand], y: Operand, values: Floats
    ) -> Accumulate:
        """Record a cumulative operation; ``x`` gets the id of the block's first node."""
        if self.is_complex:
            _admit(op)
        start = self._begin()
        block = Accumulate(start, values, op, x(start), y)
        self._add(block)
        return block

    def linear(
        self,
        shape: tuple[int, int, int, int],
        x: Operand,
        coef: Floats,
        coef_strides: tuple[int, int, int, int],
        values: Floats,
    ) -> Linear:
        """Record linear nodes with constant coefficients."""
        block = Linear(self._begin(), values, shape, x, coef, coef_strides)
        self._add(block)
        return block

    def dot(
        self,
        shape: tuple[int, int, int, int],
        x: Operand,
        y: Operand,
        values: Floats,
        *,
        merge: bool = True,
        centred: bool = False,
    ) -> Dot:
        """Record inner products of recorded entries."""
        block = Dot(self._begin(), values, shape, x, y, merge, centred)
        self._add(block)
        return block

    def node(
        self, value: Floats, parents: Ids, d: Any, curvature: Any, rule: Any = None
    ) -> Node:
        """Record one explicit node; the rule gives it at other values of its parents."""
        block = Node(self._begin(), value, parents, d, curvature, rule)
        self._add(block)
        return block

    def constants(self, values: Floats) -> Constants:
        """Record nodes that depend on nothing."""
        block = Constants(self._begin(), values)
        self._add(block)
        return block

    def given(self, ends: tuple[Any, Any]) -> Constants:
        """Record nodes of a box tape that depend on nothing and range over intervals."""
        lo, hi = (np.array(e, dtype=np.float64).reshape(-1) for e in ends)
        block = self.constants(np.full(lo.size, np.nan))
        self.sets[block.start] = (lo, hi)
        return block

    def given_elements(self, x: Any) -> Constants:
        """Record nodes that depend on nothing, numbers of the tape's own type."""
        block = self.constants(np.full(np.size(x), np.nan))
        self.sets[block.start] = np.ravel(np.asarray(x, dtype=object))
        return block

    def keep(self, a: Floats) -> Floats:
        """A flat copy of a constant array, C order, in the type of the tape.

        An array that came lately and has the same entries still shares its copy.
        """
        if self.element is not None and a.dtype != np.float64:
            refuse_rounding(a)
        if a.size < WORTH_KEEPING:
            return np.array(a, dtype=self.dtype, order="C").reshape(-1)
        key = (a.__array_interface__["data"], a.shape, a.strides, a.dtype)
        copy = self._copies.pop(key, None)
        if copy is None or not np.array_equal(copy.reshape(a.shape), a):
            copy = np.array(a, dtype=self.dtype, order="C").reshape(-1)
        self._copies[key] = copy
        if len(self._copies) > KEPT:
            del self._copies[next(iter(self._copies))]
        return copy

    def finish(self) -> None:
        """End the recording; variables of this tape refuse to be used from now on."""
        self.flush()
        self._copies.clear()
        self.finished = True
        self.put = self.next = self.scalar = refuse_finished

    def replay(self, x: Any) -> Tape:
        """The recorded program at another point, without running the function again.

        Args:
            x: Point in the shape, or structure, of the recorded inputs; or many points
                of an array program, a row each.

        Returns:
            A finished tape of the same nodes with values, and derivatives, at ``x``;
            ids of outputs are the same, and it can be replayed in turn. For many points
            an object with ``values(outs)``, ``gradients(out)`` and ``covers(out)``.

        Raises:
            BranchChangedError: If a comparison, an order of entries or a rounding to an
                integer comes out differently at ``x``, or ties there; record the
                function at ``x``.
            ReplayError: If the program did something that a replay cannot follow, such
                as reading a bare number with :func:`value`; the message names it.
            ShapeError: If ``x`` has another shape than the recorded inputs.
            DomainError: If ``x``, or an output, is not finite.
            OptionError: If an entry of ``x`` in a structure is not finite.
            InputTypeError: If ``x`` holds no numbers.

        Guarantee:
            What every NumPy and Python operation of the program would give at ``x``, up
            to the order of additions in a sum. Numbers that the program took from
            elsewhere (other arguments, global variables, random numbers) are those of
            the recording.

        Cost:
            NumPy's evaluation of every operation; that of the guards, one comparison
            each.

        Example:
            >>> import numpy as np, derivative_covers as dc
            >>> tape, out = dc.tape_function(lambda x: np.sum(np.exp(x) * x), [0.5, 2.0])
            >>> there = tape.replay([1.0, 3.0])
            >>> dc.gradient(there, out) == dc.gradient(lambda x: np.sum(np.exp(x) * x), [1.0, 3.0])
            array([ True,  True])
        """
        found: Tape = replay(self, x)
        return found

    def discard(self) -> None:
        """Free the blocks; the tape answers no question any more."""
        self.blocks.clear()
        self.starts.clear()
        self.cache.clear()

    def __getstate__(self) -> dict[str, Any]:
        if not self.finished:
            msg = (
                "a tape that is still recording cannot be copied or pickled; return from "
                "the recorded function first."
            )
            raise TapeError(msg)
        return {**self.__dict__, "cache": {}}

    # -- reading -----------------------------------------------------------------

    @property
    def nnodes(self) -> int:
        """Number of recorded nodes, inputs included."""
        return self._n + len(self._rows) // 4

    @property
    def vals(self) -> Floats:
        """Values of all nodes, shape ``(nnodes,)``; built on first use.

        Over a box they are an :class:`Interval`.
        """
        if self.box is not None:
            return cast("Floats", self.enclosures.held())
        if not self.finished:
            self.flush()
            self.guards.refuse("tape.vals, while recording,")
            return np.concatenate([b.values for b in self.blocks])
        found = self.cache.get("vals")
        if found is None:
            found = self.held_values()[:]
            found.flags.writeable = False
            self.cache["vals"] = found
        return found

    def held_values(self) -> Floats:
        """The values of a finished tape in one vector, which blocks share; not to be changed.

        Kernels take it: one that is not writable has a type of its own for the compiler.
        """
        found = self.cache.get("values")
        if found is None:
            found = np.concatenate([b.values for b in self.blocks])
            self.cache["values"] = found
            for block in self.blocks:  # so that values are held once
                block.values = found[block.start : block.stop]
        return cast("Floats", found)

    @property
    def parents(self) -> NodeView:
        """Parent ids of every node, a slot an entry; built on demand."""
        return NodeView(self, parents)

    @property
    def ds(self) -> NodeView:
        """First partials of every node, a slot an entry; built on demand."""
        return NodeView(self, partials)

    @property
    def Cs(self) -> NodeView:
        """Curvature form of every node; built on demand."""
        return NodeView(self, curvature)

    @property
    def nbytes(self) -> int:
        """Bytes that the recorded blocks hold."""
        coefs = [block.coef for block in self.blocks if isinstance(block, Linear)]
        shared = sum(c.nbytes for c in coefs)
        shared -= sum(c.nbytes for c in {id(c): c for c in coefs}.values())
        return sum(block.nbytes for block in self.blocks) - shared

    def block_of(self, k: int) -> Block:
        """The block that holds node ``k``."""
        return self.blocks[bisect_right(self.starts, k) - 1]

    @property
    def enclosures(self) -> Enclosures:
        """What the nodes of a tape over a box can be."""
        found: Enclosures | None = self.cache.get("enclosures")
        if found is None:
            if self.box is None:
                msg = "this tape was recorded at a point; it has values, no enclosures."
                raise TapeError(msg)
            kind = Enclosures if self.element is None else Elements
            found = self.cache.setdefault("enclosures", kind(self))
        return found

    @property
    def elements(self) -> Elements:
        """The numbers of a tape of objects."""
        found = self.enclosures
        assert isinstance(found, Elements)
        return found

    def enclosed(self, block: Block) -> Enclosed:
        """Values and partials of a block of elementals over the box."""
        return self.enclosures.enclosed(block)

    def values_at(self, ids: Ids) -> Floats:
        """Values of some nodes; few, or of few blocks, without building :attr:`vals`."""
        if self.box is not None:
            return cast("Floats", self.enclosures.held(ids))
        if self.finished and "vals" not in self.cache:
            if ids.size <= 8:
                each = [(self.block_of(k), k) for k in ids.tolist()]
                return np.array([b.values[k - b.start] for b, k in each], self.dtype)
            first = bisect_right(self.starts, int(ids.min())) - 1
            last = bisect_right(self.starts, int(ids.max())) - 1
            blocks = self.blocks[first : last + 1]
            if first == last:
                return blocks[0].values[ids - self.starts[first]]
            if sum(b.size for b in blocks) <= 2 * ids.size:
                near = np.concatenate([b.values for b in blocks])
                return near[ids - self.starts[first]]
        return self.vals[ids]

    def values_of(self, x: Operand, n: int) -> Floats:
        """Values of an entrywise operand of ``n`` entries (a view where it can be)."""
        if self.element is not None:
            return cast("Floats", self.enclosures.held(x.flat((n,))))
        if self.box is not None:
            lo, hi = self.enclosures.of_operand(x, n)
            pair = (np.broadcast_to(e, (n,)) for e in (lo, hi))
            return cast("Floats", Interval(*pair))
        if x.ids is not None:
            if x.start or x.strides != (1,) or x.ids.size != n:
                return self.vals[x.flat((n,))]
            return self.vals[x.ids]
        block = self.block_of(x.start)
        first = x.start - block.start
        stride = x.strides[0]
        if stride == 1:
            return block.values[first : first + n]
        if stride == 0:
            return np.broadcast_to(block.values[first], (n,))
        last = first + stride * (n - 1)
        if stride > 0:
            return block.values[first : last + 1 : stride]
        return block.values[first : last - 1 if last else None : stride]

    def __repr__(self) -> str:
        state = "finished" if self.finished else "recording"
        kind = self.dtype if self.box is None else "over a box"
        if self.element is not None:
            kind = self.element.__name__
        return f"<Tape: {self.ninputs} inputs, {self.nnodes} nodes, {kind}, {state}>"


@cache
def _kinds(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], np.dtype[Any], bool]:
    """Types of magnitudes and of a table of rows; whether values are complex."""
    wide = np.result_type(dtype, np.float64)
    return np.dtype(magtype(dtype)), wide, dtype.kind == "c"


def _admit(op: Elemental) -> None:
    """Refuse an elemental that is not holomorphic."""
    if not op.holomorphic:
        refuse_elemental(op)


def _exactly(x: Any) -> float:
    """A float of a number that is one."""
    found = float(x)
    if found != x and found == found:
        refuse_rounding(np.array(x, dtype=object))
    return found
