"""The one place that knows the compiler.

Kernels are plain functions of arrays and numbers. Compiled results are kept on disk by
numba; their key holds a fingerprint of every source that kernels are made of, since
numba itself does not see a change in a function that another file calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

__all__ = ["kernel"]


def _fingerprint() -> str:
    here = Path(__file__).resolve().parent
    split = here.parent.parent / "local" / "_split.py"
    sources = [*sorted(here.glob("*.py")), split]
    digest = hashlib.sha1(usedforsecurity=False)
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


_FINGERPRINT = _fingerprint()


class _SourceCache(FunctionCache):
    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), _FINGERPRINT)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel on first use: no fast-math, no GIL, cached where possible."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    if compiled is not function:
        try:
            compiled._cache = _SourceCache(compiled.py_func)
        except (RuntimeError, OSError):
            return compiled  # no writable directory anywhere: compile every time
    return compiled
