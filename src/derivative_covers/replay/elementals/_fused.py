"""Entrywise nodes that follow each other, computed together: nothing between is stored.

Values and adjoints are to the bit those of the parts one by one, but for signs of zeros.
The reverse pass works out anew what lies between, in a loop for each operand that a part
reads, in the order in which the parts add to it. It does not ask whether adjoints are
zero: zero times an infinite partial is NaN in the gradient, which is then thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from ._body import indented
from ._functions import Functions, Generated, made_with
from ._reverse import is_finite
from ._symbols import Leaf, Symbol
from ._text import Lines

__all__ = ["Fused", "Part"]

_ARGUMENTS = "p, q, r, s, ids, o, x, y, n"


@dataclass(frozen=True, slots=True)
class Part:
    """One of the nodes, and where its operands are.

    Attributes:
        made: Its elemental.
        x: The first operand: ``"x"`` or ``"y"`` for one of the whole, an earlier part's
            number, or ``"c5"`` for the constant 5 of the pool; None where there is none.
        y: The second one.
        swapped: Whether the reverse pass goes to the second operand first.
    """

    made: Functions
    x: str | int | None
    y: str | int | None
    swapped: bool = False


class Fused(Generated):
    """Parts of which each but the last is read once, by a later one.

    It has the passes ``"value"``, ``"adjoint"`` and ``"fresh"`` of an elemental, in the
    shape ``"lanes"``, with the pool of constants in the place of ``s``.

    Args:
        parts: At most some ten.
        apart: Whether no entry is an operand twice, as ``x`` of one node and ``y`` of
            another. Then all that is added to one of them can be added at once.

    Attributes:
        slots: The operands, ``"x"`` or ``"y"``.
        loops: How many there are in the reverse pass; each works out values anew.

    Raises:
        TraceError: If the parts have too many operations.
    """

    def __init__(self, parts: tuple[Part, ...], *, apart: bool) -> None:
        values, uses = _expressions(parts)
        if apart:
            uses.sort(key=itemgetter(0))
        by_loop = [(k, [x for _, x in g]) for k, g in groupby(uses, itemgetter(0))]
        self.loops = len(by_loop)
        slots = {slot for slot, _ in uses}
        self.slots = tuple(k for k in "xy" if k in slots)
        passes = {
            "value": _value(values[-1]),
            "adjoint": _adjoint(by_loop, fresh=False),
            "fresh": _adjoint(by_loop, fresh=True),
        }
        text = [f'"""Entrywise nodes that are computed together. {made_with()}"""']
        for name, lines in passes.items():
            text.append("\n".join([f"def {name}({_ARGUMENTS}):", *indented(lines)]))
        super().__init__("fused", "\n\n\n".join(text) + "\n")

    def address(self, pass_: str, shape: str) -> int:
        """Address of a pass, as that of an elemental."""
        assert shape == "lanes"
        return self._address(pass_)


def _expressions(parts: tuple[Part, ...]) -> tuple[list[Any], list[tuple[str, Any]]]:
    """Values of all parts; then what is added to which operand, in order."""
    values: list[Any] = []
    heads: list[dict[str, Any]] = []
    for part in parts:
        where: dict[str, Any] = {}
        for name, at in (("X", part.x), ("Y", part.y)):
            if isinstance(at, int):
                where[name] = values[at]
            elif at is not None:
                where[name] = Leaf(at.upper() if at in ("x", "y") else at)
        values.append(_with(part.made.traced.value, where))
        heads.append({**where, "V": values[-1]})
    adjoints: dict[int, Any] = {len(parts) - 1: Leaf("w")}
    uses: list[tuple[str, Any]] = []
    for k in range(len(parts) - 1, -1, -1):
        part, t = parts[k], parts[k].made.traced
        slots = zip(part.made.slots, (t.d1, t.d2), strict=False)
        for slot, d in sorted(slots, reverse=part.swapped):
            at = part.x if slot == "x" else part.y
            term = _product(_with(d, heads[k]), adjoints[k])
            if isinstance(at, int):
                adjoints[at] = term
            else:
                uses.append((str(at), term))
    return values, uses


def _with(x: Any, where: dict[str, Any]) -> Any:
    """An expression with others in the place of its leaves; what is shared stays so."""
    made: dict[int, Any] = {}

    def copied(x: Any) -> Any:
        if not isinstance(x, Symbol):
            return x
        if isinstance(x, Leaf):
            return where[x.op]
        if id(x) not in made:
            made[id(x)] = Symbol(x.op, tuple(copied(a) for a in x.args), x.kind)
        return made[id(x)]

    return copied(x)


def _product(d: Any, w: Symbol) -> Symbol:
    if is_finite(d) and abs(d) == 1.0:
        return w if d == 1.0 else Symbol("neg", (w,), w.kind)
    return Symbol("*", (d, w), w.kind)


def _value(value: Any) -> list[str]:
    lines = Lines((value,))
    body = [*_reads(lines), *lines.lines, f"p[o + i] = {lines.terms[0]}"]
    return [*_constants(lines), "for i in range(n):", *indented(body), "return 0"]


def _adjoint(by_loop: list[tuple[str, list[Any]]], *, fresh: bool) -> list[str]:
    before: dict[str, None] = {}
    loops: list[str] = []
    written = set[str]()
    for slot, terms in by_loop:
        lines = Lines(terms)
        total = "0.0" if fresh and slot not in written else f"q[{slot} + i]"
        written.add(slot)
        for term in lines.terms:
            total = f"({total} + {term})"
        body = ["w = q[o + i]", *_reads(lines), *lines.lines]
        body.append(f"q[{slot} + i] = {total}")
        before.update(dict.fromkeys(_constants(lines)))
        loops += ["for i in range(n):", *indented(body)]
    return [*before, *loops, "return 0"]


def _constants(lines: Lines) -> list[str]:
    """Constants are read once, before the loops."""
    return [f"{c} = s[{c[1:]}]" for c in sorted(lines.leaves) if c.startswith("c")]


def _reads(lines: Lines) -> list[str]:
    return [f"{k.upper()} = p[{k} + i]" for k in "xy" if k.upper() in lines.leaves]
