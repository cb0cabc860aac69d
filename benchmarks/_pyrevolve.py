"""Sweeps of cheap steps by pyrevolve, beside those of this package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from derivative_covers.checkpoint import Chain, Revolve, Transition, reverse_sweep

from ._peers import module
from ._report import Row
from ._timing import compared, interleaved

X = np.linspace(0.1, 0.9, 4)


class _State:
    """The live data, under the names that pyrevolve asks for."""

    dtype, size, nbytes = np.float64, X.size, X.nbytes

    def __init__(self) -> None:
        self.x = X.copy()
        self.bar = np.ones(X.size)

    def get_data(self, timestep: int) -> list[np.ndarray]:
        return [self.x]

    def get_data_location(self, timestep: int) -> list[np.ndarray]:
        return [self.x]


class _Forward:
    def __init__(self, state: _State) -> None:
        self.state, self.steps = state, 0

    def apply(self, t_start: int, t_end: int) -> None:
        """Each step gives a new array, as ours do."""
        for _ in range(t_start, t_end):
            self.state.x[:] = self.state.x + 1e-6
        self.steps += t_end - t_start


class _Reverse:
    def __init__(self, state: _State) -> None:
        self.state = state

    def apply(self, t_start: int, t_end: int) -> None:
        self.state.bar = self.state.bar * 1.0


def _theirs(package: Any, slots: int, steps: int) -> int:
    """A whole sweep; gives the number of evaluations."""
    state = _State()
    forward = _Forward(state)
    revolver = package.MemoryRevolver(state, forward, _Reverse(state), slots, steps)
    revolver.apply_forward()
    revolver.apply_reverse()
    return forward.steps


def _ours(slots: int, steps: int) -> Any:
    step = Transition.from_vjp(lambda x, k: x + 1e-6, lambda x, bar, k: bar * 1.0)
    last = Transition.from_vjp(
        lambda x, k: x[0], lambda x, bar, k: np.append(bar, np.zeros(x.size - 1))
    )
    chain = Chain([Chain.uniform(steps - 1, step), last])
    return reverse_sweep(chain, X, schedule=Revolve(slots=slots))


def rows(item: str, steps: int, rounds: int) -> Iterator[Row]:
    """Whole sweeps with Python callbacks, and how often each evaluates a step."""
    package = module("pyrevolve")
    for slots in (10, 100):
        what = f"sweep of cheap steps, over pyrevolve's, {slots} slots"
        if package is None:
            note = "pyrevolve is not installed"
            yield Row(item, what, None, n=steps, note=note)
            continue
        calls = [
            lambda s=slots: _ours(s, steps),
            lambda s=slots: _theirs(package, s, steps),
        ]
        ours, theirs = interleaved(calls, rounds)
        yield compared(item, what, ours, theirs, n=steps)
        done = calls[0]().report.executed
        what = f"evaluations, over pyrevolve, {slots} slots"
        count = calls[1]()
        ratio = (done.unrecorded + done.recorded) / count
        yield Row(item, what, ratio, target=1.0, n=steps, note=f"{count} of its own")
