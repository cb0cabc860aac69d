"""Steps recorded one at a time, for sweeps that need tapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DerivativeError, UnsupportedOperationError
from ...sweeps import Program
from ..states._states import finite, present, protect, unprotect
from ..steps._blame import blame
from ..steps._chain import Chain
from ..steps._taped import StepRecord
from ..steps._transition import Taped, Transition
from ._carry import NeedsCarry
from ._forward import Forward

__all__ = ["LocalSteps", "all_taped"]


def all_taped(chain: Chain, what: str) -> None:
    """Refuses a chain with a step that has no tape.

    Raises:
        UnsupportedOperationError: With the first such step.
    """
    for transition, first, stop in chain.runs:
        if not isinstance(transition, Taped):
            steps = (
                f"step {first} is"
                if stop == first + 1
                else f"steps {first} to {stop - 1} are"
            )
            msg = (
                f"{steps} {transition!r}, which has a reverse rule and no tape; {what} "
                "needs second derivatives. Make it with Transition.taped from a NumPy "
                "function; where a part cannot be recorded, call it inside of that "
                "function through submap with a declared bound on its curvature."
            )
            raise UnsupportedOperationError(msg)


class LocalSteps(Forward):
    """The taped steps of a chain, run or recorded.

    Attributes:
        blind: Whether nothing is known of a state but its numbers. A fault that is found
            by recording may then be one only because constants are taken for variables,
            and NeedsCarry is raised in its place.
    """

    compiles = False  # what is recorded has to have the bits of what was run

    def __init__(self, chain: Chain, params: Any, *, blind: bool) -> None:
        """Takes parameters in canonical form."""
        super().__init__(chain, params)
        self.blind = blind

    def local(
        self, x: Any, k: int, ids: NDArray[np.int64] | None, phase: str
    ) -> tuple[StepRecord, Program | None]:
        """Step ``k`` on its own tape, with its program (None: constant outputs)."""
        transition: Any = self.chain[k]
        locked = protect(x)
        step = None
        try:
            with np.errstate(all="ignore"):
                step = transition.step(present(x), self.params, k, ids)
            return step, step.check()
        except DerivativeError as error:
            if self.blind and (step is None or finite(step.y)):
                raise NeedsCarry(k) from error
            blame(error, k, phase)
            raise
        except BaseException as error:
            blame(error, k, phase)
            raise
        finally:
            unprotect(locked)

    def _settle(self, transition: Transition, x: Any, k: int, y: Any) -> Any:
        try:
            return super()._settle(transition, x, k, y)
        except DerivativeError as error:
            if self.blind and finite(y):
                raise NeedsCarry(k) from error
            raise
