"""Rewriting of functions, their cells and defaults, and of what wraps functions."""

from __future__ import annotations

import functools
import sys
import weakref
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnsupportedOperationError
from ..tape import CoverVar, TArray
from ..tape._active import active
from ._builtins import stands_for
from ._code import global_names, rewritten_code, scope_names, writes
from ._globals import LiveGlobals

if TYPE_CHECKING:
    from ._world import World

__all__ = ["NEVER", "Functions", "Rewritten", "innermost"]

_CACHED = type(functools.lru_cache(len))
_EMPTY = object()
NEVER = frozenset(("builtins", "math", "numpy", "derivative_covers"))
"""Packages that are never rewritten: what the rewritten code runs on."""


def innermost(f: Any) -> Any:
    """The function or class that a callable ends in."""
    seen = set()
    while id(f) not in seen:
        seen.add(id(f))
        if isinstance(f, functools.partial):
            f = f.func
        elif hasattr(f, "__func__"):
            f = f.__func__
        elif isinstance(getattr(f, "py_func", None), FunctionType):
            f = f.py_func
        elif hasattr(f, "__wrapped__"):
            f = f.__wrapped__
    return f


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


class Rewritten:
    """Base of what ``with_numpy`` returns, so that a world knows it."""

    __wrapped__: Any


class _Made:
    """What a rewritten function was made from."""

    __slots__ = ("cells", "code", "defaults", "kwdefaults", "new", "old")

    def __init__(self, old: FunctionType, new: FunctionType) -> None:
        self.old = weakref.ref(old)
        self.new = new
        self.take(old)
        self.cells: list[int] = []

    def take(self, old: FunctionType) -> None:
        self.code = old.__code__
        self.defaults = old.__defaults__
        self.kwdefaults = old.__kwdefaults__


