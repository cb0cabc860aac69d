"""Values and Jacobians of a program with several outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ...covers import hvp, jacobian
from ...covers._arguments import RecordingOptions
from ...replay import compile
from ...sweeps import check_outputs, tangents
from ...tape import Tape

__all__ = ["Traced"]

Array = NDArray[Any]


class Traced:
    """A recorded program of outputs of any shape, as a vector.

    The Jacobian takes a tangent sweep a variable or a reverse sweep an output, whichever
    are fewer.
    """

    def __init__(
        self, f: Callable[..., Any], x: Array, **recording: Unpack[RecordingOptions]
    ) -> None:
        self.program = compile(f, x, **recording)
        self._last: tuple[Array, Tape, Array] | None = None

    def tape(self, x: Array) -> tuple[Tape, Array]:
        """The tape at ``x`` and the ids of the outputs, in a row."""
        if self._last is None or not np.array_equal(self._last[0], x):
            tape, outs = self.program.tape_at(x)
            self._last = (np.array(x), tape, np.ravel(outs))
        return self._last[1:]

    def value(self, x: Array) -> Array:
        """The outputs, shape ``(m,)``."""
        return np.ravel(self.program.value(np.asarray(x, dtype=float)))

    def jacobian(self, x: Array) -> Array:
        """Their Jacobian, shape ``(m, n)``."""
        tape, outs = self.tape(x)
        if outs.size <= tape.ninputs:
            return np.asarray(jacobian(tape, outs))
        program = check_outputs(tape, outs)
        columns = [tangents(program, tape, e)[outs] for e in np.eye(tape.ninputs)]
        return np.stack(columns, axis=1)

    def hvp(self, x: Array, weights: Array, v: Array) -> Array:
        """Product of ``v`` and the Hessian of the weighted sum of outputs."""
        tape, outs = self.tape(x)
        products = [
            w * hvp(tape, k, v) for w, k in zip(weights, outs, strict=True) if w
        ]
        return np.sum(products, axis=0) if products else np.zeros_like(v)
