"""The plain program and its recordings as functions of one flat vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..covers import gradient, tape_function
from ..errors import InputTypeError, UnsupportedOperationError
from ..results import names_for
from ..tape import Structure, input_plan

__all__ = ["Program"]

Array = NDArray[Any]


class Program:
    """A function of structured inputs, run on plain numbers or recorded.

    Args:
        f: The function.
        x0: The point.
        recording: Options of :func:`tape_function`.
        names: Names of the inputs, or None.

    Attributes:
        x: The point as one flat vector of float64.
    """

    def __init__(self, f: Any, x0: Any, recording: Any, names: Any = None) -> None:
        if not callable(f):
            msg = f"the program must be a function; got {type(f).__name__}."
            raise InputTypeError(msg)
        self.f, self.recording = f, recording
        self.outputs = 1  # known once the plain program has run
        self.structure: Structure | None
        self.structure, point = input_plan(x0)
        self.shape, self.dtype = point.shape, point.dtype
        self.names = None if names is None else names_for(names, point.size)
        if self.dtype.kind == "c":
            msg = (
                "check compares derivatives with real differences, and x0 is complex; "
                "check the program of the real and the imaginary parts instead."
            )
            raise UnsupportedOperationError(msg)
        self.x = point.ravel().astype(np.float64)
        args, kwargs = recording.get("args", ()), recording.get("kwargs")
        # what cannot be used is refused by the first recording, before any plain run
        self._args = tuple(args) if isinstance(args, (tuple, list)) else ()
        self._kwargs = dict(kwargs) if isinstance(kwargs, Mapping) else {}

    def scales(self) -> Array:
        """Typical sizes of the inputs: their own, and 1 for zeros."""
        return np.where(self.x == 0.0, 1.0, np.abs(self.x))

    def structured(self, x: Array) -> Any:
        """A flat vector in the structure of the inputs."""
        if self.structure is None:
            return x.reshape(self.shape).copy()[()]
        return self.structure.build(
            lambda leaf: x[leaf.slice].reshape(leaf.shape).copy()[()]
        )

    def flat(self, result: Any) -> Array:
        """The flat vector of a result in the structure of the inputs."""
        if self.structure is None:
            return np.ravel(result)
        return self.structure.flatten(result, "result", self.dtype)

    def plain(self, x: Array) -> Array:
        """The outputs of the plain program, as one flat vector.

        Raises:
            InputTypeError: If it does not return numbers.
        """
        given = self.structured(x)
        whole = self.structure is None or not self.structure.is_arguments
        with np.errstate(all="ignore"):
            result = self.f(
                *((given,) if whole else given), *self._args, **self._kwargs
            )
        try:
            return np.array(result, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            msg = (
                f"the plain program returned {result!r:.80} of type "
                f"{type(result).__name__}; numbers or an array of them are needed."
            )
            raise InputTypeError(msg) from None

    def near(self, x: Array) -> Array:
        """The same near the point, with NaN where the program fails."""
        try:
            found = self.plain(x)
        except Exception:  # it ran at the point, so this is an end of its domain
            return np.full(self.outputs, np.nan)
        return found if found.size == self.outputs else np.full(self.outputs, np.nan)

    def record(self) -> tuple[Any, Any]:
        """Tape and outputs at the point."""
        point = self.structured(self.x.astype(self.dtype))
        return tape_function(self.f, point, **self.recording)

    def gradient_near(self, x: Array, output: int) -> Array:
        """Gradient of one output near the point; NaN where there is none."""
        try:
            tape, outs = tape_function(
                self.f, self.structured(x.astype(self.dtype)), **self.recording
            )
            found = gradient(tape, int(np.ravel(outs)[output]))
        except Exception:  # as in near
            return np.full(x.size, np.nan)
        return self.flat(found).astype(np.float64)

    def label(self, i: int) -> str:
        """How one writes entry ``i`` of the inputs, or its name."""
        if self.names is not None:
            return self.names[i]
        path, shape = "x0", self.shape
        if self.structure is not None:
            leaf = next(e for e in reversed(self.structure.leaves) if e.start <= i)
            path, shape, i = leaf.path, leaf.shape, i - leaf.start
        at = ", ".join(str(int(k)) for k in np.unravel_index(i, shape)) if shape else ""
        return f"{path}[{at}]" if at else path
