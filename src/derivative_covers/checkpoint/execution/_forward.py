"""Running the steps of a chain: without recording, and one step with its pullback.

Every kind of sweep runs its steps here. A floating-point flag in an unrecorded step (a
division by zero, an overflow, an invalid operation) is no error by itself: a program
may compute ``log(-1)`` and select something else. So that step is recorded once, from
its input, and the rule of recorded steps decides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..states._expected import expected
from ..states._space import Space, fits, space
from ..states._states import (
    canonical,
    copy,
    finite,
    numbers,
    present,
    protect,
    rewrapped,
    unprotect,
)
from ..steps._blame import blame, not_finite
from ..steps._chain import Chain, Run
from ..steps._transition import FromVjp, Taped, Transition
from ._modes import Seen

__all__ = ["Forward"]

_Array: Any = np.ndarray
_Double = np.float64
_DOUBLE = np.dtype(np.float64)
_WORD = 1024


def _nothing(x: Any, k: int) -> Any:
    """A step that is never run."""


class Forward:
    """The steps of a chain with its parameters.

    Attributes:
        chain: The chain.
        params: Parameters as steps receive them, or None.
        rechecked: Steps that were recorded because of a flag.
    """

    def __init__(self, chain: Chain, params: Any) -> None:
        """Takes parameters in canonical form."""
        self.chain = chain
        self.params = None if params is None else present(copy(params))
        self.rechecked = 0
        self._innocent: dict[int, int] = {}  # a bit a step, in words of _WORD steps
        self._flagged: deque[str] = deque(maxlen=1)  # that there was one is enough
        self._watching = False
        self._at: Run = (Taped(_nothing), 0, 0)  # the run of the last step
        self._space = space(np.zeros(()))  # of the state that was recorded last

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Notes floating-point flags: entered once, or else anew by every advance."""
        call = self._flagged.append
        with np.errstate(
            divide="call", invalid="call", over="call", call=lambda what, _: call(what)
        ):
            self._watching = True
            try:
                yield
            finally:
                self._watching = False

    def advance(self, state: Any, start: int, stop: int, seen: Seen | None) -> Any:
        """State ``stop`` from state ``start``; see :class:`._modes.Mode`."""
        if not self._watching:
            with self.watching():
                return self.advance(state, start, stop, seen)
        if self._flagged:  # by something between the steps
            self._flagged.clear()
        transition, first, end = self._at
        if first <= start and stop <= end:
            return self._run(transition, state, start, stop, seen)
        for transition, first, end in self.chain.between(start, stop):
            state = self._run(transition, state, first, end, seen)
        return state

    def record(self, state: Any, k: int) -> tuple[Any, Any, Space, Space]:
        """State ``k + 1``, the pullback of step ``k``, and the spaces of both states."""
        transition, first, end = self._at
        if not first <= k < end:
            self._at = transition, first, end = self.chain.run_of(k)
        before = self._space
        if not fits(state, before.form):
            before = space(state)
        x = state
        if type(transition) is FromVjp:
            record = transition.raw_record
        else:
            record = transition.record
            if type(transition) is not Taped:
                # A pullback may hold x, and a later step may fill its memory anew.
                x = copy(state)
        params = None if self.params is None else rewrapped(self.params)
        locked = protect(state)
        try:
            y, pullback = record(present(x), params, k)
        finally:
            if locked:
                unprotect(locked)
        found = expected(y, before.form)
        if found is not None:
            self._space = before
            return found, pullback, before, before
        y = canonical(y, "the output", k)
        if not finite(y):
            raise not_finite(y, "its output")
        self._space = after = space(y)
        return y, pullback, before, after

    def _run(
        self, transition: Transition, x: Any, first: int, stop: int, seen: Seen | None
    ) -> Any:
        """The inner loop; between two steps a state is kept as steps receive it."""
        forward, flagged = _stepper(transition, self.params), self._flagged
        x = present(x)
        k, locked = first, None
        try:
            for k in range(first, stop):
                kind = type(x)
                if kind is _Array:  # what _guarded does, without a call
                    if x.flags.writeable:
                        x.setflags(False)
                        locked = x
                        y = forward(x, k)
                        x.setflags(True)
                        locked = None
                    else:
                        y = forward(x, k)
                elif kind is _Double or numbers(x):
                    y = forward(x, k)
                else:
                    y = _guarded(forward, x, k)
                kind = type(y)
                if kind is _Array:
                    if not (  # what canonical does, without a call
                        y.dtype is _DOUBLE
                        and y.base is None
                        and y.ndim
                        and y.size
                        and y.flags.c_contiguous
                    ):
                        y = present(canonical(y, "the output", k))
                elif kind is not _Double:
                    found = _ordinary(y, kind)
                    if found is None:
                        found = present(canonical(y, "the output", k))
                    y = found
                if flagged:
                    y = self._settle(transition, x, k, y)
                x = y
                if seen is not None:
                    seen(k + 1, canonical(x, "the output", k))
        except BaseException as error:
            if locked is not None:
                locked.setflags(True)
            flagged.clear()
            if isinstance(error, TypeError) and type(transition) is FromVjp:
                transition.explain(error, self.params)
            blame(error, k, "advance")
            raise
        return x if type(x) is _Array else canonical(x, "the output", k)

    def _settle(self, transition: Transition, x: Any, k: int, y: Any) -> Any:
        """Decides about a step with a flag: raises, or finds it innocent once for all.

        Gives ``y``, or a copy: it may lie in memory that a recording fills anew.
        """
        self._flagged.clear()
        word, bit = divmod(k, _WORD)
        innocent = self._innocent.get(word, 0)
        if innocent >> bit & 1:
            return y
        if not isinstance(transition, FromVjp):
            self.rechecked += 1
            y = present(copy(canonical(y, "the output", k)))
            record, params = transition.record, rewrapped(self.params)
            _guarded(lambda x, k: record(x, params, k), x, k)
            self._flagged.clear()
        if not finite(state := canonical(y, "the output", k)):
            raise not_finite(state, "its output")
        self._innocent[word] = innocent | 1 << bit
        return y


