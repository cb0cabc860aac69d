"""Exact ties and kinks: refused, or noted on a tape that takes the value's branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._refusals import refuse_tie

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = ["Kink", "detached", "note", "noted", "settle_tie"]


@dataclass(frozen=True, slots=True, repr=False)
class Kink:
    """A place where a program has no derivative and the value's branch was taken.

    Attributes:
        node: Id of the node on its tape.
        elemental: Its elemental, ``"tie"`` for an entry selected by max, min or sort,
            or the sign of a comparison.
        values: Values of the operands.

    Example:
        >>> import derivative_covers as dc
        >>> dc.tape_function(lambda x: abs(x[0]) + x[1], [0.0, 1.0], kinks="branch")[0].kinks
        (<Kink at node 2: absolute(0.0)>,)
    """

    node: int
    elemental: str
    values: tuple[float, ...]

    def __repr__(self) -> str:
        if self.elemental[0] in "<>=!":
            text = f" {self.elemental} ".join(map(repr, self.values))
        else:
            text = f"{self.elemental}({', '.join(map(repr, self.values))})"
        return f"<Kink at node {self.node}: {text}>"


def note(tape: Tape, name: str, nodes: Any, left: Any, right: Any) -> None:
    """Note ties that a comparison or a search met, a node an entry."""
    tape.ties.append((name, np.ravel(nodes), np.ravel(left), np.ravel(right)))


def noted(tape: Tape) -> Iterator[Kink]:
    """The ties noted so far."""
    for name, nodes, left, right in tape.ties:
        for k, x, y in zip(nodes, left, right, strict=True):
            yield Kink(int(k), name, (float(x), float(y)))


def detached(tape: Tape, ids: Any) -> Any:
    """Which of some nodes stop_gradient made; constants (negative ids) count, too."""
    ids = np.asarray(ids)
    found = ids < 0
    if tape.detached:
        starts, stops = np.array(tape.detached).T
        at = np.searchsorted(starts, ids, side="right") - 1
        found = found | ((at >= 0) & (ids < stops[at]))
    return found


def settle_tie(
    tape: Tape, sign: str, ids: tuple[int, int], values: tuple[Any, Any]
) -> None:
    """Refuse a tie of two scalars; note it where the tape takes branches.

    Raises:
        NondifferentiableError: If the tape refuses ties and a derivative is at stake.
    """
    if tape.detached and detached(tape, ids).all():
        return
    node = ids[0] if ids[0] >= 0 else ids[1]
    if not tape.branch:
        whole = f"int({values[0]!r})"
        what = whole if sign == "int" else f"{values[0]!r} {sign} {values[1]!r}"
        refuse_tie(what, node, values)
    note(tape, sign, node, *values)
