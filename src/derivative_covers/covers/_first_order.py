"""Gradients, Jacobians and absolute sensitivities."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..elements import all_finite
from ..errors import OptionError
from ..sweeps import (
    adjoints,
    check_outputs,
    check_tape,
    input_adjoints,
    lower,
    not_finite,
    tangents,
)
from ..tape import Tape
from ._arguments import (
    RecordingOptions,
    inputs_like,
    output_weights,
    resolve,
    scalar_output,
)
from ._bound import magnitudes_kind
from ._structure import shaped

__all__ = ["abs_forward", "abs_reverse", "gradient", "jacobian", "sensitivity_scales"]

Array = NDArray[Any]


def gradient(tape: Any, out: Any, **recording: Unpack[RecordingOptions]) -> Any:
    """Gradient of a scalar output: one reverse sweep.

    Args:
        tape: A tape and ``out`` the id of its output; or a function and ``out`` a point.
        out: See ``tape``.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        Array of the shape of the inputs (or arrays in their structure); entry ``a`` is
        the derivative with respect to input ``a``, in units of the output over those of
        the input. With ``kinks="branch"``, the ``kinks`` of a tape say where a branch
        was taken.

    Raises:
        DomainError: If the output depends on a node outside of its domain.
        NondifferentiableError: If it depends on a node at a kink, jump or tie.
        ShapeError: If there is more than one output.

    Guarantee:
        Exact up to rounding; the same bits with and without the compiler. Over a box an
        :class:`Interval` that contains the gradient at every point.

    Cost:
        O(nodes) time, one number a node of memory.

    Source:
        Griewank and Walther, Evaluating Derivatives (2008), chapter 3.

    Example:
        >>> import derivative_covers as dc
        >>> dc.gradient(lambda x: x[0] * x[1] ** 2, [3.0, 2.0])
        array([ 4., 12.])
    """
    t, outs = resolve(tape, out, recording)
    o = scalar_output(outs, "gradient")
    program = check_outputs(t, o)
    found = input_adjoints(program, t, o)
    return shaped(t, finite(t, o, found, "the gradient"), sole=True)


def finite(tape: Tape, out: Any, found: Array, what: str) -> Array:
    """The result itself.

    Raises:
        DomainError: If it holds a NaN or an infinity.
    """
    if not all_finite(found):
        raise not_finite(tape, out, what)
    return found


def jacobian(tape: Any, outs: Any, **recording: Unpack[RecordingOptions]) -> Any:
    """Jacobian of an array of outputs: a sweep an output, or an input where those are fewer.

    Args:
        tape: A tape and ``outs`` the ids of its outputs; or a function and a point.
        outs: See ``tape``.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        Array of shape ``outs.shape + x0.shape``; for inputs in a dictionary or tuple
        the same structure, with such an array for every entry.

    Raises:
        DomainError: If an output depends on a node outside of its domain.
        NondifferentiableError: If one depends on a node at a kink, jump or tie.

    Guarantee:
        Exact up to rounding; with no more outputs than inputs, a row equals the gradient
        of its output bit for bit. Over a box an :class:`Interval` that contains the
        Jacobian at every point.

    Cost:
        O(nodes) time an output; of float64 programs with fewer inputs than outputs, an
        input.

    Source:
        Griewank and Walther, Evaluating Derivatives (2008), chapter 3.

    Example:
        >>> import derivative_covers as dc
        >>> dc.jacobian(lambda x: [x[0] * x[1], 3 * x[1]], [2.0, 5.0])
        array([[5., 2.],
               [0., 3.]])
    """
    t, ids = resolve(tape, outs, recording)
    ids = np.asarray(ids)
    program = check_outputs(t, ids)
    flat = ids.ravel()
    if 0 < t.ninputs < flat.size and t.dtype == np.float64 and t.box is None:
        units = np.eye(t.ninputs)
        rows = np.stack([tangents(program, t, e)[flat] for e in units], axis=1)
        whole = all_finite(rows)  # else products on the way overflowed, perhaps
    else:
        whole = False
    if not whole:
        rows = np.stack([input_adjoints(program, t, k) for k in flat.tolist()])
    found = finite(t, ids, rows, "the Jacobian")
    return shaped(t, found.reshape((*ids.shape, t.ninputs)))


def abs_forward(w: Any, tape: Tape) -> Array:
    """Absolute sensitivities of every node, weighted by ``w``: one forward sweep.

    Args:
        w: Nonnegative weights of the inputs, in their shape or structure.
        tape: A finished tape.

    Returns:
        Array of shape ``(nnodes,)``: the sum over all paths from the inputs of the
        products of absolute partials, so at least ``sum_a |dv_k/dx_a| w_a``, with
        equality where no paths cancel. Over a box it holds exactly, at every point.

    Raises:
        ShapeError: If ``w`` has another shape than the inputs.
        OptionError: If an entry is negative or not finite.
        TapeError: If the tape is still recording.

    Cost:
        O(nodes).

    Example:
        >>> import derivative_covers as dc
        >>> tape, out = dc.tape_function(lambda x: x[0] - 3 * x[1], [1.0, 2.0])
        >>> float(dc.abs_forward([1.0, 1.0], tape)[out])
        4.0
    """
    weights = inputs_like(tape, w, "w", check_tape(tape).magtype)
    if (weights < 0).any():
        msg = "w has a negative entry; weights are nonnegative."
        raise OptionError(msg)
    return tangents(lower(tape), tape, weights, absolute=magnitudes_kind(tape))


def sensitivity_scales(w: Any, tape: Tape) -> Array:
    """Declared scales of every node from those of the inputs: one forward sweep.

    Args:
        w: Declared scales of the inputs, in their shape (or structure) and units; None for unit
            scales, which asserts that all inputs share units.
        tape: A finished tape.

    Returns:
        Array of shape ``(nnodes,)``, in each node's units.

    Raises:
        ShapeError: If ``w`` has another shape than the inputs.
        OptionError: If an entry is negative or not finite.
        TapeError: If the tape is still recording.

    Cost:
        O(nodes).

    Example:
        >>> import derivative_covers as dc
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [2.0, 3.0])
        >>> float(dc.sensitivity_scales(None, tape)[out])
        5.0
    """
    if w is None:
        w = np.ones(tape.ninputs)
        return tangents(lower(tape), tape, w, absolute=magnitudes_kind(tape))
    return abs_forward(w, tape)


def abs_reverse(
    tape: Any, outs: Any, seeds: Any, **recording: Unpack[RecordingOptions]
) -> Any:
    """Absolute sensitivities of weighted outputs to the inputs: one reverse sweep.

    Args:
        tape: A tape and ``outs`` the ids of its outputs; or a function and a point.
        outs: See ``tape``.
        seeds: Nonnegative weights of the outputs: one number, or one an output.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        Array of the shape (or structure) of the inputs, at least ``sum_k seeds_k |d out_k / dx_a|``.

    Raises:
        ShapeError: If ``seeds`` does not fit the outputs.
        OptionError: If a seed is negative or not finite.
        DomainError: If an output depends on a node outside of its domain.
        NondifferentiableError: If one depends on a node at a kink, jump or tie.

    Cost:
        O(nodes).

    Example:
        >>> import derivative_covers as dc
        >>> dc.abs_reverse(lambda x: [x[0] - x[1], 2 * x[1]], [1.0, 1.0], [1.0, 1.0])
        array([1., 3.])
    """
    t, ids = resolve(tape, outs, recording)
    ids = np.atleast_1d(np.asarray(ids))
    weights = output_weights(t, ids, seeds, "seeds")
    program = check_outputs(t, ids)
    found = adjoints(program, t, weights, ids, absolute=magnitudes_kind(t))
    return shaped(t, found[: t.ninputs])
