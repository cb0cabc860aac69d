"""A plain machine for compiled steps: a tape's blocks, evaluated again by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from derivative_covers.checkpoint.steps import _machines, _program
from derivative_covers.elementals import BY_OPCODE
from derivative_covers.errors import DerivativeError
from derivative_covers.sweeps import adjoints, check_outputs
from derivative_covers.tape import Tape
from derivative_covers.tape._blocks import (
    Binary,
    Constants,
    Dot,
    Fixed,
    Inputs,
    Linear,
    Operand,
    Run,
    Unary,
)

__all__ = ["Again", "machines"]

Decide = Callable[[Any], Any]


class Again:
    """A machine for one recorded step.

    Attributes:
        runs: How many steps each call of ``run`` did.
        reversals: How many each call of ``reverse`` did.
    """

    def __init__(
        self,
        tape: Tape,
        outs: Any,
        constants: Any,
        nparams: int,
        index: int,
        row: int,
        decide: Decide,
    ) -> None:
        self.tape, self.outs, self.constants, self.decide = (
            tape,
            outs,
            constants,
            decide,
        )
        self.nparams, self.index, self.row = nparams, index, row
        self.decision = decide(tape.vals[: tape.ninputs])
        self.runs: list[int] = []
        self.reversals: list[int] = []

    def run(
        self,
        params: Any,
        state: Any,
        start: int,
        stop: int,
        *,
        data: Any = None,
        states: Any = None,
    ) -> tuple[Any, int]:
        for k in range(start, stop):
            y = self._next(self._inputs(params, state, k, data))
            if y is None:
                self.runs.append(k - start)
                return state, k
            if states is not None:
                states[k - start] = state
            state = y
        self.runs.append(stop - start)
        return state, stop

    def reverse(
        self,
        params: Any,
        states: Any,
        start: int,
        stop: int,
        ybar: Any,
        held: Any,
        *,
        data: Any = None,
    ) -> tuple[Any, int]:
        for k in range(stop - 1, start - 1, -1):
            v = self._back(self._inputs(params, states[k - start], k, data), ybar, held)
            if v is None:
                self.reversals.append(stop - 1 - k)
                return ybar, k + 1
            ybar, held[:] = v[self.nparams : self.index], v[: self.nparams]
        self.reversals.append(stop - start)
        return ybar, start

    def _inputs(self, params: Any, state: Any, k: int, data: Any) -> Any:
        row = [] if data is None else data[k]
        return np.concatenate([params, state, [float(k)], row])

    def _at(self, x: Any) -> Tape | None:
        if self.decide(x) != self.decision:
            return None
        tape = again(self.tape, x)
        try:
            if (self.outs >= 0).any():
                check_outputs(tape, self.outs[self.outs >= 0])
        except DerivativeError:
            return None
        return tape

    def _next(self, x: Any) -> Any:
        tape = self._at(x)
        if tape is None:
            return None
        y = np.where(self.outs >= 0, tape.vals[self.outs], self.constants)
        return y if np.isfinite(y).all() else None

    def _back(self, x: Any, cotangent: Any, held: Any) -> Any:
        tape, live = self._at(x), self.outs >= 0
        if tape is None:
            return None
        if not live.any():
            v = np.zeros(tape.ninputs)
            v[: held.size] = held
            return v
        program = check_outputs(tape, self.outs[live])
        v = adjoints(program, tape, cotangent[live], self.outs[live], held=held)
        return v[: tape.ninputs] if np.isfinite(v[: tape.ninputs]).all() else None


def again(tape: Tape, x: Any) -> Tape:
    """The same program with the values at another point."""
    v = np.empty(tape.nnodes)
    blocks = []
    with np.errstate(all="ignore"):
        for block in tape.blocks:
            here = slice(block.start, block.stop)
            v[here] = _values(block, v, x)
            blocks.append(replace(block, values=v[here].copy()))
    new = copy(tape)
    new.blocks, new.cache, new._copies = blocks, {}, {}
    return new


def _values(block: Any, v: Any, x: Any) -> Any:
    n = (block.size,)
    match block:
        case Inputs():
            return x
        case Constants():
            return block.values
        case Unary():
            return block.op.value(np, v[block.x.flat(n)])
        case Fixed():
            operands = [v[block.x.flat(n)], block.const]
            return block.op.value(np, *operands[:: 1 if block.slot == 0 else -1])
        case Binary():
            return block.op.value(np, v[block.x.flat(n)], v[block.y.flat(n)])
        case Linear():
            at = Operand(0, block.coef_strides).flat(block.shape)
            terms = block.coef.ravel()[at] * v[block.x.flat(block.shape)]
            return terms.reshape(block.size, -1).sum(axis=1)
        case Dot():
            terms = v[block.x.flat(block.shape)] * v[block.y.flat(block.shape)]
            return terms.reshape(block.size, -1).sum(axis=1)
        case Run():
            return _run(block, v)
    msg = f"a block of type {type(block).__name__} has no values here"
    raise TypeError(msg)


def _run(block: Run, v: Any) -> Any:
    for i, (code, a, b) in enumerate(
        zip(block.code, block.a, block.other, strict=True)
    ):
        op, pattern = BY_OPCODE[code >> 2], code & 3
        operands = [v[a]]
        if pattern == 1:
            operands.append(v[int(b)])
        elif pattern:
            operands = [v[a], b] if pattern == 2 else [b, v[a]]
        v[block.start + i] = op.value(np, *operands)
    return v[block.start : block.stop]


@contextmanager
def machines(decide: Decide = lambda x: None) -> Iterator[list[Again]]:
    """Compiled steps run by :class:`Again`; gives the machines that are made.

    ``decide`` tells from the inputs which branch a program takes.
    """
    made: list[Again] = []

    def make(*recorded: Any) -> Again:
        made.append(Again(*recorded, decide))
        return made[-1]

    before, decisions = list(_machines._chosen), _program._decisions
    _machines.use(make)
    _program._decisions = lambda tape: decide(tape.vals[: tape.ninputs])
    try:
        yield made
    finally:
        _machines._chosen[:] = before
        _program._decisions = decisions
