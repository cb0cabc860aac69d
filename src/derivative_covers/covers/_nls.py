"""Covers of the Hessian of a nonlinear least-squares objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..elements import as_element
from ..local import split_ratio
from ..results import Named, Summary, kinks_note, number, variables
from ..sweeps import (
    CoverState,
    Program,
    adjoints,
    check_outputs,
    cover_pass,
    cover_state,
    hybrid_channels,
    kinks_below,
    output_groups,
    output_quadrature,
    quadrature_rows,
    slot_weights,
)
from ..tape import Kink, Tape
from ._arguments import (
    RecordingOptions,
    declared,
    group_count,
    output_weights,
    resolve,
)
from ._bound import bound
from ._first_order import finite
from ._structure import shaped, vector

__all__ = ["NLSCover", "cover_nls", "gramcover"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class NLSCover(Named):
    """A cover of the Hessian of ``sum_k w_k r_k**2 / 2``, and of its two terms.

    ``numpy.asarray`` of it is ``h``, as one flat vector where the inputs came in a
    dictionary or tuple. Its ``repr`` is a table of the variables, of many the largest
    and the smallest; :meth:`named` gives them names.

    Attributes:
        value: ``sum_k w_k r_k**2 / 2``.
        gradient: Its gradient, of the shape (or structure) of the inputs.
        h: Cover of the whole Hessian, ``sqrt(h_gn**2 + h_curv**2)``.
        h_gn: Cover of the Gauss-Newton term ``J' W J``.
        h_curv: Cover of the curvature term ``sum_k w_k r_k * (Hessian of r_k)``.
        kinks: Where the value's branch was taken at a kink or tie; always empty unless
            the program was recorded with ``kinks="branch"``.

    Example:
        >>> import derivative_covers as dc
        >>> cover = dc.cover_nls(lambda x: [x[0] ** 2 - 3.0, 2 * x[1]], [1.0, 1.0])
        >>> cover.h_gn, cover.h_curv
        (array([2., 2.]), array([2., 0.]))
    """

    value: Any
    gradient: Any
    h: Any
    h_gn: Any
    h_curv: Any
    kinks: tuple[Kink, ...] = ()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return vector(self.h, dtype, copy)

    def _variables(self) -> tuple[Any, int]:
        return self.h, 0

    def _summary(self) -> Summary:
        columns = {
            "gradient": self.gradient,
            "h_gn": self.h_gn,
            "h_curv": self.h_curv,
            "h": self.h,
        }
        title = f"NLSCover: value={number(self.value)}{kinks_note(self.kinks)}"
        return Summary(title, (variables(self.names, columns, "h"),))


def gramcover(
    tape: Any, outs: Any, weights: Any = None, **recording: Unpack[RecordingOptions]
) -> Any:
    """Cover of ``J' W J`` for the Jacobian of an array of outputs: one reverse sweep.

    Args:
        tape: A tape and ``outs`` the ids of its outputs; or a function and a point.
        outs: See ``tape``.
        weights: Nonnegative weights, the diagonal of ``W``: one number, or one an
            output. None: all 1.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        Array of the shape (or structure) of the inputs: ``h`` with
        ``|(J' W J)_ij| <= h_i h_j``.

    Raises:
        ShapeError: If ``weights`` does not fit the outputs.
        OptionError: If a weight is negative or not finite.
        DomainError: If an output depends on a node outside of its domain, or the cover
            overflows.
        NondifferentiableError: If one depends on a node at a kink, jump or tie.

    Guarantee:
        Covers to rounding; over a box at every point, exactly.

    Cost:
        One reverse sweep.

    Source:
        The sum merge of the atoms ``sqrt(w_k) |J_k|``, over absolute sensitivities.

    Example:
        >>> import derivative_covers as dc
        >>> dc.gramcover(lambda x: [x[0] - x[1], 2 * x[1]], [1.0, 1.0])
        array([1., 3.])
    """
    t, ids = resolve(tape, outs, recording)
    root = _root(t, _weights(t, np.asarray(ids), weights))
    program = check_outputs(t, ids)
    return shaped(
        t, finite(t, ids, _gram(program, t, np.ravel(ids), root), "the cover")
    )


def cover_nls(
    tape: Any,
    outs: Any,
    *,
    ngroups: int | None = 1,
    weights: Any = None,
    scales: Any = None,
    ratio: float | None = None,
    check: bool = True,
    **recording: Unpack[RecordingOptions],
) -> NLSCover:
    """Cover of the Hessian of ``sum_k w_k r_k**2 / 2`` from the tape of the residuals.

    The Gauss-Newton term, known to be positive semidefinite, is covered by itself and
    not through the squares on a tape, and the curvature term weighs each residual's
    second derivatives by its value. At complex inputs the objective is this very sum, a
    holomorphic function (squares, not squared absolute values), and so are its
    derivatives.

    Args:
        tape: A tape and ``outs`` the ids of the residuals; or a function that returns
            them and a point.
        outs: See ``tape``.
        ngroups: Groups of residuals, and of atoms of the curvature term, at least 1:
            the sum merge serves inside a group and quadrature across. None takes
            quadrature over all, from exact rows, the tightest.
        weights: Nonnegative weights of the residuals: one number, or one each. None:
            all 1.
        scales: As in :func:`cover_hessian`.
        ratio: As in :func:`cover_hessian`.
        check: As in :func:`cover_hessian`, for the local covers.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        A :class:`NLSCover`.

    Raises:
        ShapeError: If ``weights`` or ``scales`` has a shape that does not fit, or there
            is no residual.
        OptionError: If weights, scales, ratio or ``ngroups`` cannot be used.
        DomainError: If a residual depends on a node outside of its domain, or the cover
            overflows.
        NondifferentiableError: If one depends on a node at a kink, jump or tie.
        CoverError: If a check fails, which is a bug.

    Guarantee:
        Each of the three covers its matrix, to rounding; over a box at every point,
        exactly. With ``ngroups=None``, ``h_gn``
        is the least cover that any vector of the diagonal of ``J' W J`` can be: its root.

    Cost:
        Of one group: a joint reverse sweep and one more. Of several: two reverse sweeps
        a group, and the colouring. None: as ``merge="quadrature"`` of
        :func:`cover_hessian`, twice.

    Source:
        ``H = J' W J + sum_k w_k r_k (Hessian of r_k)``; Cauchy-Schwarz.

    Example:
        >>> import numpy as np, derivative_covers as dc
        >>> t, y = np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.1, 0.6])
        >>> r = lambda x: x[0] * np.exp(-x[1] * t) - y
        >>> cover = dc.cover_nls(r, [1.5, 0.5], ngroups=None)
        >>> H = dc.hessian(lambda x: np.sum(r(x) ** 2) / 2, [1.5, 0.5])
        >>> dc.iscover(cover, H)
        True
    """
    t, ids = resolve(tape, outs, recording)
    ids = np.asarray(ids)
    groups = None if ngroups is None else group_count(ngroups)
    weight = _weights(t, ids, weights)
    threshold = split_ratio(ratio, t.dtype.type)
    w = declared(t, scales)
    program = check_outputs(t, ids)
    out = np.ravel(ids)
    r = t.values_at(out)
    state = cover_state(program, t, w, threshold, check)
    with np.errstate(all="ignore"):
        seeds = as_element(weight, t.element or t.dtype) * r
    adj, h_curv = _curvature(program, t, out, seeds, state, groups)
    h_gn = _gauss_newton(program, t, out, _root(t, weight), groups)
    with np.errstate(all="ignore"):
        h = np.asarray(np.hypot(bound(t, h_gn), h_curv))
        value = np.sum(seeds * r) / 2
    finite(t, ids, h, "the cover")
    gradient = finite(t, ids, adj[: t.ninputs], "the gradient")
    g, whole, gn, curv = (shaped(t, x) for x in (gradient, h, h_gn, h_curv))
    return NLSCover(value, g, whole, gn, curv, kinks_below(t, ids))


def _weights(tape: Tape, ids: Array, weights: Any) -> Array:
    """One weight an output, flat."""
    given = 1.0 if weights is None else weights
    return output_weights(tape, ids, given, "weights").ravel()


def _root(tape: Tape, weight: Array) -> Array:
    return np.asarray(np.sqrt(bound(tape, weight)))


def _gram(program: Program, tape: Tape, out: Array, root: Array) -> Array:
    return adjoints(program, tape, root, out, absolute=True)[: tape.ninputs]


def _gauss_newton(
    program: Program, tape: Tape, out: Array, root: Array, groups: int | None
) -> Array:
    if groups is None:
        total = _gram(program, tape, out, root)
        return output_quadrature(program, tape, out, root, total)
    groups = min(groups, out.size)
    if groups == 1:
        return _gram(program, tape, out, root)
    group = output_groups(program, tape, out, groups)
    h = np.zeros(tape.ninputs, dtype=tape.magtype)
    for g in range(groups):
        mine = group == g
        if mine.any():
            part = _gram(program, tape, out[mine], root[mine])
            h = np.asarray(np.hypot(bound(tape, h), part))
    return h


def _curvature(
    program: Program,
    tape: Tape,
    out: Array,
    seeds: Array,
    state: CoverState,
    groups: int | None,
) -> tuple[Array, Array]:
    """Adjoints, and the cover of the curvature term."""
    if groups == 1:
        adj, g = cover_pass(program, tape, out, seeds, state)
        return adj, g[: tape.ninputs]
    adj = adjoints(program, tape, seeds, out)
    rho = slot_weights(program, tape, adj, state)
    last = int(out.max())
    if groups is None or groups >= sum(step.natoms() for step in program.steps):
        h = quadrature_rows(program, tape, rho, last)
        assert h is not None  # there was no limit
        return adj, h
    return adj, hybrid_channels(program, tape, rho, last, groups)
