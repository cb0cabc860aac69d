"""Text of the joint reverse sweep of adjoints and the sum merge.

The numbers are those of :mod:`..sweeps.kernels.pair` for live slots without declared
scales, to the bit. A product's split is written out, as it is the most frequent one; all
others call the kernels' own.
"""

from __future__ import annotations

import math
from typing import Any

from ._body import LANES, Addition, Body, absolute, indented, is_cheap, is_zero
from ._reverse import Adds, Text, first_order, is_finite, turns
from ._text import literal_text

__all__ = ["cover"]

_HEADS = ["w = q[o + i]", "g = s[o + i]"]
_OPTIONS = ["ratio = r[0]", "limit = r[1]", "check = r[2] != 0.0"]
_MOST = 16  # lines of expressions that are worth to be written, and compiled, thrice
_BOUND = 1e140  # of weights and splits of products that are far from all limits


def _swept(d: Any, of: Text) -> list[Addition]:
    """What adjoint and cover pass on through a first partial."""
    size = absolute(of(d))
    term = "g" if size == "1.0" else f"{size} * g"
    guard = None if is_finite(d) else "g != 0.0"
    return [first_order(d, of), Addition("s", term, guard)]


def cover(body: Body) -> list[str]:
    """``q[operand] += d q[node]`` and ``s[operand] += |d| s[node] + rho``."""
    t = body.traced
    same = ["if x == y:", "    return n + 1"] if t.two and not body.merges else []
    product = t.two and is_zero(t.c11) and is_zero(t.c22) and is_finite(t.c12)
    if body.shape == LANES:
        lines = body.write(t.d1, t.d2, t.c11, t.c12, t.c22)
        cheap = is_cheap(lines) and len(lines.lines) <= _MOST
        if not t.two or (t.flat and cheap):
            return [*same, *_lanes(body)]
        if cheap and not is_zero(t.c12):
            return [*same, *_split_lanes(body), *_in_order(body, product)]
    return [*same, *_in_order(body, product)]


# A loop a slot, by selection.


def _lanes(body: Body) -> list[str]:
    ds, curved = body.firsts(), not body.traced.flat
    before, loops = set[str](), []
    for k in body.slots:
        c = body.traced.c11
        own = body.write(ds[k], *((c,) if curved else ()))
        inner = [*_HEADS, *body.reads(own.leaves), *own.lines]
        adds = _swept(ds[k], own.of)
        if curved:
            weigh, weight = _selected_weight(c, own.of)
            inner += weigh
            adds.insert(0, weight)
        before |= own.leaves
        loops.append(body.loop([*inner, *body.selected(k, adds)]))
    result = "bad" if curved else "0"
    start = ["bad = 0"] if curved else []
    return [*start, *body.before(before), *body.by_slots(loops), f"return {result}"]


def _selected_weight(c: Any, of: Text) -> tuple[list[str], Addition]:
    """The slot weight of one slot, and the count of those that are not finite."""
    if is_finite(c):
        root = literal_text(math.sqrt(abs(c)))
        lines = ["aw = abs(w)", "bad += 0 if aw < inf else 1"]
        return lines, Addition(
            "s", "sqrt(aw)" + ("" if root == "1.0" else f" * {root}")
        )
    lines = [
        "aw = abs(w)",
        f"e = {absolute(of(c))} if w != 0.0 else 0.0",
        "bad += 0 if (e == 0.0) | ((aw < inf) & (e < inf)) else 1",
    ]
    return lines, Addition("s", "sqrt(aw) * sqrt(e)", "e != 0.0")


def _split_lanes(body: Body) -> list[str]:
    """Splits at once, where all pairs of values are usable and all is far from limits.

    A scan finds that out. What it leaves of a split is a clipped root, with the numbers
    that the kernels' own gives.
    """
    t, ds = body.traced, body.firsts()
    low, high = literal_text(1.0 / _BOUND), literal_text(_BOUND)
    ends = [c for c in (t.c11, t.c22) if not is_zero(c)]
    alone = body.write(t.c12, *ends)
    values = ["z1 = abs(p[x + i])", "z2 = abs(p[y + i])"]
    weigh = _weights(body, alone.of)
    usable = [
        f"({low} < f12) & (f12 < {high})",
        f"({low} < square) & (square < {high})",
    ]
    for c, f in ((t.c11, "f11"), (t.c22, "f22")):
        if not is_zero(c):
            none = f"({alone.of(c)} == 0.0)"
            usable.append(f"({none} | ({low} < {f})) & ({f} < {high})")
    for f, c, order in (
        ("f22", t.c22, "z1 > ratio * z2"),
        ("f11", t.c11, "z2 > ratio * z1"),
    ):
        curved = "" if is_zero(c) else f"({f} > 0.0) | "
        usable.append(f"({curved}({order}))")
    reads = [*body.reads(alone.leaves), *alone.lines]
    scan = [
        "w = q[o + i]", *values, *reads, *weigh, f"usable = {' & '.join(usable)}",
        "fine += 1 if (w == 0.0) | usable else 0",
    ]  # fmt: skip
    loops = []
    for k in body.slots:
        own = body.write(ds[k], t.c12, *ends)
        inner = [*_HEADS, *values, *body.reads(own.leaves), *own.lines]
        inner += [*_weights(body, own.of), *_clipped(body, k)]
        adds = [Addition("s", "rho", "w != 0.0"), *_swept(ds[k], own.of)]
        loops.append(body.loop([*inner, *body.selected(k, adds)]))
    at_once = [*body.by_slots(loops), "return 0"]
    when = "if (fine == n) & (limit > 1e300) & (not check):"
    return [*_OPTIONS, "fine = 0", *body.loop(scan), when, *indented(at_once)]


