"""Passes over a program: one loop over its steps, one kernel call a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoverError, UnsupportedOperationError
from ..local import ScaleSource, split_limit
from ..tape import Tape, TapeSite
from ._arithmetic import over_boxes
from ._check import not_finite
from ._explicit import Explicit
from ._lower import Program
from ._pages import zeros
from ._step import NEEDS_SCALE, NOT_COVERED, CoverState, Step
from .kernels._jit import charge

__all__ = [
    "adjoints",
    "any_asks",
    "cover_pass",
    "cover_state",
    "covered",
    "hessian_matrix",
    "liveness",
    "liveness_from",
    "refuse_inexact",
    "second_order",
    "settle",
    "slot_weights",
    "tangents",
]

Array = NDArray[Any]


@over_boxes
def adjoints(
    program: Program,
    tape: Tape,
    seeds: Any,
    outs: Any,
    *,
    absolute: bool = False,
    held: Array | None = None,
    last: bool = False,
) -> Array:
    """Adjoints of all nodes for weighted outputs: one reverse sweep.

    ``held`` are adjoints that the first inputs have already, from programs that come
    after this one: the sweep goes on with them, in the order of one sweep over all.
    ``last`` says that tape and program are not needed again: their memory is freed as
    the sweep passes.
    """
    charge(tape.nnodes)
    v = _seeded(tape, outs, seeds, held, absolute)
    steps = program.below(int(np.max(outs)))
    if last:
        program.steps.clear()
        tape.discard()
    with np.errstate(all="ignore"):
        while steps:
            steps.pop().adjoint(v, absolute)
    return v


def _seeded(
    tape: Tape, outs: Any, seeds: Any, held: Array | None = None, absolute: bool = False
) -> Array:
    """Zeros but for the outputs; one that occurs several times has all its seeds."""
    v = zeros(tape.nnodes, tape.magtype if absolute else tape.dtype)
    ids = np.ravel(outs)
    n = 0
    if held is not None:
        n = held.size
        v[:n] = held
    if (ids[1:] > ids[:-1]).all() and ids[0] >= n:  # an entry an output: faster
        v[ids] = np.ravel(seeds)
    else:
        np.add.at(v, outs, seeds)
    return v


@over_boxes
def tangents(
    program: Program, tape: Tape, w: Array, *, absolute: bool = False
) -> Array:
    """Tangents of all nodes for a direction of the inputs: one forward sweep."""
    charge(tape.nnodes)
    s = np.zeros(tape.nnodes, dtype=tape.magtype if absolute else tape.dtype)
    s[: tape.ninputs] = np.ravel(w)
    with np.errstate(all="ignore"):
        for step in program.steps:
            step.tangent(s, absolute)
    return s


@over_boxes
def second_order(
    program: Program,
    tape: Tape,
    vbar: Array,
    dot: Array,
    out: Any,
    *,
    absolute: bool = False,
    seeds: Any = 0.0,
    held: Array | None = None,
) -> Array:
    """``sum_k vbar_k C^k_ij dot_j`` swept back to all nodes: one reverse sweep.

    ``seeds`` at the outputs, and what the first inputs ``held``, are the same sums over
    programs that come after this one.
    """
    charge(tape.nnodes)
    b = _seeded(tape, out, seeds, held, absolute)
    with np.errstate(all="ignore"):
        for step in reversed(program.below(int(np.max(out)))):
            step.second(b, vbar, dot, absolute)
    return b


@over_boxes
def hessian_matrix(program: Program, tape: Tape, vbar: Array, out: int) -> Any:
    """The Hessian of an output whose adjoints are given, a product an input."""
    n = tape.ninputs
    found = np.empty((n, n), dtype=tape.dtype)
    for a in range(n):
        e = np.zeros(n, dtype=tape.dtype)
        e[a] = 1
        found[a] = second_order(program, tape, vbar, tangents(program, tape, e), out)[
            :n
        ]
    with np.errstate(all="ignore"):
        symmetric: Array = found / 2 + found.T / 2
    return symmetric


def refuse_inexact(program: Program, out: int) -> None:
    """Raise if a node that an output may depend on has no exact second partials."""
    for step in program.below(out):
        if isinstance(step, Explicit) and not step.curvature.has_exact_partials:
            msg = (
                f"node {step.start} declares a bound on its curvature ("
                f"{type(step.curvature).__name__}) instead of exact second partials, so "
                "no Hessian product can be formed. Covers and first-order sweeps work; "
                "record the sub-program itself where Hessian products are needed."
            )
            raise UnsupportedOperationError(msg)


def liveness(program: Program, tape: Tape) -> NDArray[np.uint8]:
    """One byte a node: whether its gradient is not exactly zero; empty if all are live.

    Costs a scan of the partials, and a forward sweep only where an exact zero occurs.
    """
    found = tape.cache.get("live")
    if found is None:
        found = np.empty(0, dtype=np.uint8)
        if any(step.cross for step in program.steps):
            found = liveness_from(program, tape)
        tape.cache["live"] = found
    return found


def liveness_from(
    program: Program, tape: Tape, inputs: Array | None = None
) -> NDArray[np.uint8]:
    """Liveness of all nodes where it is known of the inputs (None: all are live).

    Empty if all nodes are live.
    """
    dead = inputs is not None and not inputs.all()
    with np.errstate(all="ignore"):
        if not (dead or any(step.has_zero() for step in program.steps)):
            return np.empty(0, dtype=np.uint8)
        live = np.zeros(tape.nnodes, dtype=np.uint8)
        live[: tape.ninputs] = 1 if inputs is None else inputs
        for step in program.steps:
            if step.start >= tape.ninputs:
                step.alive(live)
    return live


def cover_state(
    program: Program,
    tape: Tape,
    scales: Array | Callable[[], Array],
    ratio: Any,
    check: bool,
    *,
    live: NDArray[np.uint8] | None = None,
) -> CoverState:
    """Options, liveness and declared scales of one cover, the last built on need.

    ``scales`` are those of the inputs, or a function that gives them when a block asks;
    ``live`` is the liveness of all nodes where some input may be dead.
    """
    if live is None:
        live = liveness(program, tape)

    def dead() -> Any:
        return live == 0 if live.size else np.zeros(tape.nnodes, dtype=bool)

    def built() -> Array:
        w = scales() if callable(scales) else scales
        return tangents(program, tape, w, absolute=True)

    source = ScaleSource(built, dead)
    sigma = np.empty(0, dtype=tape.magtype)
    limit = float(split_limit(tape.magtype.type))
    return CoverState(source, ratio, check, live, limit, sigma)


@over_boxes
def cover_pass(
    program: Program,
    tape: Tape,
    out: Any,
    seeds: Any,
    state: CoverState,
    *,
    above: Any = 0.0,
    held: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """Adjoints and sum merge ``g`` of all nodes in one reverse sweep.

    ``above`` is the ``g`` of the outputs, and ``held`` the adjoints and the ``g`` of the
    first inputs, from programs that come after this one.
    """
    charge(2 * tape.nnodes)
    first, second = (None, None) if held is None else held
    adj = _seeded(tape, out, seeds, first)
    g = _seeded(tape, out, above, second, absolute=True)
    with np.errstate(all="ignore"):
        for step in reversed(program.below(int(np.max(out)))):
            covered(tape, step, adj, g, state, out)
    return adj, g


def covered(
    tape: Tape, step: Step, adj: Array, g: Array, state: CoverState, out: Any
) -> None:
    """The joint sweep of one step, with the declared scales that it may ask for."""
    status, left = step.cover(adj, g, state, step.stop - step.start)
    while status:
        settle(tape, state, status, step.start + left - 1, out)
        status, left = step.cover(adj, g, state, left)


@over_boxes
def slot_weights(
    program: Program, tape: Tape, adj: Array, state: CoverState
) -> list[Any]:
    """Slot weights ``rho`` of every step."""
    charge(tape.nnodes)
    found = []
    with np.errstate(all="ignore"):
        for step in program.steps:
            rho, status, left = step.weights(adj, state)
            while status:
                settle(tape, state, status, step.start + left - 1, None)
                rho, status, left = step.weights(adj, state)
            found.append(rho)
    return found


def settle(tape: Tape, state: CoverState, status: int, k: int, out: Any) -> None:
    """Build the declared scales that node ``k`` asks for, or raise for its failure."""
    if status == NEEDS_SCALE:
        state.ask()
        return
    site = TapeSite(tape, k)
    if status == NOT_COVERED:
        msg = (
            f"{site.site_label()}: the split does not cover its block "
            f"({site.site_values()}). This is a bug of the package; please report it."
        )
        raise CoverError(msg)
    raise not_finite(tape, k if out is None else out, "the cover")


def any_asks(program: Program, ratio: Any) -> bool:
    """Whether some block could ask for declared scales."""
    with np.errstate(all="ignore"):
        return any(step.asks(ratio) for step in program.steps)
