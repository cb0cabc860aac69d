"""Text of the passes that go forward: values, tangents, and the scan for zeros."""

from __future__ import annotations

from ._body import GATHER, Body, indented, is_zero, times
from ._symbols import Symbol
from ._text import Lines

__all__ = ["tangent", "value", "zeros"]


def value(body: Body) -> list[str]:
    """``p[node] = f(operands)``; counts nodes outside of the domain or at a kink."""
    t = body.traced
    known = not isinstance(t.good, Symbol)
    lines = Lines((t.value, None if known else t.good))
    inner = [*body.places(), *body.reads(lines.leaves), *lines.lines]
    inner.append(f"p[o + i] = {lines.terms[0]}")
    if known:
        result = "0" if t.good else "n"
        return [*body.before(lines.leaves), *body.loop(inner), f"return {result}"]
    good = lines.terms[1]
    if t.tie and t.two:
        same = "(a == b)" if body.shape == GATHER else "(x == y)"
        good = f"({good} | {same})"
    inner.append(f"bad += 0 if {good} else 1")
    return ["bad = 0", *body.before(lines.leaves), *body.loop(inner), "return bad"]


def tangent(body: Body) -> list[str]:
    """``r[node] = sum of d * r[operand]``; a zero factor gives zero."""
    ds = body.firsts()
    lines = body.write(*ds.values())

    def text(slots: tuple[str, ...]) -> list[str]:
        out = ["t = 0.0"]
        for k in reversed(slots):
            d, at = lines.of(ds[k]), f"r{k}"
            if is_zero(ds[k]):
                continue
            guard = f"({at} != 0.0)"
            if isinstance(ds[k], Symbol):
                guard += f" & ({d} != 0.0)"
            out.append(f"{at} = r[{body.place(k)}]")
            out.append(f"t = {times(d, at)} + t if {guard} else t")
        return out

    inner = [*body.places(), *body.reads(lines.leaves), *lines.lines]
    if body.merges:
        inner += ["if a == b:", *indented(text(("xy",)))]
        inner += ["else:", *indented(text(body.slots))]
    else:
        inner += text(body.slots)
    inner.append("r[o + i] = t")
    return [*body.before(lines.leaves), *body.loop(inner), "return 0"]


def zeros(body: Body) -> list[str]:
    """Counts nodes of which some first partial is exactly zero, slots merged."""
    ds = body.firsts()
    same = ["if x == y:", "    return n + 1"] if body.traced.two else []
    same = [] if body.merges else same
    if not any(isinstance(d, Symbol) for d in ds.values()):
        known = [is_zero(d) for d in ds.values()]
        if not any(known) or all(known) or not body.merges:
            return [*same, f"return {'n' if any(known) else '0'}"]
    lines = body.write(*ds.values())
    inner = [*body.places(), *body.reads(lines.leaves), *lines.lines]
    none = " | ".join(f"({lines.of(ds[k])} == 0.0)" for k in body.slots)
    if body.merges:
        inner.append(f"none = ({lines.of(ds['xy'])} == 0.0) if a == b else {none}")
        none = "none"
    inner.append(f"bad += 1 if {none} else 0")
    loop = body.loop(inner)
    return [*same, "bad = 0", *body.before(lines.leaves), *loop, "return bad"]
