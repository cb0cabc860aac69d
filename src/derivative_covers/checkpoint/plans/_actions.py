"""What a plan consists of: six kinds of actions on one live state, slots and records.

Step ``k`` takes state ``k`` to state ``k + 1``. The machine that runs a plan has

- a *live state*, at first state 0;
- *slots*, each with one saved state, in memory or on disk;
- *records* (one-step tapes) of steps that were recorded and not yet reversed;
- the *cotangent* of one state, at first of the last.

| action | needs | does |
|---|---|---|
| ``advance a b`` | live state ``a`` | runs steps ``a .. b-1`` without recording; live is ``b`` |
| ``record a b`` | live state ``a`` | runs and records steps ``a .. b-1``; live is ``b`` |
| ``reverse a b`` | records ``a .. b-1``, cotangent of ``b`` | gives the cotangent of ``a``; drops the records and the live state |
| ``save k k`` | live state ``k`` | copies it into a free slot |
| ``restore k k`` | a slot with ``k`` | makes it the live state; the slot stays |
| ``drop k k`` | a slot with ``k`` | frees the slot |

A plan ends with the cotangent of state 0, no slot in use and no record.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Action", "Kind", "Level"]

Kind = Literal["advance", "record", "reverse", "save", "restore", "drop"]
Level = Literal["memory", "disk"]


class Action(NamedTuple):
    """One action of a plan; equal by value, and a plain tuple for JSON.

    Attributes:
        kind: ``"advance"``, ``"record"``, ``"reverse"``, ``"save"``, ``"restore"`` or
            ``"drop"``.
        start: First step, or the state that is saved, restored or dropped.
        stop: End of the steps, exclusive; equal to ``start`` for the last three kinds.
        level: Where a slot lies: ``"memory"`` or ``"disk"``.

    Example:
        >>> from derivative_covers.checkpoint import StoreAll
        >>> list(StoreAll().plan(3))
        [Action(kind='record', start=0, stop=3, level='memory'),
         Action(kind='reverse', start=0, stop=3, level='memory')]
    """

    kind: Kind
    start: int
    stop: int
    level: Level = "memory"
