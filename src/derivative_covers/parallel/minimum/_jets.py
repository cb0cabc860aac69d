"""A recorded program over many boxes at once: values, gradients and Hessians, enclosed.

A recording over a box holds for every box inside of it: all that it decided holds there
as well. So a program is recorded once, and evaluated over any number of parts in a pass
whose cost for a part is that of arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...elementals._enclosures import enclose
from ...elements import _outward as ow
from ...tape import Tape
from ._steps import Apply, Given, Step, Sum, digest_of, steps_of

__all__ = ["BoxProgram", "Jets"]

ENTRIES = 1 << 22  # that a pass holds at a time
_MASKS = ("undefined", "rough")

Array = NDArray[Any]
Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Jets:
    """Enclosures over boxes, one a column.

    Attributes:
        value: Ends of shape ``(boxes,)``.
        gradient: Ends of shape ``(n, boxes)``; None where nobody asked.
        hessian: Ends of shape ``(n, n, boxes)``; None where nobody asked.
        undefined: Boxes at some points of which the program may have no value.
        rough: Boxes at some points of which it may have no second derivatives, or which
            hold a detached value: gradient and Hessian say nothing there.
    """

    value: Pair
    gradient: Pair | None
    hessian: Pair | None
    undefined: Array
    rough: Array


class BoxProgram:
    """The steps of a recording over a box, to be evaluated over parts of the box.

    Args:
        tape: A finished recording over a box.
        out: Node of its scalar output.

    Raises:
        UnsupportedOperationError: If it holds an explicit node.
        DomainError: If it computes with a constant that is NaN or infinite.
    """

    def __init__(self, tape: Tape, out: int) -> None:
        self.n = tape.ninputs
        self.out = out
        self.nodes, self.steps = steps_of(tape, out)
        self._pairs = list(combinations_with_replacement(range(self.n), 2))
        # What is zero for every box: derivatives that a node does not have.
        self._slopes = np.zeros((self.n, self.nodes), dtype=bool)
        self._bends = np.zeros((len(self._pairs), self.nodes), dtype=bool)
        self._slopes[np.arange(self.n), np.arange(self.n)] = True
        for step in self.steps:
            self._structure(step)

    def _structure(self, step: Step) -> None:
        if isinstance(step, Given):
            return
        at, x = step.at, step.x
        if isinstance(step, Sum):
            self._slopes[:, at] = self._slopes[:, x].any(axis=-1)
            self._bends[:, at] = self._bends[:, x].any(axis=-1)
            return
        slopes, bends = self._slopes[:, x], self._bends[:, x]
        if step.y is not None:
            slopes = slopes | self._slopes[:, step.y]
            bends = bends | self._bends[:, step.y]
        if step.op.name not in _LINEAR and not (
            step.op.name in _SCALED and step.pattern != 1
        ):
            i, j = np.transpose(self._pairs)
            bends = bends | (slopes[i] & slopes[j])
        self._slopes[:, at], self._bends[:, at] = slopes, bends

    def digest(self) -> str:
        """What tells the program from others: all of its operations and constants."""
        return digest_of(self.steps, self.out)

    def __call__(self, lo: Array, hi: Array, order: int) -> Jets:
        """Enclosures over boxes.

        Args:
            lo: Lower ends of shape ``(boxes, n)``.
            hi: Upper ends.
            order: How many derivatives are wanted: 0, 1 or 2.
        """
        rows = (1, 1 + self.n, 1 + self.n + len(self._pairs))[order]
        width = max(ENTRIES // (rows * self.nodes), 1)
        with np.errstate(all="ignore"):
            return _joined(
                [
                    _Pass(
                        self, lo[k : k + width].T, hi[k : k + width].T, order
                    ).result()
                    for k in range(0, len(lo), width)
                ]
            )


# Elementals without curvature; and those that have none with one constant operand.
_LINEAR = frozenset(("add", "subtract", "negative", "copy", "positive", "detach"))
_SCALED = frozenset(("multiply",))


class _Pass:
    """One evaluation: enclosures of all nodes and of their derivatives."""

    def __init__(self, program: BoxProgram, lo: Array, hi: Array, order: int) -> None:
        self.p, self.order = program, order
        boxes = lo.shape[1]
        self.v = _zeros(program.nodes, boxes)
        self.g = _zeros(program.n if order else 0, program.nodes, boxes)
        pairs = len(program._pairs) if order > 1 else 0
        self.h = _zeros(pairs, program.nodes, boxes)
        self.undefined = np.zeros(boxes, dtype=bool)
        self.rough = np.zeros(boxes, dtype=bool)
        inputs = np.arange(program.n)
        _put(self.v, inputs, (lo, hi))
        for end in self.g if order else ():
            end[inputs, inputs] = 1.0
        for step in program.steps:
            if isinstance(step, Given):
                _put(self.v, step.at, (step.ends[0][:, None], step.ends[1][:, None]))
            elif isinstance(step, Sum):
                self._sum(step)
            else:
                self._apply(step)

    def result(self) -> Jets:
        out, n = self.p.out, self.p.n
        gradient = hessian = None
        if self.order:
            gradient = (self.g[0][:, out], self.g[1][:, out])
        if self.order > 1:
            i, j = np.transpose(self.p._pairs)
            ends = []
            for end in self.h:
                full = np.empty((n, n, end.shape[-1]))
                full[i, j] = full[j, i] = end[:, out]
                ends.append(full)
            hessian = (ends[0], ends[1])
        value = (self.v[0][out], self.v[1][out])
        return Jets(value, gradient, hessian, self.undefined, self.rough)

    def _sum(self, step: Sum) -> None:
        where = step.x
        _put(self.v, step.at, _total(_take(self.v, where), step.coef))
        for ends, there in ((self.g, self.p._slopes), (self.h, self.p._bends)):
            if not len(ends[0]):
                continue
            live = np.flatnonzero(there[:, where].any(axis=(1, 2)))
            if live.size:
                terms = _take(ends, live[:, None, None], where[None])
                found = _total(terms, step.coef)
                _put(ends, (live[:, None], step.at[None]), found)

    def _apply(self, step: Apply) -> None:
        x = _take(self.v, step.x)
        operands: tuple[Any, ...] = (x,)
        if step.y is not None:
            operands = (x, _take(self.v, step.y))
        elif step.const is not None:
            operands = (x, step.const) if step.pattern == 2 else (step.const, x)
        found = enclose(step.op, step.pattern, operands, order=self.order)
        value = found.value
        shape = (step.at.size, self.rough.size)
        if found.outside is not None:
            lost = found.outside if found.undefined is None else found.undefined
            lost = np.broadcast_to(lost, shape)
            lo, hi = (np.broadcast_to(e, shape) for e in value)
            value = np.where(lost, -np.inf, lo), np.where(lost, np.inf, hi)
            self.undefined |= lost.any(axis=0)
            self.rough |= np.broadcast_to(found.outside, shape).any(axis=0)
        if found.kink is not None:
            self.rough |= np.broadcast_to(found.kink, shape).any(axis=0)
        if step.op.name == "detach":  # its derivative is zero by decree
            self.rough[:] = True
        _put(self.v, step.at, value)
        if not self.order:
            return
        parts = found.parts
        slopes = [parts[0]] if step.pattern != 1 else [parts[0], parts[1]]
        where = [step.x] if step.pattern != 1 else [step.x, step.y]
        _put(self.g, *self._chained(self.g, self.p._slopes, step.at, slopes, where))
        if self.order > 1:
            _put(self.h, *self._chained(self.h, self.p._bends, step.at, slopes, where))
            self._bend(step, parts[len(slopes) :], where)

    def _chained(
        self, ends: Pair, there: Array, at: Any, slopes: Any, where: Any
    ) -> tuple[Any, Pair]:
        """First partials times derivatives of the operands."""
        live = np.flatnonzero(there[:, at].any(axis=1))
        total: Pair | None = None
        for d, ids in zip(slopes, where, strict=True):
            term = _scaled(_take(ends, live[:, None], ids[None]), d)
            total = term if total is None else ow.add(total, term)
        assert total is not None
        return (live[:, None], at[None]), total

    def _bend(self, step: Apply, parts: Any, where: Any) -> None:
        """Second partials times products of first derivatives."""
        if all(isinstance(c, float) and c == 0.0 for c in parts):
            return
        i, j = np.transpose(self.p._pairs)
        x = where[0]
        slopes: Any = self.p._slopes[:, x].any(axis=1)
        if len(where) == 1:
            terms = [(parts[0], x, x)]
        else:
            c11, c12, c22 = parts
            y = where[1]
            terms = [(c11, x, x), (c12, x, y), (c12, y, x), (c22, y, y)]
            slopes = slopes | self.p._slopes[:, y].any(axis=1)
        live = np.flatnonzero(slopes[i] & slopes[j])
        if not live.size:
            return
        a, b = i[live][:, None], j[live][:, None]
        place = (live[:, None], step.at[None])
        total = _take(self.h, *place)
        for c, left, right in terms:
            if isinstance(c, float) and c == 0.0:
                continue
            total = ow.add(total, self._product(c, a, b, left, right))
        _put(self.h, place, total)

    def _product(self, c: Any, a: Any, b: Any, left: Any, right: Any) -> Pair:
        one = _take(self.g, a, left[None])
        product = ow.multiply(one, _take(self.g, b, right[None]))
        if left is right:
            diagonal = np.flatnonzero(a[:, 0] == b[:, 0])
            squares = ow.square((one[0][diagonal], one[1][diagonal]))
            product[0][diagonal], product[1][diagonal] = squares
        return _scaled(product, c)


def _joined(parts: list[Jets]) -> Jets:
    """The columns of all parts, one behind the other."""
    if len(parts) == 1:
        return parts[0]

    def pairs(name: str) -> Any:
        ends = [getattr(part, name) for part in parts]
        if ends[0] is None:
            return None
        return tuple(np.concatenate([e[k] for e in ends], axis=-1) for k in (0, 1))

    masks = (np.concatenate([getattr(p, m) for p in parts]) for m in _MASKS)
    return Jets(pairs("value"), pairs("gradient"), pairs("hessian"), *masks)


def _zeros(*shape: int) -> Pair:
    return np.zeros(shape), np.zeros(shape)


def _take(ends: Pair, *index: Any) -> Pair:
    key = index[0] if len(index) == 1 else index
    return ends[0][key], ends[1][key]


def _put(ends: Pair, key: Any, found: Pair) -> None:
    ends[0][key], ends[1][key] = found


def _scaled(x: Pair, d: Any) -> Pair:
    """Intervals times a partial, which may be one number for all."""
    if isinstance(d, tuple):
        return ow.multiply(x, d)
    if d == 1.0:
        return x
    if d == -1.0:
        return ow.negative(x)
    return ow.multiply(x, ow.point(d))


def _total(terms: Pair, coef: Pair | None) -> Pair:
    """Sums over the last axis but one."""
    if coef is not None:
        terms = ow.multiply(terms, coef)
    return ow.total(terms, axis=-2)
