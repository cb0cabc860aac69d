"""A recorded program over another box: its enclosures and steps, without NumPy's overhead.

What does not depend on the box is found out once. Arithmetic is enclosed by kernels, with
the bits of NumPy's; blocks of other functions by the route of a recording. Steps are those
of :mod:`._lower`, of the same nodes in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import tape as tp
from ...tape import Tape
from ...tape._enclosures import Enclosures, coefficients
from ...tape._walks import CHUNK
from .._entrywise import Pair
from .._lower import is_small, slots, walk, where
from .._step import Array
from ..kernels import enclosing as kernels
from ..kernels import interval, upward
from ..kernels._jit import charge
from . import _steps as steps
from ._columns import VARIES, Columns, columns
from ._lower import WORK, BoxProgram, _add, _Block, _merged, _step, magnitude

__all__ = ["Again"]

ONE = (np.ones(1), 0)
Made = tuple[Any, Any, Any]


class _Failed(Exception):
    """A node that kernels do not enclose: the route of a recording says what it is."""


@dataclass(slots=True)
class _Work:
    """One evaluation.

    Attributes:
        tape: The tape over the other box.
        ends: Ends of all nodes.
        low: Lower ends of ``d1, d2, c11, c12, c22``, a row each.
        high: Their upper ends.
        held: Its enclosures, which are filled.
    """

    tape: Tape
    ends: tuple[Array, Array]
    low: Array
    high: Array
    held: Enclosures
    sizes: Array | None = None

    def magnitudes(self) -> Array:
        """Magnitudes of all nodes."""
        if self.sizes is None:
            self.sizes = magnitude(*self.ends)
        return self.sizes


class Again:
    """How a recorded program is enclosed over other boxes.

    Args:
        tape: A finished tape over a box.
    """

    def __init__(self, tape: Tape) -> None:
        self._nodes = tape.nnodes
        self._enclose: list[Callable[[_Work], None]] = []
        self._steps: list[Callable[[_Work], Made]] = []
        self._groups: list[_Group] = []
        pending: list[Columns] = []
        group: list[tuple[Any, Columns | None]] = []
        first = 0

        def rows_end() -> None:
            if pending:
                self._enclose.append(_Rows(first, pending))
                pending.clear()

        def group_end() -> None:
            if group:
                made = _Group(group)
                self._steps.append(made)
                if made.filled:
                    self._groups.append(made)
                group.clear()

        for at, block in enumerate(tape.blocks):
            if not block.size:
                continue
            found = columns(block)
            if found is not None:
                first = first if pending else block.start
                pending.append(found)
            else:
                rows_end()
                self._enclose.append(_enclosing(block, at))
            entrywise = isinstance(block, (tp.Unary, tp.Fixed, tp.Binary, tp.Run))
            if not (entrywise and is_small(block)):
                group_end()
            if entrywise:
                group.append((block, found))
                if not is_small(block):
                    group_end()
            else:
                self._steps.append(_stepping(tape, block))
        rows_end()
        group_end()

    def __call__(self, tape: Tape) -> bool:
        """Fill a tape of the same blocks with enclosures and steps.

        Gives False, and leaves the tape as it is, where a node meets a fault or has no
        finite ends.
        """
        charge(WORK * self._nodes)
        n = self._nodes
        lo, hi = np.empty(n), np.empty(n)
        lo[: tape.ninputs], hi[: tape.ninputs] = tape.sets[0]
        held = Enclosures.into(tape, lo, hi)
        work = _Work(tape, (lo, hi), np.empty((5, n)), np.empty((5, n)), held)
        program = BoxProgram([], [])
        with np.errstate(all="ignore"):
            try:
                for group in self._groups:
                    group.prepare(work)
                for enclose in self._enclose:
                    enclose(work)
                for made in self._steps:
                    _add(program, *made(work))
            except _Failed:
                return False
        held.known(len(tape.blocks), n)
        tape.cache["enclosures"] = held
        tape.cache["program"] = program
        return True


# -- enclosures --------------------------------------------------------------------------


class _Rows:
    """Entrywise blocks in a row, all of arithmetic."""

    def __init__(self, start: int, blocks: list[Columns]) -> None:
        self.start = start
        self.kernel = kernels.rows.compiled()
        self.args = tuple(
            np.concatenate([getattr(b, name) for b in blocks])
            for name in ("code", "a", "b", "c")
        )

    def __call__(self, work: _Work) -> None:
        done = self.kernel(*work.ends, work.low, work.high, self.start, *self.args)
        if done < self.args[0].size:
            raise _Failed


def _enclosing(block: Any, at: int) -> Callable[[_Work], None]:
    if isinstance(block, tp.Inputs):
        return _ready
    small = isinstance(block, (tp.Linear, tp.Dot)) and 0 < np.prod(block.shape) <= CHUNK
    if isinstance(block, tp.Linear) and small:
        found, bad = coefficients(block)
        if not bad:
            return _Sum(block, found)
    if isinstance(block, tp.Dot) and small and not block.centred:
        return _Products(block)
    return partial(_by_recording, block, at)


def _ready(work: _Work) -> None:
    """The inputs are given."""
    if not (
        np.isfinite(work.tape.sets[0][0]).all()
        and np.isfinite(work.tape.sets[0][1]).all()
    ):
        raise _Failed


def _by_recording(block: Any, at: int, work: _Work) -> None:
    """Enclose a block as a recording does, and write its partials."""
    held, here = work.held, slice(block.start, block.stop)
    held.known(at, block.start)
    if isinstance(block, (tp.Unary, tp.Fixed, tp.Binary, tp.Run)):
        made = _Block.of(work.tape, block, held.with_partials(block))
        for k, part in enumerate(_merged(made)):
            work.low[k, here], work.high[k, here] = part
    else:
        held.append(block)
    if held.marks(block) is not None or not all(
        np.isfinite(e[here]).all() for e in work.ends
    ):
        raise _Failed


class _Sum:
    """Linear nodes."""

    def __init__(self, block: tp.Linear, found: Any) -> None:
        self.n = block.size
        self.nk = block.shape[3]
        self.kernel = kernels.linear.compiled()
        ids = steps.NO_IDS if block.x.ids is None else block.x.ids
        ends = found if found is not None else (block.coef, block.coef)
        coef = [(np.ascontiguousarray(e), 0, *block.coef_strides) for e in ends]
        self.args = (
            (block.start, *block.shape),
            walk(ids, block.x),
            *coef,
            found is None,
        )

    def __call__(self, work: _Work) -> None:
        room = (np.empty(self.nk) for _ in range(3))
        if self.kernel(*work.ends, *self.args, *room) < self.n:
            raise _Failed


class _Products:
    """Inner products."""

    def __init__(self, block: tp.Dot) -> None:
        self.n = block.size
        self.nk = block.shape[3]
        self.kernel = kernels.products.compiled()
        x, y = (
            walk(steps.NO_IDS if o.ids is None else o.ids, o)
            for o in (block.x, block.y)
        )
        self.args = ((block.start, *block.shape), x, y)

    def __call__(self, work: _Work) -> None:
        room = (np.empty(self.nk) for _ in range(3))
        if self.kernel(*work.ends, *self.args, *room) < self.n:
            raise _Failed


# -- steps -------------------------------------------------------------------------------


def _stepping(tape: Tape, block: Any) -> Callable[[_Work], Made]:
    if isinstance(block, tp.Dot):
        return lambda work: _step(work.tape, work.ends, block)
    made = _step(tape, None, block)
    return lambda work: made


class _Group:
    """Entrywise blocks that become one step.

    Args:
        blocks: The blocks, with their rows; None where NumPy encloses them.
    """

    def __init__(self, blocks: list[tuple[Any, Columns | None]]) -> None:
        first, last = blocks[0][0], blocks[-1][0]
        self.start, self.stop = first.start, last.stop
        self.n = self.stop - self.start
        parents = [_parents(block, c) for block, c in blocks]
        self.two = any(p[2] for p in parents)
        self.a, self.b = (np.concatenate([p[k] for p in parents]) for k in (0, 1))
        if len(blocks) == 1:
            x, y = slots(first)
            self.x = where(x, self.n)
            self.y = where(y, self.n) if self.two else (steps.NO_IDS, 0, 0)
        else:
            self.x, self.y = (self.a, 0, 0), (self.b, 0, 0)
            if not self.two:
                self.y = (steps.NO_IDS, 0, 0)
        every = [_template(block, c) for block, c in blocks]
        same = any(c is None or c.same for _, c in blocks)
        self.filled = len(blocks) > 1 or same or isinstance(first, tp.Run)
        self.fixed: list[Any] = [VARIES] * 5
        self.template: list[Any] = [None] * 5
        for k in range(5):
            parts = [t[k] for t in every]
            sizes = [block.size for block, _ in blocks]
            if self.filled:
                if any(p is not VARIES for p in parts):
                    self.template[k] = np.concatenate(
                        [
                            np.full(n, np.nan if p is VARIES else p)
                            for p, n in zip(parts, sizes, strict=True)
                        ]
                    )
            elif parts[0] is not VARIES:
                ends, t = steps.column((parts[0],), self.n)
                self.fixed[k] = (ends[0], t), (np.abs(ends[0]), t)

        def active(k: int) -> bool:
            return any(t[k] is VARIES or bool(np.any(t[k])) for t in every)

        self.curved = any(active(k) for k in (2, 3, 4))
        self.cross = active(3)

    def prepare(self, work: _Work) -> None:
        """Write the partials that do not vary; NaN where kernels write."""
        here = slice(self.start, self.stop)
        for k, given in enumerate(self.template):
            if given is not None:
                work.low[k, here] = work.high[k, here] = given

    def __call__(self, work: _Work) -> Made:
        here = slice(self.start, self.stop)
        low, high = work.low[:, here], work.high[:, here]
        signed, size = [], []
        for k, fixed in enumerate(self.fixed):
            if fixed is not None:
                (e, t), (m, _) = fixed
                signed.append(((e, e), t))
                size.append(((m,), t))
            else:
                m = magnitude(low[k], high[k])
                if not np.isfinite(m).all():
                    raise _Failed
                signed.append(((low[k], high[k]), 1))
                size.append(((m,), 1))
        return self._made(work, signed, size)

    def _made(self, work: _Work, signed: Any, size: Any) -> Made:
        topo = (self.start, self.n, self.two, *self.x, *self.y)
        refs: tuple[Any, ...] = (*ONE, *ONE)
        if self.cross:
            z = work.magnitudes()
            refs = (z[self.a], 1, z[self.b], 1)
        flat: list[Any] = [entry for (e,), t in size for entry in (e, t)]
        step = Pair(
            topo, tuple(flat[:4]), tuple(flat[4:]), refs, self.curved, self.cross
        )

        def arithmetic(kernels_: Any, given: Any) -> steps.Entrywise:
            c = tuple(given[2:]) if self.curved else None
            return steps.Entrywise(kernels_, topo, (given[0], given[1]), c)

        return step, arithmetic(interval, signed), arithmetic(upward, size)


def _parents(block: Any, found: Columns | None) -> tuple[Array, Array, bool]:
    """Parents in both slots, and whether there is a second one."""
    x, y = slots(block)
    if found is not None:
        return found.a, found.b, y is not None
    a = x.flat((block.size,))
    return a, a if y is None else y.flat((block.size,)), y is not None


def _template(block: Any, found: Columns | None) -> Any:
    if found is not None:
        return found.parts
    if isinstance(block, (tp.Unary, tp.Fixed)):
        return (VARIES, 0.0, VARIES, 0.0, 0.0)
    return (VARIES,) * 5
