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
from sys import getrefcount
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
from ..steps._compiled import Compiled
from ..steps._transition import FromVjp, Taped, Transition
from ._guarded import guarded, ordinary
from ._modes import Seen
from ._replay import Piece, Replay, replay_of

__all__ = ["Forward", "stepper"]

_Array: Any = np.ndarray
_Double = np.float64
_DOUBLE = np.dtype(np.float64)
_SINGLE = np.dtype(np.float32)
_NUMBER = frozenset((_Double,))
_OWN = np.empty(1).flags.num, np.empty((2, 2)).flags.num  # ordinary memory of its own
_WORD = 1024


def _held() -> int:
    """How many references two local variables and a call are, on this Python."""
    x = locked = object()
    count = getrefcount(x)
    del locked
    return count


_HELD = _held()


def _nothing(x: Any, k: int) -> Any:
    """A step that is never run."""


class Forward:
    """The steps of a chain with its parameters.

    Attributes:
        compiles: Whether compiled transitions are run by machines.
        chain: The chain.
        params: Parameters as steps receive them, or None.
        rechecked: Steps that were recorded because of a flag.
        flagged: Has an entry if there was a flag since it was cleared last.
    """

    compiles = True

    def __init__(self, chain: Chain, params: Any) -> None:
        """Takes parameters in canonical form."""
        self.chain = chain
        self._last = len(chain) - 1
        self.params = None if params is None else present(copy(params))
        self.rechecked = 0
        self._innocent: dict[int, int] = {}  # a bit a step, in words of _WORD steps
        self.flagged: deque[str] = deque(maxlen=1)  # that there was one is enough
        self._watching = False
        self._at: Run = (Taped(_nothing), 0, 0)  # the run of the last step
        self._space = space(np.zeros(()))  # of the state that was recorded last
        self._params = params
        self._replay: Replay | None = None  # the last one
        self._replays: dict[tuple[int, Space], Replay | None] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Notes floating-point flags: entered once, or else anew by every advance."""
        call = self.flagged.append
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
        if self.flagged:  # by something between the steps
            self.flagged.clear()
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
        if type(transition) is Compiled:
            found = self.record_steps(state, k, k + 1)
            if found is not None:
                y, piece = found
                target = piece.replay.space
                return y, piece, target, target
        before = self._space
        if not fits(state, before.form):
            before = space(state)
        x = state
        if type(transition) is FromVjp:
            record = transition.raw_record
        else:
            record = transition.record
            if type(transition) not in (Taped, Compiled):
                # A pullback may hold x, and a later step may fill its memory anew.
                x = copy(state)
        params = None if self.params is None else rewrapped(self.params)
        x = present(x)
        locked = () if numbers(x) else protect(state)
        try:
            y, pullback = record(x, params, k)
        finally:
            if locked:
                unprotect(locked)
        return self.taken(y, pullback, before, k)

    def taken(
        self, y: Any, pullback: Any, before: Space, k: int
    ) -> tuple[Any, Any, Space, Space]:
        """Looks at the output of a recorded step."""
        found = expected(y, before.form)
        if found is not None:
            self._space = before
            return found, pullback, before, before
        y = canonical(y, "the output", k)
        if not finite(y):
            raise not_finite(y, "its output")
        self._space = after = space(y)
        return y, pullback, before, after

    def replay(self, transition: Transition, state: Any, k: int) -> Replay | None:
        """What runs steps from ``k`` on by a machine; None where nothing does.

        The last step of a chain is taped: its result is one number, and must depend on
        something.
        """
        if type(transition) is not Compiled or not self.compiles or k == self._last:
            return None
        last = self._replay
        known = last is not None and last.transition is transition
        if last is not None and known and fits(state, last.space.form):
            return last
        key = id(transition), space(state)
        if key not in self._replays:
            self._replays[key] = replay_of(transition, state, self._params)
        self._replay = found = self._replays[key]
        return found

    def record_steps(self, state: Any, k: int, stop: int) -> tuple[Any, Piece] | None:
        """Runs steps from ``k`` on and keeps their states, as far as one machine goes."""
        transition, _, end = self._find(k)
        replay = self.replay(transition, state, k)
        if replay is None:
            return None
        return replay.record(state, k, min(stop, end, max(self._last, k + 1)))

    def _find(self, k: int) -> Run:
        _, first, end = self._at
        if not first <= k < end:
            self._at = self.chain.run_of(k)
        return self._at

    def _run(
        self, transition: Transition, x: Any, first: int, stop: int, seen: Seen | None
    ) -> Any:
        """Steps of one run: as far as possible by a machine, else one by one."""
        if type(transition) is not Compiled:
            return self._run_each(transition, x, first, stop, seen)
        while first < stop:
            done, replay = 0, self.replay(transition, x, first)
            if replay is not None:
                end = first + 1 if seen is not None else min(stop, self._last)
                try:
                    x, done, _ = replay.run(x, first, end)
                except BaseException as error:
                    blame(error, first, "advance")
                    raise
                if done and seen is not None:
                    seen(first + 1, x)
            if not done:
                done = 1
                x = self._run_each(transition, x, first, first + 1, seen)
            first += done
        return x

    def _run_each(
        self, transition: Transition, x: Any, first: int, stop: int, seen: Seen | None
    ) -> Any:
        """Steps of a transition that no machine runs, from and to canonical states."""
        forward = stepper(transition, self.params)
        if type(x) is not _Array or not x.ndim:
            x = present(x)
        x = self.steps(transition, forward, x, first, stop, seen)
        return x if type(x) is _Array else canonical(x, "the output", stop - 1)

    def steps(
        self,
        transition: Transition,
        forward: Any,
        x: Any,
        first: int,
        stop: int,
        seen: Seen | None = None,
    ) -> Any:
        """The inner loop, with states as steps receive them at its ends and between."""
        flagged, own = self.flagged, _OWN
        k, locked = first, None
        open_, plain = _access(x)
        try:
            for k in range(first, stop):
                if open_:  # what guarded does, without a call
                    x.setflags(False)
                    locked = x
                    y = forward(x, k)
                    if getrefcount(x) > _HELD:  # somebody else has it, too
                        x.setflags(True)
                    locked = None
                elif plain:  # nobody can change it
                    y = forward(x, k)
                else:
                    y = guarded(forward, x, k)
                kind = type(y)
                if (  # what canonical does, without a call
                    kind is _Array
                    and y.flags.num in own
                    and ((dtype := y.dtype) is _DOUBLE or dtype is _SINGLE)
                    and y.ndim
                    and y.nbytes
                ):
                    open_ = True
                elif kind is _Double or (
                    kind is tuple and y and _NUMBER.issuperset(map(type, y))
                ):
                    open_, plain = False, True
                else:
                    found = ordinary(y, kind)
                    if found is None:
                        found = present(canonical(y, "the output", k))
                    y = found
                    open_, plain = _access(y)
                if flagged:
                    y = self._settle(transition, x, k, y)
                    open_, plain = _access(y)
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
        return x

    def _settle(self, transition: Transition, x: Any, k: int, y: Any) -> Any:
        """Decides about a step with a flag: raises, or finds it innocent once for all.

        Gives ``y``, or a copy: it may lie in memory that a recording fills anew.
        """
        self.flagged.clear()
        word, bit = divmod(k, _WORD)
        innocent = self._innocent.get(word, 0)
        if innocent >> bit & 1:
            return y
        if not isinstance(transition, FromVjp):
            self.rechecked += 1
            y = present(copy(canonical(y, "the output", k)))
            record, params = transition.record, rewrapped(self.params)
            guarded(lambda x, k: record(x, params, k), x, k)
            self.flagged.clear()
        if not finite(state := canonical(y, "the output", k)):
            raise not_finite(state, "its output")
        self._innocent[word] = innocent | 1 << bit
        return y


def _access(x: Any) -> tuple[bool, bool]:
    """Whether a state is an array that can be written to, and whether nobody can change it."""
    if type(x) is _Array:
        writeable = x.flags.writeable
        return writeable, not writeable
    return False, numbers(x)


def stepper(transition: Transition, params: Any) -> Any:
    """A step as a function of state and index."""
    if type(transition) is FromVjp:
        f = transition.function
        if params is None:
            return f
    else:
        f = transition.forward
    if params is None or type(params) in (_Array, _Double):  # nobody can change it
        return lambda x, k: f(x, params, k)
    return lambda x, k: f(x, rewrapped(params), k)
