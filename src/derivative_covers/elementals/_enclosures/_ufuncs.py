"""The ufuncs of intervals that are elementals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...elements._outward import Pair
from ...errors import DomainError
from .._registry import answers, by_ufunc
from ._registry import enclose

__all__ = ["enclose_ufunc"]


def enclose_ufunc(ufunc: Any, operands: tuple[Pair, ...]) -> Pair | None:
    """The values of a ufunc over intervals, where an elemental answers to it.

    Args:
        ufunc: One of NumPy's or of ``scipy.special``.
        operands: A pair each.

    Returns:
        A pair, or None where no elemental does.

    Raises:
        DomainError: If some members of the operands have no value.
        UnsupportedOperationError: If the elemental has no enclosure.
    """
    name = ufunc.__name__
    if getattr(np, name, None) is not ufunc:
        name = "special." + name
    if not answers(name):
        return None
    op = by_ufunc(name)
    found = enclose(op, op.arity - 1, operands, order=0)
    bad = found.outside if found.undefined is None else found.undefined
    if bad is not None and np.any(bad):
        first = tuple(int(k[0]) for k in np.nonzero(bad)) if np.ndim(bad) else ()
        ends = [
            "[{}, {}]".format(*(np.broadcast_to(e, np.shape(bad))[first] for e in x))
            for x in operands
        ]
        msg = (
            f"{op.name}({', '.join(ends)}) has no value at some members; make the "
            "intervals smaller, or restrict them to the domain with np.clip."
        )
        raise DomainError(msg, elemental=op.name)
    return found.value
