"""What callers may pass as a matrix: the sizes of its nonzero entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputTypeError, OptionError, ShapeError

__all__ = ["Entries", "entries", "symmetric_entries"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Entries:
    """The nonzero entries of a matrix, in order of rows.

    Attributes:
        shape: Rows and columns of the matrix.
        i: Rows of the entries.
        j: Columns of the entries.
        sizes: Absolute values, float64, rounded up where they are not exact.
        dtype: Type of the covers: float32 for single precision, else float64.
    """

    shape: tuple[int, int]
    i: Array
    j: Array
    sizes: Array
    dtype: Any


def entries(A: Any, name: str = "A") -> Entries:
    """Read a dense or sparse matrix.

    Raises:
        InputTypeError: If it holds no numbers, or is a masked array.
        ShapeError: If it has not two dimensions.
        OptionError: If an entry is NaN or infinite.
    """
    if isinstance(A, np.ma.MaskedArray):
        msg = (
            f"{name} is a masked array, whose masked entries have no value; fill them "
            f"first, with {name}.filled(0) to leave them out."
        )
        raise InputTypeError(msg)
    if hasattr(A, "tocoo"):
        _check(A, A, name)
        M = A.tocoo(copy=True)
        M.sum_duplicates()
        i, j, values = M.row, M.col, np.asarray(M.data)
    else:
        M = _dense(A, name)
        _check(M, A, name)
        i, j = np.nonzero(M)
        values = M[i, j]
    sizes = _sizes(values)
    bad = np.flatnonzero(~np.isfinite(sizes))
    if bad.size:
        k = bad[0]
        msg = (
            f"{name}[{i[k]}, {j[k]}] is {values[k]}; entries must be finite numbers that "
            "float64 can hold."
        )
        raise OptionError(msg)
    kept = sizes > 0
    order = np.lexsort((j[kept], i[kept]))
    single = M.dtype in (np.float32, np.complex64)
    return Entries(
        (int(M.shape[0]), int(M.shape[1])),
        i[kept][order].astype(np.int64),
        j[kept][order].astype(np.int64),
        sizes[kept][order],
        np.float32 if single else np.float64,
    )


def symmetric_entries(A: Any) -> Entries:
    """The entries on and above the diagonal of a matrix with symmetric absolute values.

    Two that differ by rounding count with the larger one.

    Raises:
        ShapeError: If the matrix is not square.
        OptionError: If its absolute values are not symmetric.
    """
    found = entries(A)
    rows, columns = found.shape
    if rows != columns:
        msg = (
            f"A has shape {found.shape}; a symmetric cover needs a square matrix. For "
            "others there is cover."
        )
        raise ShapeError(msg)
    i, j = np.minimum(found.i, found.j), np.maximum(found.i, found.j)
    below = found.i > found.j
    order = np.lexsort((below, j, i))
    i, j, below, sizes = i[order], j[order], below[order], found.sizes[order]
    first = np.ones(i.size, dtype=bool)
    first[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
    partner = np.zeros(i.size)  # 0 where an entry has no mirror image
    pairs = np.flatnonzero(~first)
    partner[pairs - 1], partner[pairs] = sizes[pairs], sizes[pairs - 1]
    slack = np.sqrt(np.finfo(found.dtype).eps)
    odd = np.flatnonzero((i != j) & (np.abs(sizes - partner) > slack * sizes))
    if odd.size:
        k = odd[0]
        here, mirrored = (j[k], i[k]) if below[k] else (i[k], j[k]), partner[k]
        msg = (
            f"|A[{here[0]}, {here[1]}]| is {sizes[k]:.17g} and |A[{here[1]}, {here[0]}]| "
            f"is {mirrored:.17g}; a symmetric cover needs symmetric absolute values. "
            "Take cover, or the larger one of the two: numpy.maximum(abs(A), abs(A.T))."
        )
        raise OptionError(msg)
    sizes = np.maximum(sizes, partner)
    return Entries(found.shape, i[first], j[first], sizes[first], found.dtype)


def _dense(A: Any, name: str) -> Array:
    try:
        return np.asarray(A)
    except ValueError:  # rows of different lengths
        msg = (
            f"{name} is no matrix of numbers: its rows differ in length; got {A!r:.80}."
        )
        raise InputTypeError(msg) from None


def _check(M: Any, A: Any, name: str) -> None:
    if M.dtype.kind not in "biufc":
        msg = (
            f"{name} holds entries of type {M.dtype} ({type(A).__name__}); real or complex "
            f"numbers of NumPy's own types are needed, such as {name}.astype(float)."
        )
        raise InputTypeError(msg)
    if len(M.shape) != 2:
        msg = (
            f"{name} has shape {tuple(M.shape)}; a matrix with two dimensions is needed. "
            "Covers of many matrices are taken one by one."
        )
        raise ShapeError(msg)


def _sizes(values: Array) -> Array:
    """Absolute values, none below the truth."""
    with np.errstate(over="ignore"):
        if values.dtype.kind == "c":
            wide = values.astype(np.complex128)
            inexact = (wide.real != 0) & (wide.imag != 0)
            if values.dtype.itemsize > 16:
                inexact |= wide != values
            sizes = np.abs(wide)
        else:
            sizes = np.abs(values.astype(np.float64))
            # Conversions can round integers from 2**53 on, and extended precision.
            if values.dtype.kind in "iu":
                inexact = sizes >= 2.0**53
            else:
                inexact = sizes < np.abs(values)
        return np.where(inexact, np.nextafter(sizes, np.inf), sizes)
