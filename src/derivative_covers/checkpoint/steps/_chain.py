"""A sequence of transitions, in which equal neighbours are one entry."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from operator import index
from typing import Any

from ...errors import InputTypeError, OptionError
from ._transition import Transition

__all__ = ["Chain", "Run"]

Run = tuple[Transition, int, int]


class Chain:
    """The steps of a sweep, in order: step ``k`` takes state ``k`` to state ``k + 1``.

    Args:
        steps: Transitions, functions (each is ``Transition.taped(f)``) and chains, whose
            steps come in their place. Callbacks get the index of the step in the whole
            chain.

    Attributes:
        runs: ``(transition, first, stop)`` for every run of one and the same transition.

    Raises:
        InputTypeError: (a TypeError) if an entry is none of these.

    Cost:
        Memory of one entry a run.

    Example:
        >>> import numpy as np
        >>> from derivative_covers.checkpoint import Chain
        >>> def step(x, k):
        ...     return x + 0.1 * np.sin(x)
        >>> def total(x, k):
        ...     return np.sum(x)
        >>> chain = Chain([Chain.uniform(1000, step), total])
        >>> len(chain), chain[1000]
        (1001, Transition.taped(total))
        >>> chain
        <Chain of 1001 steps: 1000 x Transition.taped(step), Transition.taped(total)>
    """

    __slots__ = ("_firsts", "runs")

    runs: tuple[Run, ...]

    def __init__(
        self, steps: Iterable[Transition | Chain | Callable[..., Any]]
    ) -> None:
        if isinstance(steps, (str, Transition)) or not hasattr(steps, "__iter__"):
            msg = (
                f"a chain is made of a list of steps; got {type(steps).__name__}. "
                "Chain.uniform(T, step) repeats one step."
            )
            raise InputTypeError(msg)
        made: dict[
            int, tuple[Any, Transition]
        ] = {}  # keeps functions alive: ids are theirs
        self._keep(piece for k, e in enumerate(steps) for piece in _pieces(e, k, made))

    @classmethod
    def uniform(cls, steps: int, step: Transition | Callable[..., Any]) -> Chain:
        """A chain of ``steps`` times the same step, in the memory of one.

        Raises:
            OptionError: (a ValueError) if ``steps`` is no integer of at least 0.
            InputTypeError: (a TypeError) if ``step`` is no transition and no function.

        Example:
            >>> from derivative_covers.checkpoint import Chain
            >>> len(Chain.uniform(10**9, lambda x, k: x / 2))
            1000000000
        """
        try:
            count = -1 if isinstance(steps, bool) else index(steps)
        except TypeError:
            count = -1
        if count < 0:
            msg = f"steps is {steps!r}; it must be an integer of at least 0."
            raise OptionError(msg)
        given: Any = step
        if isinstance(given, Chain):
            msg = "uniform repeats one step; repeat a chain with Chain([chain] * n)."
            raise InputTypeError(msg)
        chain = cls.__new__(cls)
        chain._keep([(_pieces(given, 0, {})[0][0], count)])
        return chain

    def _keep(self, pieces: Iterable[tuple[Transition, int]]) -> None:
        runs: list[Run] = []
        stop = 0
        for transition, count in pieces:
            if count and runs and runs[-1][0] is transition:
                runs[-1] = (transition, runs[-1][1], stop + count)
            elif count:
                runs.append((transition, stop, stop + count))
            stop += count
        self.runs = tuple(runs)
        self._firsts = [first for _, first, _ in runs]

    def __len__(self) -> int:
        return self.runs[-1][2] if self.runs else 0

    def __getitem__(self, k: int) -> Transition:
        n = len(self)
        at = index(k)
        if not -n <= at < n:
            msg = f"step {k} of a chain of {n} steps"
            raise IndexError(msg)
        return self.runs[bisect_right(self._firsts, at % n) - 1][0]

    def __iter__(self) -> Iterator[Transition]:
        for transition, first, stop in self.runs:
            yield from repeat(transition, stop - first)

    def between(self, start: int, stop: int) -> Iterator[Run]:
        """The runs of steps ``start .. stop-1``, cut at both ends."""
        at = bisect_right(self._firsts, start) - 1
        while start < stop:
            transition, _, end = self.runs[at]
            end = min(end, stop)
            yield transition, start, end
            start = end
            at += 1

    def run_of(self, k: int) -> Run:
        """The run that step ``k``, counted from 0, belongs to."""
        return self.runs[bisect_right(self._firsts, k) - 1]

    def __repr__(self) -> str:
        n = len(self)
        shown = [
            repr(step) if stop == first + 1 else f"{stop - first} x {step!r}"
            for step, first, stop in self.runs[:4]
        ]
        if len(self.runs) > 4:
            shown.append(f"... ({len(self.runs)} runs)")
        what = f": {', '.join(shown)}" if shown else ""
        return f"<Chain of {n} step{'' if n == 1 else 's'}{what}>"


def _pieces(
    entry: Any, k: int, made: dict[int, tuple[Any, Transition]]
) -> list[tuple[Transition, int]]:
    """Transitions and counts that an entry of a chain stands for."""
    if isinstance(entry, Transition):
        return [(entry, 1)]
    if isinstance(entry, Chain):
        return [(transition, stop - first) for transition, first, stop in entry.runs]
    if not callable(entry) or isinstance(entry, type):
        msg = (
            f"step {k} of the chain is {entry!r:.60} of type {type(entry).__name__}; a "
            "Transition, a function or a Chain is needed."
        )
        raise InputTypeError(msg)
    found = made.get(id(entry))
    if found is None:
        found = made[id(entry)] = (entry, Transition.taped(entry))
    return [(found[1], 1)]
