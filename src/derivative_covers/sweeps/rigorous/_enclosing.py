"""Enclosures of blocks over another box, by kernels or as a recording has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ... import tape as tp
from ...tape import Tape
from ...tape._block_enclosures import coefficients
from ...tape._enclosures import Enclosures
from ...tape._walks import CHUNK
from .._lower import walk
from .._step import Array
from ..kernels import enclosing as kernels
from . import _steps as steps
from ._columns import Columns
from ._lower import _Block, _merged, magnitude

__all__ = ["Failed", "Rows", "Work", "enclosing", "large", "small"]


class Failed(Exception):
    """A node that kernels do not enclose: the route of a recording says what it is."""


@dataclass(slots=True)
class Work:
    """One evaluation.

    Attributes:
        tape: The tape over the other box.
        ends: Ends of all nodes.
        held: Its enclosures, which are filled.
        parts: For each group lower and upper ends of ``d1, d2, c11, c12, c22``.
        large: By their first node, blocks that NumPy encloses and no group holds.
    """

    tape: Tape
    ends: tuple[Array, Array]
    held: Enclosures
    parts: list[tuple[Array, Array]] = field(default_factory=list)
    large: dict[int, _Block] = field(default_factory=dict)
    sizes: Array | None = None

    def magnitudes(self) -> Array:
        """Magnitudes of all nodes."""
        if self.sizes is None:
            self.sizes = magnitude(*self.ends)
        return self.sizes


class Rows:
    """Entrywise blocks of one group in a row, all of arithmetic."""

    def __init__(
        self, blocks: list[tuple[int, Columns]], group: int, first: int
    ) -> None:
        start = blocks[0][0]
        self.group, self.place = group, (start, start - first)
        self.kernel = kernels.rows.compiled()
        self.args = tuple(
            np.concatenate([getattr(b, name) for _, b in blocks])
            for name in ("code", "a", "b", "c")
        )

    def __call__(self, work: Work) -> None:
        parts = work.parts[self.group]
        done = self.kernel(*work.ends, *parts, *self.place, *self.args)
        if done < self.args[0].size:
            raise Failed


def enclosing(block: Any, at: int) -> Callable[[Work], None]:
    if isinstance(block, tp.Inputs):
        return _ready
    short = isinstance(block, (tp.Linear, tp.Dot)) and 0 < np.prod(block.shape) <= CHUNK
    if isinstance(block, tp.Linear) and short:
        found, bad = coefficients(block)
        if not bad:
            return _Sum(block, found)
    if isinstance(block, tp.Dot) and short and not block.centred:
        return _Products(block)
    return partial(_by_recording, block, at)


def _ready(work: Work) -> None:
    """The inputs are given."""
    lo, hi = work.tape.sets[0]
    if not (lo.min(initial=0.0) > -np.inf and hi.max(initial=0.0) < np.inf):
        raise Failed


def _by_recording(block: Any, at: int, work: Work) -> None:
    """Enclose a block as a recording does."""
    work.held.known(at, block.start)
    work.held.append(block)
    _check(block, work)


def _check(block: Any, work: Work) -> None:
    here = slice(block.start, block.stop)
    if work.held.marks(block) is not None or not all(
        np.isfinite(e[here]).all() for e in work.ends
    ):
        raise Failed


def large(block: Any, at: int, work: Work) -> None:
    """The same for elementals, with their partials."""
    work.held.known(at, block.start)
    given = work.held.with_partials(block)
    work.large[block.start] = _Block.of(work.tape, block, given)
    _check(block, work)


def small(block: Any, at: int, group: int, first: int, work: Work) -> None:
    """The same in a group."""
    large(block, at, work)
    here = slice(first, first + block.size)
    low, high = work.parts[group]
    for k, part in enumerate(_merged(work.large.pop(block.start))):
        low[k, here], high[k, here] = part


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

    def __call__(self, work: Work) -> None:
        room = (np.empty(self.nk) for _ in range(3))
        if self.kernel(*work.ends, *self.args, *room) < self.n:
            raise Failed


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

    def __call__(self, work: Work) -> None:
        room = (np.empty(self.nk) for _ in range(3))
        if self.kernel(*work.ends, *self.args, *room) < self.n:
            raise Failed
