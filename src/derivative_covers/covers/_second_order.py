"""Hessian products, Hessians and the elementwise Hessian bound."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..elements import magnitude
from ..sweeps import (
    Explicit,
    adjoints,
    check_outputs,
    hessian_matrix,
    refuse_inexact,
    second_order,
    tangents,
)
from ..tape import Tape
from ._arguments import RecordingOptions, inputs_like, resolve, scalar_output
from ._bound import magnitudes_kind
from ._first_order import finite
from ._sparse import as_csr, sparse_hessian
from ._structure import blocks, shaped

__all__ = ["hessian", "hessian_bound", "hvp"]

Array = NDArray[Any]


def hvp(tape: Any, out: Any, v: Any, **recording: Unpack[RecordingOptions]) -> Any:
    """Product of the Hessian of a scalar output with a vector: three sweeps.

    Args:
        tape: A tape and ``out`` the id of its output; or a function and ``out`` a point.
        out: See ``tape``.
        v: Direction, of the shape (or structure) of the inputs; complex where these are.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        Array of the shape (or structure) of the inputs.

    Raises:
        UnsupportedOperationError: If a node declares a bound on its curvature instead
            of exact second partials.
        ShapeError: If ``v`` has another shape, or there is more than one output.
        DomainError: If the output depends on a node outside of its domain.
        NondifferentiableError: If it depends on a node at a kink, jump or tie.

    Guarantee:
        Exact up to rounding; over a box an :class:`Interval` that contains it.

    Cost:
        O(nodes) time, three numbers a node of memory.

    Source:
        Griewank and Walther, Evaluating Derivatives (2008), section 5.2.

    Example:
        >>> import derivative_covers as dc
        >>> dc.hvp(lambda x: x[0] * x[1] ** 2, [3.0, 2.0], [1.0, 0.0])
        array([0., 4.])
    """
    t, outs = resolve(tape, out, recording)
    o = scalar_output(outs, "hvp")
    direction = inputs_like(t, v, "v", t.element)
    program = check_outputs(t, o)
    refuse_inexact(program, o)
    vbar = adjoints(program, t, 1.0, o)
    found = second_order(program, t, vbar, tangents(program, t, direction), o)
    return shaped(t, finite(t, o, found[: t.ninputs], "the Hessian product"))


def hessian(
    tape: Any, out: Any, *, sparse: bool = False, **recording: Unpack[RecordingOptions]
) -> Any:
    """Hessian of a scalar output: one Hessian product an input, or from sparse rows.

    Args:
        tape: A tape and ``out`` the id of its output; or a function and ``out`` a point.
        out: See ``tape``.
        sparse: Form only the entries of :func:`hessian_sparsity`, from the intermediate
            gradients where these are sparse.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        Array of shape ``x0.shape + x0.shape``, symmetric; for inputs in a dictionary or
        tuple a nest of nests of blocks, so that ``H["a"]["b"]`` holds the derivatives
        with respect to ``a`` and ``b``. Sparse: a ``scipy.sparse.csr_array`` of shape
        (n, n) over the inputs in one flat vector.

    Raises:
        UnsupportedOperationError: If a node has no exact second partials.
        MissingPackageError: If ``sparse`` and SciPy is not installed.
        OptionError: If ``sparse`` and more than some ten million entries may be nonzero.
        ShapeError: If there is more than one output.
        DomainError: If the output depends on a node outside of its domain.
        NondifferentiableError: If it depends on a node at a kink, jump or tie.

    Guarantee:
        Exact up to rounding; over a box an :class:`Interval` that contains the Hessian
        at every point. (Sparse ones are refused there.)

    Cost:
        O(nodes) time for each input; the sum cover costs one sweep in all. Sparse: as
        :func:`hessian_sparsity`.

    Source:
        Griewank and Walther, Evaluating Derivatives (2008), section 5.2.

    Example:
        >>> import derivative_covers as dc
        >>> dc.hessian(lambda x: x[0] * x[1] ** 2, [3.0, 2.0])
        array([[0., 4.],
               [4., 6.]])
    """
    t, outs = resolve(tape, out, recording)
    o = scalar_output(outs, "hessian")
    program = check_outputs(t, o)
    refuse_inexact(program, o)
    if sparse:
        entries = sparse_hessian(t, o, program)
        return as_csr(t, entries, finite(t, o, entries.value, "the Hessian"))
    vbar = adjoints(program, t, 1.0, o)
    found = hessian_matrix(program, t, vbar, o)
    return blocks(t, finite(t, o, found, "the Hessian"))


def hessian_bound(tape: Any, out: Any, **recording: Unpack[RecordingOptions]) -> Any:
    """Entrywise bound ``B >= |Hessian|`` from absolute values: two sweeps an input.

    Args:
        tape: A tape and ``out`` the id of its output; or a function and ``out`` a point.
        out: See ``tape``.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        Array of shape ``x0.shape + x0.shape``, symmetric and nonnegative; a nest of
        nests of blocks as in :func:`hessian`.

    Raises:
        ShapeError: If there is more than one output.
        DomainError: If the output depends on a node outside of its domain.
        NondifferentiableError: If it depends on a node at a kink, jump or tie.

    Guarantee:
        At least ``|Hessian|`` entrywise, to rounding, over a box at every point and
        exactly; equal at a point where nothing cancels.

    Cost:
        O(nodes) time an input.

    Source:
        The second-order sweep with every factor replaced by its absolute value.

    Example:
        >>> import derivative_covers as dc
        >>> dc.hessian_bound(lambda x: x[0] ** 2 - x[0] * x[1], [1.0, 1.0])
        array([[2., 1.],
               [1., 0.]])
    """
    t, outs = resolve(tape, out, recording)
    o = scalar_output(outs, "hessian_bound")
    program = check_outputs(t, o)
    vbar = magnitude(adjoints(program, t, 1.0, o))
    n = t.ninputs
    kind = magnitudes_kind(t)
    found = np.empty((n, n), dtype=object if kind == "exact" else t.magtype)
    explicit = [s for s in program.below(o) if isinstance(s, Explicit) and s.deferred]
    utilde = {int(p): np.empty(n, dtype=t.magtype) for s in explicit for p in s.parents}
    for a in range(n):
        sigma = tangents(program, t, _unit(t, a), absolute=kind)
        found[a] = second_order(program, t, vbar, sigma, o, absolute=kind)[:n]
        for p, row in utilde.items():
            row[a] = sigma[p]
    found = np.maximum(found, found.T)
    for s in explicit:
        if vbar[s.start] != 0:
            s.curvature.bound_contribution(found, vbar[s.start], s.parents, utilde)
    return blocks(t, finite(t, o, found, "the Hessian bound"))


def _unit(tape: Tape, a: int) -> Array:
    e = np.zeros(tape.ninputs, dtype=tape.magtype)
    e[a] = 1
    return e
