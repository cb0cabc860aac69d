"""Recording a function: from a user's program and a point to a tape and its outputs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..elements import Interval
from ..errors import (
    ConstantProgramError,
    InputTypeError,
    ShapeError,
)
from ._convert import array_of
from ._jax import JAX_NOTE, comes_from_jax
from ._kinks import detached
from ._local import check_tape, input_variable, one_recording
from ._storage import ArrayBase
from ._structure import Leaf, Structure, plan
from ._tape import Tape
from ._tvar import TVar

__all__ = ["check_extras", "record"]


def record(
    f: Any,
    x0: Any,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    branch: bool = False,
    make: Callable[[Any], Tape] = Tape,
) -> tuple[Tape, Any]:
    """Run ``f`` on variables at ``x0``; gives the tape and the ids of the outputs.

    ``make`` makes the tape from the values of the inputs.
    """
    if not callable(f):
        msg = f"the program must be a function of x; got {type(f).__name__}."
        raise InputTypeError(msg)
    structure, x = plan(x0, boxes=make is Tape)
    named = dict(kwargs or {})
    if structure is not None:
        check_call(f, structure, args, named)
    if isinstance(x, Interval):
        tape = Tape.over(x)
    elif x.dtype == object:
        tape = Tape.of_elements(x, type(x.item(0)))
    else:
        tape = make(x)
    tape.structure = structure
    tape.branch = branch
    try:
        with one_recording(tape):
            result = f(*_arguments(tape), *args, **named)
            tape.outputs = out = _outputs(tape, result)
    except (TypeError, AttributeError) as error:
        if structure is not None and _is_numbers(structure):
            error.add_note(
                "x0 is a tuple of numbers, one for each argument of the function; pass a "
                "list or an array for one vector."
            )
        if "dtype('O')" in str(error):
            error.add_note(
                "np.array of recorded numbers is an array of Python objects, which this "
                "function does not take. Decorate yours with derivative_covers.with_numpy, "
                "or join them by np.stack or np.concatenate."
            )
        if "jax" in sys.modules and comes_from_jax(error):
            error.add_note(JAX_NOTE)
        raise
    return tape, out


def _arguments(tape: Tape) -> tuple[Any, ...]:
    """The inputs as variables, in the structure in which they came."""
    if tape.structure is None:
        return (input_variable(tape, tape.shape, 0),)
    x = tape.structure.build(lambda leaf: input_variable(tape, leaf.shape, leaf.start))
    return x if tape.structure.is_arguments else (x,)


def check_call(f: Any, structure: Structure, args: Any, kwargs: dict[str, Any]) -> None:
    """Refuse inputs in a structure that was probably meant in another way.

    Raises:
        InputTypeError: If the function does not take as many arguments, or numbers
            would go to parameters that have defaults.
    """
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return
    if not structure.is_arguments:
        try:
            signature.bind(structure.tree, *args, **kwargs)
        except TypeError as error:
            parts = "x0.values()" if isinstance(structure.tree, dict) else "x0"
            msg = (
                f"x0 is of type {type(structure.tree).__name__}, which is one argument of the "
                f"function, and with args and kwargs it cannot be called so ({error}); "
                f"pass a plain tuple for several arguments, such as tuple({parts})."
            )
            raise InputTypeError(msg) from None
        return
    n = len(structure.tree)
    rule = (
        f"x0 is a tuple of {n}, and a tuple holds one entry for each argument of the "
        "function"
    )
    remedy = "pass a list or an array, such as list(x0), for one vector."
    try:
        signature.bind(*structure.tree, *args, **kwargs)
    except TypeError as error:
        msg = f"{rule}, which cannot be called so ({error}); {remedy}"
        raise InputTypeError(msg) from None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [p for p in signature.parameters.values() if p.kind in kinds]
    filled = [p.name for p in places[:n] if p.default is not p.empty]
    if filled and _is_numbers(structure):
        msg = (
            f"{rule}; it would fill {', '.join(filled)}, which has a default, so that "
            f"the meaning is not clear: {remedy} Otherwise pass a function without "
            "defaults, such as lambda a, b: f(a, b)."
        )
        raise InputTypeError(msg)


def _is_numbers(structure: Structure) -> bool:
    """Whether the inputs are a tuple of numbers, which may have been meant as a vector."""
    return structure.is_arguments and all(
        isinstance(entry, Leaf) and not entry.shape for entry in structure.tree
    )


def _outputs(tape: Tape, result: Any) -> Any:
    if isinstance(result, TVar):
        check_tape(tape, result.tape)
        if result.tape is None:
            _refuse_constant()
        _refuse_detached(tape, result.i)
        return result.i
    if isinstance(result, (list, tuple)) or (
        isinstance(result, np.ndarray) and result.dtype == object
    ):
        try:
            result = array_of(tape, result)
        except InputTypeError as error:
            msg = f"the program's result cannot be read as outputs: {error}"
            raise InputTypeError(msg) from None
        except ShapeError as error:
            msg = (
                f"the program's result cannot be read as outputs: {error} Join parts of "
                "different shapes: numpy.concatenate([numpy.ravel(part), ...])."
            )
            raise ShapeError(msg) from None
    if isinstance(result, ArrayBase):
        check_tape(tape, result.tape)
        ids = np.array(result.node_ids())
        if ids.size == 0:
            msg = "the program returned an empty array; at least one output is needed."
            raise ShapeError(msg)
        constant = ids < 0
        if constant.all():
            _refuse_constant()
        _refuse_detached(tape, ids)
        if constant.any():
            values = np.asarray(result.v[constant], dtype=tape.dtype)
            start = tape.constants(values).start
            ids[constant] = np.arange(start, start + values.size)
        return int(ids) if ids.ndim == 0 else ids
    if isinstance(result, (bool, int, float, np.ndarray, np.generic, Interval)):
        _refuse_constant()
    msg = (
        f"the program returned {result!r:.80} of type {type(result).__name__}; it must "
        "return a recorded variable, an array of them, or a list of them."
    )
    if isinstance(result, Mapping):
        msg += " Return the values of the dictionary, such as list(result.values())."
    raise InputTypeError(msg)


def _refuse_constant() -> None:
    msg = (
        "on the branch taken at this point, the program's result does not depend on its "
        "argument, or its dependence was lost through a plain number; every derivative "
        "would be zero. Compute the result from the argument with NumPy's functions."
    )
    raise ConstantProgramError(msg)


def _refuse_detached(tape: Tape, ids: Any) -> None:
    if tape.detached and detached(tape, ids).all():
        msg = (
            "every output of the program is the result of stop_gradient, so that every "
            "derivative would be zero. Return what it was computed from, or call the "
            "function itself where only its value is wanted."
        )
        raise ConstantProgramError(msg)


def check_extras(args: Any, kwargs: Any) -> None:
    """Refuse what cannot be further arguments of a program.

    Raises:
        InputTypeError: If ``args`` is no tuple or list, or ``kwargs`` no dictionary of
            names.
    """
    if not isinstance(args, (tuple, list)):
        msg = (
            f"args is of type {type(args).__name__}; a tuple of the further arguments is "
            "needed, such as args=(data,)."
        )
        raise InputTypeError(msg)
    if not isinstance(kwargs, (Mapping, type(None))):
        msg = f"kwargs is of type {type(kwargs).__name__}; a dictionary is needed."
        raise InputTypeError(msg)
    unnamed = [key for key in kwargs or () if not isinstance(key, str)]
    if unnamed:
        msg = (
            f"kwargs has the key {unnamed[0]!r}; every key must be a string, the name of "
            "a parameter."
        )
        raise InputTypeError(msg)
