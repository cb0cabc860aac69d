"""Scalar functions that compiled elementals call.

``PLAIN`` are NumPy's own, for text that runs uncompiled; ``compiled()`` are those that
the compiler knows, with NumPy's results: to the bit where the function is exact, to a
few units in the last place elsewhere.
"""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["CHEAP", "PLAIN", "compiled"]

CHEAP = frozenset(("sqrt", "floor", "ceil", "trunc", "rint"))
"""Those that compile to an instruction of vectors."""

_SAME = (
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
    "tan", "sinh", "cosh", "tanh", "fmod", "copysign", "floor", "ceil", "trunc",
    "rint", "power", "cbrt", "arctan2", "arcsin", "arccos", "arctan", "arcsinh",
    "arccosh", "arctanh",
)  # fmt: skip


def _plain_erf(x: Any) -> Any:
    return np.float64(math.erf(x))


def _plain_power(x: Any, y: Any) -> Any:
    # Of arrays, since NumPy has ways of its own for one exponent.
    return np.power(np.array([x, x]), np.array([y, y]))[0]


PLAIN: dict[str, Any] = {name: getattr(np, name) for name in _SAME}
PLAIN.update(inf=math.inf, nan=math.nan, erf=_plain_erf, power=_plain_power)


def cube_root(x: float) -> float:
    """Real cube root; one step of Newton's method from a power."""
    if x == 0.0 or not abs(x) < math.inf:
        return x
    size, shift = math.frexp(abs(x))
    rest = shift % 3
    size = math.ldexp(size, rest)
    y = math.pow(size, 1.0 / 3.0)
    y = y - (y - size / (y * y)) / 3.0
    return math.copysign(math.ldexp(y, (shift - rest) // 3), x)


@cache
def compiled() -> dict[str, Any]:
    """The functions as the compiler takes them."""
    numba: Any = import_module("numba")
    found: dict[str, Any] = {
        name: getattr(math, name, None) or getattr(np, name) for name in _SAME
    }
    # Those of the module math give whole numbers, or are unknown to the compiler.
    own = ("floor", "ceil", "trunc", "fmod", "exp2")
    found.update({name: getattr(np, name) for name in own})
    found.update(power=math.pow, arctan2=math.atan2, erf=math.erf)
    for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
        found[f"arc{name}"] = getattr(math, f"a{name}")
    cbrt = numba.njit(error_model="numpy")(cube_root)
    found.update(inf=math.inf, nan=math.nan, cbrt=cbrt)
    return found
