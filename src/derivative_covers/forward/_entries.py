"""Propagation entry by entry: every variable carries its channels in hand."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    ConstantProgramError,
    InputTypeError,
    RecursionDepthError,
    ShapeError,
)
from ..tape._record import check_call
from ..tape._structure import Leaf, Structure
from ._array import array
from ._channels import ForwardChannels
from ._context import ForwardContext
from ._fvar import FVar

__all__ = ["by_entries"]

Array = NDArray[Any]


def by_entries(
    f: Any,
    x0: Array,
    structure: Structure | None,
    scales: Array,
    context: ForwardContext,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Array, list[ForwardChannels | None]]:
    """Run a program on :class:`FVar` s; values of its outputs, and their channels."""
    if structure is not None and structure.is_arguments:
        check_call(f, structure, args, kwargs)
    variables = context.inputs(x0.ravel(), scales)
    try:
        with np.errstate(all="ignore"):
            result = f(*_arguments(variables, x0, structure), *args, **kwargs)
    except RecursionError as error:
        msg = (
            "the program called itself deeper than Python's limit of "
            f"{sys.getrecursionlimit()} calls. Write the recursion as a loop, or raise "
            "sys.setrecursionlimit."
        )
        raise RecursionDepthError(msg) from error
    outs = _outputs(context, result)
    value = np.empty(outs.shape, dtype=x0.dtype)
    channels: list[ForwardChannels | None] = []
    for k, y in enumerate(outs.flat):
        value.flat[k] = y.v if isinstance(y, FVar) else y
        if isinstance(y, FVar) and y.fault is not None:
            raise y.fault
        channels.append(y.channels if isinstance(y, FVar) else None)
    return value, channels


def _arguments(
    variables: list[FVar], x0: Array, structure: Structure | None
) -> tuple[Any, ...]:
    """The variables as the program takes them."""
    if structure is None:
        return (array(variables, x0.shape) if x0.ndim else variables[0],)

    def part(leaf: Leaf) -> Any:
        entries = variables[leaf.slice]
        return array(entries, leaf.shape) if leaf.shape else entries[0]

    x = structure.build(part)
    return tuple(x) if structure.is_arguments else (x,)


def _outputs(context: ForwardContext, result: Any) -> Array:
    """The outputs as an object array of variables of this propagation and constants."""
    if isinstance(result, FVar):
        outs = np.empty((), dtype=object)
        outs[()] = result
    else:
        try:
            outs = np.asarray(result)
        except ValueError as error:
            msg = f"the program's result is no array of outputs ({error})."
            raise InputTypeError(msg) from None
    if outs.size == 0:
        msg = "the program returned an empty array; at least one output is needed."
        raise ShapeError(msg)
    if outs.dtype.kind not in "fiubO":
        msg = f"the program returned {result!r:.80}; forward variables are needed."
        raise InputTypeError(msg)
    live = False
    for y in outs.flat:
        if isinstance(y, FVar):
            live = live or not y.is_constant
            if not y.is_constant and y.context is not context:
                msg = (
                    "the program returned a variable of another propagation; return a "
                    "result computed from its own argument."
                )
                raise InputTypeError(msg)
        elif not isinstance(y, (bool, int, float, np.number, np.bool_)):
            msg = (
                f"the program returned {y!r:.80} of type {type(y).__name__}; it must "
                "return a forward variable, or an array or a list of them."
            )
            raise InputTypeError(msg)
    if not live:
        msg = (
            "on the branch taken at this point, the program's result does not depend on "
            "its argument, or its dependence was lost through a plain number; every "
            "derivative would be zero. Compute it from the argument with NumPy's functions."
        )
        raise ConstantProgramError(msg)
    return outs
