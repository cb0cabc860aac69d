"""Values and Jacobians of a program with several outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ...covers import hvp
from ...covers._arguments import RecordingOptions
from ...replay import compile
from ...tape import Tape

__all__ = ["Traced"]

Array = NDArray[Any]


class Traced:
    """A compiled program of outputs of any shape, as a vector."""

    def __init__(
        self, f: Callable[..., Any], x: Array, **recording: Unpack[RecordingOptions]
    ) -> None:
        self.program = compile(f, x, **recording)
        self._last: tuple[Array, Tape, Array] | None = None

    def tape(self, x: Array) -> tuple[Tape, Array]:
        """The tape at ``x`` and the ids of the outputs, in a row."""
        if self._last is None or not np.array_equal(self._last[0], x):
            tape, outs = self.program.tape_at(np.asarray(x, dtype=float))
            self._last = (np.array(x), tape, np.ravel(outs))
        return self._last[1:]

    def value(self, x: Array) -> Array:
        """The outputs, shape ``(m,)``."""
        return np.ravel(self.program.value(np.asarray(x, dtype=float)))

    def jacobian(self, x: Array) -> Array:
        """Their Jacobian, shape ``(m, n)``."""
        found = self.program.jacobian(np.asarray(x, dtype=float))
        return np.asarray(found).reshape(-1, np.size(x))

    def hvp(self, x: Array, weights: Array, v: Array) -> Array:
        """Product of ``v`` and the Hessian of the weighted sum of outputs."""
        tape, outs = self.tape(x)
        products = [
            w * hvp(tape, k, v) for w, k in zip(weights, outs, strict=True) if w
        ]
        return np.sum(products, axis=0) if products else np.zeros_like(v)
