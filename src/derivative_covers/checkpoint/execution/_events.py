"""What a running sweep tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..plans._actions import Kind

__all__ = ["Event", "Listener"]


class Event(NamedTuple):
    """Something that a sweep has just done.

    Attributes:
        kind: Kind of the action: ``"advance"``, ``"record"``, ``"reverse"``, ``"save"``,
            ``"restore"`` or ``"drop"``. A long advance has an event every 1000 steps.
        step: The state that it reached, or that was saved, restored or dropped.
        done: Evaluations of steps so far, recorded or not.
        total: Evaluations of the whole sweep, known in advance.
        elapsed: Seconds since the sweep began.

    Example:
        >>> import numpy as np
        >>> from derivative_covers import checkpoint as cp
        >>> chain = cp.Chain([lambda x, k: np.sin(x)] * 2 + [lambda x, k: x @ x])
        >>> result = cp.reverse_sweep(
        ...     chain, np.ones(3), schedule=cp.Revolve(slots=1),
        ...     on_event=lambda e: print(e.kind, e.step, f"{e.done}/{e.total}"),
        ... )
        save 0 0/6
        advance 2 2/6
        record 3 3/6
        reverse 2 3/6
        restore 0 3/6
        advance 1 4/6
        record 2 5/6
        reverse 1 5/6
        restore 0 5/6
        drop 0 5/6
        record 1 6/6
        reverse 0 6/6
    """

    kind: Kind
    step: int
    done: int
    total: int
    elapsed: float


Listener = Callable[[Event], object]