def _weights(body: Body, of: Text) -> list[str]:
    """The entries of a block that are not zero, and the square of its balanced point."""
    t = body.traced
    out = ["aw = abs(w)"]
    for name, c in (("f12", t.c12), ("f11", t.c11), ("f22", t.c22)):
        if not is_zero(c):
            size = absolute(of(c))
            out.append(f"{name} = aw" + ("" if size == "1.0" else f" * {size}"))
    return [*out, "square = f12 * (z2 / z1)"]


def _clipped(body: Body, slot: str) -> list[str]:
    """One of the two weights of a block, as ``balanced_split`` has it."""
    t = body.traced
    one, other = not is_zero(t.c11), not is_zero(t.c22)
    out = ["rho = sqrt(square)"]
    if one:
        out.append("r11 = sqrt(f11)")
    if other:
        out += ["r22 = sqrt(f22)", "far = f12 / r22"]
        out.append("rho = far if (r22 > 0.0) & (rho > far) else rho")
    if one:
        out.append("rho = r11 if rho < r11 else rho")
    if slot == "y":
        out.append("rho = f12 / rho")
        if other:
            out.append("rho = r22 if rho < r22 else rho")
    if one and other:
        out.append(
            f"rho = {'r11' if slot == 'x' else 'r22'} if f12 <= r11 * r22 else rho"
        )
    return out


# Node after node.


def _in_order(body: Body, product: bool) -> list[str]:
    t = body.traced
    ds, slots = body.firsts(), body.slots
    keys = (*slots, "xy") if body.merges else slots
    cs = () if t.flat else (t.c11, t.c12, t.c22)
    merged = t.both[1] if body.merges else t.c11 if not t.two else 0.0
    lines = body.write(*(ds[k] for k in keys), *cs, None if t.flat else merged)
    names = set(lines.leaves)
    if t.two and not t.flat and not is_zero(t.c12):
        names |= {"X", "Y"}
    adds: Adds = {k: _swept(ds[k], lines.of) for k in keys}
    one = _weight_of_one("a" if body.merges else body.place(slots[0]), merged, lines.of)
    two = _weight_of_two(body, product, lines.of) if t.two and not t.flat else []
    inner = [*body.places(), *body.reads(names), *lines.lines, "aw = abs(w)"]
    inner += turns(body, adds, apart=two if t.two else one, both=one)
    inner = [*_HEADS, "if (w != 0.0) | (g != 0.0):", *indented(inner)]
    options = _OPTIONS if "split(" in "".join(two) else []
    start = [*options, "bad = 0", *body.before(names)]
    return [*start, *body.loop(inner, down=True), "return bad"]


def _weight_of_one(at: str, c: Any, of: Text) -> list[str]:
    if is_zero(c):
        return []
    e = absolute(of(c))
    return [
        f"e = {e}",
        "if (w != 0.0) & (e != 0.0):",
        "    if (aw < inf) & (e < inf):",
        f"        s[{at}] = s[{at}] + sqrt(aw) * sqrt(e)",
        "    else:",
        "        bad += 1",
    ]


def _weight_of_two(body: Body, product: bool, of: Text) -> list[str]:
    t = body.traced
    e11, e12, e22 = (absolute(of(c)) for c in (t.c11, t.c12, t.c22))
    a, b = body.place("x"), body.place("y")
    store = [f"s[{a}] = s[{a}] + rho1", f"s[{b}] = s[{b}] + rho2"]
    if is_zero(t.c12):
        inner = [
            f"e1 = {e11}",
            f"e2 = {e22}",
            "bad += 0 if (aw < inf) & (e1 < inf) & (e2 < inf) else 1",
            "rho1 = sqrt(aw) * sqrt(e1)",
            "rho2 = sqrt(aw) * sqrt(e2)",
        ]
        return ["if w != 0.0:", *indented([*inner, *store])]
    call = [
        "rho1, rho2, status = split("
        f"0.0, aw, {e11}, {e12}, {e22}, z1, z2, True, True, False, 0.0, 0.0, "
        "ratio, check, limit)",
        "if status != 0:",
        "    bad += 1",
    ]
    inner = ["z1 = abs(X)", "z2 = abs(Y)"]
    if product:
        # As the split itself begins, without a call.
        inner += [
            "weight = aw" + _factor(t.c12),
            "square = weight * (z2 / z1)",
            "rho1 = sqrt(square)",
            "rho2 = weight / rho1",
            "usable = (z1 > ratio * z2) & (z2 > ratio * z1) & (1e-280 < weight)",
            "usable = usable & (weight < 1e280) & (1e-280 < square) & (square < 1e280)",
            "usable = usable & (rho1 * limit > 2.0) & (rho2 * limit > 2.0)",
            "if not (usable & (rho1 < limit / 2.0) & (rho2 < limit / 2.0)):",
            *indented(call),
        ]
    else:
        inner += call
    return ["if w != 0.0:", *indented([*inner, *store])]


def _factor(c: float) -> str:
    return "" if abs(c) == 1.0 else f" * {literal_text(abs(c))}"
