"""Whether a storage of saved states keeps what sweeps rely on."""

from __future__ import annotations

import contextlib
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checkpoint import Storage
from ..errors import InputTypeError, StorageError
from ._faults import Faults

__all__ = ["check_storage"]

Array = NDArray[Any]
_Pair = namedtuple("_Pair", ["u", "t"])


def check_storage(make: Callable[[], Storage]) -> None:
    """Check that a storage keeps its contract; see :class:`Storage`.

    States of all kinds are put and got: plain arrays of every float type, integers and
    booleans, NaNs with a payload and signed zeros, 0-d and empty arrays, other orders,
    strides and byte orders, nested dicts, lists, tuples and namedtuples. Bits, shapes,
    dtypes, containers and the order of keys must come back. What is got must be read-only
    and must not change when the array that was put changes, when another state is put,
    or when a container that was got is changed. Putting again replaces, dropping frees,
    unknown keys raise StorageError, a state that cannot be kept raises it and changes
    nothing, closing may be repeated.

    Args:
        make: Called with no argument, gives a new, empty storage; no two may share
            anything. Each is closed before the next is made.

    Raises:
        ConformanceError: An AssertionError with all faults found.
        InputTypeError: What ``make`` gives is no storage at all.

    Cost:
        Some dozens of small states.

    Example:
        >>> from derivative_covers.checkpoint import MemoryStorage
        >>> from derivative_covers.testing import check_storage
        >>> check_storage(MemoryStorage)
    """
    storage: Any = make()
    if not isinstance(storage, Storage):
        message = (
            f"make gives a {type(storage).__name__}; a storage has put, get, drop, close, "
            f"nbytes and a length"
        )
        raise InputTypeError(message)
    faults = Faults(f"storage {type(storage).__name__}")
    storage.close()
    for check in (_keeps, _owns, _counts, _refuses, _closes):
        with faults.step(check.__name__.strip("_")):
            storage = make()
            try:
                check(storage, faults)
            finally:
                storage.close()
    faults.report()


def _states() -> Iterator[tuple[str, Any]]:
    x = np.arange(24.0).reshape(2, 3, 4) / 3
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324])
    odd.view(np.uint64)[4] |= 0x123
    yield "float64", x
    yield "special floats", odd
    for kind in (np.float16, np.float32, np.longdouble, np.int64, np.uint8, np.bool_):
        yield np.dtype(kind).name, x.astype(kind)
    yield "another byte order", x.astype(x.dtype.newbyteorder("S"))
    yield "a 0-d array", np.array(2.5)
    yield "an empty array", np.zeros((3, 0, 2), np.float32)
    yield "Fortran order", np.asfortranarray(x)
    yield "a strided view", x[:, ::-2, 1:]
    yield "a dict", {"b": x, "a": np.array(1.0), 3: odd, 2: {}}
    yield "a list", [x, [odd, []], (x[0],)]
    yield "a tuple", (x, (), [odd])
    yield "a namedtuple", _Pair(u=x, t=_Pair(u=np.array(1.0), t=(odd,)))


def _keeps(storage: Storage, faults: Faults) -> None:
    """Everything comes back as it was, also after all else was put."""
    states = dict(enumerate(_states()))
    for key, (what, state) in states.items():
        with faults.step(f"putting {what}"):
            storage.put(key, state)
    for _ in range(2):
        for key, (what, state) in reversed(states.items()):
            with faults.step(f"getting {what}"):
                found = storage.get(key)
                fault = _difference(state, found)
                faults.expect(not fault, f"{what} comes back otherwise: {fault}")
                faults.expect(_frozen(found), f"{what} comes back as a writable array")


def _owns(storage: Storage, faults: Faults) -> None:
    """Nobody else can change what lies in it."""
    x, inner = np.arange(5.0), [np.ones(3)]
    storage.put(0, x)
    storage.put(1, {"parts": inner})
    x[:] = -1.0
    inner[0][:] = -1.0
    inner.append(np.zeros(1))
    fault = "an array that changes after put changes what is got"
    faults.expect(not _difference(np.arange(5.0), storage.get(0)), fault)
    kept = {"parts": [np.ones(3)]}
    faults.expect(not _difference(kept, storage.get(1)), fault)
    storage.get(1)["parts"].clear()
    faults.expect(
        not _difference(kept, storage.get(1)),
        "a container that was got and changed changes what is got again",
    )
    got = storage.get(0)
    storage.drop(0)
    storage.put(0, np.zeros(5))
    faults.expect(
        not _difference(np.arange(5.0), got),
        "what was got changes when its key is dropped and put again",
    )


