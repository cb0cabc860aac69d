"""Operators of arrays: NumPy's own among constants, recorded where a node takes part."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ._convert import as_operand
from ._elementwise import binary, compare, unary
from ._storage import PLAIN, ArrayBase, held

__all__ = ["ArrayOperators", "complete"]


class ArrayOperators(ArrayBase):
    """What ``+ - * / ...`` and comparisons of an array do, and methods of functions."""

    __slots__ = ()

    if TYPE_CHECKING:  # made below from one text

        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __rpow__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
        def copy(self) -> Any: ...

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __neg__(self) -> Any:
        return unary(np.negative, self)

    def __pos__(self) -> Any:
        return unary(np.positive, self) if self.is_constant else self.copy()

    def __abs__(self) -> Any:
        return unary(np.absolute, self)

    def __iadd__(self, other: Any) -> Any:
        self[...] = self + other
        return self

    def __isub__(self, other: Any) -> Any:
        self[...] = self - other
        return self

    def __imul__(self, other: Any) -> Any:
        self[...] = self * other
        return self

    def __itruediv__(self, other: Any) -> Any:
        self[...] = self / other
        return self

    def __ipow__(self, other: Any) -> Any:
        self[...] = self**other
        return self

    def __imod__(self, other: Any) -> Any:
        self[...] = self % other
        return self

    def __ifloordiv__(self, other: Any) -> Any:
        self[...] = self // other
        return self


def _power(x: Any, other: Any) -> Any:
    if isinstance(other, (int, float)):
        other = as_operand(other if isinstance(other, int) else float(other))
        special = _POWERS.get(other)
        if special is not None:
            return unary(special, x, x.v**other)
        return binary(np.power, x, other, x.v**other)
    return binary(np.power, x, other)


# Exponents with an elemental of their own: faster, and exact under scaling.
_POWERS = {2: np.square, 0.5: np.sqrt, -1: np.reciprocal}

# One text for all: a call less is a quarter of the cost of an operation of constants.
_OPERATOR = """
def method(self, other):
    if self.s.tape is None:
        kind = type(other)
        if kind is concrete:
            if other.s.tape is None:
                r = {left_v} {sign} {right_v}
                if type(r) is ndarray and r.dtype is not boolean:
                    out = concrete()
                    out.s = plain
                    out.v = r
                    return out
                return r
        elif kind is float or kind is int:
            r = {left_n} {sign} {right_n}
            if type(r) is ndarray and r.dtype is not boolean:
                out = concrete()
                out.s = plain
                out.v = r
                return out
            return r
        elif kind is ndarray and other.dtype.kind in "fiubc":
            return held({left_n} {sign} {right_n})
    return slow({left}, {right})
"""


def _operator(
    cls: type, method: str, sign: str, slow: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    reflected = method.startswith("__r")
    mine, theirs = ("right", "left") if reflected else ("left", "right")
    parts = {"sign": sign}
    parts |= {mine: "self", f"{mine}_v": "self.v", f"{mine}_n": "self.v"}
    parts |= {theirs: "other", f"{theirs}_v": "other.v", f"{theirs}_n": "other"}
    scope = {
        "concrete": cls,
        "ndarray": np.ndarray,
        "boolean": np.dtype(bool),
        "plain": PLAIN,
        "held": held,
        "slow": slow,
    }
    exec(_OPERATOR.format(**parts), scope)
    made: Any = scope["method"]
    made.__name__ = method
    made.__qualname__ = f"{cls.__name__}.{method}"
    return made  # type: ignore[no-any-return]


def _comparison(sign: str) -> Callable[[Any, Any], Any]:
    return lambda x, y: compare(x, y, sign)


_ARITHMETIC: dict[str, tuple[str, Any]] = {
    "add": ("+", np.add),
    "sub": ("-", np.subtract),
    "mul": ("*", np.multiply),
    "truediv": ("/", np.divide),
    "mod": ("%", np.remainder),
    "pow": ("**", np.power),
}
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def _method(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: Any, *args: Any, **kw: Any) -> Any:
        if self.s.tape is None and not args and not kw and name not in _SHARING:
            return held(getattr(self.v, name)())
        return self.__array_function__(function, (), (self, *args), kw)

    method.__name__ = name
    method.__doc__ = f"As numpy.ndarray.{name}."
    return method


_SHARING = ("conj", "conjugate")  # NumPy's give the array itself
_METHODS = (
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "dot",
    "max",
    "min",
    "cumsum",
    "cumprod",
    "clip",
    "round",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "searchsorted",
    "trace",
    "all",
    "any",
    "nonzero",
    "put",
)


def complete(cls: type[ArrayOperators]) -> None:
    """Give the class of arrays its operators and the methods that are functions, too."""
    for name, (sign, ufunc) in _ARITHMETIC.items():
        record = partial(binary, ufunc)
        for method in (f"__{name}__", f"__r{name}__"):
            slow = _power if method == "__pow__" else record
            setattr(cls, method, _operator(cls, method, sign, slow))
    for name, sign, ufunc in (
        ("floordiv", "//", np.floor_divide),
        ("matmul", "@", np.matmul),
    ):
        for method in (f"__{name}__", f"__r{name}__"):
            setattr(cls, method, _operator(cls, method, sign, ufunc))
    for name, sign in _COMPARISONS.items():
        method = f"__{name}__"
        setattr(cls, method, _operator(cls, method, sign, _comparison(sign)))
    for name in _METHODS:
        setattr(cls, name, _method(name))
