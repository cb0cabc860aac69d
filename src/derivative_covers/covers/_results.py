"""What covers come back as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ..results import Named, Summary, kinks_note, number, scales_notes, variables
from ..tape import Kink
from ._structure import vector

__all__ = ["HessianCover"]


@dataclass(frozen=True, eq=False, repr=False)
class HessianCover(Named):
    """A cover of a Hessian, with the value and the gradient at the same point.

    ``numpy.asarray`` of it is ``h``, as one flat vector where the inputs came in a
    dictionary or tuple. Its ``repr`` is a table of the variables, of many the largest
    and the smallest; :meth:`named` gives them names.

    Attributes:
        value: Value of the program.
        gradient: Its gradient, of the shape (or structure) of the inputs.
        h: Nonnegative, of the shape (or structure) of the inputs, with
            ``|H_ij| <= h_i h_j``; in units of the square root of the output's over
            those of the input.
        merge: How the atoms were merged: ``"sum"``, ``"hybrid"`` or ``"quadrature"``; or
            ``"hessian"`` where the exact Hessian was covered.
        asked: Whether some block had to read the declared scales, so that covariance
            under a change of units needs ``scales`` to change along.
        kinks: Where the value's branch was taken at a kink or tie; always empty unless
            the program was recorded with ``kinks="branch"``.
        backend: What evaluated the program: ``"numpy"``, or ``"jax"`` where it is one of
            JAX.
        cost: Where ``merge="auto"`` chose, what the cover cost in gradients of the same
            tape, as predicted from the sizes of its parts; None otherwise.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> cover = dc.cover_hessian(lambda x: x[0] ** 2 * x[1], [1.0, 2.0])
        >>> bool((np.outer(cover, cover) >= [[4, 2], [2, 0]]).all())
        True
    """

    value: Any
    gradient: Any
    h: Any
    merge: str
    asked: bool
    kinks: tuple[Kink, ...] = ()
    cost: float | None = None
    backend: str = "numpy"

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return vector(self.h, dtype, copy)

    def _variables(self) -> tuple[Any, int]:
        return self.h, 0

    def _summary(self) -> Summary:
        note = "" if self.cost is None else f", about {self.cost:.3g} gradients"
        title = (
            f"HessianCover: value={number(self.value)}, merge={self.merge!r}{note}"
            f"{kinks_note(self.kinks)}{', by JAX' if self.backend == 'jax' else ''}"
        )
        columns = {"gradient": self.gradient, "h": self.h}
        table = variables(self.names, columns, "h")
        return Summary(title, (table,), scales_notes(self.asked))
