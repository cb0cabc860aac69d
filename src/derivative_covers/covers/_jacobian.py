"""Covers of the Jacobian of a program with several outputs."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..errors import DomainError
from ..sweeps import adjoints, check_outputs, kinks_below, output_groups, tangents
from ._arguments import RecordingOptions, declared, group_count, resolve
from ._bound import bound
from ._first_order import finite
from ._jacobian_result import JacobianCover
from ._structure import shaped

__all__ = ["cover_jacobian"]

Array = NDArray[Any]


def cover_jacobian(
    tape: Any,
    outs: Any,
    *,
    scales: Any = None,
    ngroups: int = 1,
    **recording: Unpack[RecordingOptions],
) -> JacobianCover:
    """Cover of the Jacobian of an array of outputs: ``|J_ki| <= a_k b_i``.

    ``a`` is the natural size of each output: what steps of the declared scales change
    it by, absolute values added along all paths. ``b`` is the largest of the relative
    rates at which groups of outputs react to an input.

    Args:
        tape: A tape and ``outs`` the ids of its outputs; or a function and a point.
        outs: See ``tape``.
        scales: Declared scales of the inputs, positive, in their shape (or structure)
            and units; None: all 1.
        ngroups: Groups of outputs, at least 1. More groups are tighter. Outputs that
            depend on different inputs share one, so that a banded Jacobian needs about
            as many as its bandwidth.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        A :class:`JacobianCover` ``(a, b)``, with ``a`` in the shape of the outputs and
        ``b`` in that (or in the structure) of the inputs.

    Raises:
        OptionError: If ``scales`` or ``ngroups`` cannot be used.
        ShapeError: If ``scales`` has another shape than the inputs.
        DomainError: If an output depends on a node outside of its domain, or the cover
            overflows.
        NondifferentiableError: If one depends on a node at a kink, jump or tie.

    Guarantee:
        Covers to rounding; over a box at every point, exactly. Under powers of two for the units of inputs (with
        ``scales``) and of outputs, ``a`` and ``b`` change by exactly those powers. A
        row or column without any path is exactly zero.

    Cost:
        One forward sweep and ``ngroups`` reverse sweeps, and for several groups the
        colouring of the outputs; the Jacobian is never formed.

    Source:
        ``|J| <= U`` with the absolute sensitivities ``U``; for any positive ``a``,
        ``U_ki <= a_k sum_l (U_li / a_l)``, the sum over the group of ``k``.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> F = lambda x: np.stack([1000 * x[0], x[0] - x[1]])
        >>> a, b = dc.cover_jacobian(F, [1.0, 2.0], ngroups=2)
        >>> a, b
        (array([1000.,    2.]), array([1. , 0.5]))
    """
    t, ids = resolve(tape, outs, recording)
    ids = np.asarray(ids)
    ngroups = group_count(ngroups)
    w = declared(t, scales)
    program = check_outputs(t, ids)
    flat = np.ravel(ids)
    a = finite(t, ids, tangents(program, t, w, absolute=True)[flat], "the cover")
    if not a.all():
        ones = np.ones_like(w)
        _refuse_underflow(a, tangents(program, t, ones, absolute=True)[flat])
    with np.errstate(all="ignore"):
        inverse = np.asarray(1 / bound(t, np.where(a > 0, a, 1)))
        seeds = np.where(a > 0, inverse, 0).astype(t.magtype)
    ngroups = min(ngroups, flat.size)
    group = np.zeros(flat.size, dtype=np.int64)
    if ngroups > 1:
        group = output_groups(program, t, flat, ngroups)
    b = np.zeros(t.ninputs, dtype=t.magtype)
    for g in range(ngroups):
        mine = group == g
        if mine.any():
            rate = adjoints(program, t, seeds[mine], flat[mine], absolute=True)
            b = np.maximum(b, rate[: t.ninputs])
    b = shaped(t, finite(t, ids, b, "the cover"))
    return JacobianCover(a.reshape(ids.shape), b, kinks_below(t, ids))


def _refuse_underflow(a: Array, plain: Array) -> None:
    """Refuse sizes of outputs that are zero by rounding alone."""
    lost = np.flatnonzero((a == 0) & (plain > 0))
    if lost.size:
        msg = (
            f"the size of output {int(lost[0])} underflows to zero: its sensitivity of "
            f"{float(plain[lost[0]])!r} times the declared scales is below the range of "
            "numbers. Choose scales nearer to the inputs' own sizes."
        )
        raise DomainError(msg)
