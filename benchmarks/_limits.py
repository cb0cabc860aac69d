"""Physical limits: reading the tape once, memory a node, time linear in the nodes."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc
from derivative_covers import sweeps

from . import _children
from ._report import Row
from ._suite import rosenbrock, rosenbrock_loop
from ._timing import compared, interleaved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NODES_A_VARIABLE = 8

PEAK = """
import ctypes
import gc
import sys
import derivative_covers as dc
from benchmarks import _suite

def kilobytes(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key))

def reset():
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # what was freed would be used again, and not be seen
    with open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")
    return kilobytes("VmRSS")

make, n = getattr(_suite, sys.argv[1]), int(sys.argv[2])
for warm in (_suite.rosenbrock(20_000), make(max(n // 100, 8))):
    dc.cover_hessian(warm.plain, warm.x)
    dc.gradient(warm.plain, warm.x)
program = make(n)
before = reset()
tape, out = dc.tape_function(program.plain, program.x)
recording, held = kilobytes("VmHWM") - before, kilobytes("VmRSS") - before
reset()
cover = dc.cover_hessian(tape, out)
nodes = dc.nnodes(tape)
peak = kilobytes("VmHWM") - before
print(*(1024 * max(kb, 256) / nodes for kb in (recording, held, peak)), nodes)
"""


def peaks(maker: str, size: int) -> list[float]:
    """Bytes a node: at the peak of recording, held, at the peak with a sum cover; nodes.

    Of a fresh process, in which the kernels of such a program are loaded before.
    """
    said = _children.output(PEAK, maker, str(size), timeout=300)
    return [float(number) for number in said.split()]


def columns(program: Any) -> list[np.ndarray]:
    """The arrays that the steps of a lowered program hold, each memory once."""
    found: dict[tuple[int, int], np.ndarray] = {}

    def walk(thing: Any) -> None:
        if isinstance(thing, np.ndarray):
            if thing.size:
                where = thing.__array_interface__["data"][0], thing.nbytes
                found.setdefault(where, thing)
        elif isinstance(thing, (tuple, list)):
            for part in thing:
                walk(part)

    for step in program.steps:
        for kind in type(step).__mro__:
            for name in getattr(kind, "__slots__", ()):
                walk(getattr(step, name, None))
    return list(found.values())


def _reading(item: str, nodes: int) -> Iterator[Row]:
    """A cover sweep beside adding up as many bytes as it has to read."""
    for what, make in (("arrays", rosenbrock), ("loop", rosenbrock_loop)):
        program = make(nodes // NODES_A_VARIABLE)
        tape, out = dc.tape_function(program.plain, program.x)
        dc.cover_hessian(tape, out)
        held = sum(a.nbytes for a in columns(sweeps.lower(tape)))
        size = held + 2 * 8 * tape.nnodes
        block = np.ones(size // 8)
        sweep, read = interleaved(
            [lambda t=tape, o=out: dc.cover_hessian(t, o), lambda b=block: b.sum()]
        )
        note = (
            f"{held / tape.nnodes:.3g} bytes a node of tape, 16 of adjoints and "
            f"magnitudes; {size / read.median / 1e9:.3g} GB/s"
        )
        name = f"{what}: sum cover sweep / reading its columns once"
        yield compared(item, name, sweep, read, 3.0, n=tape.nnodes, note=note)


def _memory(item: str, nodes: int) -> Iterator[Row]:
    """Resident bytes a node, of recording and with a sum cover."""
    for what, make, limits in (
        ("arrays", "rosenbrock", (16, 32)),
        ("loop", "rosenbrock_loop", (80, 96)),
    ):
        names = (
            f"{what}: peak bytes a node, recording",
            f"{what}: peak bytes a node, recording and sum cover",
        )
        sizes = nodes // 4 // NODES_A_VARIABLE, nodes // NODES_A_VARIABLE
        try:
            found = [peaks(make, size) for size in sizes]
        except OSError as error:
            for name, limit in zip(names, limits, strict=True):
                note = f"needs Linux: {error}"
                yield Row(item, name, None, "B", limit, n=nodes, note=note)
            continue
        (small, _, small_sweep, fewer), (large, held, sweep, many) = found
        note = f"{held:.3g} held"
        yield Row(item, names[0], large, "B", limits[0], n=int(many), note=note)
        yield Row(item, names[1], sweep, "B", limits[1], n=int(many))
        for name, a, b in (
            ("recording", small, large),
            ("recording and sum cover", small_sweep, sweep),
        ):
            exponent = 1 + np.log(b / a) / np.log(many / fewer)
            name = f"{what}: memory grows as nodes**value, {name}"
            yield Row(item, name, float(exponent), "", 1.05, n=int(many))


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of a line through logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _growth(item: str, sizes: tuple[int, ...]) -> Iterator[Row]:
    """How times grow, from small to large."""
    for what, make in (("arrays", rosenbrock), ("loop", rosenbrock_loop)):
        made = [make(size // NODES_A_VARIABLE) for size in sizes]
        tapes = [dc.tape_function(program.plain, program.x) for program in made]
        calls: dict[str, list[Callable[[], Any]]] = {
            "record": [
                partial(dc.tape_function, program.plain, program.x) for program in made
            ],
            "gradient sweep": [partial(dc.gradient, *tape) for tape in tapes],
            "sum cover sweep": [partial(dc.cover_hessian, *tape) for tape in tapes],
        }
        samples = iter(interleaved([c for group in calls.values() for c in group]))
        for name, group in calls.items():
            mine = [next(samples) for _ in group]
            nodes = [tape.nnodes for tape, _ in tapes]
            rounds = zip(*(s.seconds for s in mine), strict=True)
            slopes = [exponent(nodes, list(r)) for r in rounds]
            times = ", ".join(
                f"{s.median / m * 1e9:.3g}" for s, m in zip(mine, nodes, strict=True)
            )
            note = f"{times} ns a node at {', '.join(f'{m:.0e}' for m in nodes)}"
            title = f"{what}: time grows as nodes**value, {name}"
            yield Row(item, title, median(slopes), "", 1.05, n=nodes[-1], note=note)


def rows(item: str, *, quick: bool) -> Iterator[Row]:
    """At ten million nodes; at a hundred thousand in a quick run."""
    nodes = 100_000 if quick else 10_000_000
    yield from _reading(item, nodes)
    yield from _memory(item, nodes if quick else 4_000_000)
    yield from _growth(item, (10_000, nodes) if quick else (10**4, 10**5, 10**6, nodes))
