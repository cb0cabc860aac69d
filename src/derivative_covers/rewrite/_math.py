"""`math` for rewritten code: NumPy's functions for recorded numbers, else its own."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from ..errors import (
    InputTypeError,
    NondifferentiableError,
    UnsupportedOperationError,
)
from ..tape import (
    CoverVar,
    TArray,
    box_of,
    linearnode,
    numbers,
    refuse_over_box,
)
from ..tape._decisions import by_finiteness, by_missing, by_pairs, refuse_replay
from ..tape._detach import bare

__all__ = ["MATH"]

_RECORDED = (CoverVar, TArray)

# Functions of math and the ufunc of the same mathematics.
_UFUNCS: dict[str, Any] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "degrees": np.degrees,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "fabs": np.fabs,
    "floor": np.floor,
    "fmod": np.fmod,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "pow": np.power,
    "radians": np.radians,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}

# Functions of math and the one of scipy.special.
_SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}

# Functions that only look at the number, and give a bool.
_TESTS = ("isclose", "isfinite", "isinf", "isnan")


def _one(x: Any) -> Any:
    """A recorded scalar for what math takes for one: also an array of one entry."""
    if not isinstance(x, TArray):
        return x
    if x.v.size != 1:
        msg = (
            f"a function of math got a recorded array of shape {x.v.shape}; it takes one "
            "number. Use NumPy's function of the same name."
        )
        raise InputTypeError(msg)
    return x.item()


def _live(x: Any) -> bool:
    return isinstance(x, _RECORDED) and not x.is_constant


def _plain(x: Any) -> Any:
    return float(bare(_one(x))) if isinstance(x, _RECORDED) else x


def _either(name: str, recorded: Callable[..., Any]) -> Callable[..., Any]:
    """``math``'s function, or ``recorded`` where an argument is a recorded number."""
    plain = getattr(math, name)

    @functools.wraps(plain)
    def function(*args: Any, **kw: Any) -> Any:
        if any(isinstance(x, _RECORDED) for x in args):
            if any(map(_live, args)):
                return recorded(*map(_one, args), **kw)
            args = tuple(map(_plain, args))
        return plain(*args, **kw)

    return function


def _log(x: Any, base: Any = None) -> Any:
    if base is None:
        return np.log(x)
    tape = box_of(x, base)
    return np.log(numbers(tape, x)) / np.log(numbers(tape, base))


def _special(name: str) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        return getattr(import_module("scipy.special"), name)(x)

    return function


def _test(name: str) -> Callable[..., Any]:
    plain = getattr(math, name)

    def test(*args: Any, **kw: Any) -> Any:
        if _ranges(*args):
            if name == "isclose":
                _refuse_range(name)
            return bool(getattr(np, name)(*args))
        if name == "isclose":
            refuse_replay("math.isclose", "Compare abs(x - y) with a number.", args)
        else:
            keep = by_missing if name == "isnan" else by_finiteness
            keep(f"math.{name}", *args)
        return plain(*(bare(a) for a in args), **kw)

    return test


def _ranges(*args: Any) -> bool:
    return any(map(_live, args)) and box_of(*args) is not None


def _refuse_range(name: str) -> NoReturn:
    refuse_over_box(f"math.{name}")


def _power_of_two(xs: list[Any]) -> float:
    """A scale that keeps squares of numbers of this size in range."""
    if _ranges(*xs):
        return 1.0
    sizes = [abs(float(bare(x))) for x in xs]
    largest = max(sizes)
    if 1e-140 < largest < 1e140:
        for x in xs:
            by_pairs("the range of math.hypot", x, 1e140)
            by_pairs("the range of math.hypot", x, -1e140)
        best = xs[sizes.index(largest)]
        by_pairs("the range of math.hypot", best, math.copysign(1e-140, bare(best)))
        return 1.0
    refuse_replay("math.hypot of very large or small numbers", "", xs)
    if not 0.0 < largest < math.inf:
        return 1.0
    return math.ldexp(1.0, min(math.frexp(largest)[1], 1023))


def _hypot(*xs: Any) -> Any:
    if len(xs) == 2:
        return np.hypot(*xs)
    scale = _power_of_two(list(xs))
    return np.linalg.norm(np.stack([x / scale for x in xs])) * scale


