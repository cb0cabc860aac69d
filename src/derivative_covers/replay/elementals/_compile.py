"""From the text of a function to the address of its machine code."""

from __future__ import annotations

import contextlib
import os
from functools import cache
from importlib import import_module
from types import CodeType
from typing import Any

from ...sweeps.kernels.pair import split
from ._scalars import compiled

__all__ = ["compile_function", "scope"]


def scope(code: CodeType, name: str) -> Any:
    """The function of that name in a generated file, ready for the compiler."""
    # Machine code that is loaded belongs to a module that can be imported.
    found = {**compiled(), "__name__": __name__}
    found["split"] = split.compiled()
    exec(code, found)
    return found[name]


def compile_function(function: Any, *, kept: bool) -> Any:
    """Compile a pass, or load what another process compiled.

    Args:
        function: The function of a generated file.
        kept: Whether its file is in a folder that can be written to.

    Returns:
        The compiler's object, to be kept as long as its address is used.
    """
    callback: Any = import_module("numba.core.ccallback")
    made = callback.CFunc(function, _signature(), {}, {"error_model": "numpy"})
    if kept:
        with contextlib.suppress(RuntimeError, OSError):
            made._cache = _file_cache()(function)
    made.compile()
    return made


@cache
def _signature() -> Any:
    types: Any = import_module("numba").types
    floats, whole = types.CPointer(types.float64), types.int64
    signature = whole(*4 * (floats,), types.CPointer(whole), *4 * (whole,))
    return import_module("numba.core.sigutils").normalize_signature(signature)


@cache
def _file_cache() -> Any:
    """The compiler's cache, beside the generated file, which is named by its content."""
    caching: Any = import_module("numba.core.caching")

    class Locator(caching._CacheLocator):  # type: ignore[misc]
        def __init__(self, function: Any, path: str) -> None:
            self._py_file, self._line = path, function.__code__.co_firstlineno

        def get_cache_path(self) -> str:
            return os.path.dirname(self._py_file)

        def get_source_stamp(self) -> str:
            return os.path.basename(self._py_file)

        def get_disambiguator(self) -> str:
            return str(self._line)

        @classmethod
        def from_function(cls, function: Any, path: str) -> Any:
            return cls(function, path)

    class Impl(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    class FileCache(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Impl

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:
                return None  # damaged: compiled and written again

        def save_overload(self, sig: Any, data: Any) -> None:
            with contextlib.suppress(OSError):
                try:
                    super().save_overload(sig, data)
                except OSError:
                    raise
                except Exception:  # a damaged index
                    self.flush()
                    super().save_overload(sig, data)

    return FileCache
