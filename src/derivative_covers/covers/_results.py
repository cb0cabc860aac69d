"""What covers come back as."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval
from ..tape import Kink
from ._structure import vector

__all__ = ["HessianCover", "kinks_note", "number", "shown"]

SHOWN = 8  # places of a structure that a text shows


@dataclass(frozen=True, eq=False)
class HessianCover:
    """A cover of a Hessian, with the value and the gradient at the same point.

    ``numpy.asarray`` of it is ``h``, as one flat vector where the inputs came in a
    dictionary or tuple.

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

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return vector(self.h, dtype, copy)

    def __repr__(self) -> str:
        note = "" if self.cost is None else f", about {self.cost:.3g} gradients"
        note += ", declared scales were read" if self.asked else ""
        return (
            f"HessianCover(value={number(self.value)}, h={shown(self.h)}, "
            f"gradient={shown(self.gradient)}, merge={self.merge!r}{note}"
            f"{kinks_note(self.kinks)})"
        )


def number(value: Any) -> str:
    """Short text of a value, or of its enclosure."""
    if isinstance(value, Interval):
        return f"[{value.lo:.6g}, {value.hi:.6g}]"
    plain = isinstance(value, (float, complex, np.inexact))
    return f"{value:.6g}" if plain else repr(value)


def shown(part: Any) -> str:
    """Short text of an array, or of a structure of arrays."""
    with np.printoptions(precision=6, threshold=8, edgeitems=3):
        return _short(part)


def kinks_note(kinks: tuple[Kink, ...]) -> str:
    """What a text says of kinks where a branch was taken."""
    return f", branches were taken at {len(kinks)} kinks" if kinks else ""


def _short(part: Any) -> str:
    """Text of an array or of a structure, cut where that has many places."""
    if isinstance(part, dict) and len(part) > SHOWN:
        first = ", ".join(f"{k!r}: {_short(part[k])}" for k in islice(part, SHOWN))
        return f"{{{first}, ... {len(part)} places}}"
    if isinstance(part, tuple) and len(part) > SHOWN:
        first = ", ".join(_short(p) for p in part[:SHOWN])
        return f"({first}, ... {len(part)} places)"
    return str(part)
