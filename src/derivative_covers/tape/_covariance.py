"""Weighted means, covariance and correlation, formed as NumPy forms them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._call import axes_of, check_dtype, extent
from ._convert import tape_of
from ._decisions import by_pairs, by_truth
from ._exact import valued, values_of
from ._over_box import numbers
from ._protocol import as_array, implements

__all__: list[str] = []


@implements(np.average)
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Weighted mean; the weights may be recorded as well."""
    x = as_array(a, weights)
    heavy = None if weights is None else values_of(weights, x.tape)
    kept: Any = keepdims
    r, scale = np.average(x.v, axis, heavy, returned=True, keepdims=kept)
    if weights is None:
        total: Any = extent(x.v.shape, axes_of(axis, x.v.ndim))
        y = np.mean(x, axis=axis, keepdims=keepdims)
    else:
        w: Any = heavy if tape_of(weights) is None else as_array(weights)
        if w.shape != x.v.shape:
            w = _spread(w, axis, x.v.shape)
        total = np.sum(numbers(x.tape, w), axis=axis, keepdims=keepdims)
        by_truth("numpy.average", total)  # NumPy refuses zero
        y = np.sum(x * w, axis=axis, keepdims=keepdims) / total
    y = valued(y, r)
    if not returned:
        return y
    if tape_of(total) is None:
        return y, scale
    return y, np.broadcast_to(as_array(total), np.shape(r)) if np.ndim(r) else total


def _spread(w: Any, axis: Any, shape: tuple[int, ...]) -> Any:
    """Weights of some axes, broadcast along the others."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(k % len(shape) for k in axes)
    order = np.argsort(axes)
    sizes = [shape[k] if k in axes else 1 for k in range(len(shape))]
    return np.broadcast_to(w.transpose(*order).reshape(sizes), shape)


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Products of the differences from the means; weights may be recorded."""
    tape = tape_of(m, y, aweights)
    check_dtype(dtype, tape)
    by_pairs("numpy.cov", aweights, 0.0)  # NumPy refuses negative ones
    own_x, own_y = (values_of(e, tape) for e in (m, y))
    heavy = values_of(aweights, tape)
    given: Any = (own_x, own_y, rowvar, bias, ddof, fweights, heavy)
    r = np.cov(*given, dtype=dtype)
    x = np.atleast_2d(as_array(m, y, aweights))
    if not rowvar and np.ndim(own_x) != 1:
        x = x.T
    if x.shape[0] == 0:
        return r
    if y is not None:
        other = np.atleast_2d(as_array(y, m, aweights))
        x = np.concatenate([x, other if rowvar or other.shape[0] == 1 else other.T])
    if ddof is None:
        ddof = 0 if bias else 1
    w: Any = None if fweights is None else np.asarray(fweights, dtype=float)
    own: Any = None
    over_box = tape is not None and tape.box is not None
    if aweights is not None:
        own = heavy if tape_of(aweights) is None else as_array(aweights)
        w = own if w is None else numbers(tape, w) * own
    if w is None:
        free: Any = x.shape[1] - ddof
    else:
        own, w = (e if e is None else numbers(tape, e) for e in (own, w))
        free = total = np.sum(w)
        if ddof != 0:
            free = total - (
                ddof if aweights is None else ddof * np.sum(w * own) / total
            )
    by_pairs("numpy.cov", free, 0.0)
    if np.less_equal(free if over_box else values_of(free, tape), 0.0):
        free = 0.0
    if not over_box:
        x = x - average(x, 1, w, keepdims=True)
    elif w is None:
        x = x - np.mean(x, 1, keepdims=True)
    else:
        x = x - np.sum(x * w, 1, keepdims=True) / total
    found = np.dot(x, x.T if w is None else (x * w).T)
    found = found / free if over_box else found * np.true_divide(1.0, free)
    return valued(np.squeeze(found) if np.ndim(r) else found[0, 0], r)


@implements(np.corrcoef)
def corrcoef(
    x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None, **_: Any
) -> Any:
    """Covariance over the deviations; the diagonal is constant."""
    tape = tape_of(x, y)
    given: Any = (values_of(x, tape), values_of(y, tape), rowvar)
    r = np.corrcoef(*given, dtype=dtype)
    c = cov(x, y, rowvar, dtype=dtype)
    if np.ndim(r) == 0:
        return valued(as_array(1.0, x), r)
    deviation = np.sqrt(np.diag(c))
    found = c / deviation[:, None] / deviation[None, :]
    return valued(np.where(np.eye(r.shape[0], dtype=bool), 1.0, found), r)
