"""Eight bytes a state, which tell whether a step does the same each time."""

from __future__ import annotations

from array import array
from typing import Any

from ...errors import NondeterministicStepError, StateMutationError
from ..states._states import fingerprint

__all__ = ["Fingerprints"]


class Fingerprints:
    """A fingerprint of every state that a sweep has met; 0 stands for none yet."""

    def __init__(self, steps: int) -> None:
        """Room for ``steps + 1`` states."""
        self._known = array("Q", bytes(8 * (steps + 1)))

    def seen(self, k: int, state: Any) -> None:
        """State ``k``, made by step ``k - 1`` (state 0: the point).

        Raises:
            NondeterministicStepError: If that step gave other bits before.
        """
        if not self._same(k, state):
            msg = (
                f"step {k - 1} gave another state when it was evaluated again from the "
                "same one; a sweep evaluates steps several times, so a step must depend "
                "on its arguments alone: draw random numbers before the sweep, or from a "
                "generator made from the step's index, such as "
                "numpy.random.default_rng([seed, k])."
            )
            raise NondeterministicStepError(msg, k - 1)

    def kept(self, k: int, state: Any, where: str) -> None:
        """State ``k``, which nobody should have touched since it was seen.

        Raises:
            StateMutationError: If it has other bits now.
        """
        if not self._same(k, state):
            msg = (
                f"state {k} changed {where}: step {k} wrote into its input past NumPy's "
                "protection (through torch.from_numpy or a pointer, say); start it with "
                "x = x.copy()."
            )
            raise StateMutationError(msg)

    def _same(self, k: int, state: Any) -> bool:
        found = fingerprint(state) or 1
        known = self._known[k]
        self._known[k] = known or found
        return known in (0, found)
