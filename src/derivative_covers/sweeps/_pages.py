"""Large work arrays that do not tear holes into the heap."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["zeros"]

_LARGE = 1 << 21
_PRIVATE = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
    if hasattr(mmap, "MAP_ANONYMOUS")
    else {}
)


def zeros(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A vector of zeros; a large one has pages of its own.

    A sweep over a long chain allocates such a vector for every step, between arrays of
    other sizes. From the heap it would leave holes that nothing else fills exactly, and
    the process would grow far beyond what it holds.
    """
    nbytes = n * dtype.itemsize
    if nbytes < _LARGE:
        return np.zeros(n, dtype=dtype)
    pages = mmap.mmap(-1, nbytes, **_PRIVATE)
    if hasattr(mmap, "MADV_HUGEPAGE"):  # else a long sweep waits for page after page
        with suppress(OSError):
            pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype=dtype)
