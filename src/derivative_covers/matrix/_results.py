"""Covers from logarithms, and what they come back as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..results import Labels, Result, Summary, variables
from ._entries import Entries
from ._exact import below
from ._support import Support

__all__ = ["MatrixCover", "as_cover", "as_vector", "covering"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class MatrixCover(Result):
    """A pair with ``|A_ij| <= a_i b_j``, or near it where the cover is a soft one.

    It unpacks as ``a, b``; ``numpy.asarray`` of it is the matrix ``a b'``.

    Attributes:
        a: Nonnegative, one number for each row.
        b: Nonnegative, one number for each column.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.matrix import cover
        >>> a, b = cover([[0.0, 0.0], [3.0, 12.0]])
        >>> np.outer(a, b).round(12)
        array([[ 0.,  0.],
               [ 3., 12.]])
    """

    a: Array
    b: Array

    def __iter__(self) -> Iterator[Array]:
        return iter((self.a, self.b))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        if copy is False:
            msg = "the matrix is a product of a and b, which is always a new array."
            raise ValueError(msg)
        return np.asarray(np.multiply.outer(self.a, self.b), dtype=dtype)

    def _summary(self) -> Summary:
        rows = Labels([("row", self.a.shape)])
        columns = Labels([("column", self.b.shape)])
        tables = (
            variables(rows, {"a": self.a}, "a"),
            variables(columns, {"b": self.b}, "b"),
        )
        return Summary("MatrixCover: |A| <= a b'", tables)


def as_vector(s: Support, x: Array, dtype: Any) -> Array:
    """Numbers from logarithms; zero for a node without entries.

    Raises:
        OptionError: If one is larger than any float.
    """
    largest = np.log(float(np.finfo(dtype).max)) - 1e-9
    used = s.degree > 0
    if (x[used] > largest).any():
        msg = (
            f"a cover of this matrix has entries above {np.finfo(dtype).max:.2g}, which "
            f"{np.dtype(dtype)} does not hold; scale the matrix first, or give it as "
            "float64."
        )
        raise OptionError(msg)
    values = np.exp(np.where(used, x, 0.0))
    found: Array = np.where(used, np.maximum(values, np.finfo(dtype).tiny), 0.0)
    return found


def covering(s: Support, x: Array, found: Entries) -> Array:
    """The same, and no product of them lies below the size of an entry, in exact numbers.

    What rounding took is given back to both ends of an entry.
    """
    v = as_vector(s, x, found.dtype)
    while True:
        short = np.flatnonzero(below(v[s.p], v[s.q], found.sizes))
        if not short.size:
            break
        p, q = s.p[short], s.q[short]
        # Subnormal numbers and overflow are out of reach of quotients of roots.
        roots = np.sqrt(v[p]) * np.sqrt(v[q])
        raised = np.sqrt(found.sizes[short]) / roots
        raised = np.maximum(raised, 1.0) * (1 + 2.0**-52)
        factor = np.ones(s.count)
        np.maximum.at(factor, p, raised)
        np.maximum.at(factor, q, raised)
        v = v * factor
    if found.dtype == np.float64:
        return v
    single = v.astype(found.dtype)
    up = np.nextafter(single, np.asarray(np.inf, found.dtype))
    rounded: Array = np.where(single < v, up, single)
    return rounded


def as_cover(v: Array, found: Entries) -> MatrixCover:
    """The two halves of a vector over rows and columns."""
    v = v.astype(found.dtype, copy=False)
    rows = found.shape[0]
    return MatrixCover(v[:rows].copy(), v[rows:].copy())
