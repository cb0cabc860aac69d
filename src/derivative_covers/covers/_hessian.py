"""Covers of the Hessian of a program."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..elements import magnitude, separation
from ..errors import CoverError, OptionError
from ..local import split_ratio
from ..sweeps import (
    CoverState,
    Program,
    adjoints,
    any_asks,
    check_outputs,
    cover_state,
    hybrid_channels,
    input_cover,
    kinks_below,
    lower,
    quadrature_rows,
    slot_weights,
    tangents,
)
from ..tape import NodeView, Tape
from ._arguments import (
    RecordingOptions,
    declared,
    group_count,
    resolve,
    scalar_output,
)
from ._auto import BUDGET, best_within
from ._elsewhere import Request, elsewhere
from ._first_order import finite
from ._results import HessianCover
from ._structure import shaped

__all__ = ["cover_hessian", "cover_hybrid", "guards_any_block", "local_covers"]

Array = NDArray[Any]


def cover_hessian(
    tape: Any,
    out: Any,
    *,
    merge: str = "sum",
    budget: int | None = None,
    scales: Any = None,
    ratio: float | None = None,
    check: bool = True,
    **recording: Unpack[RecordingOptions],
) -> HessianCover:
    """Cover of the Hessian of a scalar output: ``|H_ij| <= h_i h_j``.

    Args:
        tape: A tape and ``out`` the id of its output; or a function and ``out`` a point.
        out: See ``tape``. With an array of JAX in the point, or a function that takes
            no other, JAX evaluates the program and the result's ``backend`` says so:
            see :mod:`derivative_covers.interop.jax`, whose functions compile once.
        merge: ``"auto"`` takes the tightest that there is for ``budget`` gradients, and
            says in the result which: the exact Hessian (of few inputs, or with few
            nonzero entries), quadrature, groups as in :func:`cover_hybrid`, or the sum.
            ``"sum"`` takes one sweep; ``"quadrature"`` is tighter, and takes some
            where every intermediate result depends on few inputs (or on few and one
            common sum). Where all depend on all it takes about half as much as a full
            Hessian of hundreds of inputs, and more than one of a handful.
        budget: About how many gradients ``merge="auto"`` may cost, at least 1; None:
            500, in which the rows of most large tapes can be formed.
        scales: Declared scales of the inputs, positive, in their shape (or structure)
            and units. They stand in where a block's parent values carry no scale (a product with a
            vanishing factor). None: all 1.
        ratio: How lopsided a pair of parent values must be to carry no scale, in
            [0, 1); None for the square root of the machine epsilon.
        check: Verify every local cover, and for the quadrature merge two computations
            of the gradient against each other.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        A :class:`HessianCover`.

    Raises:
        DomainError: If the output depends on a node outside of its domain.
        NondifferentiableError: If it depends on a node at a kink, jump or tie.
        OptionError: For a merge, budget, scales or ratio that cannot be used.
        ShapeError: If there is more than one output, or ``scales`` has another shape.
        InputTypeError: If the arguments are no tape and output, or function and point.
        CoverError: If a check fails, which is a bug.

    Guarantee:
        Covers to rounding; over a box, at every point of it and exactly, and value and
        gradient are intervals. Under ``x -> D x`` with powers of two, ``h`` changes by
        exactly those powers, bit for bit, where no block asks for declared scales (see
        :func:`guards_any_block`), and otherwise if ``scales`` change along. Auto may
        cover the Hessian as it is computed, with the rounding errors of its entries.

    Cost:
        Sum: one joint reverse sweep, O(nodes); over a box about ten of these. Quadrature: O(nodes) while every
        intermediate result depends on few inputs, and one sweep more for each of those
        that do not. Auto: about ``budget`` gradients at most, a try that was given up
        included, as predicted from the sizes of the tape's parts (the result's
        ``cost``); the clock may say half or twice as much.

    Source:
        The chain rule in outer-product form: ``H`` is the sum over nodes of adjoint
        times second partials times outer products of intermediate gradients.

    Example:
        >>> import derivative_covers as dc
        >>> dc.cover_hessian(lambda x: 8 * x[0] ** 2 + x[1] ** 2 / 2, [1.0, 1.0]).h
        array([4., 1.])
    """
    if merge not in {"auto", "sum", "quadrature"}:
        msg = (
            f"merge is {merge!r}; it must be 'auto', 'sum' or 'quadrature' "
            "(cover_hybrid, with a number of groups, lies between the last two)."
        )
        raise OptionError(msg)
    gradients = _budget(merge, budget)
    request = Request(tape, out, merge, scales, ratio, recording)
    begun = _begin_or_elsewhere(request, check, "cover_hessian")
    if isinstance(begun, HessianCover):
        return begun
    t, o, program, state = begun
    if merge == "auto":
        chosen, adj, h, cost = best_within(t, o, program, state, gradients)
        return _result(t, o, adj[: t.ninputs], h, state, chosen, cost)
    if merge == "sum":
        adj, h = input_cover(program, t, o, state)
        return _result(t, o, adj, h, state, "sum")
    return _quadrature(t, o, program, state)


def cover_hybrid(
    tape: Any,
    out: Any,
    *,
    ngroups: int,
    scales: Any = None,
    ratio: float | None = None,
    check: bool = True,
    **recording: Unpack[RecordingOptions],
) -> HessianCover:
    """Cover of a Hessian between the sum and the quadrature merge.

    Atoms are put into groups, by support where that loses nothing; the sum merge serves
    inside a group, quadrature across groups.

    Args:
        tape: A tape and ``out`` the id of its output; or a function and ``out`` a point.
        out: See ``tape``.
        ngroups: Number of groups, at least 1; 8 serves most partially separable
            programs. With one group the result is that of the sum merge; with at least
            :func:`natoms` groups the quadrature merge is used.
        scales: As in :func:`cover_hessian`.
        ratio: As in :func:`cover_hessian`.
        check: As in :func:`cover_hessian`.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        A :class:`HessianCover`.

    Raises:
        OptionError: If ``ngroups`` is not a positive integer, and as in
            :func:`cover_hessian`.
        ShapeError: If there is more than one output, or ``scales`` has another shape.
        DomainError: If the output depends on a node outside of its domain.
        NondifferentiableError: If it depends on a node at a kink, jump or tie.

    Guarantee:
        Covers to rounding, over a box at every point and exactly; never above the sum
        merge.

    Cost:
        ``ngroups`` reverse sweeps, four sweeps beside them, and the colouring of atoms.

    Source:
        Cauchy-Schwarz over groups of atoms.

    Example:
        >>> import derivative_covers as dc
        >>> f = lambda x: (x[0] + x[1]) ** 2 + (x[0] - x[1]) ** 2
        >>> dc.cover_hybrid(f, [1.0, 2.0], ngroups=2).h
        array([2., 2.])
    """
    ngroups = group_count(ngroups)
    request = Request(tape, out, ngroups, scales, ratio, recording)
    begun = _begin_or_elsewhere(request, check, "cover_hybrid")
    if isinstance(begun, HessianCover):
        return begun
    t, o, program, state = begun
    if ngroups >= natoms(t):
        return _quadrature(t, o, program, state)
    adj = adjoints(program, t, 1.0, o)
    rho = slot_weights(program, t, adj, state)
    h = hybrid_channels(program, t, rho, o, ngroups)
    return _result(t, o, adj[: t.ninputs], h, state, "hybrid")


def _budget(merge: str, budget: Any) -> int:
    if budget is None:
        return BUDGET
    if merge != "auto":
        msg = f"budget serves merge='auto'; merge is {merge!r}."
        raise OptionError(msg)
    return group_count(budget, "budget")


def _begin(
    tape: Any,
    out: Any,
    scales: Any,
    ratio: Any,
    check: bool,
    what: str,
    recording: RecordingOptions,
) -> tuple[Tape, int, Program, CoverState]:
    t, outs = resolve(tape, out, recording)
    o = scalar_output(outs, what)
    threshold = split_ratio(ratio, t.dtype.type)
    w: Any = partial(declared, t, None) if scales is None else declared(t, scales)
    program = check_outputs(t, o)
    return t, o, program, cover_state(program, t, w, threshold, check)


def _begin_or_elsewhere(
    request: Request, check: bool, what: str
) -> tuple[Tape, int, Program, CoverState] | HessianCover:
    """What :func:`_begin` gives, or the cover of a function that is not NumPy's."""
    r = request
    if (found := elsewhere(r)) is not None:
        return found
    try:
        return _begin(r.f, r.x0, r.scales, r.ratio, check, what, r.recording)
    except (TypeError, AttributeError) as error:
        if (found := elsewhere(r, error)) is None:
            raise
        return found


