"""Differences of neighbours, and the rules of integration and phases built on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._convert import tape_of
from ._elementwise import binary
from ._exact import valued, values_of
from ._extrema import with_ties
from ._over_box import numbers
from ._protocol import as_array, implements

__all__: list[str] = []

_TRAPEZOID: Any = vars(np).get("trapezoid") or vars(np)["trapz"]


def _difference(x: Any, axis: int) -> Any:
    later = [slice(None)] * x.v.ndim
    earlier = list(later)
    later[axis], earlier[axis] = slice(1, None), slice(None, -1)
    return x[tuple(later)] - x[tuple(earlier)]


@implements(np.diff)
def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> Any:
    """Differences of neighbours, ``n`` times over."""
    x = as_array(a, prepend, append)
    if n < 0:
        msg = f"order must be non-negative but got {n}"
        raise ValueError(msg)
    if not x.v.ndim:
        msg = "diff requires input that is at least one dimensional"
        raise ValueError(msg)
    x.v.swapaxes(axis, 0)  # says which axes there are
    edge = list(x.v.shape)
    edge[axis] = 1
    ends = [None if e is None else as_array(e, x) for e in (prepend, append)]
    before, after = (
        [] if e is None else [e if e.v.ndim else np.broadcast_to(e, tuple(edge))]
        for e in ends
    )
    if before or after:
        x = np.concatenate([*before, x, *after], axis)
    for _ in range(n):
        x = _difference(x, axis)
    return x


@implements(_TRAPEZOID)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Trapezoidal rule; the abscissae may be recorded as well."""
    f = as_array(y, x, dx)
    if x is not None:
        plain = tape_of(x) is None
        at = numbers(f.tape, np.asarray(x)) if plain else as_array(x, f)
        if at.ndim == 1:
            dx = np.diff(at).reshape((-1,) + (1,) * (f.v.ndim - 1 - axis % f.v.ndim))
        else:
            dx = np.diff(at, axis=axis)
    later = [slice(None)] * f.v.ndim
    earlier = list(later)
    later[axis], earlier[axis] = slice(1, None), slice(None, -1)
    return np.sum(dx * (f[tuple(later)] + f[tuple(earlier)]) / 2.0, axis=axis)


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of the flat array, between given ends."""
    x = as_array(ary, to_end, to_begin).ravel()
    ends = [None if e is None else as_array(e, x).ravel() for e in (to_begin, to_end)]
    parts = [ends[0], _difference(x, 0), ends[1]]
    return np.concatenate([p for p in parts if p is not None])


@implements(np.unwrap)
def unwrap(
    p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2.0 * np.pi
) -> Any:
    """Multiples of the period are added; a step of half a period is a jump."""
    x = as_array(p)
    r = np.unwrap(x.v, discont, axis, period=period)
    shift = r - x.v
    step = np.abs(np.diff(x.v, axis=axis))
    bound = period / 2 if discont is None else max(discont, period / 2)
    jump = (step >= bound) & (np.mod(step - period / 2, period) == 0.0)
    jump |= (step == bound) & (step > period / 2)
    edge = np.zeros_like(np.take(jump, [], axis), shape=_one(x.v.shape, axis))
    tied = np.logical_or.accumulate(np.concatenate([edge, jump], axis), axis)
    y = as_array(binary(np.add, x, shift, np.array(r)))
    # A copy: the values of y are those of its nodes, and callers may store into it.
    return with_ties(x.tape, np.array(y.v), y.node_ids(), tied)


def _one(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    sizes = list(shape)
    sizes[axis] = min(sizes[axis], 1)
    return tuple(sizes)


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences inside, one-sided ones at the ends, as NumPy weighs them.

    Spacings and coordinates may be recorded.
    """
    y = as_array(f, *varargs)
    plain = [values_of(h, y.tape) for h in varargs]
    order: Any = edge_order
    r = np.gradient(y.v, *plain, axis=axis, edge_order=order)
    ndim = y.v.ndim
    if axis is None:
        axes: tuple[int, ...] = tuple(range(ndim))
    else:
        axes = tuple(a % ndim for a in (axis if isinstance(axis, tuple) else (axis,)))
    if not axes:
        return r
    given = list(varargs) or [1.0]
    given = given * len(axes) if len(given) == 1 else given
    found = []
    for a, h, one in zip(axes, given, r if len(axes) > 1 else [r], strict=True):
        entries = as_array(np.moveaxis(y, a, 0))
        found.append(valued(np.moveaxis(_slopes(entries, h, edge_order), 0, a), one))
    return found[0] if len(axes) == 1 else type(r)(found)


def _slopes(f: Any, h: Any, edge_order: int) -> Any:
    """Differences along the first axis."""
    if np.ndim(h) or edge_order > 1:
        h = numbers(f.tape, np.asarray(h) if tape_of(h) is None else as_array(h))
    if np.ndim(h):
        step: Any = np.diff(h)
        one, two = step[:-1], step[1:]
        first, last = step[0], step[-1]
    else:
        step = first = last = h
        one = two = None
    if one is None:
        inner = (f[2:] - f[:-2]) / (2.0 * h)
    else:
        shape = (-1,) + (1,) * (f.v.ndim - 1)
        a = (-two / (one * (one + two))).reshape(shape)
        b = ((two - one) / (one * two)).reshape(shape)
        c = (one / (two * (one + two))).reshape(shape)
        inner = a * f[:-2] + b * f[1:-1] + c * f[2:]
    if edge_order == 1:
        left = (f[1:2] - f[:1]) / first
        right = (f[-1:] - f[-2:-1]) / last
    elif one is None:
        left = (-1.5 / h) * f[:1] + (2.0 / h) * f[1:2] + (-0.5 / h) * f[2:3]
        right = (0.5 / h) * f[-3:-2] + (-2.0 / h) * f[-2:-1] + (1.5 / h) * f[-1:]
    else:
        left = _end(f[:1], f[1:2], f[2:3], step[0], step[1])
        right = -_end(f[-1:], f[-2:-1], f[-3:-2], step[-1], step[-2])
    return np.concatenate([left, inner, right])


def _end(f0: Any, f1: Any, f2: Any, near: Any, far: Any) -> Any:
    """Slope at the end, of second order, from the next two entries."""
    both = near + far
    a = -(2.0 * near + far) / (near * both)
    return a * f0 + both / (near * far) * f1 - near / (far * both) * f2
