"""What the text of all passes shares: operands, loops and guarded additions.

Names in the text: ``X, Y, V`` are the operands' values and the stored one; ``a, b`` the
places of the operands; ``w, g, u`` what a node has in the arrays that a pass reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._scalars import CHEAP
from ._symbols import Symbol
from ._text import Lines
from ._trace import Traced

__all__ = [
    "GATHER",
    "LANES",
    "SHAPES",
    "Addition",
    "Body",
    "absolute",
    "indented",
    "is_cheap",
    "is_zero",
    "times",
]

LANES, GATHER = "lanes", "gather"
SHAPES = (LANES, GATHER)

# How patterns reach their operands: a slot, one constant, a constant an entry, or none.
_ACCESS = {
    0: ("slot", None),
    1: ("slot", "slot"),
    2: ("slot", "one"),
    3: ("one", "slot"),
    4: ("slot", "each"),
    5: ("each", "slot"),
    6: ("slot", None),
}


def indented(lines: list[str], levels: int = 1) -> list[str]:
    """Lines further to the right."""
    return ["    " * levels + line for line in lines]


def times(d: str, w: str) -> str:
    """A product; by one and minus one without a multiplication."""
    if d == "1.0":
        return w
    return f"-{w}" if d == "(-1.0)" else f"{d} * {w}"


def absolute(term: str) -> str:
    """The absolute value; of a constant, the constant."""
    try:
        return repr(abs(float(term.strip("()"))))
    except ValueError:
        return f"abs({term})"


@dataclass(frozen=True, slots=True)
class Addition:
    """``array[operand] += term`` where ``guard`` holds; no guard: everywhere."""

    array: str
    term: str
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """The part of a pass that depends on pattern and shape alone.

    Attributes:
        traced: The elemental's expressions.
        shape: ``LANES`` or ``GATHER``.
    """

    traced: Traced
    shape: str

    @property
    def slots(self) -> tuple[str, ...]:
        """The differentiated operands, ``"x"`` or ``"y"``."""
        access = _ACCESS[self.traced.pattern]
        return tuple(k for k, how in zip("xy", access, strict=True) if how == "slot")

    @property
    def merges(self) -> bool:
        """Whether two slots may meet in one node, which only a run can tell."""
        return self.traced.two and self.shape == GATHER

    def firsts(self) -> dict[str, Any]:
        """First partials by slot; ``"xy"`` is the slot that two make where they meet."""
        t = self.traced
        found = dict(zip(self.slots, (t.d1, t.d2), strict=False))
        return {**found, "xy": t.both[0]} if self.merges else found

    def seconds(self) -> dict[str, list[tuple[Any, str]]]:
        """Second partials by slot, each with the slot whose tangent it multiplies."""
        t = self.traced
        if not t.two:
            return {k: [(t.c11, k)] for k in self.slots}
        found = {"x": [(t.c11, "x"), (t.c12, "y")], "y": [(t.c12, "x"), (t.c22, "y")]}
        return {**found, "xy": [(t.both[1], "xy")]} if self.merges else found

    def place(self, slot: str) -> str:
        """Text of the place of an operand; ``"xy"`` is one that two slots meet in."""
        if self.shape == LANES:
            return f"{slot} + i"
        return "b" if slot == "y" else "a"

    def write(self, *outputs: Any) -> Lines:
        """Expressions as text; None is left out."""
        return Lines(outputs, named=True)

    def before(self, names: set[str]) -> list[str]:
        """What is read once, before the loop."""
        if self.shape == GATHER:
            return []
        access = _ACCESS[self.traced.pattern]
        return [
            f"{k.upper()} = p[{k}]"
            for k, how in zip("xy", access, strict=True)
            if how == "one" and k.upper() in names
        ]

    def places(self) -> list[str]:
        """The places of the operands of node ``i``."""
        if self.shape == LANES:
            return []
        return [f"{'a' if k == 'x' else 'b'} = ids[{k} + i]" for k in self.slots]

    def reads(self, names: set[str]) -> list[str]:
        """The operands' values of node ``i``."""
        out = []
        for k, how in zip("xy", _ACCESS[self.traced.pattern], strict=True):
            if k.upper() not in names or how is None:
                continue
            if how == "slot":
                out.append(f"{k.upper()} = p[{self.place(k)}]")
            elif how == "each":
                out.append(f"{k.upper()} = p[{k} + i]")
            elif self.shape == GATHER:
                out.append(f"{k.upper()} = p[ids[{k} + i]]")
        if "V" in names:
            out.append("V = p[o + i]")
        return out

    def loop(self, body: list[str], *, down: bool = False) -> list[str]:
        """A loop over the nodes, upward unless ``down``."""
        head = "for i in range(n - 1, -1, -1):" if down else "for i in range(n):"
        return [head, *indented(body)]

    def by_slots(self, loops: list[list[str]]) -> list[str]:
        """A loop a slot, in the order that adds as node after node does.

        The ranges of two slots may overlap. An entry then gets what the later node gives
        first, which is the node that reaches it by the slot that starts lower.
        """
        if len(loops) == 1:
            return loops[0]
        return [
            "for slot in range(2):",
            "    if (slot == 0) == (x < y):",
            *indented(loops[0], 2),
            "    else:",
            *indented(loops[1], 2),
        ]

    def selected(
        self, slot: str, additions: list[Addition], *, fresh: bool = False
    ) -> list[str]:
        """Additions by selection, free of branches; ``fresh``: to zeros."""
        at = self.place(slot)
        out = []
        sums: dict[str, str] = {}
        for k, add in enumerate(additions):
            term = add.term
            if add.guard is not None:
                # Formed first, so that the selection is between two names.
                out.append(f"m{k} = {term}")
                term = f"(m{k} if {add.guard} else 0.0)"
            held = "0.0" if fresh else f"{add.array}[{at}]"
            before = sums.get(add.array, held)
            sums[add.array] = f"({before} + {term})"
        return [*out, *(f"{array}[{at}] = {text}" for array, text in sums.items())]

    def branched(self, slot: str, additions: list[Addition]) -> list[str]:
        """Additions one after another, each behind its guard."""
        at = self.place(slot)
        out = []
        for add in additions:
            line = f"{add.array}[{at}] = {add.array}[{at}] + {add.term}"
            out += [line] if add.guard is None else [f"if {add.guard}:", f"    {line}"]
        return out


def is_zero(x: Any) -> bool:
    """Whether an expression is the constant zero."""
    return not isinstance(x, Symbol) and x == 0.0


def is_cheap(lines: Lines) -> bool:
    """Whether expressions compile to a few instructions of vectors."""
    return lines.calls <= CHEAP
