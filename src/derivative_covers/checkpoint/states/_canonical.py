"""From what users write to states: nests of C-contiguous float arrays.

A state is an array, or a dict, list, tuple or namedtuple of states. Inside of the package
every leaf is an ``ndarray`` (0-d ones too) in C order that is no view of other memory.
So a step sees the same bits whether its input was restored from a copy or is live, and a
buffer that the user's code keeps cannot change a live state from behind a view. A 0-d
array is always new: it reaches steps as a scalar, so that nothing write-protects it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ...errors import DomainError, InputTypeError, ShapeError
from ...tape import TArray, TVar

__all__ = ["canonical", "given"]

_Array = np.ndarray
_FLOAT64 = np.dtype(np.float64)
_FLOAT32 = np.dtype(np.float32)
_FLOATS = {t: np.dtype(t) for t in (np.float16, np.float32, np.float64, np.longdouble)}
_NUMBERS = (bool, int, float, np.number, np.bool_)


def canonical(
    x: Any, name: str, step: int | None = None, *, convert: bool = False
) -> Any:
    """A state from what a step returned; an array that is one already comes back itself.

    Containers and 0-d arrays are always new. Numbers become 0-d arrays, objects with ``__array__``
    (JAX arrays, PyTorch tensors) copies of what they hold; arrays in another order, and
    views, are copied. The float type stays, in native byte order.

    Args:
        x: What the user's function returned.
        name: What it is, for messages: ``"the output"``.
        step: Whose it is: ``name`` becomes ``"the output of step 3"``.
        convert: Whether integers and booleans become float64.

    Raises:
        InputTypeError: For a leaf that is no array of real floats, and for dictionary
            keys that are neither strings nor integers.
        ShapeError: If there is no entry at all. (Empty leaves beside others are legal.)

    Cost:
        0.2 microseconds for a plain array; a copy for a view.
    """
    if type(x) is _Array:
        dtype = x.dtype
        if (
            (dtype is _FLOAT64 or dtype is _FLOAT32)
            and x.base is None
            and x.flags.c_contiguous
            and x.size
        ):
            return x if x.ndim else x.copy()
    elif type(x) is np.float64 or type(x) is float or type(x) is np.float32:
        return np.array(x)
    elif isinstance(x, (tuple, list, dict)):
        try:
            return _plain(x)
        except _Unusual:
            pass
    reader = _Reader(name, step, convert)
    found = reader.read(x, ())
    if not reader.size:
        msg = (
            f"{reader.called(())} has no entry ({_short(x)}); a state needs at least one "
            "number."
        )
        raise ShapeError(msg)
    return found


def given(x: Any, name: str) -> Any:
    """A state from a user's point or parameters: integers and booleans become float64.

    Raises:
        InputTypeError: As :func:`canonical`, and for a list made of numbers alone, which
            may mean one array or a nest of numbers.
        ShapeError: If there is no entry at all.
        DomainError: If an entry is NaN or infinite.
    """
    _refuse_lists(x, name)
    found = canonical(x, name, convert=True)
    _check_finite(found, name)
    return found


class _Unusual(Exception):
    """A part that needs a closer look."""


def _plain(x: Any) -> Any:
    """The state from a nest of floats and of arrays that need no copy.

    Raises:
        _Unusual: If there is anything else in it.
    """
    kind = type(x)
    if kind is _Array:
        dtype = x.dtype
        if (
            (dtype is _FLOAT64 or dtype is _FLOAT32)
            and x.base is None
            and x.flags.c_contiguous
            and x.size
        ):
            return x if x.ndim else x.copy()
    elif kind is float or kind is np.float64:
        return np.array(x)
    elif kind is tuple and x:
        return tuple(map(_plain, x))
    elif kind is list and x:
        return list(map(_plain, x))
    elif kind is dict and x and all(type(key) is str for key in x):
        return {key: _plain(part) for key, part in x.items()}
    raise _Unusual


_Path = tuple[Any, ...]
"""Where a part stands: () for the whole, else the path of its container and its key."""


class _Reader:
    """Reads one nest; knows what to say when it cannot.

    Attributes:
        size: Entries read so far.
    """

    __slots__ = ("convert", "name", "size", "step")

    def __init__(self, name: str, step: int | None, convert: bool) -> None:
        self.name = name
        self.step = step
        self.convert = convert
        self.size = 0

    def called(self, path: _Path) -> str:
        keys = ""
        while path:
            path, key = path
            keys = f"[{key!r}]{keys}"
        whose = "" if self.step is None else f" of step {self.step}"
        return f"{self.name}{keys}{whose}"

    def read(self, x: Any, path: _Path) -> Any:
        if type(x) is not _Array:
            if isinstance(x, (tuple, list)):
                read = [self.read(v, (path, k)) for k, v in enumerate(x)]
                if isinstance(x, list):
                    return read
                return tuple.__new__(type(x) if hasattr(x, "_fields") else tuple, read)
            if isinstance(x, (dict, Mapping)):
                for key in x:
                    if type(key) is not str and type(key) is not int:
                        self.refuse(path, f"has the key {key!r}", "use strings")
                return {k: self.read(v, (path, k)) for k, v in x.items()}
        found = self.leaf(x, path)
        self.size += found.size
        return found

    def leaf(self, x: Any, path: _Path) -> Any:
        a = x if type(x) is _Array else self.array(x, path)
        dtype = a.dtype
        if dtype is not _FLOAT64 and dtype is not _FLOAT32:
            dtype = _FLOATS.get(dtype.type)
            if dtype is None:
                if a.dtype.kind not in "iub" or not self.convert:
                    self.refuse_type(x, a, path)
                dtype = _FLOAT64
        if not (
            a.dtype == dtype and a.ndim and a.base is None and a.flags.c_contiguous
        ):
            a = np.array(a, dtype=dtype, order="C", copy=True)
        return a

    def array(self, x: Any, path: _Path) -> Any:
        """The plain array of something that is none."""
        if isinstance(x, (float, np.number, np.bool_)):
            return np.array(x)
        if isinstance(x, int):
            try:
                return np.array(float(x)) if self.convert else np.array(0)
            except OverflowError:
                self.refuse(path, "is an integer too large for a float", "rescale it")
        if isinstance(x, (TArray, TVar)):
            if x.is_constant:
                return np.array(x.v)
            self.refuse(
                path,
                "is a recorded variable of another recording",
                "compute it from the step's own arguments, and keep no variables between "
                "steps",
            )
        if isinstance(x, (np.ma.MaskedArray, np.matrix)):
            self.refuse(
                path,
                f"is of type {type(x).__name__}, whose rules differ from an array's",
                "use numpy.asarray of it, or the filled data of a masked array",
            )
        if isinstance(x, np.ndarray) or hasattr(x, "__array__"):
            try:
                a = np.asarray(x)
            except Exception as error:
                msg = f"{self.called(path)} cannot be read as an array: {error}"
                raise InputTypeError(msg) from error
            return a.copy()  # somebody else owns the memory of the first
        verb = "pass" if self.step is None else "return"
        remedy = f"{verb} an array, a float, or a dict, list or tuple of them"
        if dataclasses.is_dataclass(x):
            remedy = "use a dictionary (dataclasses.asdict) or a named tuple"
        if x is None and self.step is not None:
            remedy = "the function has to end with a return statement that gives it"
        return self.refuse(path, f"is {_short(x)}", remedy)

    def refuse_type(self, x: Any, a: Any, path: _Path) -> NoReturn:
        kind = a.dtype.kind
        if kind in "iub":
            what = f"an array of {a.dtype}" if a.ndim else f"the number {x!r}"
            remedy = "return floats, such as x.astype(float), or 1.0 in the place of 1"
        elif kind == "c":
            what = f"complex ({a.dtype})"
            remedy = "keep the real and the imaginary part as two entries of a tuple"
        elif kind == "O":
            what = "an array of Python objects"
            remedy = (
                "make it with numpy.stack or numpy.concatenate, or pass numpy='rewrite' to "
                "Transition.taped"
            )
        else:
            what = f"{_short(x)} of dtype {a.dtype}"
            remedy = "return real floats"
        self.refuse(path, f"is {what}", remedy)

    def refuse(self, path: _Path, what: str, remedy: str) -> NoReturn:
        msg = f"{self.called(path)} {what}; a state holds floating-point numbers: {remedy}."
        raise InputTypeError(msg)


def _refuse_lists(x: Any, path: str) -> None:
    if isinstance(x, Mapping):
        for key, part in x.items():
            _refuse_lists(part, f"{path}[{key!r}]")
    elif isinstance(x, (list, tuple)):
        if type(x) is list and x and all(isinstance(e, _NUMBERS) for e in x):
            msg = (
                f"{path} is a list of numbers, which may mean one array or a state of as "
                f"many parts: pass numpy.array({path}) for an array, or tuple({path}) for "
                "parts."
            )
            raise InputTypeError(msg)
        for k, part in enumerate(x):
            _refuse_lists(part, f"{path}[{k}]")


def _check_finite(x: Any, path: str) -> None:
    if type(x) is _Array:
        bad = np.flatnonzero(~np.isfinite(x))
        if bad.size:
            at = [int(k) for k in np.unravel_index(bad[0], x.shape)]
            value = float(x.flat[bad[0]])
            msg = f"{path}{at or ''} is {value}; every entry must be finite."
            raise DomainError(msg, values=(value,))
        return
    parts = x.items() if isinstance(x, dict) else enumerate(x)
    for key, part in parts:
        _check_finite(part, f"{path}[{key!r}]")


def _short(x: Any) -> str:
    if x is None or x is Ellipsis:
        return repr(x)
    shown = repr(x)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return f"{shown} of type {type(x).__name__}"
