"""Evenly spaced numbers between recorded ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import check_dtype
from ._convert import tape_of
from ._decisions import by_pairs
from ._exact import valued, values_of
from ._protocol import as_array, implements

__all__: list[str] = []


def _line(start: Any, stop: Any, num: int, endpoint: bool) -> tuple[Any, Any]:
    """Numbers along a new first axis, and the step between them."""
    a, b = as_array(start, stop), as_array(stop, start)
    delta = b - a
    div = num - 1 if endpoint else num
    step = delta / div if div > 0 else np.nan * delta
    at = np.arange(num, dtype=float).reshape((-1,) + (1,) * np.ndim(delta))
    if div > 0:
        tape = tape_of(delta)
        # NumPy divides first, which rounds.
        exact = tape is not None and tape.box is not None
        y = (at * delta / div if exact else at / div * delta) + a
    else:
        y = at * delta + a
    if endpoint and num > 1:
        last = b if b.ndim == y.ndim - 1 else np.broadcast_to(b, y.shape[1:])
        y = np.concatenate([y[:-1], last[None]])
    return y, step


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    **_: Any,
) -> Any:
    """Either end, or both, may be recorded; the ends keep their nodes."""
    tape = tape_of(start, stop)
    check_dtype(dtype, tape)
    ends = values_of(start, tape), values_of(stop, tape)
    r, width = np.linspace(*ends, num, endpoint, retstep=True, axis=axis)
    y, step = _line(start, stop, num, endpoint)
    y = valued(np.moveaxis(as_array(y), 0, axis), r)
    return (y, valued(step, width)) if retstep else y


@implements(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Powers with evenly spaced exponents; the base may be recorded."""
    tape = tape_of(start, stop, base)
    check_dtype(dtype, tape)
    given = [values_of(e, tape) for e in (start, stop, base)]
    low, high, radix = given
    r = np.logspace(low, high, num, endpoint, radix, axis=axis)
    shape = np.broadcast_shapes(*(np.shape(e) for e in given))
    others = (start, stop, base)
    a = np.broadcast_to(as_array(start, *others), shape)
    b = np.broadcast_to(as_array(stop, *others), shape)
    y, _ = _line(a, b, num, endpoint)
    return valued(np.moveaxis(np.power(base, y), 0, axis), r)


@implements(np.geomspace)
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers whose logarithms are evenly spaced."""
    tape = tape_of(start, stop)
    check_dtype(dtype, tape)
    a, b = values_of(start, tape), values_of(stop, tape)
    r = np.geomspace(a, b, num, endpoint, axis=axis)
    sign = np.sign(a)
    by_pairs("numpy.geomspace", start, 0.0)
    y, _ = _line(np.log10(start * sign), np.log10(stop * sign), num, endpoint)
    y = np.power(10.0, y) * sign
    return valued(np.moveaxis(y, 0, axis), r)
