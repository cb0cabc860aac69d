"""`with_numpy`: the function that users call."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, overload

import numpy as np

from ..errors import InputTypeError, OptionError
from ..tape import CoverVar, TArray
from ..tape._active import active
from ._functions import NEVER, Rewritten, innermost
from ._world import World

__all__ = ["with_numpy"]

_WORLDS: dict[tuple[str, ...], World] = {}
_LOCK = Lock()
_RECORDED = (CoverVar, TArray)


class _WithNumpy(Rewritten):
    """A function that runs on the recording namespace while a recording is going on."""

    def __init__(self, f: Callable[..., Any], modules: tuple[str, ...]) -> None:
        functools.update_wrapper(self, f)
        self._modules = modules
        self._world: World | None = None

    def __call__(self, *args: Any, **kw: Any) -> Any:
        f = self.__wrapped__
        if active() is None and not _any_recorded(args, kw):
            return f(*args, **kw)
        world = self._world
        if world is None:
            world = self._world = _world_of(f, self._modules)
        world.refresh()
        return world(f)(*map(world, args), **{k: world(v) for k, v in kw.items()})

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        bind = getattr(self.__wrapped__, "__get__", None)
        if bind is None or (
            obj is None and isinstance(self.__wrapped__, types.FunctionType)
        ):
            return self
        return with_numpy(bind(obj, owner), modules=self._modules)

    def __reduce__(self) -> Any:
        name, module = (
            getattr(self, "__qualname__", ""),
            getattr(self, "__module__", ""),
        )
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        return _restore, (self.__wrapped__, self._modules)

    def __repr__(self) -> str:
        return f"with_numpy({self.__wrapped__!r})"


def _restore(f: Callable[..., Any], modules: tuple[str, ...]) -> Any:
    return with_numpy(f, modules=modules)


def _any_recorded(args: tuple[Any, ...], kw: dict[str, Any]) -> bool:
    for x in (*args, *kw.values()) if kw else args:
        if isinstance(x, _RECORDED):
            return True
        if isinstance(x, np.ndarray):
            if x.dtype != object:
                continue
            x = x.ravel().tolist()
        if isinstance(x, (list, tuple)) and any(isinstance(e, _RECORDED) for e in x):
            return True
    return False


def _world_of(f: Callable[..., Any], modules: tuple[str, ...]) -> World:
    """The world of a function's own package and the modules named."""
    inner = innermost(f)
    scope = getattr(inner, "__globals__", None)
    if scope is None:
        kind = inner if hasattr(inner, "__module__") else type(inner)
        name = kind.__module__
    else:
        name = scope.get("__name__")
    own = name.partition(".")[0] if isinstance(name, str) else None
    if own is None or own in NEVER:
        # Code that was run in a dict of its own, such as that of a doctest, is the user's.
        home = vars(sys.modules[name]) if name in sys.modules else None
        return World(modules, None if scope is home else scope)
    names = tuple(sorted({*modules, own}))
    with _LOCK:
        found = _WORLDS.get(names)
        if found is None:
            found = _WORLDS[names] = World(names)
        return found


def _checked(modules: Any) -> tuple[str, ...]:
    if isinstance(modules, (str, types.ModuleType)) or not isinstance(
        modules, Iterable
    ):
        msg = (
            f"modules is {modules!r:.80}; give a list of module names, such as "
            "modules=['mypackage'] (a name stands for its submodules too)."
        )
        raise OptionError(msg)
    names = []
    for m in modules:
        name = m.__name__ if isinstance(m, types.ModuleType) else m
        if not isinstance(name, str) or not all(map(str.isidentifier, name.split("."))):
            msg = f"modules holds {m!r:.80}; names of modules, such as 'pkg.sub', are needed."
            raise OptionError(msg)
        names.append(name)
    return tuple(names)


@overload
def with_numpy(
    f: Callable[..., Any], *, modules: Iterable[str | types.ModuleType] = ...
) -> Callable[..., Any]: ...
@overload
def with_numpy(
    f: None = ..., *, modules: Iterable[str | types.ModuleType] = ...
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
def with_numpy(
    f: Any = None,
    *,
    modules: Iterable[str | types.ModuleType] = (),
) -> Any:
    """Let an unmodified function record: give it a ``numpy`` that can hold recorded values.

    The function, and all that it reaches in its own package (functions, closures, methods,
    classes, partials, functions imported by name or inside of functions, calls of ``math``),
    runs on :mod:`derivative_covers.numpy` while a recording is going on. Outside of a
    recording the function itself is called. Nothing is changed in any module, so threads may
    record while others compute.

    Rewriting is seen by the rewritten code alone: changes that it makes to global variables,
    containers, attributes of objects and of classes are made to the originals, and changes
    of the originals (a helper defined anew, say) are seen at the next call. numba's compiled
    functions run as the Python functions that they were made from. In rewritten code
    ``float(x)`` of a recorded number is that number, ``isinstance`` and ``type(x)`` take
    recorded values for the numbers and arrays that they stand for, and ``"%g" % x`` prints
    the value; ``map(float, xs)`` still refuses, since there ``float`` is a type. Functions
    of ``math`` give NumPy's bits on recorded numbers. Methods of enumerations, exceptions
    and named tuples are not rewritten.

    Args:
        f: The function: also a method, a class, a partial, an object with ``__call__``.
        modules: Modules whose code is rewritten besides the package of ``f``, by name; each
            stands for its submodules too.

    Returns:
        A function of the same arguments, with ``__wrapped__``; without ``f``, a decorator.
        It can be pickled where ``f`` can.

    Raises:
        InputTypeError: (a TypeError) if ``f`` cannot be called.
        OptionError: (a ValueError) for ``modules`` that are no names.
        UnsupportedOperationError: (a TypeError) when the function records, if it assigns a
            variable of an outer function that holds a function, or writes a global variable
            in the body of a class.

    Cost:
        About 0.05 ms a function when it is reached for the first time, 4 to 20 microseconds a
        recording to see what has changed (and one for each function or class that has been
        reached in the package), and nothing in between save 0.2 microseconds to read a global
        variable that is neither a function nor a module. A call outside of a recording costs
        a microsecond more than the function.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> from derivative_covers.rewrite import with_numpy
        >>> @with_numpy
        ... def f(x):
        ...     r = np.zeros(2)
        ...     r[0] = x[0] ** 2
        ...     r[1] = np.sin(x[1])
        ...     return r @ r
        >>> tape, out = dc.tape_function(f, [1.0, 0.0])
        >>> dc.gradient(tape, out)
        array([4., 0.])
    """
    names = _checked(modules)
    if f is None:
        return lambda g: with_numpy(g, modules=names)
    if not callable(f) and not isinstance(f, (staticmethod, classmethod)):
        msg = f"with_numpy needs a function; got {type(f).__name__}."
        raise InputTypeError(msg)
    return _WithNumpy(f, names)
