"""The one place that knows the compiler.

Kernels are plain functions of arrays and numbers. They are compiled on first use, and
what was compiled is kept on disk by numba; its key holds a fingerprint of every source
that kernels are made of, since numba itself does not see a change in a function that
another file calls.

Loading the compiler takes about a second. Until a process has swept some ten thousand
nodes, kernels run as they stand, with the same bits.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

__all__ = ["Kernel", "charge", "kernel"]

_patience = 10_000  # nodes to be swept before the compiler is loaded


def charge(nodes: int) -> None:
    """Count nodes that a pass is about to sweep."""
    global _patience
    if _patience > 0:
        _patience -= nodes


class Kernel:
    """A function that is compiled when it pays.

    Attributes:
        plain: The function as it stands.
    """

    __slots__ = ("_compiled", "plain")

    def __init__(self, plain: Callable[..., Any]) -> None:
        self.plain = plain
        self._compiled: Any = None

    def __call__(self, *args: Any) -> Any:
        """Run the kernel."""
        compiled = self._compiled
        if compiled is None:
            if _patience > 0:
                return self.plain(*args)
            compiled = self.compiled()
        return compiled(*args)

    def compiled(self) -> Any:
        """The compiled kernel: no fast-math, no GIL, cached where possible."""
        if self._compiled is None:
            self._compiled = _compile(self.plain)
        return self._compiled


def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a function; it may call other kernels of its module."""
    return Kernel(function)


def _compile(function: Any) -> Any:
    numba = importlib.import_module("numba")
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(scope.get(name), Kernel):
            scope[name] = scope[name].compiled()
    bound = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__
    )
    bound.__qualname__ = function.__qualname__
    bound.__module__ = function.__module__
    compiled = numba.njit(nogil=True, error_model="numpy")(bound)
    if compiled is not bound:
        try:
            compiled._cache = _source_cache()(compiled.py_func)
        except (RuntimeError, OSError):
            return compiled  # no writable directory anywhere: compile every time
    return compiled


@cache
def _source_cache() -> Any:
    base: Any = importlib.import_module("numba.core.caching").FunctionCache
    fingerprint = _fingerprint()

    class SourceCache(base):  # type: ignore[misc]
        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return (*super()._index_key(sig, codegen), fingerprint)

    return SourceCache


def _fingerprint() -> str:
    here = os.path.dirname(os.path.abspath(__file__))
    sources = [f for f in sorted(os.listdir(here)) if f.endswith(".py")]
    sources.append(os.path.join("..", "..", "local", "_split.py"))
    above = os.path.join("..", "..", "replay", "kernels")
    others = sorted(os.listdir(os.path.join(here, above)))
    sources += [os.path.join(above, f) for f in others if f.endswith(".py")]
    digest = importlib.import_module("hashlib").sha1(usedforsecurity=False)
    for source in sources:
        with open(os.path.join(here, source), "rb") as file:
            digest.update(file.read())
    return str(digest.hexdigest())
