"""Passes over a program: one loop over its steps, one kernel call a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoverError, UnsupportedOperationError
from ..local import ScaleSource, split_limit
from ..tape import Tape, TapeSite
from ._check import not_finite
from ._explicit import Explicit
from ._lower import Program
from ._step import NEEDS_SCALE, NOT_COVERED, CoverState
from .kernels._jit import charge

__all__ = [
    "adjoints",
    "any_asks",
    "cover_pass",
    "cover_state",
    "liveness",
    "refuse_inexact",
    "second_order",
    "slot_weights",
    "tangents",
]

Array = NDArray[Any]


def adjoints(
    program: Program, tape: Tape, seeds: Any, outs: Any, *, absolute: bool = False
) -> Array:
    """Adjoints of all nodes for weighted outputs: one reverse sweep."""
    charge(tape.nnodes)
    v = _seeded(tape, outs, seeds)
    with np.errstate(all="ignore"):
        for step in reversed(program.below(int(np.max(outs)))):
            step.adjoint(v, absolute)
    return v


def _seeded(tape: Tape, outs: Any, seeds: Any) -> Array:
    """Zeros but for the outputs; one that occurs several times has all its seeds."""
    v = np.zeros(tape.nnodes, dtype=tape.dtype)
    ids = np.ravel(outs)
    if (ids[1:] > ids[:-1]).all():  # an output an entry, which is faster
        v[ids] = np.ravel(seeds)
    else:
        np.add.at(v, outs, seeds)
    return v


def tangents(
    program: Program, tape: Tape, w: Array, *, absolute: bool = False
) -> Array:
    """Tangents of all nodes for a direction of the inputs: one forward sweep."""
    charge(tape.nnodes)
    s = np.zeros(tape.nnodes, dtype=tape.dtype)
    s[: tape.ninputs] = np.ravel(w)
    with np.errstate(all="ignore"):
        for step in program.steps:
            step.tangent(s, absolute)
    return s


def second_order(
    program: Program,
    tape: Tape,
    vbar: Array,
    dot: Array,
    out: int,
    *,
    absolute: bool = False,
) -> Array:
    """``sum_k vbar_k C^k_ij dot_j`` swept back to all nodes: one reverse sweep."""
    charge(tape.nnodes)
    b = np.zeros(tape.nnodes, dtype=tape.dtype)
    with np.errstate(all="ignore"):
        for step in reversed(program.below(out)):
            step.second(b, vbar, dot, absolute)
    return b


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
        with np.errstate(all="ignore"):
            if any(step.cross for step in program.steps) and any(
                step.has_zero() for step in program.steps
            ):
                found = np.zeros(tape.nnodes, dtype=np.uint8)
                for step in program.steps:
                    step.alive(found)
        tape.cache["live"] = found
    return found


def cover_state(
    program: Program, tape: Tape, scales: Array, ratio: Any, check: bool
) -> CoverState:
    """Options, liveness and declared scales of one cover, the last built on need."""
    live = liveness(program, tape)

    def dead() -> Any:
        return live == 0 if live.size else np.zeros(tape.nnodes, dtype=bool)

    source = ScaleSource(lambda: tangents(program, tape, scales, absolute=True), dead)
    sigma = np.empty(0, dtype=tape.dtype)
    limit = float(split_limit(tape.dtype.type))
    return CoverState(source, ratio, check, live, limit, sigma)


def cover_pass(
    program: Program, tape: Tape, out: Any, seeds: Any, state: CoverState
) -> tuple[Array, Array]:
    """Adjoints and sum merge ``g`` of all nodes in one reverse sweep."""
    charge(2 * tape.nnodes)
    adj = _seeded(tape, out, seeds)
    g = np.zeros(tape.nnodes, dtype=tape.dtype)
    with np.errstate(all="ignore"):
        for step in reversed(program.below(int(np.max(out)))):
            status, left = step.cover(adj, g, state, step.stop - step.start)
            while status:
                _settle(tape, state, status, step.start + left - 1, out)
                status, left = step.cover(adj, g, state, left)
    return adj, g


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
                _settle(tape, state, status, step.start + left - 1, None)
                rho, status, left = step.weights(adj, state)
            found.append(rho)
    return found


def _settle(tape: Tape, state: CoverState, status: int, k: int, out: Any) -> None:
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
