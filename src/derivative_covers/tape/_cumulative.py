"""Products and running results: one cumulative block a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementals import by_name
from ._blocks import Ids, Operand
from ._call import axes_of, check_dtype, extent, stored
from ._protocol import UFUNC_METHODS, as_array, implements
from ._storage import ArrayBase, assembled, constant, entrywise
from ._wide import settled

__all__ = ["accumulated", "folded"]


def _chain(op: str, lanes: ArrayBase, values: Any) -> Ids:
    """Node ids of a running operation along the first axis, one block in all."""
    first = lanes.node_ids()[:1]
    if len(values) == 1:
        return first
    tape = lanes.tape
    rest = np.array(values[1:], dtype=tape.dtype, order="C")
    inside = rest.size - first.size

    def before(start: int) -> Operand:
        mine = np.arange(start, start + inside, dtype=np.int64)
        return Operand(0, (1,), np.concatenate([first.ravel(), mine]))

    y = entrywise(lanes._view(lanes.v[1:]), rest)
    block = tape.accumulate(by_name(op), before, y, rest.reshape(-1))
    ids = np.arange(block.start, block.stop, dtype=np.int64).reshape(rest.shape)
    return np.concatenate([first, ids])


def folded(op: str, a: Any, axis: Any, r: Any) -> Any:
    """The last of the running results over some axes, with values ``r``."""
    x = as_array(a)
    if not x._depends:
        return constant(x.tape, r)
    x = settled(x)
    axes = axes_of(axis, x.v.ndim)
    moved = x._view(np.moveaxis(x.v, axes, range(len(axes))))
    lanes = moved.reshape(extent(x.v.shape, axes), -1)
    values = getattr(np, op).accumulate(lanes.v, axis=0)
    values[-1] = np.ravel(r)
    ids = _chain(op, lanes, values)
    return assembled(x.tape, r, ids[-1].reshape(np.shape(r)))


def accumulated(op: str, x: Any, axis: int, r: Any) -> Any:
    """All running results along an axis, with values ``r``."""
    if not x._depends:
        return constant(x.tape, r)
    x = settled(x)
    lanes = x._view(np.moveaxis(x.v, axis, 0))
    ids = _chain(op, lanes, np.moveaxis(r, axis, 0))
    return assembled(x.tape, r, np.moveaxis(ids, 0, axis))


@implements(np.prod)
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """A cumulative product, exact where factors vanish."""
    x = as_array(a)
    check_dtype(dtype, x.tape)
    r = np.prod(x.v, axis=axis, keepdims=keepdims)
    return stored(folded("multiply", x, axis, r), out)


def _running(function: Any, op: str) -> None:
    @implements(function)
    def running(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        x = as_array(a)
        check_dtype(dtype, x.tape)
        if axis is None:
            x, axis = x.ravel(), 0
        return stored(accumulated(op, x, axis, function(x.v, axis=axis)), out)


_running(np.cumsum, "add")
_running(np.cumprod, "multiply")


def _methods(op: str) -> None:
    ufunc: Any = getattr(np, op)

    def accumulate(a: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        x = as_array(a)
        check_dtype(dtype, x.tape)
        return stored(accumulated(op, x, axis, ufunc.accumulate(x.v, axis)), out)

    def reduce(
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
    ) -> Any:
        x = as_array(a)
        check_dtype(dtype, x.tape)
        r = ufunc.reduce(x.v, axis, keepdims=keepdims)
        return stored(folded(op, x, axis, r), out)

    UFUNC_METHODS[ufunc, "accumulate"] = accumulate
    UFUNC_METHODS.setdefault((ufunc, "reduce"), reduce)


for _op in ("add", "multiply", "maximum", "minimum", "logaddexp", "hypot"):
    _methods(_op)
