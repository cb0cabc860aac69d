"""Problems of sif2jax with another namespace in the place of `jax.numpy`.

The sources are executed as they are in a private set of modules, in which the name
`jax.numpy` leads to the namespace that is given; Equinox is not imported, nor is JAX.
"""

from __future__ import annotations

import builtins
import dataclasses
import importlib.util
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Problems", "direction", "vmap_of"]


def direction(shape: tuple[int, ...]) -> Any:
    """The direction of the Hessian product."""
    return np.cos(np.arange(int(np.prod(shape)), dtype=float)).reshape(shape)


class Problem:
    """Stands in for the base classes: fields become a dataclass, as in Equinox."""

    def __init_subclass__(cls, **_: Any) -> None:
        dataclasses.dataclass(repr=False, eq=False)(cls)

    @property
    def name(self) -> str:
        return type(self).__name__


def _field(*, default: Any = dataclasses.MISSING, init: bool = True, **_: Any) -> Any:
    return dataclasses.field(default=default, init=init)


class _Anything:
    """What annotations and decorators of other packages look like from afar."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return self

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __or__


def vmap_of(xp: Any) -> Callable[..., Any]:
    """The loop that `jax.vmap` stands for, in a namespace."""

    def vmap(f: Any, in_axes: Any = 0, out_axes: int = 0) -> Callable[..., Any]:
        def mapped(*args: Any) -> Any:
            axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
            rows = [
                None if axis is None else list(xp.moveaxis(xp.asarray(a), axis, 0))
                for a, axis in zip(args, axes, strict=True)
            ]
            n = next(len(r) for r in rows if r is not None)
            found = [
                f(*(a if r is None else r[k] for a, r in zip(args, rows, strict=True)))
                for k in range(n)
            ]
            if isinstance(found[0], tuple):
                parts = zip(*found, strict=True)
                return tuple(xp.stack(list(part), out_axes) for part in parts)
            return xp.stack(found, out_axes)

        return mapped

    return vmap


class Problems:
    """Loads problem classes out of the installed package's sources.

    Args:
        xp: What the sources get as `jax.numpy`.
        vmap: What they get as `jax.vmap`.
        special: What they get as `jax.scipy.special`.
    """

    def __init__(self, xp: Any, vmap: Any, special: Any) -> None:
        spec = importlib.util.find_spec("sif2jax")
        assert spec is not None
        assert spec.origin is not None
        self.root = Path(spec.origin).parent
        self.modules: dict[str, Any] = {}
        jax = types.SimpleNamespace(
            numpy=xp,
            vmap=vmap,
            jit=lambda f, **_: f,
            Array=object,
            config=_Anything(),
            experimental=_Anything(),
            scipy=types.SimpleNamespace(special=special),
        )
        base = types.SimpleNamespace(
            inexact_asarray=lambda x: xp.asarray(x) + 0.0,
            **{
                f"Abstract{name}": type(name, (Problem,), {})
                for name in (
                    "UnconstrainedMinimisation",
                    "BoundedMinimisation",
                    "ConstrainedMinimisation",
                    "NonlinearEquations",
                    "BoundedQuadraticProblem",
                    "ConstrainedQuadraticProblem",
                )
            },
        )
        self.foreign = {
            "jax": jax,
            "jax.numpy": xp,
            "jax.scipy": jax.scipy,
            "jax.scipy.special": jax.scipy.special,
            "jax.experimental": jax.experimental,
            "jax.ops": _Anything(),
            "jaxtyping": _Anything(),
            "equinox": types.SimpleNamespace(
                Module=Problem, field=_field, AbstractVar=typing.ClassVar
            ),
            "typing_extensions": importlib.import_module("typing_extensions"),
            "sif2jax": base,
            "sif2jax._problem": base,
            "sif2jax._misc": base,
        }

    def load(self, name: str) -> Any:
        """Namespace of a module of the package, executed once."""
        if name in self.modules:
            return self.modules[name]
        path = self.root.joinpath(*name.split(".")[1:])
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        package = name if path.is_dir() else name.rpartition(".")[0]
        private = f"{__name__}.{name}"  # where dataclasses look for their module
        module = self.modules[name] = sys.modules[private] = types.ModuleType(private)
        names = vars(module)
        names["__file__"] = str(file)
        names["__package__"] = package
        names["__builtins__"] = {
            **vars(builtins),
            "__import__": self._importer(package),
        }
        if not path.is_dir() or path.name == "data":  # other packages list all problems
            names["__loaded__"] = True
            exec(compile(file.read_text(), str(file), "exec"), names)
        return module

    def _importer(self, package: str) -> Callable[..., Any]:
        def find(
            name: str,
            globals: Any = None,
            locals: Any = None,
            fromlist: Any = (),
            level: int = 0,
        ) -> Any:
            if level:
                parent = package.rsplit(".", level - 1)[0] if level > 1 else package
                name = f"{parent}.{name}" if name else parent
            if name in self.foreign:
                if fromlist or "." not in name:
                    return self.foreign[name]
                return self.foreign[name.partition(".")[0]]
            if name.startswith("sif2jax"):
                module = self.load(name)
                for item in fromlist or ():
                    if not hasattr(module, item) and not hasattr(module, "__loaded__"):
                        setattr(module, item, self.load(f"{name}.{item}"))
                return module
            return builtins.__import__(name, globals, locals, fromlist, 0)

        return find

    def problem(self, module: str, name: str) -> Any:
        """An instance of a problem with its default fields."""
        return getattr(self.load(module), name)()
