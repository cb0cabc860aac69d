"""A step of a chain that is run, and reversed, many times in one compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ReplayError
from ..tape import Tape
from ._machine import Machine
from .kernels import chain

__all__ = ["StepMachine"]

Array = NDArray[np.float64]
_NO_DATA = np.empty((0, 0))


class StepMachine:
    """A recorded step, whose outputs are the next step's state.

    The inputs of its tape are, in order, the parameters, the state, the number of the
    step if the program uses it, and the step's row of data if there are any.

    Args:
        tape: The finished float64 tape of one step.
        outs: Node ids of the next state's entries; negative for constants.
        y: The next state's entries, for the constants among them.
        nparams: Number of parameters.
        index: The input that is the step's number, or None.
        row: The first input that comes from the data.

    Raises:
        ReplayError: If the step cannot be replayed in compiled code.
    """

    def __init__(
        self, tape: Tape, outs: Any, y: Any, nparams: int, index: int | None, row: int
    ) -> None:
        machine = self.machine = Machine(tape, outs, y)
        if machine.tables.outside:
            name = machine.tables.outside[0].op.name
            msg = f"{name} is not compiled, so that steps are replayed one by one."
            raise ReplayError(msg)
        self.nparams, self.row = nparams, row
        self.index = -1 if index is None else index
        self.n = int(np.size(outs))
        t = machine.tables
        vl, vg = machine.addresses("value")
        self._forward = (t.code, t.count, vl, vg)
        self._backward: tuple[Any, ...] | None = None

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
        """Runs steps ``start .. stop-1``; gives the state before the first one not done.

        Args:
            params: Parameters, flat, or None.
            state: State ``start``, flat; it is not modified.
            start: First step.
            stop: One past the last.
            data: Array of shape ``(T, row)``, or None.
            states: Array of ``stop - start`` rows, which gets the states before the
                steps; None: nobody needs them.

        Returns:
            ``(state k, k)``; ``k`` is ``stop`` unless step ``k`` has to be recorded.
        """
        t = self.machine.tables
        advance = chain.advance.compiled()
        with self.machine.buffers() as (p, _, _, work):
            carry = self.nparams
            if carry:
                p[:carry] = np.ravel(params)
            p[carry : carry + self.n] = state
            k = advance(
                *self._forward, t.wide, t.ids, t.guards, p, t.outs, carry, self.index,
                _NO_DATA if data is None else data, self.row, work,
                _NO_DATA if states is None else states, start, stop,
            )  # fmt: skip
            return p[carry : carry + self.n].copy(), int(k)

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
        """Reverses steps ``stop-1 .. start``, which are computed again from their states.

        Args:
            params: Parameters, flat, or None.
            states: The states before the steps, a row each.
            start: First step.
            stop: One past the last.
            ybar: Cotangent of state ``stop``.
            held: Cotangent of the parameters, flat; steps add to it in place.
            data: Array of shape ``(T, row)``, or None.

        Returns:
            ``(cotangent of state k, k)``; ``k`` is ``start`` unless step ``k - 1`` has
            to be recorded.
        """
        t = self.machine.tables
        if self._backward is None:
            none = np.zeros(1, dtype=np.int64)
            self._backward = (*self._forward, none, *self.machine.addresses("adjoint"))
        retreat = chain.retreat.compiled()
        with self.machine.buffers() as (p, q, _, work):
            if self.nparams:
                p[: self.nparams] = np.ravel(params)
            work[: self.n] = ybar
            k = retreat(
                *self._backward, t.wide, t.ids, t.guards, p, q, t.outs,
                self.nparams, self.index,
                _NO_DATA if data is None else data, self.row, work, states, start, stop,
                held,
            )  # fmt: skip
            return work[: self.n].copy(), int(k) + 1
