"""Which passes serve a tape: those at a point, or those over a box."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from ..tape import Tape

__all__ = ["over_boxes"]

P = ParamSpec("P")
R = TypeVar("R")


def over_boxes(function: Callable[P, R]) -> Callable[P, R]:
    """A pass that hands tapes over a box to its namesake in :mod:`.rigorous`.

    The tape is the first or the second argument. That package is imported on first use,
    since most processes never need it.
    """
    name = function.__name__

    @wraps(function)
    def chosen(*args: P.args, **kwargs: P.kwargs) -> R:
        tape = args[0] if isinstance(args[0], Tape) else args[1]
        assert isinstance(tape, Tape)
        if tape.box is None:
            return function(*args, **kwargs)
        found: R = getattr(_rigorous(), name)(*args, **kwargs)
        return found

    return chosen


@cache
def _rigorous() -> Any:
    return import_module(f"{__package__}.rigorous")
