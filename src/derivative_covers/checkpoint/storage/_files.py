"""One file with a nest of arrays: its format, and how it is written and read.

| part | bytes |
|---|---|
| magic ``DCSTATE`` and a newline | 8 |
| version, little-endian | 4 |
| length of the header, little-endian | 8 |
| header: JSON in UTF-8 | as said |
| BLAKE2b digest of all before | 32 |
| arrays, C order, in their own byte order, one behind the other | as the header says |
| BLAKE2b digest of all before | 32 |

The header has ``nest`` (see :func:`take_apart`), ``arrays`` (dtype and shape of each) and
``meta``, a dict of the caller. Nothing of a file is used before both digests have been
compared, and a file never names code to run. A file appears under its name when it is
complete: it is written under a temporary name beside it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import struct
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import StorageError
from ..states._nests import put_together, take_apart, too_deep

__all__ = ["PART", "Packed", "examine", "pack", "read", "sync", "write"]

Array = NDArray[Any]

PART = ".part"
_MAGIC = b"DCSTATE\n"
_VERSION = 1
_PREFIX = struct.Struct("<8sIQ")
_DIGEST = 32
_CHUNK = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Packed(NamedTuple):
    """What will stand in a file: everything before the arrays, and the arrays."""

    head: bytes
    arrays: list[Array]

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return len(self.head) + sum(a.nbytes for a in self.arrays) + _DIGEST


def pack(nest: Any, meta: dict[str, Any], key: object) -> Packed:
    """The content of a file, without copying a contiguous array.

    Raises:
        StorageError: The nest has a part that no storage keeps.
    """
    tree, arrays = take_apart(nest, key)
    kinds = [[a.dtype.str, list(a.shape)] for a in arrays]
    try:
        text = json.dumps({"meta": meta, "nest": tree, "arrays": kinds})
    except (TypeError, ValueError) as fault:
        message = f"what describes {key!r} cannot be written as JSON: {fault}"
        raise StorageError(message, key) from fault
    except RecursionError:
        raise too_deep(key) from None
    header = text.encode()
    head = _PREFIX.pack(_MAGIC, _VERSION, len(header)) + header
    return Packed(head + _digest(head).digest(), arrays)


def write(path: str, packed: Packed, key: object, *, synced: bool) -> str:
    """Writes the file and returns its digest as text.

    ``synced`` waits until the bytes are on the disk; :func:`sync` does so later.

    Raises:
        StorageError: It could not be written; nothing of it is left.
    """
    part = path + PART
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o666)
        try:
            digest = _digest()
            for piece in (packed.head, *map(_raw, packed.arrays)):
                digest.update(piece)
                _write_all(handle, piece)
            _write_all(handle, digest.digest())
            if synced:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(part, path)
    except BaseException as fault:
        with contextlib.suppress(OSError):
            os.unlink(part)
        if isinstance(fault, OSError):
            raise _unwritten(path, key, fault) from fault
        raise
    return str(digest.hexdigest())


def sync(path: str, key: object) -> None:
    """Waits until a file is on the disk.

    Raises:
        StorageError: It could not be opened or brought there.
    """
    try:
        handle = os.open(path, os.O_RDWR | _BINARY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as fault:
        raise _unwritten(path, key, fault) from fault


def read(
    path: str, key: object, *, writable: bool = False
) -> tuple[Any, dict[str, Any], str]:
    """The nest (its arrays new and read-only), the dict ``meta``, the digest of a file.

    Raises:
        StorageError: The file cannot be read, or is not byte for byte what was written.
    """
    arrays: list[Array] = []

    def take(kind: np.dtype[Any], shape: tuple[int, ...]) -> Iterator[Array]:
        arrays.append(np.empty(shape, kind))
        yield _raw(arrays[-1])

    header, digest = _scan(path, key, take)
    for array in arrays:
        array.flags.writeable = writable
    try:
        return put_together(header["nest"], iter(arrays)), header["meta"], digest
    except (ValueError, TypeError, KeyError, StopIteration, RecursionError) as fault:
        raise _broken(path, key, f"it describes no nest of arrays ({fault})") from fault


def examine(path: str, key: object) -> tuple[dict[str, Any], str]:
    """The dict ``meta`` and the digest of a file, all of it verified, in little memory.

    Raises:
        StorageError: As of :func:`read`.
    """
    buffer = np.empty(_CHUNK, np.uint8)

    def take(kind: np.dtype[Any], shape: tuple[int, ...]) -> Iterator[Array]:
        left = kind.itemsize * math.prod(shape)
        while left:
            yield buffer[: min(left, _CHUNK)]
            left -= min(left, _CHUNK)

    header, digest = _scan(path, key, take)
    return header["meta"], digest


def _scan(
    path: str,
    key: object,
    take: Callable[[np.dtype[Any], tuple[int, ...]], Iterator[Array]],
) -> tuple[dict[str, Any], str]:
    """Reads a file from its beginning to its end into what ``take`` gives for arrays."""
    try:
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            read = _Reader(file.readinto, path, key)
            header, used = _header(read, size)
            kinds = _kinds(header, size - used - _DIGEST, path, key)
            for kind, shape in kinds:
                for piece in take(kind, shape):
                    read.into(piece)
            expected = read.digest.digest()
            if read.bytes(_DIGEST) != expected:
                raise _broken(path, key, "its digest is not that of its bytes")
            return header, str(expected.hex())
    except FileNotFoundError as fault:
        raise _broken(path, key, "it is missing") from fault
    except StorageError:
        raise
    except OSError as fault:
        raise _broken(path, key, f"it cannot be read ({fault})") from fault


class _Reader:
    """Reads exactly what is asked for, and digests it."""

    def __init__(self, readinto: Any, path: str, key: object) -> None:
        self._readinto, self._path, self._key = readinto, path, key
        self.digest = _digest()

    def bytes(self, count: int) -> bytes:
        piece = bytearray(count)
        self.into(piece)
        return bytes(piece)

    def into(self, piece: Any) -> None:
        view = memoryview(piece)
        while view:
            count = self._readinto(view)
            if not count:
                raise _broken(self._path, self._key, "it ends too early")
            view = view[count:]
        self.digest.update(piece)


def _header(read: _Reader, size: int) -> tuple[dict[str, Any], int]:
    path, key = read._path, read._key
    if size < _PREFIX.size + 2 * _DIGEST:
        why = f"it has {size} bytes, fewer than any file of a sweep: it was cut off"
        raise _broken(path, key, why)
    magic, version, length = _PREFIX.unpack(read.bytes(_PREFIX.size))
    if magic != _MAGIC:
        raise _broken(path, key, "it is no file of this package")
    used = _PREFIX.size + length + _DIGEST
    if used + _DIGEST > size:
        raise _broken(path, key, f"it ends too early with {size} bytes")
    text = read.bytes(length)
    expected = read.digest.digest()
    if read.bytes(_DIGEST) != expected:
        raise _broken(path, key, "the digest of its header is not that of its bytes")
    if version != _VERSION:
        raise _broken(path, key, f"it has version {version} of the format, not 1")
    try:
        header = json.loads(text)
        if isinstance(header["meta"], dict):
            return header, used
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise _broken(path, key, "its header is not one that this package writes")


def _kinds(
    header: dict[str, Any], room: int, path: str, key: object
) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
    """Dtype and shape of each array, once they add up to the bytes that are there."""
    try:
        kinds = [(_dtype(text), tuple(shape)) for text, shape in header["arrays"]]
        needed = sum(kind.itemsize * math.prod(shape) for kind, shape in kinds)
    except (ValueError, TypeError, KeyError) as fault:
        raise _broken(
            path, key, f"its arrays are described wrongly ({fault})"
        ) from fault
    if needed != room:
        raise _broken(path, key, f"it has {room} bytes of arrays, not {needed}")
    return kinds


def _dtype(text: str) -> np.dtype[Any]:
    if re.fullmatch(r"[<>|][biufc]\d+", text) is None:
        message = f"{text!r} is no dtype"
        raise ValueError(message)
    return np.dtype(text)


def _raw(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def _write_all(handle: int, piece: Any) -> None:
    view = memoryview(piece)
    while view:
        count = os.write(handle, view)
        if count <= 0:
            message = "no byte was written"
            raise OSError(message)
        view = view[count:]


def _digest(data: bytes = b"") -> Any:
    return blake2b(data, digest_size=_DIGEST)


def _unwritten(path: str, key: object, fault: OSError) -> StorageError:
    message = f"{_what(key)} could not be written to {path}: {fault}"
    return StorageError(message, key)


def _broken(path: str, key: object, why: str) -> StorageError:
    message = f"{_what(key)}, the file {path}, cannot be used: {why}"
    if key == "journal":
        message += ". Nothing goes on from it; to start anew, empty the folder"
    return StorageError(message, key)


def _what(key: object) -> str:
    return f"state {key}" if isinstance(key, int) else f"the {key}"
