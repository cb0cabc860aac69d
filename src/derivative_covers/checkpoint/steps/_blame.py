"""Errors inside of a sweep: which step, and what was being done with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import DerivativeError, DomainError, NondifferentiableError
from ..states._states import leaves, mutation

__all__ = ["blame", "not_finite"]

_SHOWN = 4
_COUNTER = (
    "Numbers of a state are floats, and recorded variables where the step is recorded. In "
    "the place of a counter in the state, use the index k that every step gets."
)


def blame(error: BaseException, step: int, phase: str) -> None:
    """Makes an error name the step, before it goes on as it is.

    An error of an elemental gets ``step`` and ``phase``; NumPy's complaint about memory
    that is read-only becomes StateMutationError; any other gets a note.

    Raises:
        StateMutationError: In the place of such a complaint.
    """
    if isinstance(error, (DomainError, NondifferentiableError)):
        if error.step is None:
            text = f"step {step} ({phase}): {error}"
            if str(error).startswith("int("):
                text = f"{text} {_COUNTER}"
            error.step, error.phase = step, phase
            error.args = (text,)
            return
    elif isinstance(error, Exception):
        found = mutation(error, step, phase)
        if found is not None:
            raise found from error
    if isinstance(error, Exception):
        note = f"In step {step} of the chain ({phase})."
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)
            if _of_index(error):
                error.add_note(_COUNTER)


def _of_index(error: Exception) -> bool:
    """Whether a float, or a recorded variable, stood where an integer is needed."""
    text = str(error)
    if isinstance(error, DerivativeError):
        return "the use as an index" in text
    return isinstance(error, (IndexError, TypeError)) and "integer" in text


def not_finite(state: Any, what: str) -> DomainError:
    """The error of a state or cotangent with NaN or infinite entries."""
    found: list[float] = []
    where = ""
    total = 0
    for number, a in enumerate(parts := leaves(state)):
        bad = np.argwhere(~np.isfinite(a))
        total += len(bad)
        for at in bad[: _SHOWN - len(found)]:
            found.append(float(a[tuple(at)]))
            if not where:
                leaf = f"array {number} of the state, " if len(parts) > 1 else ""
                index = f"entry {[int(i) for i in at]}" if a.ndim else "the value"
                where = f"{leaf}{index} is {found[0]}"
    more = f", and {total - 1} more entries are not finite" if total > 1 else ""
    msg = (
        f"{what} is not finite: {where}{more}. Where a step leaves its domain or "
        "overflows, no derivative exists; check the step at this point, its step size "
        "and x0."
    )
    return DomainError(msg, values=tuple(found))
