"""Expressions that a derivative rule builds when it is called with symbols.

A rule is a Python function of an array namespace and operands. Called with symbols it
leaves behind the graph of its operations, in which equal expressions are one node. What
would need a value (a branch, a conversion to a number, a shape) raises, and the elemental
stays uncompiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["BOOL", "FLOAT", "Leaf", "Symbol", "TraceError", "is_constant", "symbol"]

FLOAT, BOOL = "float", "bool"

# What a symbol is asked by NumPy's own functions; set by the namespace.
dispatch: dict[str, Callable[..., Any]] = {}


class TraceError(TypeError):
    """A rule asked a symbol for what only a number has."""


class Symbol:
    """A node of the graph.

    Attributes:
        op: The operation: a sign such as ``"+"``, or the name of a scalar function.
        args: Operands: symbols and constants.
        kind: ``FLOAT`` or ``BOOL``.
    """

    __slots__ = ("args", "kind", "op")
    __hash__ = None  # type: ignore[assignment]  # as arrays: a rule may not look it up
    ndim = 1

    def __init__(self, op: str, args: tuple[Any, ...], kind: str) -> None:
        self.op, self.args, self.kind = op, args, kind

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return np.dtype(np.float64 if self.kind == FLOAT else np.bool_)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The symbol as a number; other types than double precision are not compiled."""
        if np.dtype(dtype) == np.bool_ and self.kind == BOOL:
            return self
        if np.dtype(dtype) != np.float64:
            msg = f"a conversion to {np.dtype(dtype)} cannot be compiled."
            raise TraceError(msg)
        return symbol("float", self) if self.kind == BOOL else self

    def __bool__(self) -> bool:
        msg = "a derivative rule branches on a value; xp.where selects entry by entry."
        raise TraceError(msg)

    def __iter__(self) -> Any:
        msg = "a derivative rule runs through its operands."
        raise TraceError(msg)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kw: Any) -> Any:
        """NumPy's own ufuncs of a symbol are those of the namespace."""
        if method != "__call__" or kw:
            return NotImplemented
        return dispatch[ufunc.__name__](*args)

    def __array_function__(self, what: Any, types: Any, args: Any, kw: Any) -> Any:
        """NumPy's other functions likewise."""
        return dispatch[what.__name__](*args, **kw)

    def __neg__(self) -> Any:
        return dispatch["negative"](self)

    def __pos__(self) -> Any:
        return dispatch["positive"](self)

    def __abs__(self) -> Any:
        return dispatch["absolute"](self)

    def __invert__(self) -> Any:
        return dispatch["invert"](self)


class Leaf(Symbol):
    """An operand, or the stored value; ``op`` is its name."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(name, (), FLOAT)


_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}


def _operator(name: str, reflected: bool) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        if not (isinstance(other, Symbol) or is_constant(other)):
            return NotImplemented
        pair = (other, self) if reflected else (self, other)
        return dispatch[name](*pair)

    return apply


for _short, _name in _OPERATORS.items():
    setattr(Symbol, f"__{_short}__", _operator(_name, False))
    setattr(Symbol, f"__r{_short}__", _operator(_name, True))
for _short, _name in _COMPARISONS.items():
    setattr(Symbol, f"__{_short}__", _operator(_name, False))


def is_constant(x: Any) -> bool:
    """Whether ``x`` is a real number that a rule may combine with its operands."""
    if isinstance(x, (bool, int, float, np.floating, np.integer, np.bool_)):
        return True
    return isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in "fiub"


def plain(x: Any) -> Any:
    """A symbol as it is; a constant as a Python float or bool."""
    if isinstance(x, Symbol):
        return x
    if not is_constant(x):
        msg = f"a derivative rule combines its operands with a {type(x).__name__}."
        raise TraceError(msg)
    return bool(x) if isinstance(x, (bool, np.bool_)) else float(x)


def symbol(op: str, *args: Any, kind: str = FLOAT) -> Any:
    """A node; equal ones are found and shared when the text is written."""
    return Symbol(op, tuple(plain(x) for x in args), kind)