def _result(
    t: Tape,
    o: int,
    adj: Array,
    h: Array,
    state: CoverState,
    merge: str,
    cost: float | None = None,
) -> HessianCover:
    grad = shaped(t, finite(t, o, adj, "the gradient"), sole=merge == "sum")
    h = shaped(t, finite(t, o, h, "the cover"), sole=merge == "sum")
    value = t.values_at(np.array([o]))[0]
    kinks = kinks_below(t, o)
    return HessianCover(value, grad, h, merge, state.source.built, kinks, cost)


def _quadrature(t: Tape, o: int, program: Program, state: CoverState) -> HessianCover:
    adj = adjoints(program, t, 1.0, o)
    rho = slot_weights(program, t, adj, state)
    h = quadrature_rows(program, t, rho, o)
    assert h is not None  # there was no limit
    if state.check:
        _check_gradient(t, o, program, adj[: t.ninputs])
    return _result(t, o, adj[: t.ninputs], h, state, "quadrature")


def _check_gradient(t: Tape, o: int, program: Program, grad: Array) -> None:
    """Compare the reverse gradient with a forward tangent in one direction."""
    if t.element is not None:
        return  # of its rounding nothing is known
    size = magnitude(grad)
    if not (np.isfinite(size).all() and size.any()):
        return
    with np.errstate(all="ignore"):
        direction = np.where(size > 0, 1 / size, 0).astype(t.magtype)
    direction = np.where(np.isfinite(direction), direction, 0).astype(t.magtype)
    direction *= np.where(np.arange(direction.size) % 2, -0.5, 1).astype(t.magtype)
    forward = tangents(program, t, direction)[o]
    reference = tangents(program, t, np.abs(direction), absolute=True)[o]
    reverse = np.sum(grad * direction)
    tolerance = 64 * np.finfo(t.dtype).eps * np.sqrt(t.nnodes)
    if np.isfinite(reference) and separation(forward, reverse) > tolerance * reference:
        msg = (
            f"two computations of the gradient differ: {forward!r} forward and {reverse!r} "
            "in reverse. If a node was recorded explicitly, check its partials; otherwise "
            "this is a bug of the package."
        )
        raise CoverError(msg)


