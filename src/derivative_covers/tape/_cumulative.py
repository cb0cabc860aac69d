"""Products and running results: one cumulative block a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementals import answers, by_ufunc
from ._blocks import Ids, Operand
from ._call import axes_of, check_dtype, extent, stored
from ._convert import tape_of
from ._exact import valued, values_of
from ._protocol import UFUNC_METHODS, as_array, implements
from ._select import truth
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
    block = tape.accumulate(by_ufunc(op), before, y, rest.reshape(-1))
    ids = np.arange(block.start, block.stop, dtype=np.int64).reshape(rest.shape)
    return np.concatenate([first, ids])


def folded(op: str, a: Any, axis: Any, r: Any, initial: Any = None) -> Any:
    """The last of the running results over some axes, with values ``r``."""
    x = as_array(a, initial)
    if not (x._depends or tape_of(initial)):
        return constant(x.tape, r)
    axes = axes_of(axis, x.v.ndim)
    moved = np.moveaxis(x, axes, range(len(axes)))
    lanes = moved.reshape(extent(x.v.shape, axes), np.size(r))
    if initial is not None:
        first = np.broadcast_to(as_array(initial, x), (1, np.size(r)))
        lanes = np.concatenate([first, lanes])
    lanes = settled(lanes)
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
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """A cumulative product, exact where factors vanish."""
    x = as_array(a, initial)
    check_dtype(dtype, x.tape)
    kw: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if initial is not None:
        kw["initial"] = values_of(initial, x.tape)
    if where is not True:
        kw["where"] = mask = truth(where)
        x = as_array(np.where(mask, x, 1.0), x)
    r = np.prod(as_array(a, x).v, **kw)
    return stored(folded("multiply", x, axis, r, initial), out)


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


def _array_api(name: str, running: Any, neutral: float) -> None:
    """NumPy 2's running results, which may start with the neutral number."""
    function = getattr(np, name, None)
    if function is None:
        return

    @implements(function)
    def cumulative(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        a: Any = np.atleast_1d(as_array(x))
        r = function(a.v, axis=axis)
        y = running(a, axis=0 if axis is None else axis, dtype=dtype)
        if include_initial:
            at = 0 if axis is None else axis
            shape = [1 if k == at % a.ndim else n for k, n in enumerate(r.shape)]
            y = np.concatenate([np.full(shape, neutral), y], at)
        return stored(y, out)


_array_api("cumulative_sum", np.cumsum, 0.0)
_array_api("cumulative_prod", np.cumprod, 1.0)


# -- methods of ufuncs -----------------------------------------------------------------


def _methods(ufunc: Any) -> None:
    op = ufunc.__name__

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
        initial: Any = None,
    ) -> Any:
        x = as_array(a, initial)
        check_dtype(dtype, x.tape)
        kw = {} if initial is None else {"initial": values_of(initial, x.tape)}
        r = ufunc.reduce(x.v, axis, keepdims=keepdims, **kw)
        alone = extent(x.v.shape, axes_of(axis, x.v.ndim)) == 1
        if alone and initial is None and ufunc is np.hypot:
            initial = 0.0  # where NumPy starts: of one entry it gives the size
        return stored(folded(op, x, axis, r, initial), out)

    def reduceat(
        a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        x = as_array(a)
        check_dtype(dtype, x.tape)
        r = ufunc.reduceat(x.v, indices, axis)
        if not r.size:
            return stored(constant(x.tape, r), out)
        rows = np.moveaxis(x, axis, 0)
        starts = np.asarray(indices).tolist()
        found = []
        for lo, hi in zip(starts, [*starts[1:], x.v.shape[axis]], strict=True):
            row = rows[lo]
            if lo + 1 < hi:
                row = UFUNC_METHODS[ufunc, "reduce"](rows[lo:hi])
            found.append(as_array(row, x))
        y = np.moveaxis(np.stack(found), 0, axis)
        return stored(valued(y, r), out)

    UFUNC_METHODS[ufunc, "accumulate"] = accumulate
    UFUNC_METHODS[ufunc, "reduceat"] = reduceat
    UFUNC_METHODS.setdefault((ufunc, "reduce"), reduce)


def _with_where(ufunc: Any, function: Any) -> None:
    def reduce(
        a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, *args: Any, **kw: Any
    ) -> Any:
        return function(a, axis, dtype, out, *args, **kw)

    UFUNC_METHODS[ufunc, "reduce"] = reduce


_with_where(np.multiply, prod)
for _name in sorted(vars(np)):
    _ufunc = vars(np)[_name]
    if isinstance(_ufunc, np.ufunc) and _ufunc.nin == 2 and answers(_ufunc.__name__):
        _methods(_ufunc)
