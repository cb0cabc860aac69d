"""Steps get states that they cannot write to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import StateMutationError

__all__ = ["mutation", "protect", "read_only_copy", "unprotect"]

_Array: Any = np.ndarray


def read_only_copy(a: Any) -> Any:
    """A copy of an array that cannot be written to."""
    a = a.copy()
    a.setflags(False)  # a fraction of the time of assigning to the flag
    return a


def protect(state: Any) -> list[Any]:
    """Write-protect a state while a step runs; gives the arrays to unprotect.

    An array that is read-only already is none of them. Numbers need no protection:
    steps get them as scalars, and nobody else has the array (see :mod:`._canonical`).
    """
    if type(state) is _Array:
        if state.ndim and state.flags.writeable:
            state.setflags(False)
            return [state]
        return []
    found: list[Any] = []
    for part in state.values() if type(state) is dict else state:
        if type(part) is not _Array or part.ndim:
            found += protect(part)
    return found


def unprotect(arrays: Iterable[Any]) -> None:
    """Undo :func:`protect`; to be called whatever happened."""
    for a in arrays:
        a.setflags(True)


def mutation(
    error: Exception, step: int, phase: str = "advance"
) -> StateMutationError | None:
    """The error to raise for one that says that a step wrote into what it was given.

    None for any other error. NumPy, Cython and numba each have words of their own, and
    the last two ask for writable memory before they know whether they write.
    """
    if isinstance(error, (ValueError, TypeError)) and not isinstance(
        error, StateMutationError
    ):
        text = str(error)
        if "read-only" in text or "readonly array" in text:
            if phase == "reverse":
                msg = (
                    f"the reverse rule of step {step} wrote into an array that it was "
                    f"given, or that it gave for a later step ({error}); the sweep still "
                    "needs it: return new memory at every call."
                )
                return StateMutationError(msg)
            msg = (
                f"step {step} wrote into an array that it was given ({error}); a sweep "
                "evaluates steps again from saved states, so a step must leave its "
                "arguments as they are: start it with x = x.copy()."
            )
            return StateMutationError(msg)
    return None