def _dist(p: Any, q: Any) -> Any:
    return _hypot(*(a - b for a, b in zip(p, q, strict=True)))


def _fsum(xs: list[Any]) -> Any:
    plain = [x for x in xs if not _live(x)]
    live = [x for x in xs if _live(x)]
    total = linearnode([1.0] * len(live), live)
    if _ranges(*live):  # the sum of the others would be rounded
        return functools.reduce(operator.add, map(_plain, plain), total)
    return total + math.fsum(map(_plain, plain)) if plain else total


def _prod(xs: list[Any], *, start: Any = 1) -> Any:
    return functools.reduce(operator.mul, xs, start)


def _sumprod(p: list[Any], q: list[Any]) -> Any:
    return _fsum([a * b for a, b in zip(p, q, strict=True)])


def _remainder(x: Any, y: Any) -> Any:
    if _ranges(x, y):
        _refuse_range("remainder")
    refuse_replay("math.remainder", "Use numpy.remainder.", x, y)
    u, v = bare(x), bare(y)
    whole = u / v
    if abs(whole - math.floor(whole)) == 0.5:
        msg = f"math.remainder({u!r}, {v!r}) jumps there; move the point off the boundary."
        raise NondifferentiableError(msg, elemental="remainder", values=(u, v))
    return x - float(round(whole)) * y


def _modf(x: Any) -> Any:
    whole = np.trunc(x)
    return x - whole, whole


def _frexp(x: Any) -> Any:
    if _ranges(x):
        _refuse_range("frexp")
    refuse_replay("math.frexp", "", x)
    v = bare(x)
    mantissa, exponent = math.frexp(v)
    if abs(mantissa) == 0.5:
        msg = f"math.frexp jumps at the power of two {v!r}; move the point off it."
        raise NondifferentiableError(msg, elemental="frexp", values=(v,))
    return _ldexp(x, -exponent), exponent


def _ldexp(x: Any, i: Any) -> Any:
    if isinstance(i, CoverVar):
        msg = "math.ldexp with a recorded exponent; write x * 2.0**i."
        raise UnsupportedOperationError(msg)
    half = i // 2
    return x * 2.0**half * 2.0 ** (i - half)


def _fma(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def _refusal(name: str) -> Callable[..., Any]:
    def function(*_: Any) -> Any:
        msg = (
            f"math.{name} depends on how a number is stored and has no derivative; use "
            "derivative_covers.value(x) where the bare number is meant."
        )
        raise UnsupportedOperationError(msg)

    return function


def _collection(name: str, recorded: Callable[..., Any]) -> Callable[..., Any]:
    """A function of math whose arguments are collections of numbers."""
    plain = getattr(math, name)

    @functools.wraps(plain)
    def function(*args: Any, **kw: Any) -> Any:
        lists = [list(a) for a in args]
        if any(map(_live, [*kw.values(), *(x for xs in lists for x in xs)])):
            return recorded(*([_one(x) for x in xs] for xs in lists), **kw)
        return plain(*([_plain(x) for x in xs] for xs in lists), **kw)

    return function


def _module() -> ModuleType:
    made = ModuleType(
        "math", "The functions of math; recorded numbers keep their trace."
    )
    vars(made).update((k, v) for k, v in vars(math).items() if not k.startswith("__"))
    single: dict[str, Callable[..., Any]] = {
        **_UFUNCS,
        **{name: _special(of) for name, of in _SPECIAL.items()},
        **{name: _test(name) for name in _TESTS},
        **{name: _refusal(name) for name in ("nextafter", "ulp")},
        "log": _log,
        "hypot": _hypot,
        "remainder": _remainder,
        "modf": _modf,
        "frexp": _frexp,
        "ldexp": _ldexp,
        "fma": _fma,
    }
    several: dict[str, Callable[..., Any]] = {
        "fsum": _fsum,
        "prod": _prod,
        "dist": _dist,
        "sumprod": _sumprod,
    }
    for name, recorded in single.items():
        if hasattr(math, name):
            setattr(made, name, _either(name, recorded))
    for name, rule in several.items():
        if hasattr(math, name):
            setattr(made, name, _collection(name, rule))
    return made


MATH = _module()
"""Stands for the module `math` in rewritten code."""
