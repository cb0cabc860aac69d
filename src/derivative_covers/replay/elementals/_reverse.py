"""Text of the reverse passes of first and second order.

What a pass adds to an operand is a list of guarded terms, in the order of the kernels of
the tape's sweeps. They are written as selections, a loop a slot, where that compiles to
vectors; as branches, node after node, elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ._body import LANES, Addition, Body, indented, is_cheap, is_zero, times
from ._symbols import Symbol

__all__ = ["adjoint", "first_order", "fresh", "is_finite", "second", "turns"]

Text = Callable[[Any], str]
Adds = dict[str, list[Addition]]


def is_finite(x: Any) -> bool:
    """Whether an expression is a finite constant."""
    return not isinstance(x, Symbol) and math.isfinite(x)


def first_order(d: Any, of: Text, array: str = "q") -> Addition:
    """``d * w``, zero where the adjoint is, however infinite the partial."""
    return Addition(array, times(of(d), "w"), None if is_finite(d) else "w != 0.0")


def turns(body: Body, adds: Adds, *, apart: list[str], both: list[str]) -> list[str]:
    """Additions of one node, with what stands before those to one operand or to two."""
    lines = [*apart, *(x for k in body.slots for x in body.branched(k, adds[k]))]
    if not body.merges:
        return lines
    merged = [*both, *body.branched("xy", adds["xy"])]
    return ["if a == b:", *indented(merged), "else:", *indented(lines)]


def _reverse(
    body: Body,
    heads: list[str],
    active: str,
    needs: dict[str, tuple[Any, ...]],
    adds: Callable[[str, Text], list[Addition]],
    fresh: bool = False,
) -> list[str]:
    """A reverse pass: ``needs`` are the expressions that the additions of a slot take.

    ``fresh``: what it adds to counts as zero.
    """
    slots = (*body.slots, "xy") if body.merges else body.slots
    lines = body.write(*(x for k in slots for x in needs[k]))
    before = body.before(lines.leaves)
    if body.shape == LANES and (len(slots) == 1 or is_cheap(lines)):
        loops = []
        for k in slots:
            own = body.write(*needs[k])
            inner = [*heads, *body.reads(own.leaves), *own.lines]
            inner += body.selected(k, adds(k, own.of), fresh=fresh)
            loops.append(body.loop(inner))
        return [*before, *body.by_slots(loops), "return 0"]
    inner = [*body.places(), *body.reads(lines.leaves), *lines.lines]
    found = {k: [_plain(x, active) for x in adds(k, lines.of)] for k in slots}
    inner += turns(body, found, apart=[], both=[])
    inner = [*heads, f"if {active}:", *indented(inner)]
    if fresh:
        zeros = [f"q[{body.place(k)}] = 0.0" for k in body.slots]
        before += body.loop([*body.places(), *zeros])
    return [*before, *body.loop(inner, down=True), "return 0"]


def _plain(x: Addition, active: str) -> Addition:
    """An addition without the guard that holds around it."""
    return Addition(x.array, x.term) if x.guard == active else x


def fresh(body: Body) -> list[str]:
    """``q[operand] = d * q[node]``, bit for bit what an adjoint pass adds to zeros.

    No operand may stand twice.
    """
    return adjoint(body, fresh=True)


def adjoint(body: Body, *, fresh: bool = False) -> list[str]:
    """``q[operand] += d * q[node]``."""
    ds = body.firsts()

    def adds(k: str, of: Text) -> list[Addition]:
        return [first_order(ds[k], of)]

    needs = {k: (d,) for k, d in ds.items()}
    return _reverse(body, ["w = q[o + i]"], "w != 0.0", needs, adds, fresh)


def second(body: Body) -> list[str]:
    """``s[operand] += d * s[node] + q[node] * sum of c * r[operands]``."""
    ds, curved = body.firsts(), body.seconds()
    rows = {k: [(c, at) for c, at in cs if not is_zero(c)] for k, cs in curved.items()}
    heads = ["w = s[o + i]", "u = q[o + i]"]

    def adds(k: str, of: Text) -> list[Addition]:
        out = [first_order(ds[k], of, "s")]
        for c, at in rows[k]:
            guard = f"(u != 0.0) & (r[{body.place(at)}] != 0.0)"
            if not is_finite(c):
                guard += f" & ({of(c)} != 0.0)"
            term = f"u * ({times(of(c), f'r[{body.place(at)}]')})"
            out.append(Addition("s", term, guard))
        return out

    needs = {k: (ds[k], *(c for c, _ in rows[k])) for k in ds}
    return _reverse(body, heads, "(w != 0.0) | (u != 0.0)", needs, adds)
