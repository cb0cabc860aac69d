"""Norms: Euclidean ones are roots of sum-of-squares nodes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ._call import axes_of, extent
from ._decide import refuse_over_box
from ._decisions import by_truth, refuse_replay
from ._elementwise import root
from ._over_box import box_of, numbers
from ._protocol import as_array, implements
from ._spectra import svdvals
from ._storage import constant
from ._wide import contract, inner_product, settled

__all__ = ["norm"]


def _squared_norm(x: Any, axes: tuple[int, ...], r: Any) -> Any:
    """Sum-of-squares nodes with values ``r``: inner products of lanes with themselves."""
    if not x._depends:
        return constant(x.tape, r)
    k = extent(x.v.shape, axes)
    last = range(-len(axes), 0)
    moved = x._view(np.moveaxis(x.v, axes, last))
    lanes = settled(moved).reshape(np.size(r), 1, k)
    return contract(lanes, lanes.transpose(0, 2, 1), r)


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """As numpy.linalg.norm.

    Euclidean and Frobenius norms are roots of sum-of-squares nodes; ord 2, -2 and
    ``"nuc"`` of matrices are made of singular values.
    """
    a = as_array(x)
    ndim = a.v.ndim
    whole = axis is None and (
        ord is None or (ord == 2 and ndim == 1) or (ord in ("f", "fro") and ndim == 2)
    )
    if whole:
        flat = a.ravel(order="K")
        square = flat.v.dot(flat.v)
        found = inner_product(flat, flat, square)
        r = root(_squared_norm(flat, (0,), square) if found is None else found)
        return r if not keepdims else as_array(r).reshape((1,) * ndim)
    if a.tape is not None and a.tape.box is not None and a._depends:
        _check_over_box(ord, ndim if axis is None else np.size(axis))
    value = np.linalg.norm(a.v, ord, axis, keepdims)
    if not np.size(value) or not a.v.size:
        return constant(a.tape, value)
    axes = axes_of(axis, ndim)
    if ord is None or (ord == 2 and len(axes) == 1) or ord in ("f", "fro"):
        r = np.sum(a.v * a.v, axis=axes, keepdims=keepdims)
        return root(_squared_norm(a, axes, r))
    if len(axes) == 1:
        return _vector_norm(a, ord, axes[0], keepdims)
    row, column = axes if axis is None else (k % ndim for k in axis)
    if ord in (1, -1, np.inf, -np.inf):
        along, across = (row, column) if abs(ord) == 1 else (column, row)
        sums = np.sum(np.abs(a), axis=along, keepdims=True)
        r = (np.max if ord > 0 else np.min)(sums, axis=across, keepdims=True)
    else:
        refuse_replay(f"numpy.linalg.norm with ord={ord!r}", "", a)
        s = svdvals(np.moveaxis(a, (row, column), (-2, -1)))
        r = np.sum(s, axis=-1) if ord == "nuc" else s[..., 0 if ord == 2 else -1]
    found = as_array(r, a).reshape(np.shape(value))
    return found if np.ndim(value) else found[()]


def _check_over_box(ord: Any, axes: int) -> None:
    if ord == 0:
        refuse_over_box("numpy.linalg.norm with ord=0, a count,")
    if axes == 2 and ord in (2, -2, "nuc"):
        refuse_over_box(f"numpy.linalg.norm with ord={ord!r}, of singular values,")


def _vector_norm(a: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    size = np.abs(a)
    if ord == 0:
        by_truth("numpy.linalg.norm", a)
        return np.sum(a.v != 0.0, axis=axis, keepdims=keepdims).astype(a.v.dtype)
    if ord == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    if abs(ord) == np.inf:
        return (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdims)
    total = np.sum(size**ord, axis=axis, keepdims=keepdims)
    inverse: Any = 1.0 / ord
    if box_of(a) is not None and Fraction(inverse) * Fraction(ord) != 1:
        inverse = numbers(a.tape, 1.0) / ord
    return total**inverse
