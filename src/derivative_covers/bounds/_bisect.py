"""Bisection of a box: what holds on all parts holds on the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..elements import Interval
from ..errors import DomainError, NondifferentiableError, UndecidedError
from ._boxes import around, can_cut, cut
from ._options import Bisection
from ._progress import bar

__all__ = ["Judgement", "bisect", "largest_first"]

Array = NDArray[Any]
# Of the parts worth cutting a quarter is cut in a round, and so many at most.
SHARE, ROUND = 4, 64


class Judgement(NamedTuple):
    """What the parts say of the whole.

    Attributes:
        result: The bound over the union of the parts.
        worst: Which parts are worth cutting, the most urgent ones first.
        settled: Whether nothing can change the result, not even parts that failed.
    """

    result: Any
    worst: Sequence[int]
    settled: bool = False


class _Part(NamedTuple):
    lo: Array
    hi: Array
    cuts: Array  # how often each variable was cut on the way here
    found: Any  # (finding, spread), or the error over this part


@dataclass(frozen=True)
class _Attempt:
    """A finding over a part, or the error that a smaller part may not meet."""

    find: Callable[[Array, Array], tuple[Any, float]]
    shape: tuple[int, ...]

    def __call__(self, lo: Array, hi: Array) -> Any:
        try:
            return self.find(lo.reshape(self.shape), hi.reshape(self.shape))
        except (DomainError, NondifferentiableError, UndecidedError) as error:
            return error


def bisect(
    find: Callable[[Array, Array], tuple[Any, float]],
    judge: Callable[[list[Any]], Judgement],
    box: Interval,
    options: Bisection,
) -> Any:
    """The result that the parts of a box give, of which there are at most ``max_boxes``.

    Args:
        find: Takes the ends of a part; gives a finding that holds all over it, and how
            uncertain that is.
        judge: Combines the findings of all parts.
        box: The box.
        options: How far to go, and on which executor. It changes no result.

    Raises:
        DomainError, NondifferentiableError, UndecidedError: Of a part that still meets
            one in the end.
    """
    attempt = _Attempt(find, box.shape)
    spawn: Any = map if options.executor is None else options.executor.map

    def parts_of(ends: list[tuple[Array, Array, Array]]) -> list[_Part]:
        lows, highs = [lo for lo, _, _ in ends], [hi for _, hi, _ in ends]
        found = list(spawn(attempt, lows, highs))
        return [_Part(*e, x) for e, x in zip(ends, found, strict=True)]

    lo, hi = np.array(box.lo).ravel(), np.array(box.hi).ravel()
    with bar(options.progress, options.max_boxes) as show:
        parts = parts_of([(lo, hi, np.zeros(lo.size))])
        weights = None
        while True:
            show(len(parts))
            good = [
                k for k, p in enumerate(parts) if not isinstance(p.found, Exception)
            ]
            bad = [k for k, p in enumerate(parts) if isinstance(p.found, Exception)]
            judged = judge([parts[k].found[0] for k in good])
            if judged.settled:
                return judged.result
            if not bad and options.until is not None and options.until(judged.result):
                return judged.result
            urgent = bad + [good[k] for k in judged.worst]
            urgent = [k for k in urgent if can_cut(parts[k].lo, parts[k].hi).any()]
            room = min(options.max_boxes - len(parts), ROUND)
            chosen = urgent[: min(room, -(-len(urgent) // SHARE))]
            if not chosen:
                break
            if weights is None:
                weights = _weights(parts[0], parts_of, options.max_boxes)
            halves = [h for k in chosen for h in _halves(parts[k], weights)]
            kept = [p for k, p in enumerate(parts) if k not in set(chosen)]
            parts = kept + parts_of(halves)
    if bad:
        error = parts[bad[0]].found
        error.add_note(
            f"over the part from {parts[bad[0]].lo} to {parts[bad[0]].hi}, one of "
            f"{len(parts)} (max_boxes={options.max_boxes})"
        )
        raise error
    return judged.result


def _weights(whole: _Part, parts_of: Any, max_boxes: int) -> Array:
    """How much a variable's range matters: what its middle alone would leave uncertain."""
    n = whole.lo.size
    cuttable = np.flatnonzero(can_cut(whole.lo, whole.hi))
    if max_boxes < 2 * n or isinstance(whole.found, Exception) or cuttable.size == 1:
        return np.ones(n)
    ends = []
    for k in cuttable:
        lo, hi = whole.lo.copy(), whole.hi.copy()
        lo[k] = hi[k] = cut(lo[k], hi[k])
        ends.append((lo, hi, whole.cuts))
    gains = np.zeros(n)
    for k, part in zip(cuttable, parts_of(ends), strict=True):
        if not isinstance(part.found, Exception):
            gains[k] = max(whole.found[1] - part.found[1], 0.0)
    if not np.isfinite(gains).all() or not gains.any():
        return np.ones(n)
    weights: Array = gains / gains.max() + 1e-3
    return weights


def _halves(part: _Part, weights: Array) -> list[tuple[Array, Array, Array]]:
    """The part cut across the variable that matters most."""
    urgency = np.where(can_cut(part.lo, part.hi), weights * 0.5**part.cuts, -1.0)
    k = int(np.argmax(urgency))
    cuts, below, above = part.cuts.copy(), part.hi.copy(), part.lo.copy()
    cuts[k] += 1
    above[k], below[k] = around(part.lo[k], part.hi[k])
    return [(part.lo, below, cuts), (above, part.hi, cuts)]


def largest_first(urgency: Array) -> list[int]:
    """Which entries are positive, the largest ones first."""
    order = np.argsort(-urgency, kind="stable")
    return [int(k) for k in order if urgency[k] > 0]
