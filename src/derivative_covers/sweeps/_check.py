"""Errors that count only where an output depends on the node: domains and kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DomainError
from ..tape import (
    Block,
    Constants,
    Fixed,
    Kink,
    Linear,
    Tape,
    describe,
    kink_marks,
    noted,
    reason,
)
from ._arithmetic import over_boxes
from ._lower import Program, lower
from .kernels._jit import charge

__all__ = ["check_outputs", "kinks_below", "not_finite", "reached"]


def reached(program: Program, n: int, outs: Any, mode: int) -> NDArray[np.uint8]:
    """One byte a node: whether one of the outputs depends on it.

    Mode 0 follows first partials that are not exactly zero, 1 second partials too, 2 all.
    """
    charge(n)
    mark = np.zeros(n, dtype=np.uint8)
    mark[outs] = 1
    for step in reversed(program.below(int(np.max(outs)))):
        step.reach(mark, mode)
    return mark


@over_boxes
def check_outputs(tape: Tape, outs: Any) -> Program:
    """Raise if an output depends on a node that has no derivative; gives the program.

    Raises:
        DomainError: For the first such node outside of its domain, or where an output
            is not finite.
        NondifferentiableError: For the first such node at a kink, jump or tie.
    """
    program = lower(tape)
    outs = np.ravel(outs)
    finite = bool(np.isfinite(tape.values_at(outs)).all())
    if not program.marks and finite:
        return program
    mark = reached(program, tape.nnodes, outs, 1 if finite else 2)
    for start, bad in program.marks:
        hit = np.flatnonzero(bad & (mark[start : start + bad.size] != 0))
        if hit.size:
            raise reason(tape, start + int(hit[0]))
    if not finite:
        raise _infinite(tape, mark)
    return program


def kinks_below(tape: Tape, outs: Any) -> tuple[Kink, ...]:
    """Kinks at which a branch was taken: those outputs depend on, and all comparisons."""
    if not tape.branch:
        return ()
    at = tape.cache.get("kinks")
    if at is None:
        found = [(block.start, kink_marks(tape, block)) for block in tape.blocks]
        ids = [s + np.flatnonzero(bad) for s, bad in found if bad is not None]
        at = np.concatenate([*ids, np.empty(0, dtype=np.int64)]).astype(np.int64)
        tape.cache["kinks"] = at
    if at.size:
        mark = reached(lower(tape), tape.nnodes, np.ravel(outs), 1)
        at = at[mark[at] != 0]
    here = []
    for k in at.tolist():
        name, _, operands = describe(tape, k)
        here.append(Kink(k, name, operands))
    return tuple(sorted([*here, *noted(tape)], key=lambda kink: kink.node))


def _infinite(tape: Tape, mark: NDArray[np.uint8]) -> DomainError:
    k = int(np.flatnonzero((mark != 0) & ~np.isfinite(tape.vals))[0])
    name, value, operands = describe(tape, k)
    shown = ", ".join(f"{v!r}" for v in operands)
    call = f"{name}({shown})" if operands else f"a {name} combination"
    if isinstance(tape.block_of(k), Constants):
        call = "the result"
    bad, at = _bad_constant(tape.block_of(k), k, operands)
    if bad is None:
        msg = (
            f"node {k}: {call} = {value!r} overflows; evaluate at another point, or "
            "rewrite the program. An output depends on it."
        )
    else:
        holds = f"the data that enter {call} hold {bad} {at}"
        msg = (
            f"{holds if at else f'a constant that enters {call} is {bad}'}. Leave such "
            "entries out, by a mask such as np.isfinite(data), or np.nansum for a sum. "
            f"(Node {k} has a constant operand that is not finite, and an output depends "
            "on it.)"
        )
    return DomainError(msg, elemental=name, node=k, values=operands)


def _bad_constant(
    block: Block, k: int, operands: tuple[Any, ...]
) -> tuple[str | None, str]:
    """What is not finite among the constants of node ``k``, and where it stands."""
    numbers, at = np.array(operands), ""
    if isinstance(block, Linear):
        *nodes, terms = block.shape
        place = np.unravel_index(k - block.start, nodes)
        first = sum(int(i) * s for i, s in zip(place, block.coef_strides, strict=False))
        numbers = block.coef[first + block.coef_strides[-1] * np.arange(terms)]
        at = "at index {} of " + str(terms)
    elif isinstance(block, Fixed) and block.size > 1 and block.const.size > 1:
        at = f"at index {k - block.start} of {block.size}, row by row"
    elif isinstance(block, Constants):
        numbers = block.values[[k - block.start]]
    bad = np.flatnonzero(~np.isfinite(numbers))
    if not bad.size:
        return None, ""
    what = "a NaN" if np.isnan(numbers[bad[0]]) else "an infinity"
    return what, at.format(bad[0])


@over_boxes
def not_finite(tape: Tape, outs: Any, what: str) -> DomainError:
    """The exception for a sweep whose result is not finite: names the first culprit."""
    program = lower(tape)
    mark = reached(program, tape.nnodes, np.ravel(outs), 1)
    for step in program.steps:
        mine = mark[step.start : step.stop] != 0
        for at in np.flatnonzero(mine & ~step.finite()):
            k = step.start + int(at)
            name, value, operands = describe(tape, k)
            shown = ", ".join(f"{v!r}" for v in operands)
            msg = (
                f"{what} is not finite: node {k}, {name}({shown}) = {value!r}, has first "
                f"partials {tape.ds[k].tolist()!r} and second partials "
                f"{tape.Cs[k]!r}. Evaluate at another point."
            )
            return DomainError(msg, elemental=name, node=k, values=operands)
    msg = (
        f"{what} is not finite: products of finite partials overflow along the program. "
        "Rescale the variables or the result."
    )
    return DomainError(msg)
