"""The contract for float64, float32, their complex kin, and arrays and plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from derivative_covers.elements._contract import (
    as_type,
    decided_one,
    decided_sign,
    decided_zero,
    magnitude,
    magtype,
    separation,
)

__all__: list[str] = []

_PLAIN = (float, int, np.float64, np.float32, np.integer)
_COMPLEX = (complex, np.complex128, np.complex64)


@magnitude.register(*_PLAIN, *_COMPLEX)
def _magnitude(x: Any) -> Any:
    return abs(x)


@magnitude.register(np.ndarray)
def _magnitude_array(x: Any) -> Any:
    if x.dtype.kind == "O":
        return _each(magnitude, x)
    if x.dtype.kind not in "iu":
        magtype(x.dtype)
    return np.abs(x)


@magtype.register(float, np.float64, np.float32)
def _magtype(T: Any) -> type[Any]:
    cls = as_type(T)
    return np.float64 if cls is float else cls


@magtype.register(*_COMPLEX)
def _magtype_complex(T: Any) -> type[Any]:
    return np.float32 if as_type(T) is np.complex64 else np.float64


@decided_sign.register(*_PLAIN)
def _decided_sign(x: Any) -> int:
    return int(x > 0) - int(x < 0)


@decided_sign.register(*_COMPLEX)
def _no_sign(x: Any) -> int:
    return 0  # complex numbers have no order


@decided_one.register(*_PLAIN, *_COMPLEX)
def _decided_one(c: Any) -> bool:
    return bool(c == 1)


@decided_zero.register(*_PLAIN, *_COMPLEX)
def _decided_zero(c: Any) -> bool:
    return bool(c == 0)


@separation.register(*_PLAIN, *_COMPLEX)
def _separation(x: Any, y: Any) -> Any:
    return abs(x - y)


@separation.register(np.ndarray)
def _separation_array(x: Any, y: Any) -> Any:
    if np.asarray(x).dtype.kind == "O" or np.asarray(y).dtype.kind == "O":
        return _each(separation, x, y)
    return np.abs(np.subtract(x, y))


def _each(function: Any, *arrays: Any) -> Any:
    return np.frompyfunc(function, len(arrays), 1)(*arrays)
