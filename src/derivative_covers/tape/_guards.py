"""What a replay must check: every decision that recorded values took while recording.

A decision is kept as pairs of numbers, nodes or constants, whose *relation* decided it:
which of two is the larger one, or whether they are equal. A point at which all relations
are the same takes the same branches. What no pair of numbers can express is named, and
makes the recording one that cannot be replayed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BranchChangedError
from ._blocks import Floats, Ids, Operand

if TYPE_CHECKING:
    from ._tape import Tape

__all__ = [
    "EQUAL",
    "GREATER",
    "LESS",
    "UNEQUAL",
    "UNORDERED",
    "Guard",
    "GuardTable",
    "Guards",
    "Side",
    "relations",
]

UNORDERED, LESS, GREATER, EQUAL, UNEQUAL = range(5)
"""Relations of two numbers; UNORDERED: one is NaN; UNEQUAL where only that counts."""

_EQUALITY = frozenset(("==", "!="))
_KEPT = 5 * 65536  # entries of scalar comparisons kept as Python objects
_EXACT = 1 << 53

Relations = NDArray[np.uint8]


class Side(NamedTuple):
    """One side of a guard: nodes, constants, or both.

    ``const`` counts where there is no operand, and where an explicit id is negative.
    """

    operand: Operand | None
    const: Any = None

    def values(self, vals: Floats, n: int) -> Any:
        """The numbers on this side, ``n`` of them or one."""
        x = self.operand
        if x is None:
            return self.const
        found = x.read(vals, n)
        if self.const is None or x.ids is None:
            return found
        return np.where(x.ids < 0, self.const, found)

    def ids(self, n: int) -> Ids:
        """The node of every entry; -1 for a constant."""
        if self.operand is None:
            return np.full(n, -1, dtype=np.int64)
        return self.operand.flat((n,))


@dataclass(slots=True, repr=False, eq=False)
class Guard:
    """Pairs of numbers whose relations one decision followed from.

    ``decision`` names it: the sign of a comparison, or the function that decided.
    ``equality`` says that only equality counts. ``signs`` has the name of every pair
    where they came from different comparisons.
    """

    decision: str
    size: int
    x: Side
    y: Side
    equality: Any = False
    signs: Any = None

    def pairs(self, vals: Floats) -> tuple[Any, Any]:
        """The numbers on both sides, given the values of all nodes."""
        return self.x.values(vals, self.size), self.y.values(vals, self.size)

    def relations(self, vals: Floats) -> Relations:
        """The relation of every pair."""
        found = relations(*self.pairs(vals), self.equality)
        return np.broadcast_to(found, (self.size,))

    def check(self, before: Relations, then: Floats, now: Floats) -> None:
        """Compare the relations ``before``, of values ``then``, with those of ``now``.

        Raises:
            BranchChangedError: If one is not the same.
        """
        changed = self.relations(now) != before
        if not changed.any():
            return
        at = int(np.argmax(changed))
        old, new = (
            tuple(np.broadcast_to(e, (self.size,))[at].item() for e in self.pairs(v))
            for v in (then, now)
        )
        name = self.decision if self.signs is None else self.signs[at]
        places = [
            f"node {k}"
            for k in (self.x.ids(self.size)[at], self.y.ids(self.size)[at])
            if k >= 0
        ]
        msg = (
            f"the decision by {name} ({' and '.join(places)}) was taken for {old[0]!r} "
            f"and {old[1]!r} when the program was recorded, and {new[0]!r} and {new[1]!r} "
            "at this point would take another branch, or tie. Record the program at this point."
        )
        raise BranchChangedError(msg, name, old, new)


def relations(x: Any, y: Any, equality: Any = False) -> Any:
    """How every ``x`` stands to ``y``; ``equality``: all that counts is whether they are equal."""
    with np.errstate(all="ignore"):
        same = np.equal(x, y)
        if equality is True:
            apart = np.equal(x, x) & np.equal(y, y) & ~same
            return (EQUAL * same + UNEQUAL * apart).astype(np.uint8)
        found = LESS * np.less(x, y) + GREATER * np.greater(x, y) + EQUAL * same
    if equality is not False:
        found = np.where(
            equality & ((found == LESS) | (found == GREATER)), UNEQUAL, found
        )
    return np.asarray(found).astype(np.uint8)


class GuardTable(NamedTuple):
    """All guards of a tape as columns, a row a pair of numbers, for compiled code.

    ``relation`` is what must hold: UNORDERED, LESS, GREATER, EQUAL or UNEQUAL (and
    neither is NaN). A side is the node of its id, or the constant where that is -1.
    """

    relation: Relations
    x: Ids
    y: Ids
    x_const: Floats
    y_const: Floats


class Guards:
    """The decisions of one recording.

    Args:
        keep: Whether to keep them; a tape that forgets its nodes keeps none.

    Attributes:
        scalars: Scalar comparisons, five entries each: sign, ids and values of both
            sides. Recording appends to it and does nothing else.
        reasons: Why the recording cannot be replayed, by what was used.
        free: First nodes of blocks whose constants cancel from all results, so that two
            recordings of one program may have others.
    """

    def __init__(self, *, keep: bool = True) -> None:
        self.keep = keep
        self.scalars: Any = [] if keep else deque(maxlen=0)
        self.found: Any = [] if keep else deque(maxlen=0)
        self.reasons: dict[str, str] = {}
        self.free: set[int] = set()

    def __len__(self) -> int:
        found: int = sum(guard.size for guard in self.found)
        return found + len(self.scalars) // 5

    def refuse(self, what: str, remedy: str = "") -> None:
        """Note that something was used whose outcome no guard can hold."""
        self.reasons.setdefault(what, remedy)

    def settle(self, tape: Tape) -> None:
        """Turn the pending scalar comparisons into a guard of columns, where they are many."""
        if len(self.scalars) > _KEPT:
            self.all(tape)

    def all(self, tape: Tape) -> list[Guard]:
        """All guards, scalar ones included."""
        rows, found = self.scalars, self.found
        if rows:
            # In this order, a thread that comes between finds a guard twice at worst.
            self.found = found = [*found, self._columns(tape, rows)]
            self.scalars = []
        return list(found)

    def _columns(self, tape: Tape, rows: list[Any]) -> Guard:
        signs = np.array(rows[0::5])
        sides = []
        for ids, values in ((rows[1::5], rows[3::5]), (rows[2::5], rows[4::5])):
            at = np.array(ids, dtype=np.int64)
            const = [
                0.0 if k >= 0 else self._number(tape, v)
                for k, v in zip(ids, values, strict=True)
            ]
            wide = np.result_type(tape.dtype, np.float64)
            sides.append(Side(Operand(0, (1,), at), np.array(const, dtype=wide)))
        equality = np.isin(signs, list(_EQUALITY))
        x, y = sides
        return Guard("a comparison", signs.size, x, y, equality, signs)

    def _number(self, tape: Tape, c: Any) -> Any:
        """A constant as it was compared."""
        if isinstance(c, int) and abs(c) > _EXACT:
            self.refuse(
                "a comparison with an integer that no float holds",
                "Compare with a float.",
            )
            return 0.0
        # NumPy compares its own scalars in their own type, and Python's in the other's.
        return tape.dtype.type(c) if type(c) in (float, int, bool) else c

    def table(self, tape: Tape) -> GuardTable:
        """All guards as columns; the relations are those of the values on the tape."""
        vals = tape.vals
        columns: list[list[Any]] = [[], [], [], [], []]
        for guard in self.all(tape):
            n = guard.size
            ids = [side.ids(n) for side in (guard.x, guard.y)]
            consts = [
                np.broadcast_to(0.0 if e.const is None else e.const, (n,))
                for e in (guard.x, guard.y)
            ]
            for column, part in zip(
                columns, (guard.relations(vals), *ids, *consts), strict=True
            ):
                column.append(part)
        if not columns[0]:
            empty = np.empty(0, dtype=np.int64)
            return GuardTable(
                empty.astype(np.uint8), empty, empty, *(np.empty(0, tape.dtype),) * 2
            )
        relation, x, y, left, right = (np.concatenate(c) for c in columns)
        return GuardTable(relation, x, y, left, right)
