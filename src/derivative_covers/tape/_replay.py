"""Replay: a recorded program at another point, without running the user's function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements import Interval, all_finite, as_element
from ..errors import DomainError, InputTypeError, ReplayError, ShapeError
from ._blocks import Block, Floats, Node
from ._guards import Guard
from ._values import Given, evaluated

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["HOOKS", "Hooks", "check_replayable", "flat_point", "over_box", "replay"]


@dataclass
class Hooks:
    """What layers above contribute to a replay.

    Attributes:
        values: ``values(tape, x)`` gives the values of all nodes at the flat point, by
            compiled code; None where it does not know the program.
        batch: ``batch(tape, X)`` answers a replay at many points, one a row.
        finish: ``finish(tape)`` does to a replayed tape what is done after a recording.
    """

    values: Callable[[Tape, Floats], Floats | None] | None = None
    batch: Callable[[Tape, Floats], Any] | None = None
    finish: Callable[[Tape], None] | None = None


HOOKS = Hooks()


def replay(tape: Tape, x: Any) -> Any:
    """The same program at another point; see :meth:`Tape.replay`."""
    check_replayable(tape)
    if _is_batch(tape, x):
        if HOOKS.batch is None:
            msg = (
                f"x has shape {np.shape(x)}; one point of the shape {tape.shape} is needed "
                "here. Many points at once take the compiler: without it, replay one "
                "after the other."
            )
            raise ShapeError(msg)
        return HOOKS.batch(tape, x)
    point = flat_point(tape, x)
    vals = HOOKS.values(tape, point) if HOOKS.values is not None else None
    given: Given = {}
    if vals is None:
        vals, given = evaluated(tape, point)
    for guard, before in _relations(tape):
        guard.check(before, tape.vals, vals)
    found = _at(tape, vals, given)
    if HOOKS.finish is not None:
        HOOKS.finish(found)
    return found


def _relations(tape: Tape) -> list[tuple[Guard, Any]]:
    """Every guard, and the relations that must hold; found out once."""
    found: list[tuple[Guard, Any]] | None = tape.cache.get("relations")
    if found is None:
        found = [(g, g.relations(tape.vals)) for g in tape.guards.all(tape)]
        tape.cache["relations"] = found
    return found


def check_replayable(tape: Tape) -> None:
    """Raise unless a finished recording can be evaluated at another point.

    Raises:
        ReplayError: If it cannot; the message says what stands in the way.
    """
    if not tape.finished or not tape.blocks:
        msg = (
            "a tape can be replayed when its recording has ended and until it is "
            "discarded; return from the recorded function first."
        )
        raise ReplayError(msg)
    if not tape.guards.keep:
        msg = "a propagation without a tape forgets its program; use tape_function."
        raise ReplayError(msg)
    if tape.box is not None:
        msg = (
            "a recording over a box, or of numbers that are objects, is not supported by "
            "replay; record the function over the other box."
        )
        raise ReplayError(msg)
    tape.guards.all(tape)  # may find a reason
    for what, remedy in tape.guards.reasons.items():
        msg = (
            f"this recording cannot be replayed: {what} was used, whose outcome at another "
            "point does not follow from the recorded operations. Record the function "
            f"there. {remedy}"
        )
        raise ReplayError(msg.rstrip())
    if "explicit" not in tape.cache:
        bare = [b for b in tape.blocks if isinstance(b, Node) and b.rule is None]
        tape.cache["explicit"] = bare[0].start if bare else None
    node = tape.cache["explicit"]
    if node is not None:
        msg = (
            f"node {node} was recorded explicitly, with derivatives that hold at one point, "
            "and nobody has said how they follow from its parents. Record the program "
            "at this point, or give pushnode a rule (replay=)."
        )
        raise ReplayError(msg)


def over_box(tape: Tape, box: Interval) -> Tape:
    """A tape of the same blocks over another box.

    It is right if the program would record the same blocks there: where it asked for no
    values, and over each part of the box.
    """
    found: Tape = object.__new__(type(tape))
    found.__dict__.update(tape.__dict__)
    found.box = box
    found.sets = {**tape.sets, 0: (np.ravel(box.lo), np.ravel(box.hi))}
    found.blocks, found.starts = list(tape.blocks), list(tape.starts)
    found.cache = {}
    return found


def _is_batch(tape: Tape, x: Any) -> bool:
    if tape.structure is not None:
        return False
    shape = np.shape(x)
    return len(shape) == len(tape.shape) + 1 and shape[1:] == tape.shape


def flat_point(tape: Tape, x: Any) -> Floats:
    """The inputs as the flat vector that they are on the tape.

    Raises:
        ShapeError: If they have another shape.
        DomainError: If one is not finite.
    """
    if tape.structure is not None:
        return tape.structure.flatten(x, "x", tape.dtype)
    try:
        a = np.asarray(as_element(x, tape.dtype))
    except (InputTypeError, ShapeError) as error:
        raise type(error)(str(error).replace("the value ", "x ", 1)) from None
    if a.shape != tape.shape:
        msg = f"x has shape {a.shape}; the program was recorded for {tape.shape}."
        raise ShapeError(msg)
    if not all_finite(a):
        msg = "x holds a NaN or an infinity; finite numbers are needed."
        raise DomainError(msg)
    return a.reshape(-1)


def _at(tape: Tape, vals: Floats, given: Given) -> Tape:
    """A tape of the same blocks with other values."""
    shown = vals.view()
    shown.flags.writeable = False
    found: Tape = object.__new__(type(tape))
    found.__dict__.update(tape.__dict__)
    found.blocks = [_moved(tape, block, vals, given) for block in tape.blocks]
    found.starts = list(tape.starts)
    found.kinks = ()
    found.ties = [(name, at, vals[at], vals[at]) for name, at, _, _ in tape.ties]
    found.cache = {"vals": shown}
    for name in (
        "machines",
        "relations",
        "runs",
    ):  # the same at every point of this branch
        if name in tape.cache:
            found.cache[name] = tape.cache[name]
    return found


def _moved(tape: Tape, block: Block, vals: Floats, given: Given) -> Block:
    values = vals[block.start : block.stop]
    if not isinstance(block, Node):
        return replace(block, values=values)
    if block.start not in given:
        given[block.start] = block.rule(vals[block.parents])
    _, d, C = given[block.start]
    partials = np.array(as_element(d, tape.dtype), dtype=tape.dtype).reshape(-1)
    return replace(block, values=values, d=partials, curvature=C)
