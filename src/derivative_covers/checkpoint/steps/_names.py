"""What messages call a function of the user's."""

from __future__ import annotations

from functools import partial
from os.path import basename
from typing import Any

__all__ = ["name_of"]


def name_of(f: Any) -> str:
    """A name by which its author finds it: that of a lambda is its place."""
    if isinstance(f, partial):
        return f"partial({name_of(f.func)})"
    name = getattr(f, "__qualname__", None)
    if not isinstance(name, str):
        return f"<a {type(f).__name__}>"
    name = name.rpartition(".<locals>.")[2]
    code = getattr(f, "__code__", None)
    if code is None or name != "<lambda>":
        return name
    return f"lambda of {basename(code.co_filename)}:{code.co_firstlineno}"
