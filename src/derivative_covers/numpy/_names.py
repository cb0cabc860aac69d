"""What the namespace puts in the place of NumPy's own, under NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

__all__ = ["NAMESPACE", "REPLACED", "named_as", "replaces", "without_examples"]

NAMESPACE = "derivative_covers.numpy"
REPLACED: dict[str, Any] = {}


def without_examples(original: Any) -> str | None:
    """The text of a NumPy function up to its examples, which print NumPy's own names."""
    text: str | None = original.__doc__
    if text is None or ">>>" not in text:
        return text
    lines = text[: text.index(">>>")].rstrip().splitlines()
    heads = [
        k for k, line in enumerate(lines) if line.strip() in ("Examples", "Example")
    ]
    end = heads[-1] if heads else len(lines)
    kept = "\n".join(lines[:end]).rstrip()
    return f"{kept}\n\n    Examples\n    --------\n    See numpy's own.\n"


def named_as(original: Any, made: Any, module: str = NAMESPACE) -> Any:
    """Give a function the name, the text and the signature of NumPy's."""
    made.__name__ = made.__qualname__ = original.__name__
    made.__doc__ = without_examples(original)
    made.__module__ = module
    made.__wrapped__ = original
    return made


def replaces(original: Any) -> Callable[[Any], Any]:
    """Register a function in the place of a NumPy function, under its name."""

    def register(function: FunctionType) -> FunctionType:
        REPLACED[original.__name__] = named_as(original, function)
        return function

    return register
