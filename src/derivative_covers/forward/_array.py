"""The array of forward variables that a program gets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DerivativeError, UnsupportedOperationError
from ..tape import applies, apply_each

__all__ = ["FArray", "array"]


# Functions that are no ufuncs but have an elemental.
_NAMED = {np.sinc: "sinc"}


class FArray(np.ndarray[Any, Any]):
    """A NumPy object array of forward variables whose ufuncs go by the elementals' table.

    On a plain object array NumPy would call a method of the first operand, which fails
    for ``np.logaddexp(0.0, x)``.
    """

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        plain = [_plain(x) for x in inputs]
        if method == "__call__" and not kw and applies(ufunc):
            return _own(apply_each(ufunc, *plain))
        if "out" in kw:
            kw["out"] = tuple(_plain(x) for x in kw["out"])
        try:
            return _own(getattr(ufunc, method)(*plain, **kw))
        except (TypeError, AttributeError) as error:
            raise _unsupported(ufunc, error) from None

    def __array_function__(self, func: Any, types: Any, args: Any, kw: Any) -> Any:
        if func in _NAMED:
            return _own(apply_each(_NAMED[func], *map(_plain, args)))
        try:
            return _own(super().__array_function__(func, types, args, kw))
        except TypeError as error:
            raise _unsupported(func, error) from None


def _unsupported(func: Any, error: Exception) -> Exception:
    if isinstance(error, DerivativeError):
        return error
    name = f"{getattr(func, '__module__', 'numpy')}.{func.__name__}"
    msg = (
        f"{name} does not work on arrays of forward variables ({error}); write it with "
        "elementwise functions, sums and products, or use cover_hessian, whose tape knows "
        "more of NumPy."
    )
    return UnsupportedOperationError(msg)


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, FArray) else x


def _own(result: Any) -> Any:
    """Object arrays of variables stay of this kind, the others as they are."""
    if isinstance(result, tuple):
        return tuple(map(_own, result))
    if not isinstance(result, np.ndarray):
        return result
    if result.dtype != object:
        return _plain(result)
    return result.view(FArray)


def array(variables: list[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Variables as an array of a shape."""
    held = np.empty(len(variables), dtype=object)
    held[:] = variables
    return held.reshape(shape).view(FArray)
