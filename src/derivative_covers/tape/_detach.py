"""Values without derivatives: bare numbers, and recorded values that pass none on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._covervar import CoverVar
from ._decisions import refuse_replay
from ._elementwise import unary
from ._generic import apply
from ._over_box import box_of, enclosure
from ._storage import ArrayBase
from ._structure import map_leaves
from ._tvar import TVar, apply_unary

__all__ = ["bare", "stop_gradient", "value"]


def _apply(f: Any, x: Any, pack: Any) -> Any:
    """``f`` of every recorded variable in nested lists, tuples and dictionaries.

    ``pack`` makes an array of the object arrays that this gives.
    """
    if isinstance(x, (CoverVar, ArrayBase)):
        return f(x)
    if isinstance(x, list):
        return [_apply(f, e, pack) for e in x]
    if isinstance(x, (tuple, Mapping)):
        return map_leaves(lambda e: _apply(f, e, pack), x)
    if isinstance(x, np.ndarray) and x.dtype == object:
        made = np.empty(x.size, dtype=object)
        made[:] = [_apply(f, e, pack) for e in x.ravel()]
        return pack(made.reshape(x.shape))
    return x


def _numbers(made: Any) -> Any:
    """An array of numbers from an object array of them; any other one as it is."""
    if all(isinstance(e, (bool, int, float, np.generic)) for e in made.flat):
        return np.array(made.tolist()).reshape(made.shape)
    return made


def value(x: Any) -> Any:
    """The bare number behind a variable, or ``x`` itself for anything else.

    Args:
        x: A recorded scalar or array, a plain number, or lists, tuples, dictionaries
            and object arrays of them.

    Returns:
        A number or an array of numbers, detached from the recording; the same nest of
        them for a nest. An :class:`Interval` where the variable ranges over a box.

    Note:
        What a program does with a bare number nobody can follow, so a recording in which
        one was read cannot be replayed at another point; :func:`stop_gradient` can.

    Example:
        >>> from derivative_covers import TVar, value
        >>> value(TVar(2.5)), value(1.0), value({"a": [TVar(1.0), 2]})
        (2.5, 1.0, {'a': [1.0, 2]})
    """
    return _apply(_read, x, _numbers)


def bare(x: Any) -> Any:
    """What :func:`value` gives, for callers that tell the tape themselves what they decide."""
    return _apply(_bare, x, _numbers)


def _read(x: Any) -> Any:
    if isinstance(x, (TVar, ArrayBase)):
        refuse_replay(
            "value()",
            "Use stop_gradient where the number enters the result, and compare the "
            "variable itself where it decides a branch.",
            x,
        )
    return _bare(x)


def _bare(x: Any) -> Any:
    if isinstance(x, (TVar, ArrayBase)) and not x.is_constant and box_of(x) is not None:
        return enclosure(x)
    return x.v.copy() if isinstance(x, ArrayBase) else x.v


def stop_gradient(x: Any) -> Any:
    """The same value as ``x``, through which no derivative flows.

    The result stays on the tape, so it can be stored, indexed and computed with like
    ``x``; :func:`value` gives bare numbers instead. A comparison of detached variables
    with each other or with constants at an exact tie is not refused.

    Args:
        x: A recorded scalar or array, anything plain (which comes back as it is), or
            lists, tuples, dictionaries and object arrays of them.

    Returns:
        The same kind of thing. A program whose every output is detached raises
        :class:`~derivative_covers.errors.ConstantProgramError`.

    Guarantee:
        First and second partials are exactly zero.

    Cost:
        One node an entry.

    Example:
        >>> import derivative_covers as dc
        >>> dc.gradient(lambda x: x[0] * dc.stop_gradient(x[0]), [3.0])
        array([3.])
    """
    return _apply(_detach, x, lambda made: made)


def _detach(x: Any) -> Any:
    if not isinstance(x, (TVar, ArrayBase)):
        return apply("detach", x)
    tape = x.tape
    if tape is None:
        return x
    before = tape.nnodes
    found = apply_unary("detach", x) if isinstance(x, TVar) else unary("detach", x)
    if tape.nnodes > before:
        tape.detached.append((before, tape.nnodes))
    return found
