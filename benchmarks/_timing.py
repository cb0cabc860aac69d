"""Interleaved timing: every call runs once in each repetition, in turn."""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHORTEST_SAMPLE = 0.005


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
        start = time.perf_counter()
        for _ in range(inner):
            call()
        return (time.perf_counter() - start) / inner
    finally:
        gc.enable()


def interleaved(
    calls: Sequence[Callable[[], Any]], repetitions: int = 7
) -> list[Samples]:
    """Time `calls` against each other after warming each of them up."""
    inner = []
    for call in calls:
        call()
        once = min(_sample(call, 1) for _ in range(2))
        inner.append(max(1, math.ceil(SHORTEST_SAMPLE / once)))
    seconds: list[list[float]] = [[] for _ in calls]
    order = list(range(len(calls)))
    gc.freeze()  # what lives now need not be searched before every sample
    try:
        for _ in range(repetitions):
            for k in order:
                seconds[k].append(_sample(calls[k], inner[k]))
            order.reverse()
    finally:
        gc.unfreeze()
    return [Samples(tuple(s)) for s in seconds]


def spread(values: Sequence[float]) -> str:
    """The quartiles, for the reader who wonders about noise."""
    low, _, high = quantiles(values, n=4)
    return f"{low:.3g}..{high:.3g}"
