"""What evaluates a recorded step again in compiled code: the protocol, and who makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from numpy.typing import NDArray

__all__ = ["Maker", "StepMachine", "maker", "use"]

Array = NDArray[Any]


class StepMachine(Protocol):
    """A recorded step, evaluated at other states, always by the same code.

    A step that cannot be evaluated (a guard does not hold, a node leaves its domain or is
    at a kink, something is not finite) is not done. Whether it can depends on state,
    parameters, index and data alone.
    """

    def run(
        self,
        params: Any,
        state: Array,
        start: int,
        stop: int,
        *,
        data: Any = None,
        states: Any = None,
    ) -> tuple[Array, int]:
        """Runs steps ``start .. stop-1`` from a flat state, which stays as it is.

        Row ``k`` of ``data`` is the data of step ``k``. ``states`` gets the state before
        each step, a row a step. Gives ``(state k, k)``, where ``k`` is ``stop`` unless
        step ``k`` could not be done.
        """

    def reverse(
        self,
        params: Any,
        states: Array,
        start: int,
        stop: int,
        ybar: Array,
        held: Array,
        *,
        data: Any = None,
    ) -> tuple[Array, int]:
        """Takes the cotangent of state ``stop`` back, computing the steps anew.

        Step ``k`` starts from row ``k - start`` of ``states``. ``held``, the cotangent of
        the parameters, is added to in place: in each step's adjoint sweep it stands in
        the parameters' entries from the start. Gives ``(cotangent of state k, k)``, where
        ``k`` is ``start`` unless step ``k - 1`` could not be done.
        """


Maker = Callable[[Any, Any, Any, int, int, int], StepMachine]
"""``(tape, outs, y, nparams, index, row)``: a machine for a recorded step.

``outs`` are the nodes of the next state, -1 for a constant, whose value stands in ``y``.
The inputs of the tape are ``nparams`` parameters, the state, the step's index at ``index``
and its data from ``row`` on. Raises ReplayError where there can be none.
"""

_chosen: list[Maker | None] = []


def use(made_by: Maker | None) -> None:
    """Sets what makes machines from now on; None: nothing does, and steps are taped."""
    _chosen[:] = [made_by]


def maker() -> Maker | None:
    """What makes machines, or None."""
    return _chosen[0] if _chosen else _compiled_machine


def _compiled_machine(*recorded: Any) -> StepMachine:
    from ...replay._steps import StepMachine as Compiled  # noqa: PLC0415 - not for all

    return Compiled(*recorded)
