"""What the implementations of NumPy's functions share: arguments and results."""

from __future__ import annotations

import math
import operator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedOperationError
from ._convert import tape_of
from ._remedies import remedy
from ._storage import ArrayBase
from ._tape import Tape
from ._tvar import TVar

__all__ = [
    "axes_of",
    "check_dtype",
    "extent",
    "plain",
    "real_values",
    "refuse_plain",
    "stored",
]


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axis argument as a sorted tuple of non-negative axes; None means all."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if ndim == 0 and all(operator.index(a) in (0, -1) for a in axes):
        return ()
    return tuple(sorted(operator.index(a) % max(ndim, 1) for a in axes))


def extent(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """Number of entries along some axes."""
    return math.prod(shape[a] for a in axes)


def check_dtype(dtype: Any, tape: Tape | None) -> None:
    """Refuse a result type other than the tape's.

    Raises:
        UnsupportedOperationError: For any other type.
    """
    if dtype is None:
        return
    wanted = np.dtype(dtype)
    held = np.dtype(np.float64) if tape is None else tape.dtype
    if wanted != held:
        msg = (
            f"dtype {wanted} for recorded variables of type {held}: a recording keeps "
            "one type, and other kinds would drop the derivative. Leave the dtype out, "
            "use np.floor or np.round, record at a point of that type, or take "
            "derivative_covers.value(x)."
        )
        raise UnsupportedOperationError(msg)


def stored(result: Any, out: Any) -> Any:
    """The result itself, or ``out`` after the result was stored in it."""
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, ArrayBase):
        refuse_plain("out=")
    if np.shape(result) != out.v.shape:
        msg = f"out= has shape {out.v.shape}; the result has shape {np.shape(result)}."
        raise ValueError(msg)
    target: Any = out
    target[...] = result
    return target


def refuse_plain(what: str) -> NoReturn:
    """Raise for recorded values that would be stored into a plain array.

    Raises:
        UnsupportedOperationError: Always.
    """
    way = remedy(
        "Decorate the function that made the array with derivative_covers.with_numpy, or "
        "use np.zeros_like(x) of a recorded x, or the function's result."
    )
    msg = (
        f"{what} would store recorded variables into a plain array, which would drop "
        f"their derivative. {way}"
    )
    raise UnsupportedOperationError(msg)


def real_values(x: Any) -> Any:
    """The bare values of recorded variables, of nested lists of them as well."""
    if isinstance(x, (ArrayBase, TVar)):
        return x.v
    if isinstance(x, list):
        return [real_values(e) for e in x]
    if isinstance(x, tuple):
        return tuple(real_values(e) for e in x)
    if isinstance(x, np.ndarray) and x.dtype == object and tape_of(x) is not None:
        return np.array([real_values(e) for e in x.ravel()]).reshape(x.shape)
    return x


def plain(x: Any, dtype: Any) -> NDArray[Any]:
    """Values of an operand as an array; floats meet the tape in its own type."""
    v = np.asarray(x.v if isinstance(x, (ArrayBase, TVar)) else x)
    return v.astype(dtype, copy=False) if dtype != np.float64 else v
