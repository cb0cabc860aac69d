"""Parts of a recording: its inputs as variables, its context, what comes out of it.

A recording of a whole program is made of these, and so is one of a single step among
many, whose state may hold constants and whose outputs may be constants.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RecursionDepthError, TapeError
from ._active import recording
from ._blocks import Ids
from ._convert import array_of
from ._storage import ArrayBase, fresh, from_ids, held, scalar
from ._tape import Tape
from ._tvar import TVar, new_tvar

__all__ = [
    "check_tape",
    "input_variable",
    "one_recording",
    "output_entries",
    "shared_variable",
]


@contextmanager
def one_recording(tape: Tape) -> Iterator[None]:
    """Record on ``tape``, and finish it at the end.

    Raises:
        RecursionDepthError: If the program, or its result, is nested too deep.
    """
    try:
        with np.errstate(all="ignore"), recording(tape):
            yield
    except RecursionError as error:
        msg = (
            "the program called itself, or its result is nested, deeper than Python's "
            f"limit of {sys.getrecursionlimit()} calls. Write the recursion as a loop and "
            "return a flat list or an array, or raise sys.setrecursionlimit."
        )
        raise RecursionDepthError(msg) from error
    finally:
        tape.finish()


def input_variable(tape: Tape, shape: tuple[int, ...], start: int) -> Any:
    """The variable of the inputs from ``start``: an array, or a scalar for shape ()."""
    block = tape.blocks[0]
    if not shape:
        return new_tvar(tape, start, block.values[start])
    if shape == tape.shape:  # the only one: shares its memory with the block
        base = block.values.base
        assert base is not None
        return fresh(tape, base, 0, block)
    values = block.values[start : start + prod(shape)].reshape(shape)
    return fresh(tape, values, start, None)


def shared_variable(tape: Tape, values: NDArray[Any], ids: Ids) -> Any:
    """The variable whose entries are inputs of any ids, repeated ones too; -1: a constant."""
    if not values.ndim:
        return scalar(tape, int(ids), values)
    if (ids < 0).all():
        return held(values.copy())
    return from_ids(tape, values.copy(), ids)


def output_entries(tape: Tape, result: Any) -> tuple[Any, Ids | None]:
    """Values and node ids of one variable that the program returned.

    A constant entry has id -1. What is no variable of any kind comes back with None for
    ids.

    Raises:
        TapeError: For a variable of another recording.
        InputTypeError: If an object array holds something that is no real number.
    """
    if isinstance(result, TVar):
        check_tape(tape, result.tape)
        ids = np.array(result.i if result.tape is not None else -1, dtype=np.int64)
        return np.array(result.v, dtype=tape.dtype), ids
    if isinstance(result, np.ndarray) and result.dtype == object:
        result = array_of(tape, result)
    if isinstance(result, ArrayBase):
        check_tape(tape, result.tape)
        return result.v, result.node_ids()
    return result, None


def check_tape(tape: Tape, other: Tape | None) -> None:
    """Raise unless a variable of tape ``other`` (None: a constant) belongs to ``tape``.

    Raises:
        TapeError: For a variable of another recording.
    """
    if other is not None and other is not tape:
        msg = (
            "the program returned a variable of another recording; return a result "
            "computed from its own argument."
        )
        raise TapeError(msg)
