"""Functions that move entries: the nodes move as the values do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NondifferentiableError
from ._call import check_dtype, stored
from ._convert import tape_of
from ._decisions import by_truth
from ._exact import picked
from ._indexing import plain_index
from ._kinks import note
from ._protocol import as_array, implements
from ._storage import constant

__all__: list[str] = []


def _move(function: Any) -> None:
    @implements(function)
    def moved(a: Any, *args: Any, **kw: Any) -> Any:
        x = as_array(a)

        def move(entries: Any) -> Any:
            return function(entries, *args, **kw)

        return x._derived(move(x.v), move)


_MOVES: tuple[Any, ...] = (
    np.reshape,
    np.ravel,
    np.transpose,
    np.swapaxes,
    np.moveaxis,
    np.rollaxis,
    np.expand_dims,
    np.squeeze,
    np.flip,
    np.fliplr,
    np.flipud,
    np.rot90,
    np.tile,
    np.repeat,
    np.take_along_axis,
    np.diagonal,
    np.delete,
    np.broadcast_to,
    np.fft.fftshift,
    np.fft.ifftshift,
    np.lib.stride_tricks.sliding_window_view,
)
_FILLS: tuple[Any, ...] = (np.tril, np.triu, np.diagflat, np.resize)
_SPLITS: tuple[Any, ...] = (
    np.split,
    np.array_split,
    np.hsplit,
    np.vsplit,
    np.dsplit,
)
_AT_LEAST: tuple[Any, ...] = (np.atleast_1d, np.atleast_2d, np.atleast_3d)

for _function in _MOVES:
    _move(_function)


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The entries moved along an axis, those at its end to its beginning."""
    x = as_array(a)

    def move(entries: Any) -> Any:
        return _rolled(entries, shift, axis)

    return x._derived(move(x.v), move)


def _rolled(a: Any, shift: Any, axis: Any) -> Any:
    """As NumPy's, which takes ten times as long for a short array and one shift."""
    if axis is None and a.ndim == 1:
        axis = 0
    simple = type(shift) is int and type(axis) is int
    if not simple or not 0 <= axis < a.ndim or not a.size:
        return np.roll(a, shift, axis)
    out = np.empty_like(a)
    before = (slice(None),) * axis
    n = a.shape[axis]
    cut = -shift % n
    out[(*before, slice(n - cut, None))] = a[(*before, slice(cut))]
    out[(*before, slice(n - cut))] = a[(*before, slice(cut, None))]
    return out


def _fill(function: Any) -> None:
    """A function that puts zeros beside the entries that it moves."""

    @implements(function)
    def filled(a: Any, *args: Any, **kw: Any) -> Any:
        x = as_array(a)

        def move(entries: Any) -> Any:
            return function(entries, *args, **kw)

        return x._derived(move(x.v), lambda ids: move(ids + 1) - 1, fills=True)


for _function in _FILLS:
    _fill(_function)


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """The diagonal of a matrix, or a diagonal matrix."""
    x = as_array(v)
    if x.v.ndim == 2:
        return x._derived(np.diag(x.v, k), lambda ids: np.diag(ids, k))
    out = constant(x.tape, np.diag(np.zeros_like(x.v), k))
    at = np.arange(x.v.size)
    out[at + max(-k, 0), at + max(k, 0)] = x
    return out


def _pieces(function: Any) -> None:
    @implements(function)
    def pieces(a: Any, *args: Any, **kw: Any) -> Any:
        x = as_array(a)
        found = function(x.v, *args, **kw)
        return type(found)(x._view(piece) for piece in found)


for _function in _SPLITS:
    _pieces(_function)


@implements(*(vars(np)[name] for name in ("unstack",) if name in vars(np)))
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    """The slices along an axis; scalars of a 1-d array."""
    return tuple(np.moveaxis(as_array(x), axis, 0))


