"""The steps of a sweep: blocks of a tape in the form that kernels take.

Every step offers the same passes; a sweep is a loop over steps, forward or backward,
that calls one kernel a step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..local import ScaleSource

__all__ = [
    "CHUNK",
    "NEEDS_SCALE",
    "NOT_COVERED",
    "NOT_FINITE",
    "Array",
    "CoverState",
    "Expanded",
    "Leaves",
    "Shape",
    "Step",
    "Walk",
]

Array = NDArray[Any]
Expanded = tuple[int, Array, Array, Array]
Shape = tuple[int, int, int, int, int]
Walk = tuple[Any, int, int, int, int, int]
CHUNK = 1 << 18  # slots of a chunk of expanded nodes

_NONE = np.empty(0, dtype=np.int64)

NEEDS_SCALE, NOT_FINITE, NOT_COVERED = 1, 2, 3


@dataclass(slots=True)
class CoverState:
    """What a cover sweep reads beside the tape: liveness, declared scales, options."""

    source: ScaleSource
    ratio: Any
    check: bool
    live: Array  # one byte a node; empty where every node is live
    limit: float
    sigma: Array = field(default_factory=lambda: np.empty(0))

    @property
    def options(self) -> tuple[Any, ...]:
        """What kernels take."""
        return self.live, self.sigma, self.ratio, self.check, self.limit

    def ask(self) -> None:
        """Build the declared scales, which some block asked for."""
        self.sigma = np.asarray(self.source.scales)


class Step(ABC):
    """A group of nodes ``start .. stop`` and its passes.

    ``v``, ``s``, ``b``, ``g``, ... hold one entry for every node of the tape. What is not
    abstract has the answer of steps without curvature. Arrays of magnitudes (``g``, and
    all that ``absolute`` passes take) are real.
    """

    __slots__ = ("start", "stop")

    start: int
    stop: int
    curved = False
    cross = False  # whether a split with an active off-diagonal entry can occur

    @abstractmethod
    def adjoint(self, v: Array, absolute: bool) -> None:
        """Reverse: ``v[parent] += d v[node]``."""

    @abstractmethod
    def tangent(self, s: Array, absolute: bool) -> None:
        """Forward: ``s[node] = sum d s[parent]``."""

    @abstractmethod
    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """Reverse: ``b[p_i] += d_i b[node] + vbar[node] C_ij dot[p_j]``."""

    @abstractmethod
    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """Reverse: adjoints and sum merge of the first ``last`` nodes.

        Gives ``(status, nodes that remain)``.
        """

    @abstractmethod
    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """Reverse: one channel of the hybrid merge."""

    @abstractmethod
    def has_zero(self) -> bool:
        """Whether some first partial is exactly zero."""

    @abstractmethod
    def alive(self, live: Array) -> None:
        """Forward: liveness."""

    @abstractmethod
    def reach(self, mark: Array, mode: int) -> None:
        """Reverse: dependence, through first partials (mode 0), second ones (1), all (2)."""

    @abstractmethod
    def expanded(self) -> Iterator[Expanded]:
        """The nodes in chunks, as ``(first node, ptr, parents, partials)``."""

    def weights(self, adj: Array, state: CoverState) -> tuple[Any, int, int]:
        """Slot weights of all nodes, and ``(status, nodes that remain)``."""
        return None, 0, 0

    def asks(self, ratio: Any) -> bool:
        """Whether a block could ask for declared scales."""
        return False

    def finite(self) -> Array:
        """Which nodes have finite partials, first and second."""
        return np.ones(self.stop - self.start, dtype=bool)

    def natoms(self) -> int:
        """Number of atoms."""
        return 0

    def slot_ids(self) -> tuple[Array, Array]:
        """First and second parent of every atom."""
        return _NONE, _NONE

    def rho_of(self, k: int, rho: Any) -> Array | None:
        """Slot weights of node ``k``."""
        return None


class Leaves(Step):
    """Inputs and constants: nodes without parents."""

    __slots__ = ("live",)

    def __init__(self, start: int, stop: int, live: bool) -> None:
        self.start, self.stop, self.live = start, stop, live

    def has_zero(self) -> bool:
        """Constants are dead."""
        return not self.live

    def alive(self, live: Array) -> None:
        """Inputs are live, constants are not."""
        live[self.start : self.stop] = self.live

    def adjoint(self, v: Array, absolute: bool) -> None:
        """There are no parents."""

    def tangent(self, s: Array, absolute: bool) -> None:
        """Tangents of inputs are given, those of constants zero."""

    def second(self, b: Array, vbar: Array, dot: Array, absolute: bool) -> None:
        """There are no parents."""

    def cover(
        self, adj: Array, g: Array, state: CoverState, last: int
    ) -> tuple[int, int]:
        """There are no parents."""
        return 0, 0

    def inject(self, g: Array, rho: Any, group: Array, want: int) -> None:
        """There are no parents."""

    def reach(self, mark: Array, mode: int) -> None:
        """There are no parents."""

    def expanded(self) -> Iterator[Expanded]:
        """There are no slots."""
        return iter(())
