"""Rewritten classes: subclasses of the user's, with the methods rewritten.

The mirror of a class has the mirrors of all its bases before the originals in its order of
resolution. So ``super()`` finds rewritten methods, data are found in the original class, and
an instance is one of the original class for everybody. Assignments to attributes of a mirror
go to the original.
"""

from __future__ import annotations

import enum
import functools
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

from ._globals import LiveGlobals

if TYPE_CHECKING:
    from ._world import World

__all__ = ["ORIGINAL", "Shadow", "changes", "home", "mirror"]

ORIGINAL = "__derivative_covers_original__"
"""Where an instance with slots keeps the instance that it stands for."""

_HOME = "__derivative_covers_home__"
_KEPT = frozenset(
    (
        *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__"),
        *("__slots__", "__annotations__", "__abstractmethods__", "_abc_impl"),
    )
)


class _MirrorMeta(type):
    """Metaclass of mirrors: sends attribute writes to the original class."""

    def mro(cls) -> list[type]:
        world, original, _ = home(cls)
        if original is None:
            return super().mro()
        above = original.__mro__[1:-1]
        mirrors = [world(b) for b in above]
        late = [b for b in above if b not in mirrors]
        return [cls, cls.__bases__[0], *mirrors, original, *late, object]

    def __setattr__(cls, name: str, value: Any) -> None:
        world, original, _ = home(cls)
        if original is None:
            super().__setattr__(name, value)
            return
        setattr(original, name, world.original(value))
        _refresh(cls)

    def __delattr__(cls, name: str) -> None:
        original = home(cls)[1]
        if original is None:
            super().__delattr__(name)
            return
        delattr(original, name)
        _refresh(cls)


def home(cls: type) -> tuple[Any, Any, Any]:
    """World and original of a mirror, and its members by name; else three times None."""
    found: tuple[Any, Any, Any] = cls.__dict__.get(_HOME, (None, None, None))
    return found


def _meta(world: World, kind: type) -> Any:
    """The metaclass of mirrors of classes whose metaclass is ``kind``."""
    if kind is type:
        return _MirrorMeta
    if issubclass(kind, _MirrorMeta):
        return kind
    found = world.metaclasses.get(kind)
    if found is None:
        bases = [_meta(world, b) for b in kind.__bases__ if issubclass(b, type)]
        owned = world.owns(kind.__module__)
        members = {
            name: _member(world, value)
            for name, value in vars(kind).items()
            if owned and name not in _KEPT
        }
        name = f"Mirror{kind.__name__}"
        found = type(name, (*dict.fromkeys(bases), kind), members)
        world.metaclasses[kind] = found
    return found


def changes(world: World, cls: Any) -> bool:
    """Whether a class has a mirror.

    Exceptions, enumerations, tuples and metaclasses stay as they are, and so do classes
    that rewritten code has made.
    """
    return (
        world.owns(cls.__module__)
        and not issubclass(cls, (BaseException, tuple, enum.Enum, type))
        and home(cls)[1] is None
        and not any(
            isinstance(v, FunctionType) and isinstance(v.__globals__, LiveGlobals)
            for v in vars(cls).values()
        )
    )


def _has_slots(cls: type) -> bool:
    """Whether instances keep state in slots."""
    return any(
        isinstance(v, MemberDescriptorType)
        for b in cls.__mro__
        for v in vars(b).values()
    )


def mirror(world: World, cls: Any) -> Any:
    """The counterpart of a class; the class itself where there is none."""
    if not changes(world, cls):
        return cls
    quiet: Any = type(
        "quiet", (), {"__init_subclass__": lambda _, **__: None, "__slots__": ()}
    )
    fields: dict[str, Any] = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        _HOME: (world, cls, {}),
    }
    if _has_slots(cls):
        fields["__slots__"] = (ORIGINAL,)
    # type.__new__ alone: a metaclass of the user or __init_subclass__ would be told of a
    # class that nobody has written.
    new: Any = type.__new__(_meta(world, type(cls)), cls.__name__, (quiet, cls), fields)
    del quiet.__init_subclass__
    world.mirrored(cls, new)
    if getattr(cls, "__abstractmethods__", None):
        type.__setattr__(new, "__abstractmethods__", cls.__abstractmethods__)
    _refresh(new)
    world.watch(new, _refresh)
    return new


def _refresh(cls: Any) -> None:
    """Bring the members of a mirror up to date with the original class."""
    world, original, members = home(cls)
    own = vars(original)
    after = cls.__mro__[2:]
    for name in [n for n in vars(cls) if n not in own and n not in _KEPT]:
        if name not in (_HOME, ORIGINAL) and not isinstance(vars(cls)[name], Shadow):
            type.__delattr__(cls, name)
    for name, value in list(own.items()):
        if name in _KEPT:
            continue
        old, new = members.get(name, (None, None))
        if old is not value or type(value) in (list, dict, tuple):
            slot = isinstance(value, MemberDescriptorType)
            new = Shadow(cls, name, value) if slot else _member(world, value)
            members[name] = (value, new)
        if new is value:
            hidden = next((b for b in after if name in vars(b)), None) is not original
            if not hidden and name not in vars(cls):
                continue
        if vars(cls).get(name) is not new and not isinstance(
            vars(cls).get(name), Shadow
        ):
            type.__setattr__(cls, name, new)


def _member(world: World, value: Any) -> Any:
    """The counterpart of what stands in a class."""
    kind = type(value)
    if kind is staticmethod or kind is classmethod:
        inner = world(value.__func__)
        return value if inner is value.__func__ else kind(inner)
    if kind is property:
        get, put, drop = map(world, (value.fget, value.fset, value.fdel))
        return property(get, put, drop, value.__doc__)
    if kind is functools.cached_property:
        made: Any = functools.cached_property(world(value.func))
        made.attrname = value.attrname
        return made
    if kind is functools.partialmethod:
        return functools.partialmethod(
            world(value.func), *map(world, value.args), **value.keywords
        )
    if kind is functools.singledispatchmethod:
        return value
    new = world(value) if world.changes(value) else value
    if new is not value and hasattr(new, "__get__") and not hasattr(value, "__get__"):
        return staticmethod(new)
    return new


class Shadow:
    """An attribute of mirrored instances whose value has a counterpart.

    The value lies where it lies in the original instance: in the attribute dict, which the
    two share, or in the slot of the original.
    """

    def __init__(self, cls: type, name: str, slot: Any = None) -> None:
        self._cls = cls
        self._name = name
        self._slot = slot

    def _place(self, obj: Any) -> Any:
        try:
            return object.__getattribute__(obj, ORIGINAL)
        except AttributeError:
            return obj

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        world = home(self._cls)[0]
        if obj is None:
            found = getattr(super(self._cls, owner), self._name)
        elif self._slot is not None:
            found = self._slot.__get__(self._place(obj), owner)
        else:
            fields = object.__getattribute__(obj, "__dict__")
            if self._name not in fields:
                return getattr(super(self._cls, obj), self._name)
            found = fields[self._name]
        return world(found)

    def __set__(self, obj: Any, value: Any) -> None:
        value = home(self._cls)[0].original(value)
        if self._slot is not None:
            self._slot.__set__(self._place(obj), value)
        else:
            object.__getattribute__(obj, "__dict__")[self._name] = value

    def __delete__(self, obj: Any) -> None:
        if self._slot is not None:
            self._slot.__delete__(self._place(obj))
            return
        fields = object.__getattribute__(obj, "__dict__")
        if self._name not in fields:
            raise AttributeError(self._name)
        del fields[self._name]
