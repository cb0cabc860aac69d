"""The mode of gradients: one cotangent buffer, and the parameters' cotangent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import MethodType
from typing import Any

import numpy as np

from ...errors import NondeterministicStepError, ShapeError
from ..states._expected import expected
from ..states._space import Space
from ..states._states import (
    canonical,
    copy,
    finite,
    flat,
    leaves,
    matched,
    present,
    protect,
    rebuild,
    space,
    unprotect,
    zeros_like,
)
from ..steps._blame import blame, not_finite
from ..steps._chain import Chain
from ..steps._compiled import Compiled
from ..steps._taped import StepRecord
from ..steps._transition import FromVjp
from ._by_hand import ByHand, by_hand, given_back, telling
from ._forward import Forward
from ._modes import Block, Record, Seen
from ._replay import Piece

__all__ = ["GradientMode"]

_new = tuple.__new__


class GradientMode:
    """Carries the cotangent of the live end of the chain, from the last state to x0.

    Attributes:
        value: The last state, a NumPy scalar; None before the last step was recorded.
        cotangent: Cotangent of the state that the reverse pass has reached, or None.
        params_cotangent: What the steps reversed so far add to the parameters'
            cotangent, or None without parameters.
        nbytes: Bytes of both cotangents.
        blocks: Whether some steps can be recorded many at once.
        alone: Whether nobody hears of single steps.
        forward: The chain's steps.
        space: The space of the cotangent, or None.
        locked: Arrays of the cotangent that are to be writable again.
    """

    recorded_forward = False
    alone = False

    def __init__(self, chain: Chain, params: Any, seed: float) -> None:
        """Takes parameters in canonical form, or None."""
        self.forward = Forward(chain, params)
        self._steps = len(chain)
        self.blocks = any(type(step) is Compiled for step, _, _ in chain.runs)
        self._seed = seed
        self._params_space = None if params is None else space(params)
        self._params_nbytes = 0 if params is None else space(params).nbytes
        self.nbytes = self._params_nbytes
        self.space: Space | None = None  # of the cotangent
        self.locked: list[Any] = []
        self.value: Any = None
        self.cotangent: Any = None
        self.params_cotangent = None if params is None else zeros_like(params)

    @property
    def rechecked(self) -> int:
        """Steps that were recorded because of a flag."""
        return self.forward.rechecked

    @contextmanager
    def running(self) -> Iterator[None]:
        """To be held during the sweep: it minds flags, and frees the cotangent after."""
        try:
            with self.forward.watching():
                yield
        finally:
            unprotect(self.locked)

    def start(self, x0: Any) -> Any:
        """A copy of the point, which a step cannot change through memory that it keeps."""
        return copy(x0)

    def advance(self, state: Any, start: int, stop: int, seen: Seen | None) -> Any:
        """Runs steps without recording."""
        state = self.forward.advance(state, start, stop, seen)
        if stop == self._steps:
            check_scalar(state, stop - 1)
        return state

    def record(self, state: Any, k: int) -> tuple[Any, Record]:
        """Runs step ``k`` and keeps its pullback."""
        y, pullback, before, after = self.forward.record(state, k)
        if k + 1 == self._steps:
            self.value = check_scalar(y, k)
        work, nbytes = 1, before.nbytes
        if type(pullback) is Piece:
            work = pullback.branch.work
        elif type(pullback) is MethodType:
            step = pullback.__self__
            if isinstance(step, StepRecord):
                work, nbytes = step.tape.nnodes - step.tape.ninputs, step.tape.nbytes
                pullback = partial(pullback, last=True)
                if k + 1 == self._steps:
                    step.refuse_constant(k)
        return y, _new(Record, ((pullback, before, after), work, work, nbytes))

    def record_block(self, state: Any, k: int, stop: int) -> tuple[Any, Block] | None:
        """Runs steps from ``k`` on in one call; see :class:`._modes.Blocks`."""
        target = space(state)
        good = telling(target.form) if self.alone else None
        hand = by_hand(self, k, target, good) if good is not None else None
        if hand is not None and k < hand.end:
            return self._record_by_hand(hand, state, k, min(stop, hand.end))
        try:
            found = self.forward.record_steps(state, k, stop)
        except BaseException as error:
            blame(error, k, "record")
            raise
        if found is None:
            return None
        y, piece = found
        target, work = piece.replay.space, piece.branch.work
        count = len(piece.states)
        return y, Block((piece, target, target), k, count, work, work, piece.nbytes)

    def _record_by_hand(
        self, hand: ByHand, state: Any, start: int, stop: int
    ) -> tuple[Any, Block]:
        x, states, target = present(state), [], hand.target
        k, after = start, target
        try:
            while k < stop and after is target:
                x, at, after = hand.record(x, k)
                states.append(at)
                k += 1
        except BaseException as error:
            blame(error, k, "record")
            raise
        held = (hand, states), target, after
        block = Block(held, start, len(states), 1, 1, target.nbytes)
        return canonical(x, "the state"), block

    def _reverse_by_hand(self, block: Block, start: int, stop: int) -> None:
        (hand, states), target, after = block.held
        k = stop - 1
        try:
            self._check_space(k, after if stop == block.start + block.steps else target)
            ybar = present(self.cotangent)
            for k in range(stop - 1, start - 1, -1):
                ybar = hand.reverse(states.pop(), ybar, k)
        except BaseException as error:
            blame(error, k, "reverse")
            raise
        self.hold(canonical(ybar, "the cotangent"), target)

    def reverse_block(self, block: Block, start: int, stop: int) -> None:
        """Takes the cotangents from state ``stop`` to state ``start`` in one call."""
        piece, before, after = block.held
        if type(piece) is tuple:
            self._reverse_by_hand(block, start, stop)
            return
        self._check_space(stop - 1, after)
        held = self._params_space
        params_bar = np.zeros(0) if held is None else flat(self.params_cotangent).copy()
        ybar = flat(self.cotangent)
        cotangent = piece.replay.reverse(piece, start, stop, ybar, params_bar)
        if held is not None:
            self.params_cotangent = held.build(params_bar)
        unprotect(self.locked)
        self.locked = []
        self.hold(before.build(cotangent), before)

    def _check_space(self, k: int, after: Space) -> None:
        if self.space is not None and self.space != after:
            raise _changed(k, self.space, after)

    def reverse(self, record: Record, k: int) -> None:
        """Applies the pullback of step ``k``."""
        pullback, before, after = record.held
        if type(pullback) is Piece:
            block = Block(record.held, k, 1, record.work, record.reverse, record.nbytes)
            self.reverse_block(block, k, k + 1)
            return
        ybar = self.cotangent
        if self.space is None:
            ybar = np.full(after.form.shape, self._seed, dtype=after.form.dtype)
        elif self.space is not after:
            self._check_space(k, after)
        xbar, params_bar = pullback(present(ybar), self.params_cotangent)
        taken = expected(xbar, before.form)
        if taken is None:
            taken = given_back(xbar, before, k)
        if self._params_space is not None:
            params_bar = matched(
                params_bar,
                self._params_space,
                "the parameters' cotangent given by the reverse rule",
                k,
            )
            if not finite(params_bar):
                raise not_finite(params_bar, "the parameters' cotangent")
            if not _gives_new(pullback):
                params_bar = _apart(params_bar, self.params_cotangent)
            self.params_cotangent = params_bar
        # Read-only as long as the sweep holds it, since it may be memory that a reverse
        # rule keeps and fills anew at every call.
        if self.locked:
            unprotect(self.locked)
        self.locked = protect(taken)
        self.hold(taken, before)

    def hold(self, cotangent: Any, target: Space) -> None:
        """Keeps the cotangent of a state of this space."""
        self.cotangent, self.space = cotangent, target
        self.nbytes = target.nbytes + self._params_nbytes

    def export(self) -> dict[str, Any]:
        """Value and cotangents."""
        found = {
            "value": None if self.value is None else np.asarray(self.value),
            "cotangent": self.cotangent,
            "params_cotangent": self.params_cotangent,
        }
        return {name: part for name, part in found.items() if part is not None}

    def load(self, nest: dict[str, Any]) -> None:
        """Goes on from what :meth:`export` gave."""
        value = nest.get("value")
        self.value = None if value is None else value[()]
        self.cotangent = nest.get("cotangent")
        if self.cotangent is not None:
            self.hold(self.cotangent, space(self.cotangent))
        self.params_cotangent = nest.get("params_cotangent")


def _gives_new(pullback: Any) -> bool:
    """Whether a pullback is one of this package, which adds into new memory."""
    rule = pullback.func if type(pullback) is partial else None
    return type(rule) is MethodType and type(rule.__self__) in (FromVjp, StepRecord)


def _apart(found: Any, held: Any) -> Any:
    """A parameters' cotangent that no reverse rule can change between its calls.

    A rule may add in place, to what the sweep holds. An array of its own it may fill anew.
    """
    pairs = zip(leaves(found), leaves(held), strict=True)
    return rebuild(found, [a if a is b else a.copy() for a, b in pairs])


def check_scalar(y: Any, k: int) -> Any:
    """The value of the chain from its last state.

    Raises:
        ShapeError: If that is no single number.
    """
    if type(y) is np.ndarray and y.size == 1:
        return y.reshape(())[()]
    msg = (
        f"the last step, step {k}, gives {space(y).describe()}; a reverse sweep starts "
        "from one number: let the last step return the objective, such as (x**2).sum()."
    )
    raise ShapeError(msg)


def _changed(k: int, before: Space, after: Space) -> NondeterministicStepError:
    msg = (
        f"step {k} was recorded and gave {after.describe()}, where it had given "
        f"{before.describe()} before: it, or a step before it, does not do the same each "
        "time. verify='fingerprint' finds out which."
    )
    return NondeterministicStepError(msg, k)
