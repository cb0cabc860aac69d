"""Functions of symbols by name, and truth values among numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._symbols import BOOL, Symbol, TraceError, plain, symbol

__all__ = ["FUNCTIONS", "is_bool", "named", "number", "truth"]

FUNCTIONS: dict[str, Callable[..., Any]] = {}


def named(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of symbols; with constants alone NumPy's own is called."""

    def register(build: Callable[..., Any]) -> Callable[..., Any]:
        own = getattr(np, names[0], None)

        def apply(*args: Any, **options: Any) -> Any:
            if options.pop("dtype", np.float64) not in {float, np.float64}:
                msg = f"{names[0]} of a type of its own cannot be compiled."
                raise TraceError(msg)
            if options:
                msg = f"{names[0]} with {', '.join(options)} cannot be compiled."
                raise TraceError(msg)
            if own is not None and not any(isinstance(x, Symbol) for x in args):
                with np.errstate(all="ignore"):
                    return own(*args)
            return build(*(plain(x) for x in args))

        for name in names:
            FUNCTIONS[name] = apply
        return apply

    return register


def is_bool(x: Any) -> bool:
    return isinstance(x, bool) or (isinstance(x, Symbol) and x.kind == BOOL)


def number(x: Any) -> Any:
    """A truth value as the number that it is in arithmetic."""
    if isinstance(x, bool):
        return float(x)
    return symbol("float", x) if is_bool(x) else x


def truth(x: Any) -> Any:
    return x if is_bool(x) else symbol("!=", x, 0.0, kind=BOOL)
