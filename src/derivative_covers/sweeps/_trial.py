"""A tiny kernel that shows whether the compiler works here, and where it keeps things."""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .kernels._jit import kernel

__all__ = ["CompilerTrial", "try_compiler"]


class CompilerTrial(NamedTuple):
    """What a trial of the compiler found.

    Attributes:
        right: Whether the compiled kernel computes what the plain one does.
        seconds: What loading the compiler and compiling took.
        folder: Where compiled kernels are kept; None where they are not.
    """

    right: bool
    seconds: float
    folder: str | None


@kernel
def _squares(x: Any) -> Any:
    total = 0.0
    for k in range(x.size):
        total += x[k] * x[k]
    return total


def try_compiler() -> CompilerTrial:
    """Compile a loop, run it, and look where its machine code went."""
    start = perf_counter()
    compiled = _squares.compiled()
    x = np.arange(10.0)
    found = float(compiled(x))
    folder = getattr(getattr(compiled, "_cache", None), "cache_path", None)
    seconds = perf_counter() - start
    return CompilerTrial(found == float(_squares.plain(x)), seconds, folder)
