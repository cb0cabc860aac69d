"""What a sweep carries: the protocol that the executor of plans knows.

A plan says when states are saved, steps are run and reversed. A *mode* says what a state
is, what running and recording a step do, and which cotangents a reversed step updates:
the gradient mode carries ``v̄``, others a cover or a Hessian-vector product beside it. A
mode knows its chain and parameters; it knows neither plans nor slots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

__all__ = ["Block", "Blocks", "Mode", "Record", "Seen"]

Seen = Callable[[int, Any], None]
"""Called with ``(k, state k)`` for every state that an advance runs through."""


class Record(NamedTuple):
    """A step that was run and can be reversed.

    Attributes:
        held: What the mode needs for it; nobody else looks at it.
        work: Operations of the step: nodes on its tape, or 1 where nothing tells.
        reverse: Operations of its reverse rule, in the same unit.
        nbytes: Bytes that it holds, so far as they are known.
    """

    held: Any
    work: int = 1
    reverse: int = 1
    nbytes: int = 0


class Block(NamedTuple):
    """Steps that were run in one call and can be reversed in one.

    Attributes:
        held: What the mode needs for them; nobody else looks at it.
        start: The first of the steps.
        steps: How many there are.
        work: Operations of each step.
        reverse: Operations of each one's reverse rule.
        nbytes: Bytes that are held for each.
    """

    held: Any
    start: int
    steps: int
    work: int
    reverse: int
    nbytes: int


class Blocks(Protocol):
    """What a mode may offer beside: records of many steps at once."""

    def record_block(self, state: Any, k: int, stop: int) -> tuple[Any, Block] | None:
        """Steps from ``k`` on, at most to ``stop``: the state after them, their record.

        At least one step; None where step ``k`` has to be recorded alone. Errors leave it
        with the step that they come from.
        """

    def reverse_block(self, block: Block, start: int, stop: int) -> None:
        """Takes the cotangents back through some of the last steps of a block.

        Errors leave it with the step that they come from.
        """


class Mode(Protocol):
    """A kind of sweep. Live states are nests of arrays, of any dtype.

    Attributes:
        recorded_forward: Whether ``advance`` records its steps as well (and forgets the
            records): the plan's unrecorded evaluations are recorded ones then.
        nbytes: Bytes of the mode's own buffers now: cotangents, parameters' cotangents.
    """

    recorded_forward: bool

    @property
    def nbytes(self) -> int:
        """See the class."""

    @property
    def rechecked(self) -> int:
        """Steps that were recorded because of a floating-point flag, so far."""

    def start(self, x0: Any) -> Any:
        """The live state 0, from the user's point in canonical form."""

    def advance(self, state: Any, start: int, stop: int, seen: Seen | None) -> Any:
        """State ``stop`` from state ``start``, keeping nothing between.

        Calls ``seen(k + 1, state)`` after every step ``k`` where it is given. Errors of
        an elemental leave it with ``step`` and ``phase="advance"``.
        """

    def record(self, state: Any, k: int) -> tuple[Any, Record]:
        """State ``k + 1`` and the record of step ``k``; does not modify ``state``."""

    def reverse(self, record: Record, k: int) -> None:
        """Takes the mode's cotangents from state ``k + 1`` to state ``k``.

        The record is used up: the executor holds it no longer when it calls.
        """

    def export(self) -> Any:
        """Value and cotangents so far, as a nest of arrays: what a journal keeps."""

    def load(self, nest: Any) -> None:
        """Takes back what :meth:`export` gave; the sweep goes on from there."""
