"""Interleaved timing: every call runs once in each repetition, in turn."""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from ._report import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHORTEST_SAMPLE = 0.02  # the first calls after a collection find cold caches
CLOCK = time.perf_counter  # or `time.process_time`, where other programs run besides
LONG = 0.5  # seconds: a call that lasts longer is warm after one


@dataclass(frozen=True)
class Samples:
    """Seconds a call, one number a repetition; repetition i of all calls is one round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The typical time of one call."""
        return median(self.seconds)

    def over(self, other: Samples) -> list[float]:
        """The ratio to another call, round by round: both met the same noise."""
        return [a / b for a, b in zip(self.seconds, other.seconds, strict=True)]


def _sample(call: Callable[[], Any], inner: int) -> float:
    gc.collect()
    gc.disable()
    try:
        start = CLOCK()
        for _ in range(inner):
            call()
        return (CLOCK() - start) / inner
    finally:
        gc.enable()


def interleaved(
    calls: Sequence[Callable[[], Any]], repetitions: int = 7
) -> list[Samples]:
    """Time `calls` against each other after warming each of them up."""
    gc.collect()
    gc.freeze()  # what lives now need not be searched before every sample
    try:
        return _rounds(calls, [_inner(call) for call in calls], repetitions)
    finally:
        gc.unfreeze()


def _inner(call: Callable[[], Any]) -> int:
    """How often a sample calls: warms up, long calls once and others three times."""
    once = _sample(call, 1)
    if once < LONG:
        once = min(_sample(call, 1) for _ in range(2))
    return max(1, math.ceil(SHORTEST_SAMPLE / once))


def _rounds(
    calls: Sequence[Callable[[], Any]], inner: Sequence[int], repetitions: int
) -> list[Samples]:
    seconds: list[list[float]] = [[] for _ in calls]
    order = list(range(len(calls)))
    for _ in range(repetitions):
        for k in order:
            seconds[k].append(_sample(calls[k], inner[k]))
        order.reverse()
    return [Samples(tuple(s)) for s in seconds]


def spread(values: Sequence[float]) -> str:
    """The quartiles, for the reader who wonders about noise."""
    low, _, high = quantiles(values, n=4)
    return f"{low:.3g}..{high:.3g}"


def compared(
    item: str,
    what: str,
    ours: Samples,
    theirs: Samples,
    target: float | None = None,
    *,
    n: int | None = None,
    at_least: bool = False,
    note: str = "",
) -> Row:
    """The row of a ratio: its median, with both times and the quartiles."""
    ratios = ours.over(theirs)
    times = f"{ours.median * 1e3:.3g} ms v. {theirs.median * 1e3:.3g} ms"
    least = min(ours.seconds) / min(theirs.seconds)
    said = f"{times}, quartiles {spread(ratios)}, of least times {least:.3g}"
    said += note and f"; {note}"
    return Row(item, what, median(ratios), "x", target, at_least, n, said)