def _at_least(function: Any) -> None:
    @implements(function)
    def at_least(*arrays: Any) -> Any:
        found = [as_array(a, *arrays) for a in arrays]
        out = [x._derived(function(x.v), function) for x in found]
        return out[0] if len(out) == 1 else tuple(out)


for _function in _AT_LEAST:
    _at_least(_function)


@implements(np.take)
def take(
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise"
) -> Any:
    """The entries at positions along an axis."""
    return stored(as_array(a).take(plain_index(indices), axis, mode=mode), out)


@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """An entry of the choice that a plain integer names, everywhere."""
    at = plain_index(a)
    parts = [as_array(c, *choices) for c in choices]
    return stored(picked(parts, lambda things: np.choose(at, things, mode=mode)), out)


@implements(np.trim_zeros)
def trim_zeros(filt: Any, trim: Any = "fb", **kw: Any) -> Any:
    """Constant zeros are taken off the ends.

    Raises:
        NondifferentiableError: If a recorded entry to be taken off is zero.
    """
    x = as_array(filt)
    by_truth("numpy.trim_zeros", x)
    zero = np.atleast_1d((x.v == 0.0) & (x.node_ids() >= 0))
    kept = np.trim_zeros(x.v, trim, **kw)
    if zero.any() and kept.shape != np.trim_zeros(x.v + zero, trim, **kw).shape:
        if x.tape.branch:
            note(x.tape, "trim_zeros", x.node_ids()[zero], x.v[zero], x.v[zero])
            return x._view(kept)
        at = int(np.flatnonzero(zero)[0])
        msg = (
            f"np.trim_zeros would take off entry {at}, which is recorded and exactly "
            "zero: the length of the result jumps there. Evaluate at another point."
        )
        raise NondifferentiableError(msg, elemental="trim_zeros", values=(0.0,))
    return x._view(kept) if isinstance(kept, np.ndarray) else kept


@implements(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    """Read-only views of one shape."""
    found = [as_array(a, *arrays) for a in arrays]
    shape = np.broadcast_shapes(*(x.v.shape for x in found))
    return tuple(x._view(np.broadcast_to(x.v, shape)) for x in found)


@implements(np.copy)
def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """A copy on memory of its own."""
    return as_array(a).copy(order)


def _astype(x: Any, dtype: Any, /, **kw: Any) -> Any:
    """A copy in the tape's own type."""
    return as_array(x).astype(dtype, **kw)


if "astype" in vars(np):
    implements(vars(np)["astype"])(_astype)


def _like(function: Any) -> None:
    @implements(function)
    def like(a: Any, dtype: Any = None, order: Any = "K", *args: Any, **kw: Any) -> Any:
        x = as_array(a)
        r = function(x.v, dtype, order, *args, **kw)
        if r.dtype.kind not in ("f", x.v.dtype.kind):
            return r
        check_dtype(dtype, x.tape)
        return constant_array(x, r)


def constant_array(x: Any, r: Any) -> Any:
    """A constant array that recorded values can be stored into, 0-d ones included."""
    whole = constant(x.tape, np.atleast_1d(r))
    return whole if r.ndim else whole.reshape(())


_like(np.zeros_like)
_like(np.ones_like)


@implements(np.empty_like)
def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", *args: Any, **kw: Any
) -> Any:
    """Zeros: there is nothing to gain from arbitrary values."""
    return np.zeros_like(prototype, dtype, order, *args, **kw)


@implements(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    *args: Any,
    **kw: Any,
) -> Any:
    """An array of one value, which may be recorded."""
    x = as_array(a, fill_value)
    if (
        tape_of(fill_value) is None
        and dtype is not None
        and np.dtype(dtype).kind not in ("f", x.v.dtype.kind)
    ):
        return np.full_like(x.v, fill_value, dtype, order, *args, **kw)
    check_dtype(dtype, x.tape)
    out = np.zeros_like(x, None, order, *args, **kw)
    out[...] = fill_value
    return out
