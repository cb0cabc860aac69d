"""What has to change in code objects: two opcodes and the name of one builtin.

A function made from a code object with another globals dict reads all that it needs from
there. Two things do not go through a dict subclass: ``STORE_GLOBAL`` writes into the dict
itself, past ``__setitem__``, while ``STORE_NAME`` honours it; and ``float`` is a type where
it is passed on and a function where it is called, which the bit of ``LOAD_GLOBAL`` that
prepares a call tells apart. All edits keep the length, so no offset moves.
"""

from __future__ import annotations

import dis
import inspect
from types import CodeType

from ..errors import UnsupportedOperationError

__all__ = ["CALLED_FLOAT", "global_names", "rewritten_code", "scope_names", "writes"]

CALLED_FLOAT = "float()"
"""The global name under which rewritten code looks up ``float`` to call it."""

_LOAD = dis.opmap["LOAD_GLOBAL"]
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_STORES = {
    dis.opmap["STORE_GLOBAL"]: dis.opmap["STORE_NAME"],
    dis.opmap["DELETE_GLOBAL"]: dis.opmap["DELETE_NAME"],
}
_STORE_CELL = (dis.opmap["STORE_DEREF"], dis.opmap["DELETE_DEREF"])
_READS_LOCALS = frozenset(("locals", "vars", "dir", "eval", "exec"))


def _nested(code: CodeType) -> list[CodeType]:
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def global_names(code: CodeType) -> frozenset[str]:
    """Names that the code, or a function in it, declares global and writes."""
    found: set[str] = set()
    ops = code.co_code
    if any(op in ops[::2] for op in _STORES):
        arg = 0
        for k in range(0, len(ops), 2):
            arg = (arg << 8) | ops[k + 1]
            if ops[k] in _STORES:
                found.add(code.co_names[arg])
            if ops[k] != _EXTENDED:
                arg = 0
    for inner in _nested(code):
        found |= global_names(inner)
    return frozenset(found)


def scope_names(code: CodeType) -> frozenset[str]:
    """Names that class bodies in the code may read from the globals."""
    found: set[str] = set()
    for inner in _nested(code):
        if not inner.co_flags & inspect.CO_OPTIMIZED:
            found.update(inner.co_names)
        found |= scope_names(inner)
    return frozenset(found)


def writes(code: CodeType) -> frozenset[str]:
    """Free variables that the code, or a function in it, assigns or deletes."""
    found: set[str] = set()
    free = code.co_freevars
    ops = code.co_code
    if free and any(op in ops[::2] for op in _STORE_CELL):
        cells = [c for c in code.co_cellvars if c not in code.co_varnames]
        first = len(code.co_varnames) + len(cells)
        arg = 0
        for k in range(0, len(ops), 2):
            arg = (arg << 8) | ops[k + 1]
            if ops[k] in _STORE_CELL and arg >= first:
                found.add(free[arg - first])
            if ops[k] != _EXTENDED:
                arg = 0
    for inner in _nested(code):
        found |= writes(inner) & frozenset(free)
    return frozenset(found)


def rewritten_code(code: CodeType) -> CodeType:
    """The code object for a function on live globals; the same one where nothing changes.

    Raises:
        UnsupportedOperationError: If a class body writes a global, or a function writes one
            and reads its own local variables as a dict.
    """
    consts = tuple(
        rewritten_code(c) if isinstance(c, CodeType) else c for c in code.co_consts
    )
    ops = bytearray(code.co_code)
    names, flags = code.co_names, code.co_flags
    if any(op in ops[::2] for op in _STORES):
        _check_stores(code)
        for k in range(0, len(ops), 2):
            ops[k] = _STORES.get(ops[k], ops[k])
        # Without this flag a function's STORE_NAME goes to its globals.
        flags &= ~inspect.CO_OPTIMIZED
    if "float" in names:
        names = _call_float(ops, names)
    same = all(new is old for new, old in zip(consts, code.co_consts, strict=True))
    if same and names is code.co_names and flags == code.co_flags:
        return code
    return code.replace(
        co_code=bytes(ops), co_names=names, co_flags=flags, co_consts=consts
    )


def _call_float(ops: bytearray, names: tuple[str, ...]) -> tuple[str, ...]:
    old, new = 2 * names.index("float") + 1, 2 * len(names) + 1
    if new > 255:
        return names
    changed = False
    for k in range(0, len(ops), 2):
        if ops[k] == _LOAD and ops[k + 1] == old and (not k or ops[k - 2] != _EXTENDED):
            ops[k + 1] = new
            changed = True
    return (*names, CALLED_FLOAT) if changed else names


def _check_stores(code: CodeType) -> None:
    where = f"{code.co_qualname} (line {code.co_firstlineno} of {code.co_filename})"
    written = ", ".join(sorted(global_names(code)))
    if not code.co_flags & inspect.CO_OPTIMIZED:
        msg = (
            f"the class {where} writes the global variable {written} in its body, which "
            "with_numpy cannot follow. Assign it in a function instead."
        )
        raise UnsupportedOperationError(msg)
    read = _READS_LOCALS.intersection(code.co_names)
    if read:
        msg = (
            f"{where} writes the global variable {written} and calls "
            f"{', '.join(sorted(read))}, which with_numpy cannot keep apart. Move one of "
            "the two into a function of its own."
        )
        raise UnsupportedOperationError(msg)
