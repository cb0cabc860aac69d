"""What has to change in code objects: two opcodes, names of builtins, and formats.

A function made from a code object with another globals dict reads all that it needs from
there. Three things do not go through a dict subclass. ``STORE_GLOBAL`` writes into the dict
itself, past ``__setitem__``, while ``STORE_NAME`` honours it. ``float`` and ``type`` are
types where they are passed on and functions where they are called, which the bit of
``LOAD_GLOBAL`` that prepares a call tells apart. And ``"%g" % x`` asks ``x`` for a float.
All edits keep the length, so no offset moves.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import CodeType

from ..errors import UnsupportedOperationError
from ._copies import call_copies
from ._formats import Template

__all__ = ["CALLED", "global_names", "rewritten_code", "scope_names", "writes"]

CALLED = {"float()": "float", "type()": "type"}
"""Global names under which rewritten code looks up a builtin type to call it."""

_BINARY = dis.opmap["BINARY_OP"]
_REMAINDER = (6, 19)  # % and %=
_LOAD = dis.opmap["LOAD_GLOBAL"]
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_SHIFTS = dict.fromkeys(dis.hasname, 0) | {_LOAD: 1}
"""By how many bits the index of a name is shifted in the argument of an opcode."""
if "LOAD_SUPER_ATTR" in dis.opmap:  # Python 3.12 and later
    _SHIFTS |= {dis.opmap["LOAD_ATTR"]: 1, dis.opmap["LOAD_SUPER_ATTR"]: 2}
_STORES = {
    dis.opmap["STORE_GLOBAL"]: dis.opmap["STORE_NAME"],
    dis.opmap["DELETE_GLOBAL"]: dis.opmap["DELETE_NAME"],
}
_STORE_CELL = (dis.opmap["STORE_DEREF"], dis.opmap["DELETE_DEREF"])
_READS_LOCALS = frozenset(("locals", "vars", "dir", "eval", "exec"))


def _nested(code: CodeType) -> list[CodeType]:
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def _operations(ops: bytes | bytearray) -> Iterator[tuple[int, int, int]]:
    """Offset, opcode and argument of each instruction."""
    arg = 0
    for k in range(0, len(ops), 2):
        arg = (arg << 8) | ops[k + 1]
        yield k, ops[k], arg
        if ops[k] != _EXTENDED:
            arg = 0


def global_names(code: CodeType) -> frozenset[str]:
    """Names that the code, or a function in it, declares global and writes."""
    found: set[str] = set()
    ops = code.co_code
    if any(op in ops[::2] for op in _STORES):
        found = {code.co_names[arg] for _, op, arg in _operations(ops) if op in _STORES}
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
        found = {
            free[arg - first]
            for _, op, arg in _operations(ops)
            if op in _STORE_CELL and arg >= first
        }
    for inner in _nested(code):
        found |= writes(inner) & frozenset(free)
    return frozenset(found)


def rewritten_code(code: CodeType) -> CodeType:
    """The code object for a function on live globals; the same one where nothing changes.

    Raises:
        UnsupportedOperationError: If a class body writes a global, or a function writes one
            and reads its own local variables as a dict.
    """
    ops = bytearray(code.co_code)
    formats = _formats(ops)
    consts = tuple(_constant(c, formats) for c in code.co_consts)
    names, flags = code.co_names, code.co_flags
    if any(op in ops[::2] for op in _STORES):
        _check_stores(code)
        for k in range(0, len(ops), 2):
            ops[k] = _STORES.get(ops[k], ops[k])
        # Without this flag a function's STORE_NAME goes to its globals.
        flags &= ~inspect.CO_OPTIMIZED
    for called in CALLED:
        if CALLED[called] in names:
            names = _call(ops, names, called)
    if "copy" in names:
        names = call_copies(ops, names)
    same = all(new is old for new, old in zip(consts, code.co_consts, strict=True))
    if same and names is code.co_names and flags == code.co_flags:
        return code
    return code.replace(
        co_code=bytes(ops), co_names=names, co_flags=flags, co_consts=consts
    )


def _formats(ops: bytearray) -> bool:
    """Whether there is a remainder, which may be that of a text."""
    return any(
        op == _BINARY and arg in _REMAINDER
        for op, arg in zip(ops[::2], ops[1::2], strict=True)
    )


def _constant(c: object, formats: bool) -> object:
    if isinstance(c, CodeType):
        return rewritten_code(c)
    return Template(c) if formats and type(c) is str and "%" in c else c


def _call(ops: bytearray, names: tuple[str, ...], called: str) -> tuple[str, ...]:
    """Let calls of a builtin look it up under another name."""
    at = names.index(CALLED[called])
    calls, others = [], False
    for k, op, arg in _operations(ops):
        if op == _LOAD and arg == 2 * at + 1:
            calls.append(k)
        elif op in _SHIFTS and arg >> _SHIFTS[op] == at:
            others = True
    if not others:
        return (*names[:at], called, *names[at + 1 :])
    new = 2 * len(names) + 1
    if not calls or new >= 256:
        return names
    for k in calls:
        ops[k + 1] = new
    return (*names, called)


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
