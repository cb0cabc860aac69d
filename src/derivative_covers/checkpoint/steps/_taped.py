"""One step of a chain, recorded on a tape of its own.

The inputs of the tape are the entries of the parameters, then those of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConstantProgramError, InputTypeError
from ...sweeps import Program, adjoints, check_outputs
from ...tape import Tape, input_variable, one_recording, output_entries, shared_variable
from ...tape._kinks import detached
from ..states._states import (
    Space,
    canonical,
    finite,
    flat,
    leaves,
    matched,
    rebuild,
    space,
)
from ._blame import not_finite

__all__ = ["StepRecord", "check_type", "record_step"]

Array = NDArray[Any]
_TYPES = (np.dtype(np.float64), np.dtype(np.float32))


@dataclass(slots=True)
class StepRecord:
    """A recorded step.

    Attributes:
        tape: The step's own tape: inputs are the parameters' entries, then the state's.
        outs: Node ids of the output's entries in order, flat; -1 for a constant.
        y: The output, a state; None once somebody else has taken it.
        nparams: Number of entries of the parameters.
        inputs: Space of the step's input.
        outputs: Space of its output.
        params: Space of the parameters, or None.
    """

    tape: Tape
    outs: NDArray[np.int64]
    y: Any
    nparams: int
    inputs: Space
    outputs: Space
    params: Space | None

    def check(self) -> Program | None:
        """The program behind the outputs; None if all of them are constants.

        Raises:
            DomainError: If an output depends on a node outside of its domain, or is not
                finite.
            NondifferentiableError: If one depends on a node at a kink, jump or tie.
        """
        recorded = self.outs >= 0
        program = None
        if recorded.any():
            outs = self.outs if recorded.all() else self.outs[recorded]
            program = check_outputs(self.tape, outs)
        if not finite(self.y):  # a constant entry
            raise not_finite(self.y, "its output")
        return program

    def refuse_constant(self, k: int) -> None:
        """Refuses an output that depends on nothing; for the last step of a chain.

        Raises:
            ConstantProgramError: As for a program on one tape.
        """
        if detached(self.tape, self.outs).all():
            msg = (
                f"the result of the chain, given by step {k}, does not depend on x0 or "
                "params at this point, or its dependence was lost through a plain number "
                "in some step; every derivative would be zero. Compute it from the "
                "state with NumPy's functions."
            )
            raise ConstantProgramError(msg)

    def pullback(
        self, ybar: Any, params_bar: Any, *, last: bool = False
    ) -> tuple[Any, Any]:
        """Cotangents of the input and, added to what came, of the parameters.

        After the ``last`` call, which frees memory as it goes, there can be no other.
        """
        seeds = flat(matched(ybar, self.outputs, "the cotangent"))
        held = None
        if self.params is not None:
            held = flat(matched(params_bar, self.params, "the parameters' cotangent"))
        recorded = self.outs >= 0
        if not recorded.any():
            return self.inputs.zeros(), params_bar
        outs = self.outs
        if not recorded.all():
            outs, seeds = outs[recorded], seeds[recorded]
        program = check_outputs(self.tape, outs)
        v = adjoints(program, self.tape, seeds, outs, held=held, last=last)
        n = self.nparams
        xbar = self.inputs.build(v[n : n + self.inputs.size])
        if self.params is not None:
            params_bar = self.params.build(v[:n])
        return xbar, params_bar


def record_step(
    f: Callable[..., Any],
    x: Any,
    params: Any,
    k: int,
    *,
    branch: bool = False,
    ids: NDArray[np.int64] | None = None,
) -> StepRecord:
    """Record ``f(x, k)``, or ``f(x, params, k)`` where ``params`` is not None.

    Args:
        f: The step.
        x: State that it starts from, presented or not.
        params: Parameters, or None.
        k: Index of the step.
        branch: Whether kinks and ties take the value's branch.
        ids: For every entry of ``x``, the input that it is: entry ``j`` of the state is
            ``nparams + j``, parameters come before; entries may be one input, and -1
            makes an entry a constant. None: every entry is its own input.

    Raises:
        InputTypeError: If state, parameters and output are not all float64 or all
            float32, or if the output is no nest of real floats.
        TapeError: If a variable of another recording is returned.

    Cost:
        The step's own NumPy calls, about 1 microsecond more for each, and a copy of the
        state and the parameters.
    """
    x = canonical(x, "the state", k)
    inputs, params_space, nparams = space(x), None, 0
    arrays = leaves(x)
    if params is not None:
        params = canonical(params, "params")
        params_space = space(params)
        nparams = params_space.size
        _check_types(k, parameters=leaves(params), state=arrays)
        arrays = [*leaves(params), *arrays]
    else:
        _check_types(k, state=arrays)
    single = len(arrays) == 1
    tape = Tape(arrays[0] if single else np.concatenate([a.ravel() for a in arrays]))
    tape.branch = branch
    with one_recording(tape):
        args = [_variables(tape, x, nparams, ids)]
        if params is not None:
            args.append(_variables(tape, params, 0, None))
        result = f(*args, k)
        outs: list[Array] = []
        read = _read(tape, result, outs)
    y = canonical(read, "the output", k)
    found = np.concatenate(outs) if len(outs) > 1 else outs[0]
    _check_types(k, state=arrays[-1:], output=leaves(y))
    return StepRecord(tape, found, y, nparams, inputs, space(y), params_space)


def check_type(y: Any, x: Any, k: int) -> None:
    """Raise if the output of a step is not of one type, that of its input.

    A tape keeps one type, so that a recorded step would give other numbers.

    Raises:
        InputTypeError: With both types.
    """
    if not _has_type(y, getattr(_first(x), "dtype", _TYPES[0])):
        state = leaves(canonical(x, "the state", k))
        _check_types(k, state=state, output=leaves(canonical(y, "the output", k)))


def _first(x: Any) -> Any:
    while isinstance(x, (Mapping, list, tuple)) and x:
        x = next(iter(x.values() if isinstance(x, Mapping) else x))
    return x


def _has_type(y: Any, dtype: Any) -> bool:
    """Whether all leaves are certainly of a type; False where only a close look tells."""
    if isinstance(y, (list, tuple)):
        return all(_has_type(part, dtype) for part in y)
    if isinstance(y, Mapping):
        return all(_has_type(part, dtype) for part in y.values())
    return getattr(y, "dtype", None) is dtype


def _check_types(k: int, **parts: list[Array]) -> None:
    """Raise unless all arrays are of one type that a tape can have."""
    types = {a.dtype for arrays in parts.values() for a in arrays}
    if len(types) == 1 and types.issubset(_TYPES):
        return
    found = ", ".join(
        f"{part}: {' and '.join(sorted({str(a.dtype) for a in arrays}))}"
        for part, arrays in parts.items()
    )
    msg = (
        f"step {k} has {found}; a recorded step keeps one type for state, parameters and "
        "output, float64 or float32. Convert them (numpy.float32(0.5) is a constant of "
        "the narrow type), or use Transition.from_vjp."
    )
    raise InputTypeError(msg)


def _variables(
    tape: Tape, state: Any, start: int, ids: NDArray[np.int64] | None
) -> Any:
    """The state as variables that cannot be written to, as its arrays cannot."""
    made = []
    at = 0
    for a in leaves(state):
        stop = at + prod(a.shape)
        if ids is None:
            variable = input_variable(tape, a.shape, start + at)
        else:
            variable = shared_variable(tape, a, ids[at:stop].reshape(a.shape))
        if a.ndim:
            variable.v.flags.writeable = False
        made.append(variable)
        at = stop
    return rebuild(state, made)


def _read(tape: Tape, result: Any, outs: list[Array]) -> Any:
    """The output's values in its containers; appends the ids of every leaf."""
    if isinstance(result, Mapping):
        return {key: _read(tape, part, outs) for key, part in result.items()}
    if isinstance(result, (list, tuple)):
        parts = [_read(tape, part, outs) for part in result]
        if isinstance(result, list):
            return parts
        kind = type(result) if hasattr(result, "_fields") else tuple
        return tuple.__new__(kind, parts)
    values, ids = output_entries(tape, result)
    if ids is None:
        outs.append(np.full(np.size(values), -1, dtype=np.int64))
    else:
        outs.append(ids.ravel())
    return values
