"""A recorded program at many points, one a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..covers import cover_hessian, gradient
from ..covers._arguments import scalar_output
from ..elements import as_element
from ..errors import ReplayError
from ..local import split_ratio
from ..tape import Tape, input_array
from ..tape._replay import check_replayable
from ._batch import Batch
from .kernels._kinds import COVER, GRADIENT

__all__ = ["Points"]

Array = NDArray[Any]


class Points:
    """A recorded program at many points; what ``tape.replay(X)`` gives.

    Attributes:
        tape: The recording.
        x: The points, a row each.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> tape, out = dc.tape_function(lambda x: np.sum(x**2), [1.0, 2.0])
        >>> points = tape.replay([[1.0, 1.0], [3.0, 0.5]])
        >>> points.values(out)
        array([2.  , 9.25])
        >>> points.gradients(out)
        array([[2., 2.],
               [6., 1.]])
    """

    def __init__(self, tape: Tape, X: Any) -> None:
        check_replayable(tape)
        self.tape = tape
        given = input_array(X, "x") if np.size(X) else X
        self.x = np.asarray(as_element(given, tape.dtype))

    def values(self, outs: Any) -> Array:
        """Values of outputs, of shape ``(npoints, *outs.shape)``.

        Args:
            outs: Node id of an output, or an array of them.

        Raises:
            BranchChangedError: If the program takes another branch at a point.
        """
        (found,) = self._sweep(outs, -1, 0.0, 1)
        return found.reshape(len(self.x), *np.shape(outs))

    def gradients(self, out: Any) -> Array:
        """Gradients of a scalar output, of the shape of the points.

        Args:
            out: Node id of the output.

        Raises:
            BranchChangedError: If the program takes another branch at a point.
            DomainError: If the output depends on a node outside of its domain there.
            NondifferentiableError: If it depends on a node at a kink, jump or tie.
        """
        _, found = self._sweep(scalar_output(out, "gradient"), GRADIENT, 0.0, 2)
        return found.reshape(self.x.shape)

    def covers(self, out: Any, *, ratio: float | None = None) -> Array:
        """Sum covers ``h`` of a scalar output, of the shape of the points.

        Args:
            out: Node id of the output.
            ratio: As in :func:`cover_hessian`.

        Raises:
            As :meth:`gradients`.
        """
        o = scalar_output(out, "cover_hessian")
        threshold = float(split_ratio(ratio, self.tape.dtype.type))
        _, _, found = self._sweep(o, COVER, threshold, 3)
        return found.reshape(self.x.shape)

    def _sweep(self, outs: Any, mode: int, ratio: float, count: int) -> list[Array]:
        tape = self.tape
        rows = np.ascontiguousarray(self.x.reshape(len(self.x), tape.ninputs))
        batch = self._batch(outs)
        if batch is not None:
            *found, failed = batch.sweep(rows, mode, ratio)
        else:
            found = [
                np.empty((len(rows), np.size(outs)), dtype=tape.dtype),
                np.empty(rows.shape, dtype=tape.dtype),
                np.empty(rows.shape, dtype=tape.magtype),
            ]
            failed = np.ones(len(rows), dtype=bool)
        for k in np.flatnonzero(failed).tolist():
            there = tape.replay(self.x[k])
            found[0][k] = there.values_at(np.ravel(outs))
            if mode == GRADIENT:
                found[1][k] = np.ravel(gradient(there, outs))
            elif mode == COVER:
                found[2][k] = np.ravel(cover_hessian(there, outs, ratio=ratio).h)
        return found[:count]

    def _batch(self, outs: Any) -> Batch | None:
        """The program at many points, compiled; None where it cannot be had."""
        kept = self.tape.cache.setdefault("machines", {})
        key = (np.shape(outs), np.asarray(outs).tobytes())
        if key not in kept:
            try:
                kept[key] = Batch(self.tape, outs)
            except ReplayError:
                kept[key] = None
        found: Batch | None = kept[key]
        return found

    def __len__(self) -> int:
        return len(self.x)

    def __repr__(self) -> str:
        return f"<{len(self)} points of {self.tape!r}>"
