"""From the blocks of a tape to the tables of an interpreter."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from .. import tape as tp
from ..elementals import BY_OPCODE
from ..errors import ReplayError
from ..tape import Tape
from ..tape._replay import check_replayable
from ._emit import FEW, POOL, SCRATCH, Emitter, constant_step
from ._groups import emit_group, is_compiled
from ._references import References
from ._tables import Tables, Whole
from .elementals import literal
from .kernels._kinds import (
    COLUMNS,
    DOT,
    GROUP,
    LINEAR,
    SCALED,
    X,
)
from .kernels.schedule import scheduled

__all__ = ["lower"]

LARGE = 1 << 15  # nodes of a program that is computed by tiles where that is possible
WIDE_COLUMNS = 19


def lower(
    tape: Tape,
    outs: Any,
    *,
    constants: Any = None,
    batch: bool = False,
    tiles: bool = True,
) -> Tables:
    """The tables of a finished float64 tape for some outputs, at one point or at many.

    Negative ``outs`` are constants, whose values are those of ``constants`` there.
    ``tiles`` says whether large programs may be computed by tiles.

    Raises:
        ReplayError: If a node that the outputs depend on cannot be replayed.
    """
    if import_module("numba").config.DISABLE_JIT:
        msg = "the compiler is off (NUMBA_DISABLE_JIT)."
        raise ReplayError(msg)
    check_replayable(tape)
    if tape.dtype != np.float64 or tape.box is not None:
        msg = "compiled replay is for float64 tapes recorded at a point."
        raise ReplayError(msg)
    return Lowering(tape, outs, constants, batch, tiles).tables()


class Lowering:
    def __init__(
        self, tape: Tape, outs: Any, constants: Any, batch: bool, tiles: bool
    ) -> None:
        self.tape = tape
        self.outs = np.ravel(outs)
        self.constants = constants
        self.out = Emitter(batch)
        self.pos: Whole = np.full(tape.nnodes, -1)
        self.wide: list[list[int]] = []
        self.preset: list[tuple[int, Any]] = []
        self.bodies: list[list[int]] = []
        self.scratch = 0
        self.dead = False
        self.batch = batch
        self.waiting: dict[int, Any] = {}
        guards = guard_table(tape)
        self.guards = guards
        wanted = np.concatenate([self.outs, guards[1], guards[2]]).astype(np.int64)
        large = tape.nnodes > LARGE and tiles and not batch
        self.refs = References(tape, wanted[wanted >= 0], large, is_compiled)

    def tables(self) -> Tables:
        """All of it."""
        tape, refs = self.tape, self.refs
        k = 0
        while k < len(tape.blocks):
            block = tape.blocks[k]
            if not refs.needed[k] or not block.size:
                k += 1
            elif refs.group[k] >= 0:
                k = emit_group(self, k)
            else:
                self._block(block)
                k += 1
        return self._finished()

    def _finished(self) -> Tables:
        out = self.out
        rows = [
            (relation, self._guarded(i, a), self._guarded(j, b))
            for relation, i, j, a, b in zip(*self.guards, strict=True)
        ]
        count = len(out.code)
        code = np.array(out.code + self.bodies, dtype=np.int64).reshape(-1, COLUMNS)
        for at, group in enumerate(out.code):
            if group[0] == GROUP:
                code[at, X] += count
        ids = np.concatenate([*out.ids, np.empty(0, np.int64)]).astype(np.int64)
        wide = np.array(self.wide, dtype=np.int64).reshape(-1, WIDE_COLUMNS)
        guards = np.array(rows, dtype=np.int64).reshape(-1, 3)
        outs = self._outputs()
        size, npool = out.top, out.npool
        outside = out.outside

        def settled(a: Any) -> None:
            pool, scratch = (a >= POOL) & (a < SCRATCH), a >= SCRATCH
            a[pool] += size - POOL
            a[scratch] += size + npool - SCRATCH

        for a in (code, ids, wide, guards, outs):
            settled(a)
        for each in outside:
            settled(each.x)
            if each.y is not None and each.y is not each.x:
                settled(each.y)
        pool = np.concatenate([*out.pool, np.empty(0)])
        assert pool.size == npool
        return Tables(
            code, count, wide, ids, size, pool, self.scratch, self.preset, out.functions,
            outside, self.tape.ninputs, outs, guards, out.crosses,
            out.crosses and (self.dead or bool(self.preset)),
        )  # fmt: skip

    def _guarded(self, node: int, constant: float) -> int:
        return int(self.pos[node]) if node >= 0 else self.out.constant(constant)

    def _outputs(self) -> Whole:
        fixed = self.outs < 0
        found = self.positions(np.where(fixed, 0, self.outs))
        for k in np.flatnonzero(fixed).tolist():
            found[k] = self.out.constant(float(np.ravel(self.constants)[k]))
        return found

    def positions(self, ids: Any) -> Whole:
        found: Whole = self.pos[ids]
        assert (found >= 0).all()
        return found

    # -- blocks ------------------------------------------------------------------------

    def _block(self, block: Any) -> None:
        out = self.out
        n = block.size
        if isinstance(block, tp.Run):
            self._run(block)
            return
        if isinstance(block, (tp.Inputs, tp.Constants)):
            o = out.take(n)
            self.pos[block.start : block.stop] = np.arange(o, o + n)
            if isinstance(block, tp.Constants):
                self.preset.append((o, np.asarray(block.values, dtype=np.float64)))
            return
        if isinstance(block, (tp.Linear, tp.Dot)):
            self._wide(block)
            return
        if isinstance(block, tp.Accumulate):
            o = out.take(n)
            self.pos[block.start : block.stop] = np.arange(o, o + n)
            x, y = (self.positions(s.flat((n,))) for s in (block.x, block.y))
            self._accumulated(block.op, o, x, y)
            return
        if self._waits(block):
            self.waiting[block.start] = block
            return
        if self.waiting and isinstance(block, tp.Binary) and self._scaled(block):
            return
        self._emit(block)

    def _emit(self, block: Any) -> None:
        """Emit an entrywise block as it stands."""
        n = block.size
        x, y, pattern = self._slots(block)
        o = self.out.take(n)
        if pattern == 1 and (x == y).any() and not (x == y).all():
            self._mixed(block.op, o, x, y)
        else:
            self.out.entrywise(block.op, pattern, o, x, y)
        self.pos[block.start : block.stop] = np.arange(o, o + n)

    # -- sums with multiples -----------------------------------------------------------

    def _waits(self, block: Any) -> bool:
        """Whether a block of multiples may become a part of the one sum that reads it."""
        if not (isinstance(block, tp.Fixed) and block.op.name == "multiply"):
            return False
        k = self.refs.index(block)
        return (
            not self.batch
            and block.size >= FEW
            and block.const.size == 1
            and bool(np.isfinite(block.const).all())
            and self.refs.uses[k] == 1
            and _adds(self.refs.user(k), block)
        )

    def _scaled(self, block: tp.Binary) -> bool:
        """Emit a sum of entries and multiples that wait; False if it is none."""
        out, n = self.out, block.size
        waiting = [
            None if x.ids is not None else self.waiting.pop(x.start, None)
            for x in (block.x, block.y)
        ]
        if waiting[1] is not None:
            part, other = waiting[1], block.x
            if waiting[0] is not None:
                self._emit(waiting[0])
        elif waiting[0] is not None and block.op.name == "add":
            part, other = waiting[0], block.y
        else:
            for each in waiting:
                if each is not None:
                    self._emit(each)
            return False
        x = out.line(self.positions(other.flat((n,))))
        y = out.line(self.positions(part.x.flat((n,))))
        c = float(part.const.item())
        at = out.constant(c if block.op.name == "add" else -c)
        o = out.take(n)
        out.code.append(out.row(SCALED, 0, o, x, y, n, more=at))
        self.pos[block.start : block.stop] = np.arange(o, o + n)
        return True

    def _slots(self, block: Any) -> tuple[Any, Any, int]:
        """Positions of both operands, and the pattern."""
        n = (block.size,)
        x = self.positions(block.x.flat(n))
        if isinstance(block, tp.Unary):
            return x, None, 0
        if isinstance(block, tp.Fixed):
            c = self._fixed(block)
            return (x, c, 2) if block.slot == 0 else (c, x, 3)
        y = self.positions(block.y.flat(n))
        if (x == y).all():
            return x, None, 6
        return x, y, 1

    def _fixed(self, block: tp.Fixed) -> Whole:
        n, const = block.size, np.asarray(block.const, dtype=np.float64)
        if const.size == 1:
            return np.full(n, self.out.constant(const.item()))
        at = self.out.constants(const)
        return np.arange(at, at + n)

    def _accumulated(self, op: Any, o: int, x: Whole, y: Whole) -> None:
        if (x == y).any():
            msg = f"a running {op.name} of one node with itself is not compiled."
            raise ReplayError(msg)
        if self.out.number(op, 1, None) is None:
            msg = f"a running {op.name} is not compiled."
            raise ReplayError(msg)
        self.out.entrywise(op, 1, o, x, y, chained=True)

    def _mixed(self, op: Any, o: int, x: Whole, y: Whole) -> None:
        """Two operands that are the same node in some entries."""
        same = x == y
        edges = np.flatnonzero(np.diff(same)) + 1
        bounds = [0, *edges.tolist(), x.size]
        for first, last in pairwise(bounds):
            part = slice(first, last)
            if same[first]:
                self.out.entrywise(op, 6, o + first, x[part], None)
            else:
                self.out.entrywise(op, 1, o + first, x[part], y[part])

    def straight(self, x: tp.Operand, n: int) -> int | None:
        """First position of consecutive entries of one block; None for all else."""
        if x.ids is not None or x.strides != (1,):
            return None
        block = self.tape.block_of(x.start)
        if isinstance(block, tp.Run) or x.start + n > block.stop:
            return None
        return int(self.pos[x.start])

    # -- runs of scalars ---------------------------------------------------------------

    def _run(self, block: tp.Run) -> None:
        out = self.out
        pattern = (block.code & 3).astype(np.int64)
        opcode = (block.code >> 2).astype(np.int64)
        other = block.other.real
        two = pattern == 1
        b = np.where(two, other, -1).astype(np.int64)
        pattern[two & (b == block.a)] = 6
        lone = b.copy()
        lone[pattern == 6] = -1
        kinds, facts = _kinds(opcode, pattern, other)
        order, ends = scheduled.compiled()(
            kinds, len(facts), np.ascontiguousarray(block.a), lone, block.start
        )
        o = out.take(block.size)
        at = np.empty(block.size, dtype=np.int64)
        at[order] = np.arange(o, o + block.size)
        self.pos[block.start : block.stop] = at
        x = self.positions(block.a)
        y = x.copy()
        y[two] = self.positions(b[two])
        fixed = np.flatnonzero((pattern == 2) | (pattern == 3))
        if fixed.size:
            bits = other[fixed].astype(np.float64).view(np.int64)
            values, which = np.unique(bits, return_inverse=True)
            places = [out.constant(v) for v in values.view(np.float64)]
            constants = np.array(places)[which.ravel()]
            second = pattern[fixed] == 2
            y[fixed] = np.where(second, constants, x[fixed])
            x[fixed] = np.where(second, x[fixed], constants)
        out.rows(kinds, facts, x, y, order, ends, o)

    # -- wide nodes --------------------------------------------------------------------

    def _wide(self, block: Any) -> None:
        out = self.out
        o = out.take(block.size)
        shape = block.shape
        row = [o, *shape, *self._walk(block.x, shape)]
        if isinstance(block, tp.Dot):
            out.crosses = True
            row += [*self._walk(block.y, shape), int(block.merge), 0]
            kind = DOT
        else:
            coef = np.asarray(block.coef, dtype=np.float64)
            at = out.constant(coef.item()) if coef.size == 1 else out.constants(coef)
            strides = (0,) * 4 if coef.size == 1 else block.coef_strides
            count = share_of(coef.item()) if coef.size == 1 else 0
            row += [at, *strides, -1, count, out.constant(1.0) if count else 0]
            self.dead |= not _enters(coef, strides, shape)
            kind = LINEAR
        self.wide.append(row)
        out.code.append(out.row(kind, 0, o, len(self.wide) - 1, 0, block.size))
        self.pos[block.start : block.stop] = np.arange(o, o + block.size)

    def _walk(self, x: tp.Operand, shape: tuple[int, ...]) -> list[int]:
        if x.ids is not None:
            used = self.pos[x.ids]
            return [x.start, *x.strides, self.out.listed(used)]
        reach = [s * (n - 1) for s, n in zip(x.strides, shape, strict=True)]
        low = x.start + sum(r for r in reach if r < 0)
        high = x.start + sum(r for r in reach if r > 0)
        first = self.straight(tp.Operand(low), high - low + 1)
        if first is None and constant_step(self.pos[low : high + 1]) == 1:
            first = int(self.pos[low])
        if first is not None and first >= 0:
            return [x.start - low + first, *x.strides, -1]
        used = self.positions(x.flat(shape))
        n1, n2, nk = shape[1:]
        return [0, n1 * n2 * nk, n2 * nk, nk, 1, self.out.listed(used)]


def _adds(user: Any, block: Any) -> bool:
    """Whether a block adds all entries of another to something else, in their order."""
    if not isinstance(user, tp.Binary) or isinstance(user, tp.Accumulate):
        return False
    slots = (user.x, user.y) if user.op.name == "add" else (user.y,)
    return (
        user.op.name in ("add", "subtract")
        and user.size == block.size
        and any(
            x.ids is None and x.start == block.start and x.strides == (1,)
            for x in slots
        )
    )


def _kinds(opcode: Any, pattern: Any, other: Any) -> tuple[Whole, list[Any]]:
    """A small number for every kind of row, and what the kinds are."""
    key = opcode * 8 + pattern
    found, kinds = np.unique(key, return_inverse=True)
    kinds = kinds.ravel().astype(np.int64)
    facts: list[Any] = [(BY_OPCODE[c >> 3], c & 7, None) for c in found.tolist()]
    for kind in range(len(found)):
        op, pat, _ = facts[kind]
        if pat not in (2, 3):
            continue
        rows = np.flatnonzero(kinds == kind)
        for value in np.unique(other[rows]).tolist():
            if literal(op, value):
                kinds[rows[other[rows] == value]] = len(facts)
                facts.append((op, pat, value))
    return kinds, facts


def _enters(coef: Any, strides: Any, shape: Any) -> bool:
    """Whether every linear node has a coefficient that is not zero."""
    if coef.all():
        return True
    steps = tuple(8 * step for step in strides)
    whole = np.lib.stride_tricks.as_strided(coef, shape, steps, writeable=False)
    return bool((whole != 0).any(axis=-1).all())


def share_of(coef: Any) -> int:
    """``n`` where a coefficient is the share ``1/n`` of a mean, which NumPy divides."""
    count = np.rint(1.0 / coef) if coef > 2.0**-52 else 0.0
    return int(count) if count > 1.0 and coef == 1.0 / count else 0


def guard_table(tape: Tape) -> tuple[Any, ...]:
    """Guards of a tape in columns: relation, two nodes (-1: a constant), constants."""
    found = tape.guards.table(tape)
    return found.relation, found.x, found.y, found.x_const, found.y_const