def guards_any_block(tape: Tape, *, ratio: float | None = None) -> bool:
    """Whether a cover of this tape could read the declared scales.

    It is decided from values and second partials alone, without a sweep. Where it is
    False, covers are exactly covariant under a change of the inputs' units; where it is
    True, ``scales`` have to change along.

    Args:
        tape: A finished tape.
        ratio: As in :func:`cover_hessian`.

    Returns:
        True if some block has an active off-diagonal entry and parent values that carry
        no scale. It may overcount: blocks without an adjoint, or with a dead slot, never
        ask.

    Raises:
        OptionError: If the ratio is not in [0, 1).
        TapeError: If the tape is still recording.
        InputTypeError: If it is no tape.

    Cost:
        One scan of the blocks.

    Example:
        >>> import derivative_covers as dc
        >>> tape, _ = dc.tape_function(lambda x: x[0] * x[1], [0.0, 1.0])
        >>> dc.guards_any_block(tape)
        True
    """
    program = lower(tape)
    return any_asks(program, split_ratio(ratio, tape.dtype.type))


def natoms(tape: Tape) -> int:
    """Number of atoms of a tape: its independent rank-1 second-order terms.

    A unary or binary elemental with a nonzero second partial has one, an inner product
    one a pair, a linear node none. It is the number of groups at which
    :func:`cover_hybrid` reaches the quadrature merge.

    Args:
        tape: A finished tape.

    Returns:
        The count over the whole tape, nodes without influence included.

    Raises:
        TapeError: If the tape is still recording.
        InputTypeError: If it is no tape.

    Cost:
        One scan of the blocks.

    Example:
        >>> import derivative_covers as dc
        >>> tape, _ = dc.tape_function(lambda x: x[0] ** 2 + x[0] * x[1], [1.0, 2.0])
        >>> dc.natoms(tape)
        2
    """
    return sum(step.natoms() for step in lower(tape).steps)


class LocalCovers(NodeView):
    """Slot weights of every node: a sequence by node id, built on demand."""

    def __init__(self, tape: Tape, program: Program, rho: list[Any]) -> None:
        super().__init__(tape, self._weights)
        self._program, self._rho = program, rho

    def _weights(self, tape: Tape, k: int) -> Array | None:
        at = len(self._program.below(k)) - 1
        rho = self._program.steps[at].rho_of(k, self._rho[at])
        return None if rho is None else rho[: tape.parents[k].size]

    def __repr__(self) -> str:
        return f"<local covers of {len(self)} nodes>"


def local_covers(
    tape: Any,
    out: Any,
    *,
    scales: Any = None,
    ratio: float | None = None,
    check: bool = True,
    **recording: Unpack[RecordingOptions],
) -> LocalCovers:
    """Local covers of all nodes for a scalar output.

    Args:
        tape: A tape and ``out`` the id of its output; or a function and ``out`` a point.
        out: See ``tape``.
        scales: As in :func:`cover_hessian`.
        ratio: As in :func:`cover_hessian`.
        check: As in :func:`cover_hessian`.
        **recording: ``args``, ``kwargs``, ``kinks`` and ``numpy`` as in
            :func:`tape_function`, where a function is given.

    Returns:
        A sequence by node id: None without a second-order term, else ``rho``, a slot an
        entry, with ``rho_i rho_j >= |adjoint| |C_ij|``. Slots of one parent are merged:
        the first one carries the weight of both.

    Raises:
        DomainError: If the output depends on a node outside of its domain.
        NondifferentiableError: If it depends on a node at a kink, jump or tie.
        ShapeError: If there is more than one output, or ``scales`` has another shape.

    Guarantee:
        Every entry of a node's second partials is covered, to rounding (over a box at
        every point and exactly), except those
        with a slot whose gradient is identically zero.

    Cost:
        One reverse sweep and one scan.

    Example:
        >>> import derivative_covers as dc
        >>> tape, out = dc.tape_function(lambda x: x[0] * x[1], [4.0, 1.0])
        >>> dc.local_covers(tape, out)[out]
        array([0.5, 2. ])
    """
    t, o, program, state = _begin(
        tape, out, scales, ratio, check, "local_covers", recording
    )
    adj = adjoints(program, t, 1.0, o)
    return LocalCovers(t, program, slot_weights(program, t, adj, state))
