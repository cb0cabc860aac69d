"""Branch and bound by subdivision: the loop, and the state that it goes through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DomainError
from ._judge import GRADIENT, UNBOUNDED, Verdicts
from ._worker import Task

__all__ = ["Boxes", "Search", "Spawn"]

Array = NDArray[Any]
Spawn = Callable[[list[Task]], Iterable[Any]]

BATCH = 256  # boxes that one call judges
ROUND = 16 * BATCH  # boxes that are judged before bounds are compared again
FEW = 64  # boxes that are judged in about the time of one
_SHIFT = 0.46  # minima like to lie at middles, where two boxes would have to share them
FAILURES = (
    500  # parts over which a function cannot be recorded, before that is an error
)


@dataclass
class Boxes:
    """Some boxes, one a row of every array.

    Attributes:
        lo: Lower ends.
        hi: Upper ends.
        bound: The function is nowhere below it in the box.
        kind: How that was found, over the box or one that contains it: an index of
            ``KINDS``. ``GRADIENT``: no minimiser lies there but on a face.
        variable: The component of the gradient that says so; -1 elsewhere.
        sign: Its sign; 0 elsewhere.
        part: The recording that holds over the box; -1: none is known yet.
    """

    lo: Array
    hi: Array
    bound: Array
    kind: Array
    variable: Array
    sign: Array
    part: Array

    @classmethod
    def none(cls, n: int) -> Boxes:
        """No box of ``n`` variables."""
        lo = np.zeros((0, n))
        i, d = np.zeros(0, dtype=np.int64), np.zeros(0)
        return cls(lo, lo, d, i, i, i, i)

    @classmethod
    def open(
        cls, lo: Array, hi: Array, bound: Array, kind: Array, part: Array
    ) -> Boxes:
        """Boxes that no gradient decides."""
        none = np.zeros(len(lo), dtype=np.int64)
        return cls(lo, hi, bound, kind, none - 1, none, part)

    def __len__(self) -> int:
        return len(self.bound)

    def __getitem__(self, rows: Any) -> Boxes:
        """Copies of some of them, chosen by a mask or by indices."""
        return Boxes(*(a[rows] for a in self.arrays()))

    def __add__(self, other: Boxes) -> Boxes:
        return Boxes.joined([self, other])

    @classmethod
    def joined(cls, several: list[Boxes]) -> Boxes:
        """All of some, of which there is one at least."""
        rows = zip(*(boxes.arrays() for boxes in several), strict=True)
        return cls(*(np.concatenate(arrays) for arrays in rows))

    def arrays(self) -> tuple[Array, ...]:
        """All of them, in the order of the attributes."""
        return tuple(self.__dict__.values())


@dataclass
class Search:
    """A search for the global minimum over a box, as far as it has come.

    Attributes:
        domain: The box, of shape ``(2, n)``.
        tol: The gap that is wanted.
        waiting: Boxes to be judged.
        leaves: Boxes that are done.
        stuck: Boxes that are neither done nor can be cut.
        parts: Boxes over which the function is recorded.
        point: The best point so far.
        upper: The value there does not exceed it.
        judged: How many boxes were looked at.
        failures: Over how many of them the function could not be recorded.
        polished: How many there were when a local method was last used.
    """

    domain: Array
    tol: float
    waiting: Boxes
    leaves: Boxes
    stuck: Boxes
    parts: list[Array]
    point: Array
    upper: float = np.inf
    judged: int = 0
    failures: int = 0
    polished: int = 0

    @classmethod
    def over(cls, domain: Array, tol: float) -> Search:
        """A search that begins."""
        n = domain.shape[1]
        whole = Boxes.open(
            domain[:1].copy(),
            domain[1:].copy(),
            np.array([-np.inf]),
            np.array([UNBOUNDED]),
            np.array([-1]),
        )
        point = np.clip(0.5 * domain[0] + 0.5 * domain[1], domain[0], domain[1])
        none = Boxes.none(n)
        return cls(domain, tol, whole, none, none, [], point)

    @property
    def target(self) -> float:
        """A bound of this size closes a box."""
        if np.isinf(self.upper):
            return self.upper
        # Rounded upward; but nothing has to lie above the best point.
        return min(float(np.nextafter(self.upper - self.tol, np.inf)), self.upper)

    @property
    def lower(self) -> float:
        """The function is nowhere below it."""
        decided = self.leaves.kind != GRADIENT
        bounds = (self.leaves.bound[decided], self.waiting.bound, self.stuck.bound)
        return float(min(np.min(b, initial=self.upper) for b in bounds))

    def close(self) -> None:
        """Move what is done from the waiting boxes to the leaves."""
        done = self.waiting.bound >= self.target
        if done.any():
            self.leaves = self.leaves + self.waiting[done]
            self.waiting = self.waiting[~done]

    def round(self, spawn: Spawn, room: int) -> None:
        """Judge some of the waiting boxes, those of least bound first.

        Args:
            spawn: Gives the answers to a list of tasks, in their order.
            room: At most so many boxes.
        """
        order = np.argsort(self.waiting.bound, kind="stable")
        chosen = np.sort(order[: min(room, ROUND)])
        batches = list(self._batches(self.waiting[chosen]))
        keep = np.ones(len(self.waiting), dtype=bool)
        keep[chosen] = False
        self.waiting = self.waiting[keep]
        target = self.target
        tasks = [
            Task(self._part(boxes), boxes.lo, boxes.hi, target) for boxes in batches
        ]
        answers = list(spawn(tasks))
        for answer in answers:
            if isinstance(answer, Verdicts):
                _check_defined(answer)
                self._improve(answer)
        done, waiting, stuck = [self.leaves], [self.waiting], [self.stuck]
        for boxes, answer in zip(batches, answers, strict=True):
            self.judged += len(boxes)
            if isinstance(answer, Verdicts):
                leaves, faces, boxes, score = self._merged(boxes, answer)
                done.append(leaves)
                waiting.append(faces)
            else:
                score = self._failed(boxes, answer)
            halves, whole = _cut(boxes, score)
            waiting.append(halves)
            stuck.append(whole)
        self.leaves, self.waiting, self.stuck = map(
            Boxes.joined, (done, waiting, stuck)
        )

    def _batches(self, boxes: Boxes) -> Iterator[Boxes]:
        """Boxes of one recording each; those without one go alone."""
        for part in np.unique(boxes.part).tolist():
            mine = boxes[boxes.part == part]
            size = BATCH if part >= 0 else 1
            for k in range(0, len(mine), size):
                yield mine[np.arange(k, min(k + size, len(mine)))]

    def _part(self, boxes: Boxes) -> Array:
        k = int(boxes.part[0])
        return self.parts[k] if k >= 0 else np.stack([boxes.lo[0], boxes.hi[0]])

    def _improve(self, found: Verdicts) -> None:
        k = int(np.argmin(found.upper))
        if found.upper[k] < self.upper:
            self.upper, self.point = float(found.upper[k]), found.points[k].copy()

    def _merged(
        self, boxes: Boxes, found: Verdicts
    ) -> tuple[Boxes, Boxes, Boxes, Array]:
        """Leaves, faces that wait, and boxes to be cut, with the score that says where."""
        if boxes.part[0] < 0:
            self.parts.append(np.stack([boxes.lo[0], boxes.hi[0]]))
            boxes.part = np.full(len(boxes), len(self.parts) - 1)
        better = found.bound > boxes.bound
        boxes.bound = np.where(better, found.bound, boxes.bound)
        boxes.kind = np.where(better, found.kind, boxes.kind)
        closed = boxes.bound >= self.target
        by_sign = (found.sign != 0) & ~closed
        leaves, faces = self._decided(
            boxes[by_sign], found.variable[by_sign], found.sign[by_sign]
        )
        rest = ~(closed | by_sign)
        return boxes[closed] + leaves, faces, boxes[rest], found.score[rest]

    def _decided(
        self, boxes: Boxes, variable: Array, sign: Array
    ) -> tuple[Boxes, Boxes]:
        """Boxes that a gradient decides, and their faces on the boundary of a recording.

        Inside of what was recorded a minimiser has no gradient. At its boundary, which is
        that of the domain or where the function may bend, it may have one that points
        there.
        """
        rows, up = np.arange(len(boxes)), sign > 0
        edge = np.where(up, boxes.lo[rows, variable], boxes.hi[rows, variable])
        parts = np.reshape(self.parts, (-1, *self.domain.shape))[boxes.part]
        there = edge == parts[rows, np.where(up, 0, 1), variable]
        faces, at = boxes[there], (np.arange(np.count_nonzero(there)), variable[there])
        faces.lo[at] = faces.hi[at] = edge[there]
        boxes.kind = np.full(len(boxes), GRADIENT)
        boxes.variable, boxes.sign = variable, sign
        return boxes, faces

    def _failed(self, boxes: Boxes, error: Exception) -> Array:
        """Where to cut boxes over which the function cannot be recorded or evaluated."""
        self.failures += len(boxes)
        if self.failures > FAILURES:
            error.add_note(
                f"over the part from {boxes.lo[0]} to {boxes.hi[0]}; {self.failures} "
                "parts of the box do not decide what the function does there"
            )
            raise error
        widths = self.domain[1] - self.domain[0]
        score: Array = (boxes.hi - boxes.lo) / np.where(widths > 0, widths, 1.0)
        return score


def _check_defined(found: Verdicts) -> None:
    if found.hole is not None:
        msg = (
            f"the function has no finite value at {found.hole}, or none that intervals "
            "find. Take a box inside of its domain."
        )
        raise DomainError(msg)


def _cut(boxes: Boxes, score: Array) -> tuple[Boxes, Boxes]:
    """Boxes cut across the variable of largest score, and those that no float divides.

    A few of one recording are cut more often, since a batch costs about as much as a box.
    """
    stuck = boxes[:0]
    while len(boxes):
        middle = (1 - _SHIFT) * boxes.lo + _SHIFT * boxes.hi
        fits = (boxes.lo < middle) & (middle < boxes.hi)
        whole = ~fits.any(axis=1)
        stuck = stuck + boxes[whole]
        boxes, middle = boxes[~whole], middle[~whole]
        score = np.where(fits, score, -1.0)[~whole]
        rows, across = np.arange(len(boxes)), np.argmax(score, axis=1)
        below, above = boxes[rows], boxes[rows]
        below.hi[rows, across] = above.lo[rows, across] = middle[rows, across]
        score[rows, across] *= 0.25
        boxes, score = below + above, np.concatenate([score, score])
        if 2 * len(boxes) > FEW or (boxes.part < 0).any():
            break
    return boxes, stuck
