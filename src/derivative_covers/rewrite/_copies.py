"""``a.copy()`` in rewritten code: a copy of a plain array can take recorded values.

A method of a plain array is NumPy's own and returns plain memory, but programs that fill in
some entries of an array of defaults begin with such a copy. The method call becomes a lookup
``COPIED[a]``, which fits into the place of the call with its inline caches.
"""

from __future__ import annotations

import dis
import sys
from typing import Any

import numpy as np

from .. import numpy as namespace

__all__ = ["COPIED", "NAME", "call_copies"]

NAME = "copy()"
"""The global name under which rewritten code looks up :data:`COPIED`."""

_CACHE = dis.opmap["CACHE"]
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_CALL = dis.opmap["CALL"]
_BEFORE_CALL = dis.opmap.get("PRECALL", _CALL)  # Python 3.11 alone has it
_NEWER = "LOAD_SUPER_ATTR" in dis.opmap
_METHOD = dis.opmap["LOAD_ATTR" if _NEWER else "LOAD_METHOD"]


class _Copied:
    def __getitem__(self, x: Any) -> Any:
        return namespace.array(x, order="C") if type(x) is np.ndarray else x.copy()


COPIED = _Copied()


def _sample(a: Any) -> Any:
    return COPIED[a]


def _end(ops: bytes | bytearray, k: int) -> int:
    """Where the instruction at ``k`` and its inline caches end."""
    k += 2
    while k < len(ops) and ops[k] == _CACHE:
        k += 2
    return k


def _learnt() -> tuple[bytes, bytes]:
    """How this version of Python loads a global and looks up an item."""
    ops = _sample.__code__.co_code
    load = ops[::2].index(dis.opmap["LOAD_GLOBAL"]) * 2
    item = _end(ops, _end(ops, load))
    return ops[load : _end(ops, load)], ops[item : _end(ops, item)]


# On a version whose instructions nobody has tried, a copy stays NumPy's own.
_TRIED = sys.version_info < (3, 14)
_LOAD_GLOBAL, _LOAD_ITEM = _learnt() if _TRIED else (b"", b"")
_SWAP = bytes((dis.opmap["SWAP"], 2))
_NOP = bytes((dis.opmap["NOP"], 0))


def call_copies(ops: bytearray, names: tuple[str, ...]) -> tuple[str, ...]:
    """Let calls ``a.copy()`` look up ``COPIED[a]``; gives the names that go with it."""
    if not _TRIED:
        return names
    at, new = names.index("copy"), 2 * len(names)
    load = bytes((_EXTENDED, new >> 8, _LOAD_GLOBAL[0], new & 255)) + _LOAD_GLOBAL[2:]
    lookup = load + _SWAP + _LOAD_ITEM
    changed, arg, k = False, 0, 0
    while k < len(ops):
        arg = (arg << 8) | ops[k + 1]
        if ops[k] == _EXTENDED:
            k += 2
            continue
        end = _end(ops, k)
        if ops[k] == _METHOD and arg == (2 * at + 1 if _NEWER else at):
            for op in dict.fromkeys((_BEFORE_CALL, _CALL)):
                if end and ops[end : end + 2] == bytes((op, 0)):
                    end = _end(ops, end)
                else:
                    end = 0
            room = end - k - len(lookup)
            if room >= 0 and new < 1 << 16:
                ops[k:end] = lookup + _NOP * (room // 2)
                if arg > 255:
                    ops[k - 2 : k] = _NOP
                changed = True
            else:
                end = _end(ops, k)
        k, arg = end, 0
    return (*names, NAME) if changed else names
