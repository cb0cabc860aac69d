"""Rewritten instances: of the mirror of their class, on the state of the original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._mirrors import ORIGINAL, Shadow, changes, home

if TYPE_CHECKING:
    from ._world import World

__all__ = ["instance"]


def instance(world: World, obj: Any) -> Any:
    """The counterpart of an object of one of the user's classes.

    It shares the attribute dict with the original, and reads and writes the original's
    slots, so the state of the two is one. An object that is a number, a list or an array of
    a subclass keeps its state elsewhere and stays itself.
    """
    cls = type(obj)
    if not changes(world, cls):
        return obj
    mirrored = world(cls)
    try:
        new = object.__new__(mirrored)
    except TypeError:
        return obj
    try:
        fields = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        fields = None
    if fields is not None:
        object.__setattr__(new, "__dict__", fields)
    if ORIGINAL in vars(mirrored):
        object.__setattr__(new, ORIGINAL, obj)
    world.remember(obj, new)
    if fields is not None:
        _shade(new)
        world.watch(new, _shade)
    return new


def _shade(obj: Any) -> None:
    """Let attributes whose value has a counterpart be found through a shadow."""
    cls = type(obj)
    world = home(cls)[0]
    for name, value in list(object.__getattribute__(obj, "__dict__").items()):
        if world.changes(value) and not _described(cls, name):
            type.__setattr__(cls, name, Shadow(cls, name))


def _described(cls: type, name: str) -> bool:
    found = next((vars(b)[name] for b in cls.__mro__ if name in vars(b)), None)
    return hasattr(type(found), "__set__")
