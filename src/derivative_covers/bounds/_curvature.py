"""The Hessian of a function over one box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..covers import (
    RecordingOptions,
    cover_hessian,
    hessian,
    tape_function,
)
from ..covers import hessian_bound as absolute_hessian
from ..covers._arguments import scalar_output
from ..elements import Interval
from ..errors import ConstantProgramError, OptionError, UnsupportedOperationError
from ..replay import CompiledBox
from ..tape import Tape
from ._entries import Covered, Entries

__all__ = ["METHODS", "Curvature", "Method", "check_method"]

Array = NDArray[Any]
Method = Literal["auto", "hessian", "bound", "cover"]
METHODS = ("auto", "hessian", "bound", "cover")


@dataclass(frozen=True)
class Curvature:
    """Encloses the Hessian of a function; a call takes the ends of a box."""

    f: Any
    method: Method
    recording: RecordingOptions

    def __call__(self, lo: Array, hi: Array) -> Entries | Covered:
        """Records the function over the box and sweeps."""
        try:
            tape, out = self._recorded(Interval(lo, hi))
        except ConstantProgramError:  # as a branch may be, on a part of the box
            return Entries.within(np.zeros((lo.size, lo.size)))

        def covered(merge: Literal["auto", "quadrature"]) -> Covered:
            return Covered(np.ravel(cover_hessian(tape, out, merge=merge).h))

        if self.method == "cover":
            return covered("auto")
        found = self._entries(tape, out)
        # Covers come with a gradient, which an infinite box seldom bounds.
        if self.method == "auto" and np.isfinite([lo, hi]).all():
            found = found.meet(Entries.within(covered("quadrature").size))
        return found

    def _recorded(self, box: Interval) -> tuple[Tape, int]:
        """A tape over a box: that of a compiled program, or recorded."""
        if isinstance(self.f, CompiledBox) and not self.recording:
            tape, out = self.f.tape_at(box)
        else:
            tape, out = tape_function(self.f, box, **self.recording)
        return tape, scalar_output(out, "curvature over a box")

    def _entries(self, tape: Tape, out: Any) -> Entries:
        n = tape.ninputs
        if self.method != "bound":
            try:
                return Entries.symmetric(hessian(tape, out).reshape(n, n))
            except UnsupportedOperationError:  # a node that declares a bound alone
                if self.method == "hessian":
                    raise
        return Entries.within(np.reshape(absolute_hessian(tape, out), (n, n)))


def check_method(method: Any) -> Method:
    """Refuse what is no method.

    Raises:
        OptionError: If it is none of those that there are.
    """
    if not isinstance(method, str) or method not in METHODS:
        msg = (
            f"method is {method!r}; it must be one of {', '.join(map(repr, METHODS))}."
        )
        raise OptionError(msg)
    return method  # type: ignore[return-value]