def _counts(storage: Storage, faults: Faults) -> None:
    """Length and bytes are those of what lies in it."""

    def expect(length: int, size: int, when: str) -> None:
        found = len(storage), storage.nbytes
        faults.expect(
            found == (length, size),
            f"{when} len and nbytes are {found}, and {(length, size)} by what put gave",
        )

    expect(0, 0, "at first")
    one = storage.put(7, np.ones(4))
    faults.expect(
        type(one) is int and one >= 32, f"put gives {one!r} for 32 bytes, an int >= 32"
    )
    expect(1, one, "after put")
    two = storage.put(0, (np.ones(2), np.ones(1)))
    expect(2, one + two, "after another put")
    storage.get(7)
    expect(2, one + two, "after get")
    again = storage.put(7, np.zeros(9))
    expect(2, again + two, "after putting a key again")
    fault = _difference(np.zeros(9), storage.get(7))
    faults.expect(not fault, f"putting a key again does not replace its state: {fault}")
    storage.drop(7)
    expect(1, two, "after drop")


def _refuses(storage: Storage, faults: Faults) -> None:
    """Unknown keys, and states that it cannot keep."""
    kinds = (StorageError,)
    storage.put(1, np.ones(2))
    storage.put(2, np.ones(2))
    storage.drop(2)
    for key, what in ((5, "never put"), (2, "dropped")):
        for name in ("get", "drop"):
            run = getattr(storage, name)
            faults.refuses(f"{name} of a key {what}", kinds, lambda run=run: run(key))  # type: ignore[misc] # noqa: B023
            try:
                run(key)
            except StorageError as error:
                faults.expect(
                    error.key == key,
                    f"the StorageError of {name} of a key {what} has the key {error.key!r}",
                )
            except Exception:  # named above
                pass
    for what, state in (
        ("an array of objects", np.array([1.0, None])),
        ("a set", {1.0}),
        ("a dict with a tuple as key", {(0, 1): np.ones(1)}),
    ):
        faults.refuses(f"put of {what}", kinds, lambda: storage.put(3, state))  # noqa: B023
        faults.refuses(
            f"put of {what} beside an array",
            kinds,
            lambda: storage.put(1, [np.zeros(2), state]),  # noqa: B023
        )
    fault = f"{len(storage)} states instead of 1"
    with contextlib.suppress(StorageError):
        if len(storage) == 1:
            fault = _difference(np.ones(2), storage.get(1))
    faults.expect(
        not fault, f"a state that was refused changes what was there: {fault}"
    )


def _closes(storage: Storage, faults: Faults) -> None:
    """Closing frees; nothing can be got afterwards."""
    storage.put(0, np.ones(3))
    storage.close()
    storage.close()
    faults.expect(
        len(storage) == 0 and storage.nbytes == 0, "something lies in it after close"
    )
    faults.refuses("get after close", (StorageError,), lambda: storage.get(0))


def _difference(put: Any, got: Any) -> str:
    """In which way two states are not the same; empty where they are."""
    if isinstance(put, np.ndarray):
        if not isinstance(got, np.ndarray) or got.dtype != put.dtype:
            return f"{_kind(put)} becomes {_kind(got)}"
        if got.shape != put.shape:
            return f"shape {put.shape} becomes {got.shape}"
        same = _bits(put) == _bits(got)
        return "" if same else f"{_short(put)} becomes {_short(got)}"
    if isinstance(put, tuple) and hasattr(put, "_fields"):
        if not isinstance(got, tuple) or getattr(got, "_fields", None) != put._fields:
            return f"a namedtuple becomes {_kind(got)}"
    elif type(got) is not type(put):
        return f"{_kind(put)} becomes {_kind(got)}"
    if len(put) != len(got):
        return f"{len(put)} parts become {len(got)}"
    if isinstance(put, dict):
        if list(map(repr, put)) != list(map(repr, got)):
            return f"the keys {list(put)} become {list(got)}"
        put, got = put.values(), got.values()
    return next(filter(None, map(_difference, put, got)), "")


def _bits(array: Array) -> bytes:
    """The bytes that are numbers: a long double has others between."""
    if array.dtype.char == "g":
        mantissa, exponent = np.frexp(array)
        high = mantissa.astype(np.float64)
        low = (mantissa - high).astype(np.float64)
        return high.tobytes() + low.tobytes() + exponent.tobytes()
    return array.tobytes()


def _short(array: Array) -> str:
    return f"{' '.join(str(array).split()):.60}"


def _kind(part: Any) -> str:
    if isinstance(part, np.ndarray):
        return f"an array of {part.dtype.str}"
    return f"a {type(part).__name__}"


def _frozen(state: Any) -> bool:
    if isinstance(state, np.ndarray):
        return not state.flags.writeable
    return all(map(_frozen, state.values() if isinstance(state, dict) else state))
