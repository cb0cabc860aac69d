"""Margins around an array, in every mode of ``numpy.pad``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnsupportedOperationError
from ._exact import picked, valued, values_of
from ._over_box import numbers
from ._protocol import as_array, implements
from ._storage import assembled

__all__: list[str] = []

_MOVES = frozenset(("edge", "wrap", "reflect", "symmetric"))
_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kw: Any) -> Any:
    """The margins keep the nodes of the entries that they repeat.

    Raises:
        UnsupportedOperationError: For a function in the place of a mode.
    """
    x = as_array(array, *kw.values())
    if callable(mode):
        msg = (
            "np.pad with a function for the mode fills plain vectors in place; put the "
            "margins on with np.concatenate."
        )
        raise UnsupportedOperationError(msg)
    given = {k: _plain(v, x.tape) for k, v in kw.items()}
    r = np.pad(x.v, pad_width, mode, **given)
    if mode == "constant":
        filled = kw.get("constant_values", 0)
        ids = np.array(as_array(filled, x).node_ids())
        return assembled(
            x.tape, r, np.pad(x.node_ids(), pad_width, mode, constant_values=ids)
        )
    if mode == "empty":
        return pad(x, pad_width)
    if mode in _MOVES and kw.get("reflect_type", "even") == "even":
        return picked([x], lambda parts: np.pad(parts[0], pad_width, mode, **kw))
    widths = _pairs(pad_width, x.v.ndim)
    ends = _pairs(kw.get("end_values", 0), x.v.ndim)
    lengths = _pairs(kw.get("stat_length"), x.v.ndim)
    y: Any = x.copy()
    for axis, (left, right) in enumerate(widths):
        if left or right:
            sides = _margins(y, axis, (left, right), mode, ends[axis], lengths[axis])
            y = np.concatenate([sides[0], y, sides[1]], axis)
    return valued(y, r)


def _plain(x: Any, tape: Any) -> Any:
    return x if isinstance(x, str) or x is None else values_of(x, tape)


def _pairs(x: Any, ndim: int) -> list[tuple[Any, Any]]:
    """What belongs to the two sides of every axis; dictionaries name axes."""
    if isinstance(x, dict):
        sides: list[tuple[Any, Any]] = [(0, 0)] * ndim
        for axis, width in x.items():
            sides[axis] = (width, width) if np.ndim(width) == 0 else tuple(width)
        return sides
    if x is None or np.ndim(x) == 0:
        return [(x, x)] * ndim
    rows = list(x)
    if all(np.ndim(row) == 0 for row in rows):
        return [(rows[0], rows[-1])] * ndim
    return [(row[0], row[-1]) for row in (rows if len(rows) == ndim else rows * ndim)]


def _margins(
    y: Any,
    axis: int,
    widths: tuple[int, int],
    mode: str,
    ends: tuple[Any, Any],
    lengths: tuple[Any, Any],
) -> tuple[Any, Any]:
    n = y.v.shape[axis]
    if mode == "linear_ramp":
        return _ramp(y, axis, widths, ends)
    if mode in _STATISTICS:
        found: list[Any] = []
        for side, width, length in zip((0, 1), widths, lengths, strict=True):
            size = n if length is None else min(int(length), n)
            chunk = _cut(y, axis, slice(0, size) if side == 0 else slice(n - size, n))
            one = as_array(_STATISTICS[mode](chunk, axis=axis, keepdims=True), y)
            found.append(np.repeat(one, width, axis))
        return found[0], found[1]
    return _odd(y, axis, np.arange(-widths[0], 0), mode), _odd(
        y, axis, np.arange(n, n + widths[1]), mode
    )


def _cut(y: Any, axis: int, part: Any) -> Any:
    return y[(slice(None),) * axis + (part,)]


def _ramp(
    y: Any, axis: int, widths: tuple[int, int], ends: tuple[Any, Any]
) -> tuple[Any, Any]:
    """Evenly from the end value to the edge, which is left out."""
    edges = (_cut(y, axis, slice(0, 1)), _cut(y, axis, slice(-1, None)))
    shape = [1] * y.v.ndim
    shape[axis] = -1
    sides = []
    for side, edge, width, end in zip((0, 1), edges, widths, ends, strict=True):
        share: Any = numbers(y.tape, np.arange(width).reshape(shape)) / max(width, 1)
        share = np.flip(share, axis) if side else share
        sides.append((edge - end) * share + end if width else _cut(y, axis, slice(0)))
    return sides[0], sides[1]


def _odd(y: Any, axis: int, at: Any, mode: str) -> Any:
    """Entries at positions beyond the ends, reflected through the edge entries."""
    n = y.v.shape[axis]
    own = int(mode == "symmetric")  # the edge entry is repeated
    half = n - 1 + own
    if not half:
        return np.take(y, np.zeros_like(at), axis)
    period, place = np.divmod(at, 2 * half)
    mirrored = place >= n
    shape = [1] * y.v.ndim
    shape[axis] = -1
    sign = np.where(mirrored, -1.0, 1.0).reshape(shape)
    place = np.where(mirrored, 2 * half - own - place, place)
    first, last = _cut(y, axis, slice(0, 1)), _cut(y, axis, slice(-1, None))
    turns = 2.0 * period.reshape(shape)
    shift = last * (turns + 1.0 - sign) - first * turns
    return sign * np.take(y, place, axis) + shift
