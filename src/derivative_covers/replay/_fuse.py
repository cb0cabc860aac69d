"""Instructions of entrywise nodes that follow each other become one, at many points."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from ._fresh import operands
from ._tables import Tables, Whole
from .elementals import Fused, Part, TraceError
from .kernels._kinds import KIND, LANES, OUT, F, N, X, Y

__all__ = ["fused"]

MOST = 16  # instructions that become one
LOOPS = 4  # of its reverse pass
RUNS = 4  # of a program, since each is compiled


def fused(t: Tables) -> Tables:
    """The same program in fewer instructions, for values and gradients alone.

    What becomes one are instructions that stand together, each but the last read once,
    by a later one of them. So every entry gets the same additions in the same order.
    """
    code = t.code[: t.count].copy()
    functions = list(t.functions)
    keep = np.ones(t.count, dtype=bool)
    runs = _runs(t)
    runs.sort(key=lambda run: (run[0] - run[1]) * t.code[run[1], N])
    for first, last in runs[:RUNS]:
        found = _made(t, first, last)
        if found is not None:
            made, x, y, first = found
            code[last, [F, X, Y]] = len(functions), x, y
            functions.append(made)
            keep[first:last] = False
    return replace(t, code=code[keep], count=int(keep.sum()), functions=functions)


def _runs(t: Tables) -> list[tuple[int, int]]:
    """First and last instructions of what may become one."""
    uses = _uses(t)
    runs = []
    last = t.count - 1
    while last >= 0:
        first = _first(t, last, uses)
        if first < last:
            runs.append((first, last))
        last = min(first, last) - 1
    return runs


def _uses(t: Tables) -> Whole:
    """How often entries are read."""
    uses = np.zeros(t.size + t.pool.size, dtype=np.int64)
    for row in t.code[: t.count]:
        np.add.at(uses, operands(t, row), 1)
    np.add.at(uses, t.outs, 1)
    np.add.at(uses, t.guards[:, 1:].ravel(), 1)
    return uses


def _first(t: Tables, last: int, uses: Whole) -> int:
    """The first of the instructions that can become one with the last one."""
    n = int(t.code[last, N])
    wanted = {int(t.code[last, OUT])}  # nodes that later ones of the run read
    k = last
    while k > max(last - MOST, -1):
        row = t.code[k]
        o = int(row[OUT])
        if row[KIND] != LANES or row[N] != n or o not in wanted:
            break
        if k < last and (uses[o : o + n] != 1).any():
            break
        made = t.functions[row[F]]
        if not (made.smooth and made.cheap):
            break
        wanted |= {int(row[X if s == "x" else Y]) for s in made.slots}
        k -= 1
    return k + 1


def _made(t: Tables, first: int, last: int) -> tuple[Fused, int, int, int] | None:
    """What instructions become, or the later ones of them; operands; the first one."""
    n = int(t.code[last, N])
    for k in range(first, last):
        parts, leaves = _parts(t, k, last)
        x, y = [*leaves, 0, 0][:2]
        if len(leaves) <= 2:
            with suppress(TraceError):
                made = Fused(parts, apart=len(leaves) < 2 or abs(x - y) >= n)
                if made.loops <= LOOPS:
                    return made, x, y, k
    return None


def _parts(t: Tables, first: int, last: int) -> tuple[tuple[Part, ...], list[int]]:
    """Instructions as parts, and the operands that they leave."""
    nodes: dict[int, int] = {}
    leaves: list[int] = []

    def found(place: int, *, slot: bool) -> str | int | None:
        if not slot:
            return f"c{place - t.size}" if place >= t.size else None
        if place in nodes:
            return nodes[place]
        if place not in leaves:
            leaves.append(place)
        return "x" if place == leaves[0] else "y"

    parts = []
    for k in range(first, last + 1):
        row = t.code[k]
        made, x, y = t.functions[row[F]], int(row[X]), int(row[Y])
        operands = (found(x, slot="x" in made.slots), found(y, slot="y" in made.slots))
        parts.append(Part(made, *operands, swapped=x > y))
        nodes[int(row[OUT])] = k - first
    return tuple(parts), leaves
