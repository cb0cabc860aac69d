"""Operands from what users write: numbers, arrays, lists and object arrays."""

from __future__ import annotations

from collections.abc import ValuesView
from typing import Any

import numpy as np

from ..elements import Interval, as_elements, exact_float, is_element
from ..errors import InputTypeError, ShapeError
from ._active import active
from ._refusals import refuse_huge, refuse_imaginary, refuse_two_tapes
from ._storage import ArrayBase, fresh, from_ids, scalar
from ._tape import EXACT, Tape
from ._tvar import TVar

__all__ = ["array_of", "as_operand", "holds_nodes", "tape_of"]

_LARGEST = int(np.finfo(np.float64).max)


def tape_of(*things: Any) -> Tape | None:
    """The tape of the first recorded variable found, lists and object arrays included.

    Constant arrays alone belong to the recording in progress, if any.
    """
    constants: list[Any] = []
    found = _search(things, constants)
    return active() if found is None and constants else found


def holds_nodes(*collections: Any) -> bool:
    """Whether a recorded variable with a node stands in one of them."""
    return _search(collections, []) is not None


def _search(things: Any, constants: list[Any]) -> Tape | None:
    for x in things:
        found: Tape | None = None
        if isinstance(x, TVar):
            found = x.tape
        elif isinstance(x, ArrayBase):
            found = x.s.tape
            if found is None:
                constants.append(x)
        elif isinstance(x, (list, tuple, ValuesView)):
            found = _search(x, constants)
        elif isinstance(x, np.ndarray) and x.dtype == object:
            found = _search(x.ravel().tolist(), constants)
        if found is not None:
            return found
    return None


def as_operand(x: Any, other: Any = None) -> Any:
    """A recorded array, a recorded scalar, a number or an array of numbers.

    Lists and object arrays that hold recorded variables become recorded arrays.

    Raises:
        InputTypeError: For anything that is not a number or an array of such.
        UnsupportedOperationError: For complex operands of a real recording.
    """
    if isinstance(x, (ArrayBase, TVar, float)):
        return x
    if isinstance(x, int):
        if abs(x) > EXACT:
            tape = active()
            if tape is not None and tape.element is not None:
                return _element(tape, x)
            if abs(x) > _LARGEST:
                refuse_huge()
        return x
    if isinstance(x, (list, tuple)) or (
        isinstance(x, np.ndarray) and x.dtype == object
    ):
        tape = tape_of(x) or tape_of(other)
        if tape is not None:
            return array_of(tape, x)
        x = np.asarray(x)
    if isinstance(x, Interval):
        return _ranging(tape_of(other) or active(), x)
    _refuse_other_rules(x)
    if isinstance(x, (np.ndarray, np.generic)):
        if isinstance(x, np.ndarray) and x.__class__ is not np.ndarray:
            x = np.asarray(x)
        kind = x.dtype.kind
        if kind in "fiub":
            if x.dtype.itemsize >= 8 and x.dtype.char != "d":
                return _element_array(x)
            return x
        if kind == "c":
            tape = tape_of(other) or active()
            if tape is None or not tape.is_complex:
                refuse_imaginary()
            return x
    if isinstance(x, complex):
        as_operand(np.complex128(x), other)
        return x
    tape = tape_of(other) or active()
    if tape is not None and tape.element is not None and is_element(type(x)):
        return _element(tape, x)
    msg = (
        f"an operand of type {type(x).__name__} met a recorded variable; real numbers, "
        "arrays of them and recorded variables are needed."
    )
    if hasattr(x, "to_numpy"):  # data frames of any library
        msg += " Its to_numpy() is an array."
    raise InputTypeError(msg)


def _element(tape: Tape, x: Any) -> Any:
    """A float where that is all, else a node that depends on nothing."""
    assert tape.element is not None
    x = as_elements(x, tape.element)
    plain = exact_float(x)
    if plain is not None:
        return plain
    return scalar(tape, tape.given_elements(x).start, np.nan)


