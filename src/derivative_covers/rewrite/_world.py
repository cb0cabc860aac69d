"""The rewritten counterparts of the objects of a user's modules."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from threading import RLock
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

from . import _containers, _functions, _instances, _mirrors, _views
from ._builtins import PLAIN
from ._globals import LiveGlobals
from ._namespaces import originals, replacement

__all__ = ["World"]

# So many counterparts of objects that take no weak references are remembered.
_HELD = 256


class _Strong:
    """A reference to an object that takes no weak ones."""

    __slots__ = ("obj",)

    def __init__(self, obj: Any) -> None:
        self.obj = obj

    def __call__(self) -> Any:
        return self.obj


class World:
    """Rewritten counterparts of the objects of some modules, made when they are reached.

    Calling a world with an object gives its counterpart: the object itself where there is
    nothing to rewrite. One world serves all functions of a package, so that they share
    rewritten helpers and classes. Originals are held weakly.

    Args:
        modules: Names of modules; each stands for its submodules too.
        scope: Globals of a function that belongs to no module.
    """

    def __init__(
        self, modules: tuple[str, ...], scope: dict[str, Any] | None = None
    ) -> None:
        self._modules = tuple(
            m for m in modules if m.partition(".")[0] not in _functions.NEVER
        )
        self._under = tuple(f"{m}." for m in self._modules)
        self._scope = scope
        self._lock = RLock()
        self._memo: dict[int, tuple[Callable[[], Any], Any]] = {}
        self._originals: dict[int, tuple[Callable[[], Any], Callable[[], Any]]] = {}
        self._envs: weakref.WeakValueDictionary[Any, LiveGlobals] = (
            weakref.WeakValueDictionary()
        )
        self._later: list[Callable[[], None]] = []
        self._fresh: list[int] = []
        self._held: dict[int, int] = {}
        self._inert: set[type] = set()
        self._depth = 0
        # A mirror keeps its class alive, so that the class's id stays its own.
        self.classes: weakref.WeakValueDictionary[int, type] = (
            weakref.WeakValueDictionary()
        )
        self.metaclasses: dict[type, type] = {}
        self.functions = _functions.Functions(self)
        self._watched: dict[int, tuple[Any, Callable[[Any], None]]] = {}

    def owns(self, module: Any, scope: Any = None) -> bool:
        """Whether a module is one of those that are rewritten."""
        if scope is not None and scope is self._scope:
            return True
        return module in self._modules or (
            isinstance(module, str) and module.startswith(self._under)
        )

    def __call__(self, obj: Any) -> Any:
        """The counterpart of an object; the object itself where nothing changes.

        Raises:
            UnsupportedOperationError: If the object cannot be rewritten faithfully.
        """
        kind = type(obj)
        if kind in PLAIN or kind in self._inert:
            return obj
        found = self._memo.get(id(obj))
        if found is not None and found[0]() is obj:
            return found[1]
        new = replacement(obj)
        if new is not obj:
            return new
        with self._lock:
            known = self.known(obj)
            if known is not None:
                return known
            self._depth += 1
            try:
                new = self._rewritten(obj)
                if self._depth == 1:
                    self._finish()
            except BaseException:
                # What is half made must not be met again.
                self._later.clear()
                for key in self._fresh:
                    self._memo.pop(key, None)
                    self.classes.pop(key, None)
                raise
            finally:
                self._depth -= 1
                if not self._depth:
                    self._fresh.clear()
            return new

    def _finish(self) -> None:
        # One after the other, so that a long chain of closures is no deep recursion.
        while self._later:
            self._later.pop()()

    def later(self, job: Callable[[], None]) -> None:
        """Do this before the counterpart in work is handed out."""
        self._later.append(job)

    def _rewritten(self, obj: Any) -> Any:
        kind = type(obj)
        if kind is FunctionType:
            return self.functions.function(obj)
        if kind is MethodType:
            return MethodType(self(obj.__func__), self(obj.__self__))
        if kind is BuiltinFunctionType:
            return self._bound_builtin(obj)
        if isinstance(obj, type):
            return _mirrors.mirror(self, obj)
        if kind is functools.partial:
            return self.functions.partial(obj)
        if kind in _containers.KINDS:
            return _containers.view(self, obj)
        if isinstance(obj, ModuleType):
            return _views.module(self, obj)
        if kind is SimpleNamespace:
            return _views.namespace(self, obj)
        other = self.functions.wrapped(obj)
        if other is not None:
            return other
        if not self.owns(kind.__module__) and not callable(obj):
            self._inert.add(kind)
        return _instances.instance(self, obj)

    def _bound_builtin(self, obj: Any) -> Any:
        # A method of a container of functions, such as OPS.get.
        owner = obj.__self__
        if owner is None or isinstance(owner, ModuleType) or type(owner) in PLAIN:
            return obj
        new = self(owner)
        return obj if new is owner else getattr(new, obj.__name__, obj)

    def remember(
        self, obj: Any, new: Any, gone: Callable[[], None] | None = None
    ) -> Any:
        """Note a counterpart; call this before what it consists of is rewritten."""
        key, back = id(obj), id(new)

        def forget(_: Any) -> None:
            self._memo.pop(key, None)
            self._originals.pop(back, None)
            if gone is not None:
                gone()

        try:
            ref: Callable[[], Any] = weakref.ref(obj, forget)
        except TypeError:
            ref = _Strong(obj)
            self._held[key] = back
        try:
            made: Callable[[], Any] = weakref.ref(
                new, lambda _: self._originals.pop(back, None) and None
            )
        except TypeError:
            made = _Strong(new)
        self._originals[back] = (made, ref)
        self._memo[key] = (ref, new)
        self._fresh.append(key)
        return new

    def forget(self, obj: Any) -> None:
        """Rewrite this object anew when it is reached again."""
        self._memo.pop(id(obj), None)

    def mirrored(self, cls: type, new: type) -> None:
        """Note the mirror of a class."""
        self.classes[id(cls)] = new
        self._fresh.append(id(cls))

    def known(self, obj: Any) -> Any:
        """The counterpart that has been made already; None if there is none."""
        if isinstance(obj, type):
            return self.classes.get(id(obj))
        found = self._memo.get(id(obj))
        return found[1] if found is not None and found[0]() is obj else None

    def watch(self, thing: Any, refresh: Callable[[Any], None]) -> None:
        """Call ``refresh(thing)`` before each call from outside, while it lives."""
        key = id(thing)

        def gone(_: Any) -> None:
            self._watched.pop(key, None)

        try:
            self._watched[key] = (weakref.ref(thing, gone), refresh)
        except TypeError:
            self._watched[key] = (_Strong(thing), refresh)

    def changes(self, obj: Any) -> bool:
        """Whether an object has a counterpart other than itself."""
        kind = type(obj)
        if kind in PLAIN:
            return False
        found = self.known(obj)
        if found is not None:
            return found is not obj
        if replacement(obj) is not obj:
            return True
        if kind is FunctionType:
            return self.functions.changes(obj)
        if kind is MethodType:
            return self.changes(obj.__func__) or self.changes(obj.__self__)
        if kind is BuiltinFunctionType:
            owner = obj.__self__
            return not isinstance(owner, ModuleType) and self.changes(owner)
        if isinstance(obj, type):
            return _mirrors.changes(self, obj)
        if kind is functools.partial:
            parts = (obj.func, *obj.args, *obj.keywords.values())
            return any(map(self.changes, parts))
        if kind in _containers.KINDS:
            return _containers.changes(self, obj)
        if isinstance(obj, ModuleType):
            return _views.changes(self, obj)
        if kind is SimpleNamespace:
            return any(map(self.changes, vars(obj).values()))
        inner = self.functions.inner(obj)
        return _mirrors.changes(self, kind) if inner is None else self.changes(inner)

    def original(self, new: Any) -> Any:
        """The object that ``new`` is the counterpart of; else ``new`` itself."""
        if isinstance(new, type):
            mirrored = _mirrors.home(new)[1]
            if mirrored is not None:
                return mirrored
        found = self._originals.get(id(new)) or originals().get(id(new))
        if found is None:
            return new
        made, old = found
        if callable(made) and isinstance(old, (weakref.ref, _Strong)):
            made, old = made(), old()
        return old if made is new and old is not None else new

    def env(self, scope: dict[str, Any], writable: frozenset[str]) -> LiveGlobals:
        """Globals for rewritten functions of the module with the globals ``scope``."""
        key = (id(scope), writable)
        found = self._envs.get(key)
        if found is None:
            found = self._envs[key] = LiveGlobals(scope, self, writable or None)
        return found

    def refresh(self) -> None:
        """Take over what has changed in the user's modules since the last call."""
        with self._lock:
            while len(self._held) > _HELD:
                key = next(iter(self._held))
                self._originals.pop(self._held.pop(key), None)
                self._memo.pop(key, None)
            self.functions.refresh()
            for ref, refresh in list(self._watched.values()):
                thing = ref()
                if thing is not None:
                    refresh(thing)
            for made in self._envs.valuerefs():
                env = made()
                if env is not None:
                    env.refresh()
