"""Lists, dicts, tuples and sets that hold functions or objects with methods.

Rewritten code sees a container of the same type with the counterparts. What it changes
there is changed in the original too, so that the two never disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._world import World

__all__ = ["KINDS", "changes", "view"]

KINDS = frozenset((list, dict, tuple, set, frozenset))
# Of a longer container only so many entries are looked at: it is data.
_LOOKED_AT = 4096
_SAMPLE = 64
_DEPTH = 8


def _entries(obj: Any) -> Iterable[Any]:
    entries = [*obj.keys(), *obj.values()] if isinstance(obj, dict) else obj
    return islice(entries, _SAMPLE) if len(obj) > _LOOKED_AT else entries


def changes(world: World, obj: Any, depth: int = 0) -> bool:
    """Whether a container holds anything that may have a counterpart."""
    if depth > _DEPTH:
        return False
    for entry in list(_entries(obj)):
        if type(entry) in KINDS:
            if changes(world, entry, depth + 1):
                return True
        elif world.changes(entry):
            return True
    return False


def view(world: World, obj: Any) -> Any:
    """The counterpart of a container; the container itself where nothing changes."""
    if not changes(world, obj):
        return obj
    if isinstance(obj, (tuple, frozenset)):
        return type(obj)(map(world, obj))
    new: Any = _VIEWS[type(obj)]()
    new._bind(world, obj)
    world.remember(obj, new)
    world.later(new.refresh_from_original)
    world.watch(new, type(new).refresh_from_original)
    return new


def _same(a: Collection[Any], b: Collection[Any]) -> bool:
    """Whether two collections hold the same objects: equality may be anything."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


class _View:
    """What the views have in common."""

    _world: World
    _original: Any

    def _bind(self, world: World, original: Any) -> None:
        self._world = world
        self._original = original

    def refresh_from_original(self) -> None:
        """Take over what the original holds now."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._original.__reduce_ex__(protocol)


class _ListView(_View, list[Any]):
    def refresh_from_original(self) -> None:
        new = [*map(self._world, self._original)]
        if not _same(new, self):
            list.__setitem__(self, slice(None), new)


class _DictView(_View, dict[Any, Any]):
    def refresh_from_original(self) -> None:
        world = self._world
        new = {world(k): world(v) for k, v in self._original.items()}
        if not (_same(new, self) and _same(new.values(), dict.values(self))):
            dict.clear(self)
            dict.update(self, new)


class _SetView(_View, set[Any]):
    def refresh_from_original(self) -> None:
        new = set(map(self._world, self._original))
        set.intersection_update(self, new)
        set.update(self, new)


def _written(kind: type, name: str) -> Callable[..., Any]:
    plain = getattr(kind, name)

    def method(self: Any, *args: Any, **kw: Any) -> Any:
        world, original = self._world, self._original

        def back(a: Any) -> Any:
            if isinstance(a, _View):
                return a._original
            if type(a) in (list, tuple):
                return type(a)(map(back, a))
            if type(a) is dict:
                return {back(k): back(v) for k, v in a.items()}
            return world.original(a)

        if name == "sort":
            list.sort(self, **kw)
            list.__setitem__(original, slice(None), [back(a) for a in self])
            return None
        result = plain(
            original, *map(back, args), **{k: back(v) for k, v in kw.items()}
        )
        self.refresh_from_original()
        return self if result is original else world(result)

    method.__name__ = name
    return method


_WRITERS = {
    list: "append extend insert remove pop clear sort reverse "
    "__setitem__ __delitem__ __iadd__ __imul__",
    dict: "pop popitem clear update setdefault __setitem__ __delitem__ __ior__",
    set: "add remove discard pop clear update intersection_update difference_update "
    "symmetric_difference_update __ior__ __iand__ __isub__ __ixor__",
}
_VIEWS: dict[type, type] = {list: _ListView, dict: _DictView, set: _SetView}
for _kind, _names in _WRITERS.items():
    for _name in _names.split():
        setattr(_VIEWS[_kind], _name, _written(_kind, _name))