class Functions:
    """The functions of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._made: dict[int, _Made] = {}
        self._cells: dict[int, tuple[CellType, int]] = {}

    def function(self, f: FunctionType) -> Any:
        """The counterpart of a Python function."""
        scope = f.__globals__
        world = self._world
        owned = world.owns(scope.get("__name__"), scope)
        if not self.changes(f):
            return f
        if not owned and "registry" in f.__dict__ and "dispatch" in f.__dict__:
            return self._single_dispatch(f)
        code, env = (self._code(f, scope)) if owned else (f.__code__, scope)
        cells = self._closure(f)
        new = FunctionType(code, env, f.__name__, None, tuple(c for _, c in cells))
        new.__dict__ = f.__dict__
        new.__qualname__ = f.__qualname__
        new.__module__ = f.__module__
        new.__doc__ = f.__doc__
        name = "__annotate__" if sys.version_info >= (3, 14) else "__annotations__"
        setattr(new, name, getattr(f, name))
        made = _Made(f, new)
        self._made[id(f)] = made
        made.cells = [id(old) for old, cell in cells if cell is not old]
        for key, (_, cell) in zip(
            made.cells, [p for p in cells if p[0] is not p[1]], strict=True
        ):
            known = self._cells.get(key)
            self._cells[key] = (cell, 1 if known is None else known[1] + 1)
        world.remember(f, new, functools.partial(self._gone, id(f)))
        world.later(lambda: self._fill(f, new, cells))
        return new

    def changes(self, f: FunctionType) -> bool:
        """Whether a Python function has a counterpart."""
        scope = f.__globals__
        if isinstance(scope, LiveGlobals):
            return False
        name = scope.get("__name__")
        if self._world.owns(name, scope):
            return True
        if isinstance(name, str) and name.partition(".")[0] in NEVER:
            return False
        if "registry" in f.__dict__ and "dispatch" in f.__dict__:
            return True
        inner = f.__dict__.get("__wrapped__")
        return bool(f.__closure__) and inner is not None and self._world.changes(inner)

    def inner(self, obj: Any) -> Any:
        """The function that an object stands for; None if it is none of those known."""
        kind = type(obj)
        if kind is _CACHED or isinstance(obj, Rewritten):
            return obj.__wrapped__
        if kind.__module__.startswith("numba."):
            return getattr(obj, "py_func", None)
        if kind is np.vectorize:
            return obj.pyfunc
        return None

    def _code(self, f: FunctionType, scope: dict[str, Any]) -> tuple[Any, LiveGlobals]:
        env = self._world.env(scope, global_names(f.__code__))
        env.keep(scope_names(f.__code__))
        return rewritten_code(f.__code__), env

    def _closure(self, f: FunctionType) -> list[tuple[CellType, CellType]]:
        return [(old, self._cell(old)) for old in f.__closure__ or ()]

    def _cell(self, old: CellType) -> CellType:
        """A cell of its own where the content has a counterpart, else the same cell."""
        known = self._cells.get(id(old))
        if known is not None:
            return known[0]
        content = _content(old)
        if content is _EMPTY or not self._world.changes(content):
            return old
        return CellType()

    def _fill(
        self, f: FunctionType, new: FunctionType, cells: list[tuple[CellType, CellType]]
    ) -> None:
        world = self._world
        self._fill_defaults(f, new)
        written = writes(f.__code__) if f.__closure__ else frozenset()
        for name, (old, cell) in zip(f.__code__.co_freevars, cells, strict=True):
            if cell is old:
                continue
            if name in written:
                msg = (
                    f"{f.__qualname__} (line {f.__code__.co_firstlineno} of "
                    f"{f.__code__.co_filename}) assigns the variable {name} of an outer "
                    "function, which holds a function or an object with methods; "
                    "with_numpy cannot keep the two copies equal. Keep what changes in a "
                    "list, a dict or an attribute."
                )
                raise UnsupportedOperationError(msg)
            cell.cell_contents = world(_content(old))

    def _fill_defaults(self, f: FunctionType, new: FunctionType) -> None:
        world = self._world
        new.__defaults__ = world(f.__defaults__)
        named: Any = f.__kwdefaults__
        new.__kwdefaults__ = named and {k: world(v) for k, v in named.items()}

    def _gone(self, key: int) -> None:
        made = self._made.pop(key, None)
        for cell in made.cells if made is not None else ():
            known = self._cells.get(cell)
            if known is None or known[1] <= 1:
                self._cells.pop(cell, None)
            else:
                self._cells[cell] = (known[0], known[1] - 1)

    def refresh(self) -> None:
        """Take over new code, defaults and cell contents of the originals."""
        world = self._world
        for made in list(self._made.values()):
            old = made.old()
            if old is None:
                continue
            if (
                old.__code__ is not made.code
                or old.__defaults__ is not made.defaults
                or old.__kwdefaults__ is not made.kwdefaults
            ):
                made.take(old)
                if isinstance(made.new.__globals__, LiveGlobals):
                    made.new.__code__ = self._code(old, old.__globals__)[0]
                self._fill_defaults(old, made.new)
            if old.__closure__ is None:
                continue
            cells = zip(old.__closure__, made.new.__closure__ or (), strict=True)
            for cell, copy in cells:
                content = _content(cell)
                if cell is copy:
                    if content is not _EMPTY and world.changes(content):
                        world.forget(old)
                elif content is not _EMPTY:
                    copy.cell_contents = world(content)

    # -- what wraps a function ---------------------------------------------------------

    def partial(self, p: functools.partial[Any]) -> Any:
        """The counterpart of a functools.partial."""
        world = self._world
        func = world(p.func)
        args = tuple(map(world, p.args))
        keywords = {k: world(v) for k, v in p.keywords.items()}
        same = (
            func is p.func
            and all(a is b for a, b in zip(args, p.args, strict=True))
            and all(v is p.keywords[k] for k, v in keywords.items())
        )
        if same:
            return p
        new = functools.partial(func, *args, **keywords)
        vars(new).update(vars(p))
        return world.remember(p, new)

    def wrapped(self, obj: Any) -> Any:
        """The counterpart of an object that stands for a function; None if it does not."""
        inner = self.inner(obj)
        if inner is None:
            return None
        if type(obj) is _CACHED:
            return self._cached(obj)
        if isinstance(obj, np.vectorize):
            return self._vectorized(obj)
        return self._world(inner) if isinstance(obj, Rewritten) else self._compiled(obj)

    def _compiled(self, old: Any) -> Any:
        """The Python function that numba has compiled."""
        inner = self._world(old.py_func)

        @functools.wraps(inner)
        def python(*args: Any, **kw: Any) -> Any:
            return inner(*args, **kw)

        made: Any = python
        made.py_func = inner
        return self._world.remember(old, made)

    def _vectorized(self, obj: Any) -> Any:
        func = self._world(obj.pyfunc)
        if func is obj.pyfunc:
            return obj
        make = self._world(type(obj))
        new = make(
            func, otypes=obj.otypes, excluded=obj.excluded, signature=obj.signature
        )
        return self._world.remember(obj, new)

    def _cached(self, old: Any) -> Any:
        """A cache for each recording: its values must not meet those of another one."""
        inner = self._world(old.__wrapped__)
        if inner is old.__wrapped__:
            return old
        options = old.cache_parameters()
        caches: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

        @functools.wraps(old)
        def cached(*args: Any, **kw: Any) -> Any:
            tape = active()
            if tape is None:
                return old(*args, **kw)
            found = caches.get(tape)
            if found is None:
                made = functools.lru_cache(**options)(inner)
                found = caches.setdefault(tape, made)
            return found(*args, **kw)

        def clear() -> None:
            caches.clear()
            old.cache_clear()

        new: Any = cached
        new.cache_info, new.cache_clear = old.cache_info, clear
        new.cache_parameters = old.cache_parameters
        return self._world.remember(old, new)

    def _single_dispatch(self, old: Any) -> Any:
        world = self._world

        @functools.wraps(old)
        def dispatcher(*args: Any, **kw: Any) -> Any:
            first = args[0] if args else None
            kind = type(first)
            if isinstance(first, (CoverVar, TArray)):
                kind = type(stands_for(first))
            return world(old.dispatch(world.original(kind)))(*args, **kw)

        return world.remember(old, dispatcher)
