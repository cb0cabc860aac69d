"""The recording that is going on in this thread or task, if any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ._tape import Tape

__all__ = ["active", "recording"]

_ACTIVE: ContextVar[Tape | None] = ContextVar("derivative_covers_tape", default=None)

active = _ACTIVE.get
"""The tape that is recording in this context; None outside of every recording."""


@contextmanager
def recording(tape: Tape) -> Iterator[None]:
    """Make ``tape`` the one that constants of the NumPy namespace belong to."""
    token = _ACTIVE.set(tape)
    try:
        yield
    finally:
        _ACTIVE.reset(token)