def _stepper(transition: Transition, params: Any) -> Any:
    """A step as a function of state and index."""
    if params is None and type(transition) is FromVjp:
        return transition.function
    forward = transition.forward
    if params is None:
        return lambda x, k: forward(x, None, k)
    return lambda x, k: forward(x, rewrapped(params), k)


def _guarded(forward: Any, x: Any, k: int) -> Any:
    """Calls a step while nobody can write to its state."""
    locked: list[Any] = []
    try:
        _lock(x, locked)
        return forward(rewrapped(x), k)
    finally:
        unprotect(locked)


def _lock(x: Any, locked: list[Any]) -> None:
    if type(x) is _Array:
        if x.flags.writeable:
            x.setflags(False)
            locked.append(x)
    elif isinstance(x, (dict, list, tuple)):
        for part in x.values() if isinstance(x, dict) else x:
            if type(part) is not _Double:
                _lock(part, locked)


def _ordinary(y: Any, kind: type[Any]) -> Any:
    """As a step receives it: a float, or a flat container of floats and ordinary arrays.

    None for everything else, which takes the way through canonical().
    """
    if kind is float:
        return _Double(y)
    if kind is tuple or kind is list:
        parts = y
    elif kind is dict and all(type(key) is str for key in y):
        parts = y.values()
    else:
        return None
    found = []
    for part in parts:
        leaf = type(part)
        if leaf is _Array:
            flags = part.flags
            if not (
                part.dtype is _DOUBLE
                and part.ndim
                and part.size
                and flags.owndata
                and flags.c_contiguous
            ):
                return None
            found.append(part)
        elif leaf is _Double:
            found.append(part)
        elif leaf is float:
            found.append(_Double(part))
        else:
            return None
    if not found:
        return None
    if kind is tuple:
        return tuple(found)
    return found if kind is list else dict(zip(y, found, strict=True))
