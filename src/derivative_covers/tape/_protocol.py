"""What NumPy calls when it meets a recorded variable: ufuncs and functions by table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

import numpy as np

from ..elementals import answers, by_ufunc
from ..errors import UnsupportedOperationError
from ._call import check_dtype, real_values, stored
from ._convert import array_of, as_operand, holds_nodes, tape_of
from ._decisions import by_finiteness, by_missing, by_sign
from ._elementwise import binary, compare, unary
from ._hints import HINTS, hint, public_name
from ._holomorphic import FUNCTIONS_OF_COMPLEX, refuse_complex
from ._hooks import LAYERED, set_array_layer
from ._over_box import allowed, box_of, tested
from ._replayed import REPLAYED, refuse_function
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

    array = staticmethod(as_array)
    binary = staticmethod(binary)
    compare = staticmethod(compare)

    @staticmethod
    def test(ufunc: Any, x: Any) -> Any:
        """What isnan, isfinite, isinf or signbit say."""
        x = as_operand(x)
        if box_of(x) is not None:
            return tested(ufunc, x)
        _TESTED.get(ufunc, by_finiteness)(f"numpy.{ufunc.__name__}", x)
        return ufunc(x.v)

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
            if ufunc.nout > 1:
                where = kw.pop("where", True)
                found = getattr(ufunc, method)(*inputs, **kw)
                if where is not True:
                    pairs = zip(found, out, strict=True)
                    found = [np.where(where, r, target) for r, target in pairs]
                return tuple(map(stored, found, out))
            (target,) = out if isinstance(out, tuple) else (out,)
            if not isinstance(target, ArrayBase):
                msg = (
                    f"np.{ufunc.__name__} was to write recorded values into a plain array, "
                    "which would drop their derivative (A += x does this). Write "
                    "A = A + x, or start from np.zeros_like(x), or decorate the function "
                    "with derivative_covers.with_numpy."
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
            tape = tape_of(inputs)
            if tape is not None and tape.is_complex and not _is_holomorphic(ufunc):
                refuse_complex(f"numpy.{ufunc.__name__}.{method}")
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
            try:
                return implementation(*inputs, **kw)
            except TypeError as error:
                _explain(
                    f"{ufunc.__name__}.{method}", implementation, inputs, kw, error
                )
                raise
        for name, neutral in (("where", True), ("subok", True)):
            if kw.get(name, neutral) is neutral:
                kw.pop(name, None)
        check_dtype(kw.pop("dtype", None), tape_of(inputs))
        for name in ("casting", "order"):
            kw.pop(name, None)
        if ufunc in FUNCTIONS:
            return ArrayLayer.function(ufunc, inputs, kw)
        if kw:
            msg = (
                f"np.{ufunc.__name__} of recorded variables does not take "
                f"{', '.join(sorted(kw))}; use np.where around it."
            )
            raise UnsupportedOperationError(msg)
        instead = HINTS.get(f"numpy.{ufunc.__name__}")
        if instead is not None:
            _refuse(ufunc, instead)
        if ufunc in TESTS:
            return ArrayLayer.test(ufunc, inputs[0])
        if ufunc.nin == 1:
            (x,) = (as_operand(v) for v in inputs)
            if ufunc.nout > 1:
                return _outputs(ufunc, x)
            return apply_unary(ufunc, x) if isinstance(x, TVar) else unary(ufunc, x)
        if ufunc.nin == 2:
            x, y = inputs
            if ufunc in COMPARISONS:
                return compare(x, y, COMPARISONS[ufunc])
            arrays = (ArrayBase, list, tuple, np.ndarray)
            if not isinstance(x, arrays) and not isinstance(y, arrays):
                return apply_binary(ufunc, x, y)
            return binary(ufunc, x, y)
        msg = (
            f"the ufunc {ufunc_name(ufunc)!r} has no derivative rule. Write it with "
            "supported functions, or record it with pushnode or a black box."
        )
        raise UnsupportedOperationError(msg)

    @staticmethod
    def function(func: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        """What ``__array_function__`` does.

        Raises:
            UnsupportedOperationError: If the function has no rule.
        """
        implementation = FUNCTIONS.get(func)
        if implementation is None:
            _refuse(func, hint(func) or _NEAREST)
        if not args and _first_name(func) in kw:
            args, kw = (kw[_first_name(func)],), dict(kw)
            del kw[_first_name(func)]
        tape = tape_of(*args, *kw.values())
        if tape is None:
            return func(
                *real_values(args), **{k: real_values(v) for k, v in kw.items()}
            )
        if tape.finished:
            tape.put(())
        if tape.box is not None and holds_nodes(args, kw.values()):
            implementation = allowed(func) or implementation
        if func not in REPLAYED:
            refuse_function(func, args, kw)
        if tape.is_complex and func not in FUNCTIONS_OF_COMPLEX:
            refuse_complex(public_name(func), "is not holomorphic, or has no such rule")
        out = kw.get("out")
        if out is not None and tape_of(args) is None:
            rest = {k: v for k, v in kw.items() if k != "out"}
            return stored(func(*args, **rest), out)
        try:
            return implementation(*args, **kw)
        except TypeError as error:
            _explain(func, implementation, args, kw, error)
            raise


_TESTED = {np.isnan: by_missing, np.signbit: by_sign}
_NEAREST = (
    "Write it with supported functions, or take derivative_covers.value(x) of the "
    "argument where its derivative is not wanted."
)
LAYERED.update(
    ufunc
    for name, ufunc in vars(np).items()
    if isinstance(ufunc, np.ufunc) and f"numpy.{name}" in HINTS
)


def _is_holomorphic(ufunc: Any) -> bool:
    name = ufunc_name(ufunc)
    return ufunc in FUNCTIONS_OF_COMPLEX or (
        answers(name) and by_ufunc(name).holomorphic
    )


@cache
def _first_name(function: Any) -> str:
    """The name of a function's first parameter, by which users may pass it as well."""
    try:
        return next(iter(inspect.signature(function).parameters), "")
    except ValueError:  # NumPy says nothing: its rule's own names hold
        return ""


def _refuse(function: Any, instead: str) -> NoReturn:
    name = public_name(function)
    msg = f"{name} has no rule for recorded variables. {instead}"
    raise UnsupportedOperationError(msg)


def _outputs(ufunc: Any, x: Any) -> tuple[Any, ...]:
    """Record a ufunc of one operand and several outputs: an elemental for each."""
    name = ufunc_name(ufunc)
    if not answers(f"{name}[0]"):
        by_ufunc(name)
    ops = [by_ufunc(f"{name}[{k}]").name for k in range(ufunc.nout)]
    if isinstance(x, TVar):
        return tuple(apply_unary(op, x) for op in ops)
    return tuple(unary(op, x, v) for op, v in zip(ops, ufunc(x.v), strict=True))


def _explain(func: Any, rule: Any, args: Any, kw: Any, error: TypeError) -> None:
    """Say which arguments are not supported where the call does not fit the rule."""
    name = func if isinstance(func, str) else getattr(func, "__name__", func)
    try:
        inspect.signature(rule).bind(*args, **kw)
    except TypeError as mismatch:
        msg = (
            f"np.{name} of recorded variables does not take these arguments: {mismatch}. "
            "Leave them out; np.where and a copy say the same as where= and out=."
        )
        raise UnsupportedOperationError(msg) from error


set_array_layer(ArrayLayer)
