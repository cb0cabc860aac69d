"""Modules and plain namespaces as rewritten code sees them, attribute by attribute."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._world import World

__all__ = ["changes", "module", "namespace"]

# Modules of libraries in which something is replaced.
_LIBRARIES = ("numpy", "scipy", "scipy.special")
_WORLD, _ORIGINAL = "__derivative_covers_world__", "__derivative_covers_original__"


class _Attributes:
    """Attributes of another object, read and written through."""

    def __getattr__(self, name: str) -> Any:
        fields = object.__getattribute__(self, "__dict__")
        return fields[_WORLD](getattr(fields[_ORIGINAL], name))

    def __setattr__(self, name: str, value: Any) -> None:
        fields = object.__getattribute__(self, "__dict__")
        setattr(fields[_ORIGINAL], name, fields[_WORLD].original(value))

    def __delattr__(self, name: str) -> None:
        delattr(object.__getattribute__(self, "__dict__")[_ORIGINAL], name)

    def __dir__(self) -> list[str]:
        return dir(object.__getattribute__(self, "__dict__")[_ORIGINAL])

    def __repr__(self) -> str:
        return repr(object.__getattribute__(self, "__dict__")[_ORIGINAL])


class _ModuleView(_Attributes, ModuleType):
    pass


class _NamespaceView(_Attributes, SimpleNamespace):
    def __eq__(self, other: object) -> bool:
        fields = object.__getattribute__(self, "__dict__")
        return bool(fields[_ORIGINAL] == fields[_WORLD].original(other))

    __hash__ = None


def changes(world: World, obj: ModuleType) -> bool:
    """Whether a module is the user's, or one of a library with other functions here."""
    name = obj.__name__
    if isinstance(obj, _ModuleView) or name.startswith("derivative_covers."):
        return False
    return name in _LIBRARIES or name.startswith("numpy.") or world.owns(name)


def module(world: World, obj: ModuleType) -> Any:
    """The counterpart of a module; other people's modules stay themselves."""
    if not changes(world, obj):
        return obj
    new = _ModuleView(obj.__name__)
    fields = vars(new)
    for default in ("__doc__", "__loader__", "__spec__", "__package__"):
        fields.pop(default, None)
    fields[_WORLD], fields[_ORIGINAL] = world, obj
    return world.remember(obj, new)


def namespace(world: World, obj: SimpleNamespace) -> Any:
    """The counterpart of a SimpleNamespace that holds something to rewrite."""
    if not world.changes(obj):
        return obj
    new = _NamespaceView()
    vars(new).update({_WORLD: world, _ORIGINAL: obj})
    return world.remember(obj, new)
