"""Steps with a reverse rule, on states that need no closer look.

States and cotangents stay as steps receive them. What is not clearly as it should be goes
the way that every other step goes, and means there what it means.
"""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..states._space import Entry, Nest, Space
from ..states._states import SHORT, finite, matched, present
from ..steps._blame import not_finite
from ..steps._transition import FromVjp
from ._forward import stepper

if TYPE_CHECKING:
    from ._gradient import GradientMode

__all__ = ["ByHand", "by_hand", "given_back", "telling"]

_Array: Any = np.ndarray
_Double = np.float64
_NUMBER = frozenset((np.float64,))
_DOUBLE = np.dtype(np.float64)
_SINGLE = np.dtype(np.float32)
_LEAST = 4  # steps of a run that are worth the way here


class ByHand:
    """Some steps of one transition.

    Attributes:
        first: The first step.
        end: The one after the last; never that of the whole chain, which gives a value.
        target: The space of their states.
        good: Tells whether something is clearly a finite state of that space.
        arrays: Whether states are arrays.
        step: The transition.
        call: Runs a step.
    """

    def __init__(
        self,
        mode: GradientMode,
        step: FromVjp,
        target: Space,
        good: Callable[[Any], bool],
    ) -> None:
        self.target, self.good, self.step = target, good, step
        self.arrays = type(target.form) is Entry and target.form.shape != ()
        self.first, self.end = 0, 0
        self._mode, self._forward = mode, mode.forward
        self._params, self._vjp = mode.forward.params, step.vjp
        self.call = stepper(step, self._params)

    def record(self, x: Any, k: int) -> tuple[Any, Any, Space]:
        """State ``k + 1``, what the rule gets of state ``k``, the space of the first."""
        at, locked = x, False
        try:
            if self.arrays:
                at = x.copy()
                at.setflags(False)
                if locked := x.flags.writeable:
                    x.setflags(False)
            y = self.call(x, k)
        except TypeError as error:
            self.step.explain(error, self._params)
            raise
        finally:
            if locked:
                x.setflags(True)
        if self.good(y):
            return y, at, self.target
        y, _, _, after = self._forward.taken(y, None, self.target, k)
        return present(y), at, after

    def reverse(self, x: Any, ybar: Any, k: int) -> Any:
        """The cotangent of state ``k`` from that of state ``k + 1``."""
        mode, params, total = self._mode, self._params, None
        if params is None:
            try:
                taken = self._vjp(x, ybar, k)
            except TypeError as error:
                self.step.explain_rule(error, None)
                raise
        else:
            held = mode.params_cotangent
            taken, total = self.step.pull(x, params, k, ybar, held)
        if not self.good(taken):
            taken = present(given_back(taken, self.target, k))
        if total is not None:
            if not finite(total):
                raise not_finite(total, "the parameters' cotangent")
            mode.params_cotangent = total
        if self.arrays and taken is not ybar:  # see GradientMode.reverse
            locked = mode.locked
            if locked:
                locked.pop().setflags(True)
            if taken.flags.writeable:
                taken.setflags(False)
                locked.append(taken)
        return taken


def by_hand(
    mode: GradientMode, k: int, target: Space, good: Callable[[Any], bool]
) -> ByHand | None:
    """The steps around step ``k``; None where they are of another kind, or few."""
    step, first, end = mode.forward.chain.run_of(k)
    if type(step) is not FromVjp or end - first < _LEAST:
        return None
    hand = ByHand(mode, step, target, good)
    hand.first, hand.end = first, min(end, len(mode.forward.chain) - 1)
    return hand


def given_back(xbar: Any, before: Space, k: int) -> Any:
    """The cotangent of a state from what a reverse rule gave.

    Raises:
        DomainError: If it is not finite.
    """
    what = "the cotangent given by the reverse rule"
    taken = matched(xbar, before, what, k)
    if not finite(taken):
        raise not_finite(taken, "the cotangent of its input")
    return taken


def telling(form: Entry | Nest) -> Callable[[Any], bool] | None:
    """Tells whether something is clearly a finite state of a form, as steps receive it.

    None for forms other than arrays, numbers of double precision and tuples of those.
    """
    if isinstance(form, Nest):
        count = len(form.parts)
        if form.kind is not tuple or form.parts != (Entry((), _DOUBLE),) * count:
            return None

        def numbers(y: Any) -> bool:
            return (
                type(y) is tuple
                and len(y) == count
                and _NUMBER.issuperset(map(type, y))
                and isfinite(hypot(*y))  # or too large, which takes a closer look
            )

        return numbers
    shape, dtype = form
    if dtype is not _DOUBLE and (dtype is not _SINGLE or not shape):
        return None
    short = len(shape) == 1 and shape[0] <= SHORT

    def array(y: Any) -> bool:
        return (
            type(y) is _Array
            and y.dtype is dtype
            and y.shape == shape
            and y.base is None
            and y.flags.c_contiguous
            and ((short and isfinite(sum(y.tolist()))) or finite(y))
        )

    def number(y: Any) -> bool:
        return type(y) is _Double and isfinite(y)

    return array if shape else number
