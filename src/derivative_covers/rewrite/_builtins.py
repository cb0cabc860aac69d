"""Builtins that rewritten code has: they know what a recorded value stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tape import CoverVar, TArray, TVar
from ._formats import Template

if TYPE_CHECKING:
    from ._world import World

__all__ = [
    "PLAIN",
    "float_or_recorded",
    "is_instance",
    "is_subclass",
    "stands_for",
    "type_of",
]

PLAIN = frozenset(
    (
        *(bool, int, float, complex, str, bytes, type(None), range, slice),
        *(np.ndarray, np.float64, np.float32, np.int64, np.bool_, np.dtype),
        *(TArray, TVar),
    )
)
"""Types of objects that are themselves in rewritten code."""


def stands_for(x: Any) -> Any:
    """A plain value of the type that ``x`` would have without a recording."""
    if isinstance(x, TArray):
        return x.v
    if isinstance(x, TVar):
        return x.v if isinstance(x.v, np.floating) else np.float64(0.0)
    if isinstance(x, CoverVar):
        return np.float64(0.0)
    return str(x) if isinstance(x, Template) else x


def float_or_recorded(*args: Any) -> Any:
    """``float(x)``, which is the identity on a recorded number."""
    if len(args) == 1:
        (x,) = args
        if isinstance(x, CoverVar):
            return x
        if isinstance(x, TArray) and x.v.size == 1:
            return x.item()
    return float(*args)


def type_of(world: World) -> Callable[..., Any]:
    """A call of the builtin ``type`` as rewritten code sees it."""

    def type_(*args: Any, **kw: Any) -> Any:
        if len(args) != 1 or kw:
            return type(*args, **kw)
        return world(type(stands_for(world.original(args[0]))))

    return type_


def is_instance(world: World) -> Callable[[Any, Any], bool]:
    """The builtin ``isinstance`` as rewritten code sees it."""

    def isinstance_(obj: Any, kinds: Any, /) -> bool:
        if isinstance(obj, kinds):
            return True
        if isinstance(obj, (CoverVar, TArray)):
            return isinstance(stands_for(obj), kinds)
        kinds = _originals(world, kinds)
        return isinstance(obj, kinds)

    return isinstance_


def is_subclass(world: World) -> Callable[[Any, Any], bool]:
    """The builtin ``issubclass`` as rewritten code sees it."""

    def issubclass_(kind: Any, kinds: Any, /) -> bool:
        if issubclass(kind, kinds):
            return True
        return issubclass(world.original(kind), _originals(world, kinds))

    return issubclass_


def _originals(world: World, kinds: Any) -> Any:
    if type(kinds) is tuple:
        return tuple(_originals(world, k) for k in kinds)
    return world.original(kinds)
