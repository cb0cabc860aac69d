"""Where saved states lie: the protocol of storages, and the one in memory.

A storage keeps states under integer keys. It owns its copies: nothing that happens to an
array after it was put changes what is got, and what is got cannot be written to. It
never casts, reorders or drops anything.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...errors import OptionError, StorageError
from ..states._nests import mapped, nbytes, too_deep
from ..states._protect import read_only_copy

__all__ = ["MemoryStorage", "Storage"]


@runtime_checkable
class Storage(Protocol):
    """What a sweep needs of a place for saved states; the protocol for third parties.

    A state is a nest (dict with str or int keys, list, tuple, namedtuple) of NumPy
    arrays of floats, integers or booleans of any shape, 0-d and empty ones too. A key is
    the index of the state, an int of at least 0. :func:`derivative_covers.testing.check_storage`
    tests that a class keeps all of this.

    Attributes:
        nbytes: Bytes of the states that lie in it now, as ``put`` counted them.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.checkpoint import MemoryStorage, Storage
        >>> isinstance(MemoryStorage(), Storage)
        True
    """

    @property
    def nbytes(self) -> int:
        """Bytes of the states that lie in it now."""

    def put(self, key: int, state: Any) -> int:
        """Keeps a copy of the state and returns its bytes; replaces one of that key.

        Raises:
            StorageError: It cannot be kept; the storage is as it was before.
        """

    def get(self, key: int) -> Any:
        """The state of that key: equal containers and bits, arrays that are read-only.

        Raises:
            StorageError: There is none, or it is no longer what was put.
        """

    def drop(self, key: int) -> None:
        """Forgets the state of that key.

        Raises:
            StorageError: There is none.
        """

    def close(self) -> None:
        """Forgets everything and gives back what the storage holds; may be repeated."""

    def __len__(self) -> int:
        """How many states lie in it."""


_ARRAYS = frozenset((np.ndarray,))


class MemoryStorage:
    """Saved states in the memory of this process.

    Args:
        capacity: Most bytes of array data to hold at once; None for no limit.

    Attributes:
        capacity: As given.

    Raises:
        OptionError: ``capacity`` is no int of at least 0.

    Guarantee:
        A state that exceeds the capacity raises StorageError and changes nothing.

    Cost:
        ``put`` copies the arrays; ``get`` copies none of them.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.checkpoint import MemoryStorage
        >>> storage = MemoryStorage(capacity=100)
        >>> storage.put(3, {"u": np.ones(4), "t": np.array(0.5)})
        40
        >>> storage.get(3)["u"].flags.writeable
        False
        >>> storage.drop(3)
        >>> len(storage), storage.nbytes
        (0, 0)
    """

    def __init__(self, capacity: int | None = None) -> None:
        """See the class."""
        self.capacity = checked_capacity(capacity)
        self._states: dict[int, tuple[Any, int]] = {}
        self._nbytes = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that lie in it now."""
        return self._nbytes

    def put(self, key: int, state: Any) -> int:
        """Keeps read-only copies of the state's arrays and returns their bytes.

        Raises:
            StorageError: The capacity is exceeded, the state has a part that is no
                array, or the key is no int of at least 0.
        """
        if type(key) is not int or key < 0:
            check_key(key)
        states, used = self._states, self._nbytes
        plain = type(state) is np.ndarray and state.dtype.kind == "f"
        size = state.nbytes if plain else nbytes(state, key)
        if key in states:
            used -= states[key][1]
        if self.capacity is not None:
            check_room(key, size, used, self.capacity)
        states[key] = read_only_copy(state) if plain else frozen(state, key), size
        self._nbytes = used + size
        return size

    def get(self, key: int) -> Any:
        """The state of that key; its arrays are the storage's own, read-only.

        Raises:
            StorageError: There is none.
        """
        try:
            state = self._states[key][0]
        except (KeyError, TypeError):
            raise missing(key, self._states) from None
        kind = type(state)
        if kind is np.ndarray or (
            kind is tuple and _ARRAYS.issuperset(map(type, state))
        ):
            return state  # nobody can change it
        return mapped(state, _same, key)

    def drop(self, key: int) -> None:
        """Forgets the state of that key.

        Raises:
            StorageError: There is none.
        """
        try:
            self._nbytes -= self._states.pop(key)[1]
        except (KeyError, TypeError):
            raise missing(key, self._states) from None

    def close(self) -> None:
        """Forgets every state; the storage can be used again."""
        self._states.clear()
        self._nbytes = 0

    def __len__(self) -> int:
        """How many states lie in it."""
        return len(self._states)

    def __repr__(self) -> str:
        """What lies in it."""
        limit = "" if self.capacity is None else f" of {self.capacity}"
        return f"<MemoryStorage: {len(self)} states, {self._nbytes}{limit} bytes>"


def checked_capacity(capacity: object) -> int | None:
    """The capacity itself.

    Raises:
        OptionError: It is neither None nor an int of at least 0.
    """
    if capacity is None:
        return None
    if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 0:
        message = (
            f"capacity is a number of bytes, an int of at least 0, not {capacity!r}"
        )
        raise OptionError(message)
    return capacity


def check_key(key: object) -> None:
    """Raises StorageError unless the key is an int of at least 0."""
    if type(key) is not int or key < 0:
        message = f"the key of a saved state is its index, an int >= 0, not {key!r}"
        raise StorageError(message, key)


def check_room(
    key: int,
    size: int,
    used: int,
    capacity: int | None,
    remedy: str = "give a larger capacity or plan fewer slots",
) -> None:
    """Raises StorageError where the state does not fit."""
    if capacity is not None and used + size > capacity:
        message = (
            f"state {key} needs {size} bytes, and {used} of the storage's capacity of "
            f"{capacity} bytes are in use: {remedy}"
        )
        raise StorageError(message, key)


def frozen(state: Any, key: object) -> Any:
    """A copy whose arrays are read-only."""
    if type(state) is tuple and all(map(_floats, state)):
        return tuple(map(read_only_copy, state))
    try:
        return mapped(state, read_only_copy, key)
    except RecursionError:
        raise too_deep(key) from None


def missing(key: object, keys: Any) -> StorageError:
    """The error of a key under which nothing lies."""
    there = ", ".join(map(str, sorted(keys)[:20])) or "none"
    more = ", ..." if len(keys) > 20 else ""
    message = f"no state {key!r} lies in the storage; there are: {there}{more}"
    return StorageError(message, key)


def _floats(part: Any) -> bool:
    return type(part) is np.ndarray and part.dtype.kind == "f"


def _same(array: NDArray[Any]) -> NDArray[Any]:
    return array
