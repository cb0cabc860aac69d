"""Inner products and linear combinations recorded as one node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..elements import as_element
from ..errors import ShapeError, TapeError
from ._blocks import Operand
from ._convert import tape_of
from ._refs import elsewhere, live, noderef
from ._storage import ArrayBase
from ._tape import Tape
from ._tvar import TVar, new_tvar

__all__ = ["dotnode", "linearnode"]


def _scalars(xs: Sequence[Any], name: str) -> tuple[Tape, np.ndarray[Any, Any], Any]:
    entries = list(xs)
    tape = tape_of(entries) if not isinstance(xs, ArrayBase) else xs.tape
    if tape is None:
        msg = f"{name} holds no recorded variable; fold constants into coefficients."
        raise TapeError(msg)
    refs = [noderef(x) for x in entries]
    if any(t is not tape for t, _ in refs):
        msg = (
            f"{name} holds variables of two tapes; record one function of all of them."
        )
        raise TapeError(msg)
    ids = np.array([k for _, k in refs], dtype=np.int64)
    return tape, ids, np.array([x.v for x in entries], dtype=tape.dtype)


def dotnode(ws: Sequence[Any], xs: Sequence[Any]) -> Any:
    """Record an inner product ``sum_j w_j x_j`` as one node with paired curvature.

    Slots are ordered ``(w_1, .., w_q, x_1, .., x_q)`` and stay independent even where
    ``ws`` and ``xs`` share entries.

    Args:
        ws: Recorded scalars (a list, or a recorded 1-d array).
        xs: As many of them, on the same tape.

    Returns:
        The new variable.

    Raises:
        ShapeError: If the lengths differ or are zero.
        TapeError: If an entry is a constant, or on another tape.

    Cost:
        O(q).

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import dotnode
        >>> dc.gradient(lambda x: dotnode([x[0]], [x[1]]), [2.0, 3.0])
        array([3., 2.])
    """
    if len(ws) != len(xs) or not len(xs):
        msg = f"dotnode got {len(ws)} and {len(xs)} entries; equally many are needed."
        raise ShapeError(msg)
    if elsewhere(ws) or elsewhere(xs):
        return type(live(ws[0])).dotnode([*map(live, ws)], [*map(live, xs)])
    tape, w, wv = _scalars(ws, "ws")
    other, x, xv = _scalars(xs, "xs")
    if other is not tape:
        msg = "the operands live on two tapes; record one function of both."
        raise TapeError(msg)
    held = np.array([np.dot(wv, xv)], dtype=tape.dtype)
    walk = (0, 0, 0, 1)
    block = tape.dot(
        (1, 1, 1, w.size), Operand(0, walk, w), Operand(0, walk, x), held, merge=False
    )
    return new_tvar(tape, block.start, held[0])


def linearnode(coeffs: Any, xs: Sequence[Any]) -> Any:
    """Record a linear combination ``sum_j coeffs[j] x_j`` as one node.

    Args:
        coeffs: Constant coefficients, converted to the tape's element type.
        xs: As many recorded scalars.

    Returns:
        The new variable.

    Raises:
        ShapeError: If the lengths differ or are zero.
        TapeError: If an entry is a constant, or they live on several tapes.

    Cost:
        O(q).

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import linearnode
        >>> dc.gradient(lambda x: linearnode([2.0, -1.0], [x[0], x[1]]), [1.0, 1.0])
        array([ 2., -1.])
    """
    if len(coeffs) != len(xs) or not len(xs):
        msg = f"linearnode got {len(coeffs)} coefficients and {len(xs)} variables."
        raise ShapeError(msg)
    if elsewhere(xs):
        return type(live(xs[0])).linearnode(coeffs, [*map(live, xs)])
    tape, ids, values = _scalars(xs, "xs")
    c = np.array(as_element(coeffs, tape.dtype), dtype=tape.dtype)
    if c.ndim != 1:
        msg = f"the coefficients have shape {c.shape}; one number a variable is needed."
        raise ShapeError(msg)
    held = np.array([np.dot(c, values)], dtype=tape.dtype)
    operand = Operand(0, (0, 0, 0, 1), ids)
    block = tape.linear((1, 1, 1, ids.size), operand, c, (0, 0, 0, 1), held)
    return new_tvar(tape, block.start, held[0])


for _static in (dotnode, linearnode):
    setattr(TVar, _static.__name__, staticmethod(_static))
