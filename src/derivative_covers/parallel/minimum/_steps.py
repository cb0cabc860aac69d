"""A recording over a box as two kinds of steps: elementals, and sums with coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...elementals import Elemental, by_name
from ...errors import DomainError, UnsupportedOperationError
from ...tape import (
    Accumulate,
    Binary,
    Block,
    Constants,
    Dot,
    Fixed,
    Inputs,
    Linear,
    Run,
    Tape,
    Unary,
    coefficients,
)
from ...tape._block_enclosures import one_for_all
from ...tape._layers import layers
from ...tape._walks import ids_of, pieces, positions
from .._store import digest

__all__ = ["Apply", "Given", "Step", "Sum", "digest_of", "steps_of"]

Ids = NDArray[np.int64]
Pair = tuple[Any, Any]

_TIES = frozenset(("maximum", "minimum", "fmax", "fmin", "copysign"))


@dataclass(frozen=True)
class Given:
    """Nodes that depend on nothing: ends of one entry each."""

    at: Ids
    ends: Pair


@dataclass(frozen=True)
class Apply:
    """An elemental of some nodes, entry by entry.

    ``pattern`` is 0 for one operand, 1 for two, 2 where the second one is constant, 3
    where the first one is.
    """

    at: Ids
    op: Elemental
    pattern: int
    x: Ids
    y: Ids | None = None
    const: Any = None


@dataclass(frozen=True)
class Sum:
    """``v[at[o]] = sum_k coef[o, k] v[x[o, k]]``; no coefficients: all are one."""

    at: Ids
    x: Ids
    coef: Pair | None = None


Step = Given | Apply | Sum


def digest_of(steps: list[Step], out: int) -> str:
    """What tells a program from others: all of its operations and constants."""
    entries: list[Any] = [out]
    for step in steps:
        entries.append(type(step).__name__)
        for value in vars(step).values():
            if value is not None:
                entries += value if isinstance(value, tuple) else [value]
    return digest(*(getattr(e, "name", e) for e in entries))


class _Lowering:
    """Steps of a tape, block by block; products of sums get nodes of their own."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.nodes = tape.nnodes
        self.steps: list[Step] = []

    def block(self, block: Block) -> None:
        n = block.size
        at = np.arange(block.start, block.start + n, dtype=np.int64)
        if not n or isinstance(block, Inputs):
            return
        if isinstance(block, Constants):
            self._given(block, at)
        elif isinstance(block, Run):
            self._run(block)
        elif isinstance(block, Accumulate):
            self._accumulated(block, at)
        elif isinstance(block, Unary):
            self.steps.append(Apply(at, block.op, 0, block.x.flat((n,))))
        elif isinstance(block, Fixed):
            self._fixed(at, block.op, 2 + block.slot, block.x.flat((n,)), block.const)
        elif isinstance(block, Binary):
            self._pair(at, block.op, block.x.flat((n,)), block.y.flat((n,)))
        elif isinstance(block, Linear):
            self._linear(block)
        elif isinstance(block, Dot) and not block.centred:
            self._dot(block)
        else:
            _refuse(block)

    def _given(self, block: Block, at: Ids) -> None:
        ends = self.tape.sets.get(block.start)
        if ends is None:
            v = np.asarray(block.values, dtype=np.float64)
            _check_constant(v, "a constant")
            ends = (v, v)
        self.steps.append(Given(at, ends))

    def _run(self, block: Run) -> None:
        for op, pattern, rows in layers(block):
            at, x, other = rows + block.start, block.a[rows], block.other[rows]
            if pattern == 0:
                self.steps.append(Apply(at, op, 0, x))
            elif pattern == 1:
                self._pair(at, op, x, other.astype(np.int64))
            else:
                self._fixed(at, op, pattern, x, other)

    def _pair(self, at: Ids, op: Elemental, x: Ids, y: Ids) -> None:
        same = x == y
        if op.name == "multiply" and same.any():
            self.steps.append(Apply(at[same], by_name("square"), 0, x[same]))
            at, x, y = at[~same], x[~same], y[~same]
        if at.size:
            self.steps.append(Apply(at, op, 1, x, y))

    def _fixed(self, at: Ids, op: Elemental, pattern: int, x: Ids, const: Any) -> None:
        c = np.asarray(const, dtype=np.float64).ravel()
        _check_constant(c, f"the constant operand of {op.name}", op.name in _TIES)
        c = one_for_all(c)[:, None]
        self.steps.append(Apply(at, op, pattern, x, None, c))

    def _accumulated(self, block: Accumulate, at: Ids) -> None:
        x, y = block.x.flat((block.size,)), block.y.flat((block.size,))
        lanes = int(np.count_nonzero(x < block.start))
        for k in range(0, block.size, lanes):
            here = slice(k, k + lanes)
            self._pair(at[here], block.op, x[here], y[here])

    def _linear(self, block: Linear) -> None:
        coef, bad = coefficients(block)
        if bad:
            _check_constant(np.array([np.nan]), "a coefficient of a sum")
        for here, shape, at in pieces(block.shape):
            ids = ids_of(block.x, shape, at).reshape(-1, shape[3])
            ends = None
            if coef is not None:
                where = positions(block.coef_strides, shape, at).reshape(ids.shape)
                ends = (coef[0][where][..., None], coef[1][where][..., None])
            nodes = np.arange(here.start, here.stop, dtype=np.int64) + block.start
            self.steps.append(Sum(nodes, ids, ends))

    def _dot(self, block: Dot) -> None:
        multiply = by_name("multiply")
        for here, shape, at in pieces(block.shape):
            x = ids_of(block.x, shape, at).reshape(-1)
            y = ids_of(block.y, shape, at).reshape(-1)
            terms = np.arange(self.nodes, self.nodes + x.size, dtype=np.int64)
            self.nodes += x.size
            self._pair(terms, multiply, x, y)
            nodes = np.arange(here.start, here.stop, dtype=np.int64) + block.start
            self.steps.append(Sum(nodes, terms.reshape(-1, shape[3])))


