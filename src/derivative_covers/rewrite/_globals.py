"""The globals of rewritten functions: a live view of those of the original."""

from __future__ import annotations

import builtins
import sys
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._builtins import PLAIN, float_or_recorded, is_instance, is_subclass, type_of
from ._code import CALLED
from ._copies import COPIED, NAME

if TYPE_CHECKING:
    from ._world import World

__all__ = ["LiveGlobals"]

_MISSING = object()
_CONTAINERS = (list, dict, tuple, set, frozenset)
_set = dict.__setitem__


class LiveGlobals(dict[str, Any]):
    """What rewritten functions of one module have for globals.

    It stores only names that mean something else in rewritten code, and builtins; every
    other name is looked up in the module's own dict each time, and all writes go there.

    Args:
        scope: Globals of the original functions.
        world: What finds the counterparts of values.
        writable: Names that ``STORE_NAME`` may write; None stands for all. A function
            that declares globals has this mapping for its locals too, and a debugger
            that looks at it writes its local variables back.
    """

    __slots__ = (
        "__weakref__",
        "_kept",
        "_plain",
        "_substituted",
        "_writable",
        "base",
        "scope",
        "world",
    )

    def __init__(
        self, scope: dict[str, Any], world: World, writable: frozenset[str] | None
    ) -> None:
        super().__init__()
        self.scope = scope
        self.world = world
        self.base = self._builtins()
        self._writable = writable
        self._kept: set[str] = set()
        self._substituted: dict[str, Any] = {}
        self._plain: dict[str, tuple[Any, int]] = {}
        _set(self, "__builtins__", self.base)
        for name, value in scope.items():
            if name.startswith("__") and name != "__builtins__":
                _set(self, name, value)

    def _builtins(self) -> dict[str, Any]:
        own = self.scope.get("__builtins__", builtins)
        base = dict(vars(own) if isinstance(own, ModuleType) else own)
        original_import = base.get("__import__", builtins.__import__)
        world, scope = self.world, self.scope

        def import_(
            name: str,
            globals: Any = None,
            locals: Any = None,
            fromlist: Any = (),
            level: int = 0,
        ) -> Any:
            where = scope if isinstance(globals, LiveGlobals) else globals
            return world(original_import(name, where, locals, fromlist, level))

        def evaluate(source: Any, globals: Any = None, locals: Any = None, /) -> Any:
            if globals is not None:
                return eval(source, globals, locals)
            found = sys._getframe(1).f_locals if locals is None else locals
            return eval(source, self._snapshot(), found)

        def execute(
            source: Any, globals: Any = None, locals: Any = None, /, **kw: Any
        ) -> None:
            if globals is not None:
                exec(source, globals, locals, **kw)
                return
            found = sys._getframe(1).f_locals if locals is None else locals
            exec(source, self._snapshot(), found, **kw)

        changed = {
            "__import__": import_,
            "isinstance": is_instance(world),
            "issubclass": is_subclass(world),
            "eval": evaluate,
            "exec": execute,
            "globals": lambda: self,
        }
        base.update((k, v) for k, v in changed.items() if k in base)
        base[NAME] = COPIED
        calls = {"float()": float_or_recorded, "type()": type_of(world)}
        base.update((k, v) for k, v in calls.items() if CALLED[k] in base)
        return base

    def _snapshot(self) -> dict[str, Any]:
        copied = {name: self[name] for name in list(self.scope)}
        copied["__builtins__"] = self.base
        return copied

    def __missing__(self, name: str) -> Any:
        scope = self.scope
        if CALLED.get(name) in scope:
            return self[CALLED[name]]
        value = scope.get(name, _MISSING)
        if value is _MISSING:
            return self._put(name, self.base[name])
        if type(value) in PLAIN:
            return value
        # What has no counterpart is looked at once in a call: a container takes a scan.
        plain = self._plain.get(name)
        size = len(value) if type(value) in _CONTAINERS else 0
        if plain is not None and plain[0] is value and plain[1] == size:
            return value
        new = self.world(value)
        if new is value:
            self._plain[name] = (value, size)
        else:
            self._put(name, new)
        return new

    def _put(self, name: str, new: Any) -> Any:
        self._substituted[name] = new
        _set(self, name, new)
        return new

    def keep(self, names: frozenset[str]) -> None:
        """Store these names, since code looks for them past ``__missing__``."""
        for name in names:
            if name in self.scope or name in self.base:
                self._kept.add(name)
                self._put(name, self[name])

    def refresh(self) -> None:
        """Take over what has changed in the module since the last call."""
        self._plain.clear()
        scope, world, base = self.scope, self.world, self.base
        for name, stored in list(self._substituted.items()):
            value = scope.get(name, _MISSING)
            if value is not _MISSING:
                new = world(value)
            elif CALLED.get(name) in scope:
                new = _MISSING
            else:
                new = base.get(name, _MISSING)
            if new is not stored:
                self._drop(name)
                if name in self._kept and new is not _MISSING:
                    self._put(name, new)

    def _drop(self, name: str) -> None:
        dict.pop(self, name, None)
        self._plain.pop(name, None)
        self._substituted.pop(name, None)

    # -- writes go to the module --------------------------------------------------

    def __setitem__(self, name: str, value: Any) -> None:
        if self._writable is not None and name not in self._writable:
            return
        self.scope[name] = self.world.original(value)
        if name in self._kept:
            self._put(name, self.world(value))
        else:
            self._drop(name)

    def __delitem__(self, name: str) -> None:
        del self.scope[name]
        self._drop(name)

    def update(self, *args: Any, **kw: Any) -> None:
        """As dict.update, on the module."""
        for name, value in dict(*args, **kw).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        """As dict.setdefault, on the module."""
        if name not in self.scope:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        """As dict.pop, on the module."""
        self._drop(name)
        return self.world(self.scope.pop(name, *default))

    # -- and `globals()` shows it -----------------------------------------------------

    def get(self, name: str, default: Any = None) -> Any:
        """As dict.get, on the module."""
        return self[name] if name in self.scope else default

    def __contains__(self, name: object) -> bool:
        return name in self.scope

    def __iter__(self) -> Iterator[str]:
        return iter(self.scope)

    def __len__(self) -> int:
        return len(self.scope)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """Names of the module."""
        return KeysView(self)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Names of the module and what they mean in rewritten code."""
        return ItemsView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """What the names of the module mean in rewritten code."""
        return ValuesView(self)
