"""The quadrature merge: its time in sum sweeps, and how its memory grows."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

import derivative_covers as dc

from . import _children
from ._programs import (
    point,
    rosenbrock,
    rosenbrock_loop,
    rosenbrock_loop_square,
    rosenbrock_square,
)
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "quadrature"
PAGE_NOISE = 256
"""Kilobytes below which a peak says nothing."""

PEAK = """
import sys
import derivative_covers as dc
from benchmarks import _programs
f, n = getattr(_programs, sys.argv[1]), int(sys.argv[2])

def kilobytes(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key))

dc.cover_hessian(f, _programs.point(100), merge="quadrature")
tape, out = dc.tape_function(f, _programs.point(n))
dc.cover_hessian(tape, out)
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = kilobytes("VmRSS")
dc.cover_hessian(tape, out, merge="quadrature")
print(kilobytes("VmHWM") - before)
"""


def _exponent(program: str, sizes: tuple[int, int, int]) -> tuple[float, str]:
    peaks = [
        max(PAGE_NOISE, int(_children.output(PEAK, program, str(n), timeout=120)))
        for n in sizes
    ]
    growth = math.log(peaks[-1] / peaks[0]) / math.log(sizes[-1] / sizes[0])
    shown = ", ".join(f"{kb / 1024:.3g}" for kb in peaks)
    return growth, f"peaks {shown} MB at n = {', '.join(f'{n:g}' for n in sizes)}"


def rows(*, quick: bool) -> Iterator[Row]:
    """Rosenbrock's function and its square, on arrays and as a loop."""
    n = 10_000 if quick else 100_000
    for what, f in (
        ("loop", rosenbrock_loop),
        ("loop, squared", rosenbrock_loop_square),
        ("arrays", rosenbrock),
        ("arrays, squared", rosenbrock_square),
    ):
        tape, out = dc.tape_function(f, point(n))
        calls = [
            lambda tape=tape, out=out: dc.cover_hessian(tape, out),
            lambda tape=tape, out=out: dc.cover_hessian(tape, out, merge="quadrature"),
        ]
        total, quadrature = interleaved(calls)
        ratios = quadrature.over(total)
        yield Row(
            ITEM,
            f"quadrature / sum sweep, {what}",
            median(ratios),
            target=30,
            n=n,
            note=f"{quadrature.median * 1e3:.3g} ms v. {total.median * 1e3:.3g} ms, "
            f"quartiles {spread(ratios)}",
        )
    largest = 40_000 if quick else n
    sizes = (largest // 4, largest // 2, largest)
    for what, program in (
        ("loop", "rosenbrock_loop"),
        ("loop, squared", "rosenbrock_loop_square"),
    ):
        name = f"peak memory grows as n**value, {what}"
        try:
            growth, note = _exponent(program, sizes)
        except OSError as error:
            yield Row(ITEM, name, None, "", target=1.15, note=f"needs Linux: {error}")
            continue
        yield Row(ITEM, name, growth, "", target=1.15, n=largest, note=note)
