"""What NumPy calls when it meets a recorded variable: ufuncs and functions by table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnsupportedOperationError
from ._call import check_dtype, real_values, stored
from ._convert import array_of, as_operand, tape_of
from ._elementwise import binary, compare, unary
from ._hooks import LAYERED, set_array_layer
from ._storage import ArrayBase
from ._tvar import (
    COMPARISONS,
    TESTS,
    TVar,
    apply_binary,
    apply_unary,
    ufunc_name,
)

__all__ = ["FUNCTIONS", "UFUNC_METHODS", "as_array", "implements", "outer"]

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
UFUNC_METHODS: dict[tuple[Any, str], Callable[..., Any]] = {}


def implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the implementation of NumPy functions for recorded variables."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = implementation
            if isinstance(function, np.ufunc):
                LAYERED.add(function)
        return implementation

    return register


def outer(ufunc: Any, x: Any, y: Any) -> Any:
    """What the method ``outer`` of a binary ufunc does."""
    x, y = as_array(x, y), as_array(y, x)
    return binary(ufunc, x[(..., *(None,) * y.ndim)], y)


def as_array(x: Any, *others: Any) -> Any:
    """``x`` as a recorded array; ``others`` help to find the tape.

    Scalars, lists, object arrays and plain arrays are accepted.
    """
    if isinstance(x, ArrayBase):
        return x
    tape = tape_of(x, *others)
    return np.asarray(x) if tape is None else array_of(tape, x)


class ArrayLayer:
    """The operations of arrays, as the scalar layer sees them."""

    binary = staticmethod(binary)
    compare = staticmethod(compare)

    @staticmethod
    def ufunc(
        ufunc: Any, method: str, inputs: tuple[Any, ...], kw: dict[str, Any]
    ) -> Any:
        """What ``__array_ufunc__`` does.

        Raises:
            UnsupportedOperationError: If there is no rule, or the result would have to
                be written into a plain array.
        """
        out = kw.pop("out", None)
        if out is not None:
            (target,) = out if isinstance(out, tuple) else (out,)
            if not isinstance(target, ArrayBase):
                msg = (
                    f"np.{ufunc.__name__} was to write recorded values into a plain array, "
                    "which would drop their derivative (A += x does this). Write "
                    "A = A + x, or start from np.zeros_like(x)."
                )
                raise UnsupportedOperationError(msg)
            where = kw.pop("where", True) if method == "__call__" else True
            if tape_of(inputs) is None:
                result = getattr(ufunc, method)(*inputs, **kw)
            else:
                result = ArrayLayer.ufunc(ufunc, method, inputs, kw)
            kept: Any = target
            kept[...] = result if where is True else np.where(where, result, kept)
            return kept
        if method != "__call__":
            implementation = UFUNC_METHODS.get((ufunc, method))
            if implementation is None and method == "outer" and ufunc.nin == 2:
                return outer(ufunc, *inputs)
            if implementation is None:
                msg = (
                    f"np.{ufunc.__name__}.{method} has no rule for recorded variables. "
                    "Use the function of the same meaning (np.sum, np.prod, np.max, "
                    "np.outer, np.cumsum, ...) or a loop."
                )
                raise UnsupportedOperationError(msg)
            return implementation(*inputs, **kw)
        for name, neutral in (("where", True), ("subok", True)):
            if kw.get(name, neutral) is neutral:
                kw.pop(name, None)
        check_dtype(kw.pop("dtype", None), tape_of(inputs))
        for name in ("casting", "order"):
            kw.pop(name, None)
        if kw:
            msg = (
                f"np.{ufunc.__name__} of recorded variables does not take "
                f"{', '.join(sorted(kw))}; use np.where around it."
            )
            raise UnsupportedOperationError(msg)
        if ufunc in FUNCTIONS:
            return ArrayLayer.function(ufunc, inputs, kw)
        if ufunc in TESTS:
            return ufunc(as_operand(inputs[0]).v)
        if ufunc.nin == 1:
            (x,) = (as_operand(v) for v in inputs)
            return apply_unary(ufunc, x) if isinstance(x, TVar) else unary(ufunc, x)
        if ufunc.nin == 2:
            x, y = inputs
            if ufunc in COMPARISONS:
                return compare(x, y, COMPARISONS[ufunc])
            arrays = (ArrayBase, list, tuple, np.ndarray)
            if not isinstance(x, arrays) and not isinstance(y, arrays):
                return apply_binary(ufunc, x, y)
            return binary(ufunc, x, y)
        msg = f"the ufunc {ufunc_name(ufunc)!r} has no derivative rule."
        raise UnsupportedOperationError(msg)

    @staticmethod
    def function(func: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        """What ``__array_function__`` does.

        Raises:
            UnsupportedOperationError: If the function has no rule.
        """
        implementation = FUNCTIONS.get(func)
        if implementation is None:
            name = getattr(func, "__name__", str(func))
            module = getattr(func, "__module__", "numpy") or "numpy"
            msg = (
                f"{module}.{name} has no rule for recorded variables. Write it with "
                "supported functions, or take derivative_covers.value(x) of the argument "
                "where its derivative is not wanted."
            )
            raise UnsupportedOperationError(msg)
        tape = tape_of(*args, *kw.values())
        if tape is None:
            return func(
                *real_values(args), **{k: real_values(v) for k, v in kw.items()}
            )
        if tape.finished:
            tape.put(())
        out = kw.get("out")
        if out is not None and tape_of(args) is None:
            rest = {k: v for k, v in kw.items() if k != "out"}
            return stored(func(*args, **rest), out)
        try:
            return implementation(*args, **kw)
        except TypeError as error:
            _explain(func, implementation, args, kw, error)
            raise


def _explain(func: Any, rule: Any, args: Any, kw: Any, error: TypeError) -> None:
    """Say which arguments are not supported where the call does not fit the rule."""
    try:
        inspect.signature(rule).bind(*args, **kw)
    except TypeError as mismatch:
        msg = (
            f"np.{getattr(func, '__name__', func)} of recorded variables does not take "
            f"these arguments: {mismatch}."
        )
        raise UnsupportedOperationError(msg) from error


set_array_layer(ArrayLayer)
