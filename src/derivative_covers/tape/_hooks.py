"""Where the scalar layer finds the array layer, which is built on top of it."""

from __future__ import annotations

from typing import Any

__all__ = ["LAYERED", "array_layer", "set_array_layer"]

LAYERED: set[Any] = set()  # ufuncs that the array layer implements for scalars, too

_LAYER: list[Any] = []


def set_array_layer(layer: Any) -> None:
    """Register the module-like object that handles operations with arrays."""
    _LAYER[:] = [layer]


def array_layer() -> Any:
    """The registered array layer."""
    return _LAYER[0]
