"""The steps of one compiled transition in a sweep: runs of them in one call.

A step is run by a machine wherever one can, and else as a taped step is. Which of the two
depends on the step, its state and the parameters alone, so that all schedules give the
same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..states._space import Space
from ..states._states import finite, flat, space
from ..steps._blame import blame, not_finite
from ..steps._compiled import Branch, Compiled
from ..steps._transition import Transition

__all__ = ["Piece", "Replay", "replay_of"]

Array = NDArray[Any]
_FLOAT64 = np.dtype(np.float64)
_WORD = 1024


class Piece(NamedTuple):
    """Steps ``start .. start+len(states)-1`` that one machine ran, to be reversed.

    Attributes:
        replay: Whose steps they are.
        branch: The machine that ran them.
        start: The first step.
        states: The state that each step starts from, a row a step.
    """

    replay: Replay
    branch: Branch
    start: int
    states: Array

    @property
    def nbytes(self) -> int:
        """Bytes of the record of one step."""
        return int(self.states[0].nbytes)


class Replay:
    """One compiled transition at states of one space, with the parameters of a sweep.

    Attributes:
        space: Of the states.
    """

    def __init__(self, transition: Compiled, target: Space, params: Any) -> None:
        self.transition = transition
        self.space = target
        self._params = params
        params_space = None if params is None else space(params)
        self.key = target, params_space
        self._head = np.zeros(0) if params is None else flat(params)
        self._alone: dict[int, int] = {}  # steps that no machine runs, a bit each
        self._last: Branch | None = None
        self._checked = 0  # steps before have rows of data

    def run(
        self, state: Any, k: int, stop: int, states: Array | None = None
    ) -> tuple[Any, int, Branch | None]:
        """Runs steps from ``k`` on by one machine.

        Gives the state that was reached, how many steps were run, and by which machine:
        none and None where step ``k`` has to be run otherwise.
        """
        transition = self.transition
        word, bit = divmod(k, _WORD)
        if self._alone.get(word, 0) >> bit & 1 or transition.idle():
            return state, 0, None
        x, last = flat(state), self._last
        if stop > self._checked:
            transition.check_rows(stop)
            self._checked = stop
        if last is not None:
            y, reached = self._run(last, x, k, stop, states)
            if reached > k:
                return self.space.build(y), reached - k, last
        for branch in transition.branches(self.key):
            if branch is not last:
                y, reached = self._run(branch, x, k, stop, states)
                if reached > k:
                    return self._reached(branch, y, reached - k)
        made = transition.branch_at(self.key, state, self._params, k)
        if made is not None:
            y, reached = self._run(made, x, k, stop, states)
            if reached > k:
                return self._reached(made, y, reached - k)
        self._alone[word] = self._alone.get(word, 0) | 1 << bit
        return state, 0, None

    def _reached(self, branch: Branch, y: Array, done: int) -> tuple[Any, int, Branch]:
        self.transition.used(self.key, branch)
        self._last = branch
        return self.space.build(y), done, branch

    def _run(
        self, branch: Branch, x: Array, k: int, stop: int, states: Array | None
    ) -> tuple[Array, int]:
        data = self.transition.data
        return branch.machine.run(self._head, x, k, stop, data=data, states=states)

    def record(self, state: Any, k: int, stop: int) -> tuple[Any, Piece] | None:
        """As :meth:`run`, with what reversing the steps needs; None: not by a machine."""
        states = np.empty((stop - k, self.space.size))
        state, done, branch = self.run(state, k, stop, states)
        if branch is None:
            return None
        if done < stop - k:
            states = states[:done].copy()
        return state, Piece(self, branch, k, states)

    def reverse(
        self, piece: Piece, start: int, stop: int, cotangent: Array, held: Array
    ) -> Array:
        """The cotangent of state ``start`` from that of ``stop``, flat; adds to ``held``."""
        low = start
        while stop > start:
            before = held.copy() if held.size else held
            found, reached = self._back(piece, low, stop, cotangent, held)
            if not (finite(found) and finite(held)):
                held[:] = before
                if stop - low > 1:  # nearer to the step where it happens
                    low = (low + stop + 1) // 2
                    continue
                found, reached = cotangent, stop
            if reached == stop:
                reached -= 1
                try:
                    row = piece.states[reached - piece.start]
                    found = self._reverse_taped(row, reached, found, held)
                except BaseException as error:
                    blame(error, reached, "reverse")
                    raise
            cotangent, stop, low = found, reached, start
        return cotangent

    def _back(
        self, piece: Piece, start: int, stop: int, cotangent: Array, held: Array
    ) -> tuple[Array, int]:
        states = piece.states[start - piece.start : stop - piece.start]
        return piece.branch.machine.reverse(
            self._head, states, start, stop, cotangent, held, data=self.transition.data
        )

    def _reverse_taped(
        self, row: Array, k: int, cotangent: Array, held: Array
    ) -> Array:
        """One step back, by its tape."""
        x, build = self.space.build(row), self.space.build
        _, pullback = self.transition.record(x, self._params, k)
        target = self.key[1]
        params_bar = None if target is None else target.build(held)
        xbar, params_bar = pullback(build(cotangent), params_bar)
        if not finite(xbar):
            raise not_finite(xbar, "the cotangent of its input")
        if target is not None:
            if not finite(params_bar):
                raise not_finite(params_bar, "the parameters' cotangent")
            held[:] = flat(params_bar)
        return flat(xbar)


def replay_of(transition: Transition, state: Any, params: Any) -> Replay | None:
    """The replay of a transition at states of this space; None where there can be none."""
    if not isinstance(transition, Compiled):
        return None
    target = space(state)
    parts = target.entries + (() if params is None else space(params).entries)
    if any(entry.dtype is not _FLOAT64 for entry in parts):
        return None
    return Replay(transition, target, params)