def _element_array(x: Any) -> Any:
    """Integers as they are; as nodes where the recording is exact and floats are not."""
    tape = active()
    if tape is None or tape.element is None or not (abs(x) > EXACT).any():
        return x
    start = tape.given_elements(as_elements(x, tape.element)).start
    if not x.ndim:
        return scalar(tape, start, np.nan)
    return fresh(tape, np.full(x.shape, np.nan), start, None)


def _ranging(tape: Tape | None, x: Interval) -> Any:
    """Nodes that depend on nothing and range over intervals."""
    if tape is None or tape.box is None:
        msg = (
            "an Interval met a variable that was recorded at a point. Record over a box, "
            "tape_function(f, Interval(lo, hi)), where lo may equal hi, or take a number."
        )
        raise InputTypeError(msg)
    shape = np.shape(x.lo)
    start = tape.given((x.lo, x.hi)).start
    if not shape:
        return scalar(tape, start, np.nan)
    return fresh(tape, np.full(shape, np.nan), start, None)


def _refuse_other_rules(x: Any) -> None:
    if isinstance(x, (np.matrix, np.ma.MaskedArray)):
        msg = (
            f"a numpy {type(x).__name__} met a recorded variable; its rules differ from an "
            "array's. Pass numpy.asarray of it, or the filled data of a masked array."
        )
        raise InputTypeError(msg)


def array_of(tape: Tape, x: Any) -> Any:
    """Recorded array from a nested list or object array of variables and numbers.

    Raises:
        ShapeError: If the nesting is ragged.
        InputTypeError: If an entry is not a real number or a variable.
    """
    if isinstance(x, ArrayBase):
        return x
    if isinstance(x, TVar):
        if x.tape is not tape:
            if x.tape is not None:
                refuse_two_tapes()
            as_operand(x.v)
        return from_ids(tape, np.array(x.v, dtype=tape.dtype), np.array(x.i))
    _refuse_other_rules(x)
    line = _line(tape, x) if isinstance(x, (list, tuple)) else None
    if line is not None:
        return line
    if isinstance(x, np.ndarray) and x.dtype == object:
        if not x.ndim:
            return array_of(tape, x.item())
        if x.ndim == 1:
            return array_of(tape, x.tolist())
        parts = [array_of(tape, e) for e in x.ravel()]
        shape = x.shape
    elif isinstance(x, (list, tuple)):
        parts = [array_of(tape, e) for e in x]
        shape = (len(parts),)
    else:
        a = as_operand(x) if not isinstance(x, Interval) else _ranging(tape, x)
        if isinstance(a, (ArrayBase, TVar)):
            return array_of(tape, a)
        v = np.array(a, dtype=tape.dtype)
        return fresh(tape, v, -1, None)
    shapes = {p.v.shape for p in parts}
    if len(shapes) > 1:
        msg = f"a list of entries of different shapes {sorted(shapes)} is no array."
        raise ShapeError(msg)
    for p in parts:
        if p.s.tape is not None and p.s.tape is not tape:
            refuse_two_tapes()
        if p.s.tape is None and p.v.dtype.kind == "c" and not tape.is_complex:
            refuse_imaginary()
    inner = shapes.pop() if shapes else ()
    v = np.array([p.v for p in parts], dtype=tape.dtype).reshape(shape + inner)
    ids = np.array([p.node_ids() for p in parts], dtype=np.int64).reshape(shape + inner)
    return from_ids(tape, v, ids)


def _line(tape: Tape, x: list[Any] | tuple[Any, ...]) -> Any:
    """Array from a flat sequence of scalars; None for anything else."""
    values = []
    ids = []
    for e in x:
        kind = e.__class__
        if kind is TVar:
            if e.tape is not tape:
                if e.tape is not None:
                    refuse_two_tapes()
                as_operand(e.v)
            values.append(e.v)
            ids.append(e.i)
        elif kind is float or kind is np.float64:
            values.append(e)
            ids.append(-1)
        elif kind is int or kind is complex:
            values.append(as_operand(e))
            ids.append(-1)
        else:
            return None
    return from_ids(tape, np.array(values, dtype=tape.dtype), np.array(ids, np.int64))
