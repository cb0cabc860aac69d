"""What is behind a variable: its tape and node, or a constant."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..errors import TapeError
from ._covervar import CoverVar
from ._storage import ArrayBase
from ._tape import Tape
from ._tvar import TVar

__all__ = ["constantvar", "elsewhere", "isconstant", "live", "nnodes", "noderef"]

_V = TypeVar("_V", bound=CoverVar)


def nnodes(tape: Tape) -> int:
    """Number of nodes recorded on a tape, inputs included: the length of the tape.

    Args:
        tape: Any tape.

    Returns:
        The count.

    Example:
        >>> import derivative_covers as dc
        >>> dc.nnodes(dc.tape_function(lambda x: x[0] * x[1], [2.0, 3.0])[0])
        3
    """
    return tape.nnodes


def isconstant(x: Any) -> bool:
    """Whether a variable has a value but no node behind it.

    Args:
        x: A recorded scalar or array, or a plain number (which is constant).

    Returns:
        True if no derivative flows through it.

    Example:
        >>> from derivative_covers import TVar, isconstant
        >>> isconstant(TVar(1.0))
        True
    """
    if isinstance(x, CoverVar):
        return bool(x.is_constant)
    if isinstance(x, ArrayBase):
        return bool((x.node_ids() < 0).all())
    return True


def constantvar(V: type[_V], c: Any) -> _V:
    """The constant of a backend's variable type.

    Args:
        V: The variable type; a backend's own constructor makes the constant.
        c: A real number.

    Returns:
        A variable with that value and no node.

    Example:
        >>> from derivative_covers.extend import TVar, constantvar
        >>> constantvar(TVar, 2.0)
        TVar(2.0)
    """
    return V(c)  # type: ignore[call-arg]


def noderef(x: Any) -> tuple[Any, Any]:
    """The tape and node id behind a recorded scalar.

    Args:
        x: A recorded scalar, or a variable of another backend.

    Returns:
        ``(tape, k)``: what :func:`pushnode` takes as the tape and as a parent. A backend
        without a tape gives its recorder, and the variable itself as the parent, so that
        one code serves both.

    Raises:
        TapeError: For a constant, which has neither: fold it before recording.

    Example:
        >>> import derivative_covers as dc
        >>> from derivative_covers.extend import noderef
        >>> dc.gradient(lambda x: x[noderef(x[1])[1]], [1.0, 2.0])
        array([0., 1.])
    """
    if isinstance(x, TVar) and x.tape is not None:
        return x.tape, x.i
    return live(x).noderef()


def live(x: Any) -> CoverVar:
    """A variable with a node behind it, of any backend."""
    if not isinstance(x, CoverVar) or x.is_constant:
        msg = (
            f"{x!r} is a constant and has no node; fold constants into the coefficients "
            "of the node that consumes them (isconstant tells them apart)."
        )
        raise TapeError(msg)
    return x


def elsewhere(xs: Any) -> bool:
    """Whether some entry belongs to a backend other than the tape."""
    return isinstance(xs, (list, tuple, np.ndarray)) and any(
        isinstance(x, CoverVar) and not isinstance(x, TVar) for x in xs
    )


setattr(TVar, noderef.__name__, noderef)