def steps_of(tape: Tape, out: int) -> tuple[int, list[Step]]:
    """The number of nodes, and the steps that an output needs, parents first.

    Raises:
        UnsupportedOperationError: For a black box, whose enclosure holds for the box of
            the recording alone, and for linearised results.
        DomainError: For a constant that is NaN or infinite.
    """
    lowering = _Lowering(tape)
    for block in tape.blocks:
        if block.start <= out:
            lowering.block(block)
    needed = np.zeros(lowering.nodes, dtype=bool)
    needed[out] = True
    kept: list[Step] = []
    for step in reversed(lowering.steps):
        mine = needed[step.at]
        if not mine.any():
            continue
        kept.append(step if mine.all() else _part(step, mine))
        step = kept[-1]
        if isinstance(step, Apply | Sum):
            needed[step.x] = True
        if isinstance(step, Apply) and step.y is not None:
            needed[step.y] = True
    return lowering.nodes, kept[::-1]


def _part(step: Step, mine: Any) -> Step:
    """The entries of a step that are needed."""
    if isinstance(step, Given):
        return Given(step.at[mine], (step.ends[0][mine], step.ends[1][mine]))
    if isinstance(step, Sum):
        coef = step.coef and (step.coef[0][mine], step.coef[1][mine])
        return Sum(step.at[mine], step.x[mine], coef)
    y = None if step.y is None else step.y[mine]
    c = step.const
    const = c[mine] if c is not None and len(c) > 1 else c
    return Apply(step.at[mine], step.op, step.pattern, step.x[mine], y, const)


def _check_constant(c: Any, what: str, infinite: bool = False) -> None:
    bad = np.isnan(c) if infinite else ~np.isfinite(c)
    if bad.any():
        msg = (
            f"{what} is {c[bad][0]!r}; nothing can be proved of a function that computes "
            "with it. Give finite constants."
        )
        raise DomainError(msg)


def _refuse(block: Block) -> NoReturn:
    msg = (
        f"node {block.start} ({type(block).__name__}) has an enclosure over the box of the "
        "recording alone, as a black box or a routine of numpy.linalg has; a box that is "
        "divided needs the operations themselves. Write the function with NumPy's."
    )
    raise UnsupportedOperationError(msg)
