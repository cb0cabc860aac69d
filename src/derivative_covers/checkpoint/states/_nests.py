"""What a storage keeps: nests of arrays, taken apart and put together again.

A nest is an array, a plain constant (None, bool, int, float, str), or a dict, list,
tuple or namedtuple of nests. :func:`take_apart` gives a description that JSON can carry
and the arrays in order; :func:`put_together` is its inverse.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ...errors import StorageError

__all__ = ["mapped", "nbytes", "put_together", "take_apart", "too_deep"]

Array = NDArray[Any]
_ARRAYS = frozenset((np.ndarray,))
_CONSTANTS = (type(None), bool, int, str)
_SEEN: WeakValueDictionary[tuple[str, str, tuple[str, ...]], type[Any]] = (
    WeakValueDictionary()
)


def mapped(nest: Any, convert: Callable[[Array], Any], key: object) -> Any:
    """The nest with each array replaced; its containers are new, its classes the same.

    Raises:
        StorageError: The nest has a part that no storage keeps.
    """
    if type(nest) is np.ndarray:
        _check_dtype(nest, key)
        return convert(nest)
    kind = type(nest)
    if kind is dict:
        for name in nest:
            _check_name(name, key)
        return {name: mapped(part, convert, key) for name, part in nest.items()}
    if kind is list:
        return [mapped(part, convert, key) for part in nest]
    if kind is tuple:
        return tuple([mapped(part, convert, key) for part in nest])
    if isinstance(nest, tuple) and hasattr(kind, "_fields"):
        return tuple.__new__(kind, [mapped(part, convert, key) for part in nest])
    if isinstance(nest, np.generic):
        return convert(np.asarray(nest))[()]
    if kind is float or kind in _CONSTANTS:
        return nest
    raise _unknown(nest, key)


def nbytes(nest: Any, key: object) -> int:
    """How many bytes the arrays of a nest have.

    Raises:
        StorageError: The nest is too deep.
    """
    try:
        return _nbytes(nest)
    except RecursionError:
        raise too_deep(key) from None


def _nbytes(nest: Any) -> int:
    if type(nest) is tuple and _ARRAYS.issuperset(map(type, nest)):
        return sum([a.nbytes for a in nest])
    if isinstance(nest, (np.ndarray, np.generic)):
        return nest.nbytes
    if isinstance(nest, (list, tuple)):
        return sum(map(_nbytes, nest))
    return sum(map(_nbytes, nest.values())) if isinstance(nest, dict) else 0


def take_apart(nest: Any, key: object) -> tuple[Any, list[Array]]:
    """A description of the nest that JSON keeps, and its arrays in C order.

    Raises:
        StorageError: The nest has a part that no storage keeps.
    """
    arrays: list[Array] = []
    try:
        return _describe(nest, arrays, key), arrays
    except RecursionError:
        raise too_deep(key) from None


def put_together(tree: Any, arrays: Iterator[Array]) -> Any:
    """The nest of a description; ``arrays`` yields its arrays in the same order."""
    mark, *rest = tree
    match mark:
        case "array":
            return next(arrays)
        case "scalar":
            return next(arrays)[()]
        case "constant":
            return rest[0]
        case "float":
            return float.fromhex(rest[0])
        case "dict":
            return {name: put_together(part, arrays) for name, part in rest[0]}
        case "list":
            return [put_together(part, arrays) for part in rest[0]]
        case "tuple":
            return tuple(put_together(part, arrays) for part in rest[0])
        case "namedtuple":
            module, name, fields, parts = rest
            kind = _named(module, name, tuple(fields))
            return tuple.__new__(kind, [put_together(part, arrays) for part in parts])
    message = f"a stored state has a part of the unknown kind {mark!r}"
    raise ValueError(message)


def too_deep(key: object) -> StorageError:
    """The error of a nest beyond Python's limit."""
    return StorageError(f"state {key!r} is nested too deeply to be stored", key)


def _describe(nest: Any, arrays: list[Array], key: object) -> list[Any]:
    kind = type(nest)
    if kind is np.ndarray:
        _check_dtype(nest, key)
        arrays.append(np.ascontiguousarray(nest) if nest.ndim else nest)
        return ["array"]
    if isinstance(nest, np.generic):
        _check_dtype(np.asarray(nest), key)
        arrays.append(np.asarray(nest))
        return ["scalar"]
    if kind is float:
        return ["float", nest.hex()]
    if kind in _CONSTANTS:
        return ["constant", nest]
    if kind is dict:
        for name in nest:
            _check_name(name, key)
        return ["dict", [[n, _describe(p, arrays, key)] for n, p in nest.items()]]
    if kind is list or kind is tuple:
        return [kind.__name__, [_describe(part, arrays, key) for part in nest]]
    if isinstance(nest, tuple) and hasattr(kind, "_fields"):
        parts = [_describe(part, arrays, key) for part in nest]
        named = kind.__module__, kind.__qualname__, tuple(kind._fields)
        _SEEN[named] = kind
        return ["namedtuple", *named, parts]
    raise _unknown(nest, key)


def _named(module: str, name: str, fields: tuple[str, ...]) -> type[Any]:
    """The class of a stored namedtuple.

    That of a state that this process stored, or of the same name in a module that it has
    already loaded (none is imported for a file's sake), or else a new one of the same
    name and fields, which serves as well as the old one where nobody asks for the class.
    """
    found = _SEEN.get((module, name, fields))
    if found is None and module in sys.modules:
        found = vars(sys.modules[module]).get(name)
    if (
        isinstance(found, type)
        and issubclass(found, tuple)
        and getattr(found, "_fields", None) == fields
    ):
        return found
    return namedtuple(name.rpartition(".")[2], fields, rename=True)


def _check_dtype(array: Array, key: object) -> None:
    if array.dtype.kind not in "biufc":
        message = (
            f"state {key!r} has an array of dtype {array.dtype}; a storage keeps "
            f"arrays of floats, integers and booleans: convert it in the step"
        )
        raise StorageError(message, key)


def _check_name(name: object, key: object) -> None:
    if type(name) is not str and type(name) is not int:
        message = (
            f"state {key!r} has a dict with the key {name!r} of type "
            f"{type(name).__name__}; the keys of a stored dict are str or int"
        )
        raise StorageError(message, key)


def _unknown(nest: object, key: object) -> StorageError:
    remedy = " (numpy.asarray makes it one)" if isinstance(nest, np.ndarray) else ""
    message = (
        f"state {key!r} has a part of type {type(nest).__name__}; a storage keeps "
        f"NumPy arrays{remedy} and dicts, lists, tuples and namedtuples of them"
    )
    return StorageError(message, key)
