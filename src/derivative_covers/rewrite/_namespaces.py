"""Which objects of NumPy, `math` and SciPy rewritten code has something else for."""

from __future__ import annotations

import math
import sys
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .. import numpy as namespace
from ._math import MATH

__all__ = ["originals", "replacement"]

_SMOOTH = ("logsumexp", "softmax", "log_softmax")


def _pairs(old: Any, new: Any, prefix: str) -> list[tuple[Any, Any]]:
    found = [(old, new)]
    for name, value in list(vars(old).items()):
        if name.startswith("_"):
            continue
        other = getattr(new, name, value)
        if other is value:
            continue
        if isinstance(value, ModuleType):
            if value.__name__ == f"{prefix}.{name}":
                found += _pairs(value, other, value.__name__)
        else:
            found.append((value, other))
    return found


@cache
def _table() -> dict[int, tuple[Any, Any]]:
    pairs = _pairs(np, namespace, "numpy") + _pairs(math, MATH, "math")
    return {id(old): (old, new) for old, new in reversed(pairs)}


@cache
def originals() -> dict[int, tuple[Any, Any]]:
    """By the id of a replacement: the replacement and the original."""
    return {id(new): (new, old) for old, new in _table().values()}


def replacement(obj: Any) -> Any:
    """What rewritten code has for an object of a library; the object itself by default."""
    found = _table().get(id(obj))
    if found is not None:
        return found[1]
    if isinstance(obj, FunctionType) and obj.__name__ in _SMOOTH:
        special = sys.modules.get("scipy.special")
        name = obj.__name__
        if getattr(special, name, None) is obj:
            return getattr(namespace, name)
    return obj
