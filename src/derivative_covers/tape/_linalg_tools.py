"""What matrix routines are built of: stacks of matrices, and weighted remainders.

A routine is linearised at the recorded point, with values from NumPy's own call. What
its second order needs beyond that are sums of products of deviations, among them those
of the linearised results, passed through a constant linear map. Nothing of the
algorithm is traced.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._elementwise import binary
from ._storage import ArrayBase
from ._wide import contract, remainder

__all__ = ["correct", "finished", "is_recorded", "plus", "stacked", "weighted"]


def is_recorded(x: Any) -> bool:
    """Whether an operand is recorded, a plain array otherwise."""
    return isinstance(x, ArrayBase)


def stacked(x: Any, batch: tuple[int, ...] | None = None) -> Any:
    """Matrices as shape (b, m, n), broadcast to ``batch``; a batch of one stays one."""
    matrix = x.shape[-2:]
    if math.prod(x.shape[:-2]) == 1:
        return x.reshape(1, *matrix)
    if batch is not None and x.shape[:-2] != batch:
        x = np.broadcast_to(x, batch + matrix)
    return x.reshape(math.prod(x.shape[:-2]), *matrix)


def finished(found: Any, r: Any) -> Any:
    """A stack in the shape of NumPy's result ``r``, a scalar where that is one."""
    return found.reshape(np.shape(r)) if np.ndim(r) else found.ravel()[0]


def plus(x: Any, y: Any, value: NDArray[Any]) -> Any:
    """Record ``x + y`` with a given value, on memory of its own."""
    return binary(np.add, x, y, np.array(value))


def correct(first: Any, weight: Any, rest: Any) -> Any:
    """Add a linear map of remainders, whose values are zero, to a linearisation."""
    bend = contract(weight, rest, np.zeros(first.v.shape, dtype=first.v.dtype))
    return plus(first, bend, first.v)


def weighted(x: Any, y: Any, weight: NDArray[Any]) -> Any:
    """Record ``sum_k weight[k] dx[k] dy[k]``, shapes (b, k), as shape (b, 1, 1).

    Every product is an atom of its own.
    """
    b, k = x.v.shape
    each = remainder(x.reshape(b * k, 1, 1), y.reshape(b * k, 1, 1))
    value = np.zeros((b, 1, 1), dtype=x.v.dtype)
    return contract(each.reshape(b, 1, k), weight.reshape(-1, k, 1), value)
