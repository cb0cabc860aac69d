"""The special functions of an array namespace, and what their rules share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from math import inf
from typing import Any

from ..errors import UnsupportedOperationError
from ._spec import Elemental, Rule

__all__ = ["finite", "horner", "limited", "output", "positive", "row", "special"]

_HOMES = {"numpy": "scipy.special", "jax.numpy": "jax.scipy.special"}


class _Functions:
    """Functions of a module by name; says what to do where one is missing."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name, None)
        if found is None:
            msg = (
                f"{self._module.__name__} has no {name}, which a derivative rule needs. "
                "Evaluate with NumPy and SciPy, or write the function with those it has."
            )
            raise UnsupportedOperationError(msg)
        setattr(self, name, found)
        return found


@cache
def _functions(home: str) -> _Functions:
    # Not by an import statement: SciPy and JAX are the caller's, never needed here.
    try:
        return _Functions(import_module(home))
    except ImportError as error:
        package = home.partition(".")[0]
        msg = (
            f"a derivative rule needs {home}, which cannot be imported here ({error}). "
            f"Install {package} (pip install {package})."
        )
        raise UnsupportedOperationError(msg) from error


def special(xp: Any) -> Any:
    """The special functions that belong to an array namespace.

    They are loaded when the first rule is evaluated, by a program that called one of
    them and so has loaded them: importing this package stays light.

    Raises:
        UnsupportedOperationError: If the namespace has none, lacks the one asked for, or
            is not installed.
    """
    name = getattr(xp, "__name__", type(xp).__name__)
    home = _HOMES.get(name)
    own = getattr(type(xp), "special", None)
    if own is not None:
        return own  # a namespace of the package's own brings them along
    if home is None:
        msg = (
            f"no special functions are known for the array namespace {name!r}; known "
            f"are those of {' and '.join(_HOMES)}."
        )
        raise UnsupportedOperationError(msg)
    return _functions(home)


def row(
    name: str,
    rule: Rule,
    source: str,
    *,
    arity: int = 1,
    first: Rule | None = None,
    second: Rule | None = None,
    alias: str | None = None,
) -> Elemental:
    """Elemental for the ufunc of ``scipy.special`` of its name, and another one."""

    def value(xp: Any, *operands: Any) -> Any:
        return getattr(special(xp), name)(*operands)

    ufuncs = tuple(f"special.{u}" for u in (name, alias) if u)
    return Elemental(name, arity, value, rule, source, ufuncs, first, second)


def output(name: str, ufunc: str, k: int, rule: Rule, source: str) -> Elemental:
    """Elemental for output ``k`` of a ufunc of one operand and several outputs."""

    def value(xp: Any, x: Any) -> Any:
        return getattr(special(xp), ufunc)(x)[k]

    return Elemental(name, 1, value, rule, source, (f"special.{ufunc}[{k}]",))


def horner(z: Any, coefficients: Sequence[float]) -> Any:
    """``coefficients[0] + coefficients[1] z + ...``."""
    total = z * 0.0 + coefficients[-1]
    for a in reversed(coefficients[:-1]):
        total = total * z + a
    return total


def limited(xp: Any, x: Any, decayed: Any) -> Any:
    """``x * decayed``, zero where the second has vanished and ``x`` is infinite."""
    return xp.where(decayed == 0.0, 0.0, x) * decayed


def finite(xp: Any, x: Any) -> Any:
    """Domain of functions of a finite real number."""
    return xp.abs(x) < inf


def positive(xp: Any, x: Any) -> Any:
    """Domain of functions of a positive real number."""
    return x > 0.0
