"""Steps of blocks over another box; what does not depend on it is found out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import tape as tp
from ...tape import Tape
from .._entrywise import Pair
from .._lower import slots, where
from .._step import Array
from ..kernels import interval, upward
from . import _steps as steps
from ._columns import VARIES, Columns
from ._enclosing import Failed, Work
from ._lower import _entrywise, _step, magnitude

__all__ = ["Group", "Made", "recorded", "stepping"]

ONE = (np.ones(1), 0)
Made = tuple[Any, Any, Any]


def stepping(tape: Tape, block: Any) -> Callable[[Work], Made]:
    if isinstance(block, tp.Dot):
        return lambda work: _step(work.tape, work.ends, block)
    made = _step(tape, None, block)
    return lambda work: made


def recorded(start: int, work: Work) -> Made:
    return _entrywise(work.ends, work.large.pop(start))


class Group:
    """Entrywise blocks that become one step.

    Args:
        blocks: The blocks, with their rows; None where NumPy encloses them.
        index: Which group it is.
    """

    def __init__(self, blocks: list[tuple[Any, Columns | None]], index: int) -> None:
        self.index = index
        first, last = blocks[0][0], blocks[-1][0]
        self.start = first.start
        self.n = last.stop - first.start
        parents = [_parents(block, c) for block, c in blocks]
        self.two = any(p[2] for p in parents)
        self.a, self.b = (np.concatenate([p[k] for p in parents]) for k in (0, 1))
        if len(blocks) == 1:
            places = [where(x, self.n) for x in slots(first) if x is not None]
        else:
            places = [(self.a, 0, 0), (self.b, 0, 0)]
        x, y = (*places[: 1 + self.two], (steps.NO_IDS, 0, 0))[:2]
        self.topo = (self.start, self.n, self.two, *x, *y)
        every = [_template(block, c) for block, c in blocks]
        sizes = [block.size for block, _ in blocks]
        self.signed: list[Any] = [None] * 5
        self.size: list[Any] = [None] * 5
        self.template: list[Any] = [None] * 5
        mixed = any(c is None or c.mixed for _, c in blocks)
        for k, parts in enumerate(zip(*every, strict=True)):
            varies = mixed or any(p is VARIES for p in parts)
            joined = parts[0] if len(parts) == 1 else _joined(parts, sizes)
            if not varies:
                ends, t = steps.column((joined,), self.n)
                self.signed[k] = (ends[0], ends[0]), t
                self.size[k] = (np.abs(ends[0]),), t
            elif joined is not VARIES:
                self.template[k] = joined
        self.rows = [k for k in range(5) if self.signed[k] is None]
        self.varying: Any = self.rows  # as a slice, no copy is made of them
        if self.rows == list(range(len(self.rows))):
            self.varying = slice(len(self.rows))

        def active(k: int) -> bool:
            return any(t[k] is VARIES or bool(np.any(t[k])) for t in every)

        self.curved = any(active(k) for k in (2, 3, 4))
        self.cross = active(3)

    def prepared(self) -> tuple[Array, Array]:
        """Arrays of partials with those that do not vary; NaN where kernels write."""
        low, high = np.empty((5, self.n)), np.empty((5, self.n))
        for k, given in enumerate(self.template):
            if given is not None:
                low[k] = high[k] = given
        return low, high

    def __call__(self, work: Work) -> Made:
        low, high = work.parts[self.index]
        sizes = magnitude(low[self.varying], high[self.varying])
        if not sizes.max(initial=0.0) < np.inf:
            raise Failed
        signed, size = list(self.signed), list(self.size)
        for k, row in zip(self.rows, sizes, strict=True):
            signed[k] = (low[k], high[k]), 1
            size[k] = (row,), 1
        return self._made(work, signed, size)

    def _made(self, work: Work, signed: Any, size: Any) -> Made:
        topo = self.topo
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


def _joined(parts: Any, sizes: list[int]) -> Any:
    """Partials of blocks as one number, or one a node; NaN where they vary."""
    known = [np.nan if p is VARIES else p for p in parts]
    if all(np.ndim(p) == 0 and p == known[0] for p in known):
        return known[0]
    return np.concatenate(
        [np.broadcast_to(p, (n,)) for p, n in zip(known, sizes, strict=True)]
    )


def _template(block: Any, found: Columns | None) -> Any:
    if found is not None:
        return found.parts
    if isinstance(block, (tp.Unary, tp.Fixed)):
        return (VARIES, 0.0, VARIES, 0.0, 0.0)
    return (VARIES,) * 5
