"""Enclosures of the values of a tape over a box, computed from its blocks.

Over a box the buffers of a tape hold NaN; what its nodes can be is worked out here, block
by block and as far as somebody asks.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..elementals import BY_OPCODE, Elemental
from ..elementals._enclosures import Enclosed, enclose
from ..elements import Interval
from ..elements import _outward as outward
from ..errors import TapeError, UnsupportedOperationError
from ._block_enclosures import (
    coefficients,
    fixed,
    folded,
    pair_of,
    proper,
    same_node,
)
from ._blocks import (
    Accumulate,
    Binary,
    Block,
    Constants,
    Dot,
    Fixed,
    Inputs,
    Linear,
    Node,
    Operand,
    Run,
    Unary,
)
from ._layers import layers
from ._one_by_one import RULES
from ._walks import ids_of, pieces, positions

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["Enclosures"]

Pair = tuple[Any, Any]
Mask = NDArray[np.bool_]
Entrywise = Unary | Fixed | Binary

# Folding these from either side gives the same number.
_ASSOCIATIVE = frozenset(("add", "multiply", "maximum", "minimum", "fmax", "fmin"))


class Enclosures:
    """Intervals that contain the value of every node at every point of the box.

    Args:
        tape: A tape over a box, recording or finished.

    Attributes:
        asked: Whether somebody asked while the program was recorded: what it did then may
            not be what it does over a box that is no part of this one.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._lock = RLock()
        self._lo = np.empty(256)
        self._hi = np.empty(256)
        self._blocks = 0
        self._nodes = 0
        self._outside: dict[int, Mask] = {}
        self._kink: dict[int, Mask] = {}
        self.asked = False

    @classmethod
    def into(cls, tape: Tape, lo: NDArray[Any], hi: NDArray[Any]) -> Enclosures:
        """Enclosures of which somebody writes the ends, and says how far in :meth:`known`."""
        found = cls(tape)
        found._lo, found._hi = lo, hi
        return found

    def known(self, blocks: int, nodes: int) -> None:
        """Take the ends of the first blocks, and nodes, as written."""
        self._blocks, self._nodes = blocks, nodes

    # -- what others ask -----------------------------------------------------------

    def upto(self, node: int) -> Pair:
        """Ends of the nodes ``0 .. node`` and maybe more, by node id; to be read only."""
        if node >= self._nodes:
            tape = self._tape
            if not tape.finished:
                self.asked = True
                tape.flush()
            with self._lock, np.errstate(all="ignore"):  # a finished tape may be shared
                while node >= self._nodes:
                    self.append(tape.blocks[self._blocks])
        return self._lo[: self._nodes], self._hi[: self._nodes]

    def all(self) -> Pair:
        """Ends of all nodes so far."""
        n = self._tape.nnodes
        lo, hi = self.upto(n - 1)
        return lo[:n], hi[:n]

    def of(self, ids: Any) -> Pair:
        """Ends of some nodes, in the shape of ``ids``."""
        if type(ids) is int:
            lo, hi = self.upto(ids)
            return lo[ids], hi[ids]
        ids = np.asarray(ids)
        if not ids.size:
            return np.empty(ids.shape), np.empty(ids.shape)
        lo, hi = self.upto(int(ids.max()))
        return lo[ids], hi[ids]

    def at(self, node: int) -> tuple[float, float]:
        """Ends of one node."""
        if node >= self._nodes:
            self.upto(node)
        return float(self._lo[node]), float(self._hi[node])

    def held(self, ids: Any = None) -> Any:
        """What some nodes, or all, range over."""
        return Interval(*(self.all() if ids is None else self.of(ids)))

    def of_operand(self, x: Operand, n: int) -> Pair:
        """Ends of an entrywise operand of ``n`` entries; of one where it is one node."""
        if x.ids is not None:
            return self.of(x.flat((n,)))
        step = x.strides[0]
        if step == 0:
            lo, hi = self.upto(x.start)
            return lo[x.start : x.start + 1], hi[x.start : x.start + 1]
        last = x.start + step * (n - 1)
        lo, hi = self.upto(max(x.start, last))
        stop: int | None = last + step
        if step < 0 and last + step < 0:
            stop = None
        part = slice(x.start, stop, step)
        return lo[part], hi[part]

    def marks(self, block: Block) -> Mask | None:
        """Which nodes leave their domain, or meet a kink, within the box; None: nowhere."""
        self.upto(block.stop - 1)
        outside, kink = (d.get(block.start) for d in (self._outside, self._kink))
        if outside is None or kink is None:
            return kink if outside is None else outside
        return outside | kink

    def is_outside(self, block: Block, at: int) -> bool:
        """Whether a node leaves its domain (not: meets a kink) within the box."""
        self.upto(block.stop - 1)
        found = self._outside.get(block.start)
        return found is not None and bool(found[at])

    def enclosed(self, block: Any, order: int = 2) -> Enclosed:
        """Enclosures of a block of elementals: values, partials, faults.

        An entry of ``parts`` may be a number, or have one entry for all nodes. Rows of a
        :class:`Run` come in five columns, as :func:`columns` has them.
        """
        self.upto(block.stop - 1)
        with np.errstate(all="ignore"):
            if isinstance(block, Run):
                return self._run_parts(block, order)
            return self._entrywise(block, order)

    def with_partials(self, block: Any) -> Enclosed:
        """Enclose the next block, one of elementals, and its partials in one go."""
        if not isinstance(block, (Unary, Fixed, Binary)) or isinstance(
            block, Accumulate
        ):
            self.append(block)
            return self.enclosed(block)
        found = self._entrywise(block, 2)
        here = slice(block.start, block.stop)
        self._lo[here], self._hi[here] = self._noted(block, found)
        self._blocks += 1
        self._nodes = block.stop
        return found

    # -- block by block --------------------------------------------------------------

    def append(self, block: Block) -> None:
        """Enclose the next block."""
        n, start = block.size, block.start
        self._reserve(start + n)
        here = slice(start, start + n)
        if isinstance(block, Run):
            self._run(block)
        elif isinstance(block, Accumulate):
            self._accumulate(block)
        elif n:
            lo, hi = self._value(block)
            self._lo[here] = lo
            self._hi[here] = hi
        self._blocks += 1
        self._nodes = start + n

    def _reserve(self, n: int) -> None:
        if n > self._lo.size:
            size = max(n, 2 * self._lo.size, self._tape.nnodes)
            for name in ("_lo", "_hi"):
                grown = np.empty(size)
                old = getattr(self, name)
                grown[: self._nodes] = old[: self._nodes]
                setattr(self, name, grown)

    def _value(self, block: Block) -> Pair:
        given: Pair | None = self._tape.sets.get(block.start)
        if given is not None:
            return given
        if isinstance(block, (Unary, Fixed, Binary)):
            return self._noted(block, self._entrywise(block, 0))
        if isinstance(block, Linear):
            return self._linear(block)
        if isinstance(block, Dot):
            return self._dot(block)
        if isinstance(block, (Constants, Node, Inputs)):
            return self._points(block)
        msg = f"a block of type {type(block).__name__} has no enclosure."
        raise TapeError(msg)

    def _noted(self, block: Block, found: Enclosed) -> Pair:
        self._note(block, found.outside, found.kink)
        return proper(found) if found.outside is not None else found.value

    def _note(self, block: Block, outside: Any, kink: Any) -> None:
        for kept, mask in ((self._outside, outside), (self._kink, kink)):
            if mask is not None and np.any(mask):
                mask = np.broadcast_to(mask, (block.size,))
                old = kept.get(block.start)
                kept[block.start] = np.array(mask) if old is None else old | mask

    def _points(self, block: Block) -> Pair:
        v = np.asarray(block.values, dtype=np.float64)
        bad = ~np.isfinite(v)
        if bad.any():
            self._note(block, bad, None)
            return np.where(bad, -np.inf, v), np.where(bad, np.inf, v)
        return v, v

    # -- entry by entry --------------------------------------------------------------

    def _entrywise(self, block: Entrywise, order: int) -> Enclosed:
        n = block.size
        x = self.of_operand(block.x, n)
        if isinstance(block, Binary):
            y = self.of_operand(block.y, n)
            same = same_node(block, n)
            return pair_of(block.op, x, y, same, n, order)
        if isinstance(block, Fixed):
            return fixed(block.op, 2 + block.slot, x, block.const, order)
        return enclose(block.op, 0, (x,), order=order)

    def _accumulate(self, block: Accumulate) -> None:
        """Running results: in rounds that double, or one after the other."""
        n, start = block.size, block.start
        before = block.x.flat((n,))
        lanes = int(np.count_nonzero(before < start))
        y = self.of_operand(block.y, n)
        first = self.of(before[:lanes])
        rows = tuple(
            np.concatenate([a, np.broadcast_to(b, (n,))]).reshape(-1, lanes)
            for a, b in zip(first, y, strict=True)
        )
        if block.op.name in _ASSOCIATIVE:
            lo, hi = folded(block.op, rows)
        else:
            lo, hi = (np.array(a) for a in rows)
            for k in range(1, len(lo)):
                v = enclose(
                    block.op, 1, ((lo[k - 1], hi[k - 1]), (lo[k], hi[k])), order=0
                ).value
                lo[k], hi[k] = v
        self._lo[start : start + n] = lo[1:].ravel()
        self._hi[start : start + n] = hi[1:].ravel()
        x = np.concatenate([first[0], lo[1:-1].ravel()])[:n]
        above = np.concatenate([first[1], hi[1:-1].ravel()])[:n]
        self._noted(block, pair_of(block.op, (x, above), y, same_node(block, n), n, 0))

    # -- runs of scalars -------------------------------------------------------------

    def _run(self, block: Run) -> None:
        start, n = block.start, block.size
        lo, hi = self._lo, self._hi
        outside: Mask | None = None
        kink: Mask | None = None
        for op, pattern, rows in layers(block):
            if (
                len(rows) == 1
                and op.name in RULES
                and self._single(block, op, pattern, int(rows[0]))
            ):
                continue
            at = block.a[rows]
            x = (lo[at], hi[at])
            if pattern == 0:
                found = enclose(op, 0, (x,), order=0)
            elif pattern == 1:
                second = block.other[rows].astype(np.int64)
                same = at == second
                y = (lo[second], hi[second])
                found = pair_of(op, x, y, same if same.any() else None, len(rows), 0)
            else:
                found = fixed(op, pattern, x, block.other[rows], 0)
            place = rows + start
            if found.outside is None:
                lo[place], hi[place] = found.value
            else:
                lo[place], hi[place] = proper(found)
                outside = np.zeros(n, dtype=bool) if outside is None else outside
                outside[rows] = found.outside
            if found.kink is not None:
                kink = np.zeros(n, dtype=bool) if kink is None else kink
                kink[rows] = found.kink
        self._note(block, outside, kink)

    def _single(self, block: Run, op: Elemental, pattern: int, row: int) -> bool:
        """Evaluate one row in Python floats; False where that is not enough."""
        i = int(block.a[row])
        x = (float(self._lo[i]), float(self._hi[i]))
        rule = RULES[op.name]
        if pattern == 0:
            found = rule(x)
        else:
            other = float(block.other[row])
            if pattern == 1:
                j = int(other)
                if i == j and op.name != "add":
                    return False
                found = rule(x, (float(self._lo[j]), float(self._hi[j])))
            elif pattern == 2:
                found = rule(x, (other, other))
            else:
                found = rule((other, other), x)
        if found is None:
            return False
        place = block.start + row
        self._lo[place], self._hi[place] = found
        return True

    def _run_parts(self, block: Run, order: int) -> Enclosed:
        """Partials of a run, by code; all operands are known by now."""
        n, start = block.size, block.start
        wide = [(np.zeros(n), np.zeros(n)) for _ in range(5)]
        for code in np.unique(block.code).tolist():
            rows = np.flatnonzero(block.code == code)
            op, pattern = BY_OPCODE[code >> 2], code & 3
            x = self.of(block.a[rows])
            if pattern == 0:
                found = enclose(op, 0, (x,), order=order)
            elif pattern == 1:
                second = block.other[rows].astype(np.int64)
                found = enclose(op, 1, (x, self.of(second)), order=order)
            else:
                found = fixed(op, pattern, x, block.other[rows], order)
            places = range(5) if pattern == 1 else (0, 2)
            for k, part in zip(places, found.parts, strict=False):
                ends = part if isinstance(part, tuple) else (part, part)
                wide[k][0][rows], wide[k][1][rows] = ends
        here = slice(start, start + n)
        value = (self._lo[here], self._hi[here])
        masks = (d.get(start) for d in (self._outside, self._kink))
        return Enclosed(value, tuple(wide), *masks)

    # -- sums ------------------------------------------------------------------------

    def _linear(self, block: Linear) -> Pair:
        coef, bad = coefficients(block)
        lo, hi = np.empty(block.size), np.empty(block.size)
        for here, shape, at in pieces(block.shape):
            ids = ids_of(block.x, shape, at).reshape(-1, shape[3])
            pair = self.of(ids)
            if coef is not None:
                where = positions(block.coef_strides, shape, at).reshape(ids.shape)
                c = (coef[0][where], coef[1][where])
                pair = outward.multiply(pair, c)
            lo[here], hi[here] = outward.total(pair, axis=-1)
        if bad:
            self._note(block, np.ones(block.size, dtype=bool), None)
            return np.full(block.size, -np.inf), np.full(block.size, np.inf)
        return lo, hi

    def _dot(self, block: Dot) -> Pair:
        if block.centred:
            msg = "a linearised result (numpy.linalg.solve and the like) has no enclosure."
            raise UnsupportedOperationError(msg)
        lo, hi = np.empty(block.size), np.empty(block.size)
        for here, shape, at in pieces(block.shape):
            i = ids_of(block.x, shape, at).reshape(-1, shape[3])
            j = ids_of(block.y, shape, at).reshape(-1, shape[3])
            x, y = self.of(i), self.of(j)
            same = i == j
            if same.all():
                pair = outward.square(x)
            else:
                pair = outward.multiply(x, y)
                if same.any():
                    pair = outward.where(same, outward.square(x), pair)
            lo[here], hi[here] = outward.total(pair, axis=-1)
        return lo, hi
