"""Chains that note every call, ordinary ones and ones that fail in every way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from derivative_covers.checkpoint import (
    Chain,
    MemoryStorage,
    Transition,
    reverse_sweep,
)

__all__ = ["PAIR", "PROGRAMS", "STEPS", "VECTOR", "Program", "noted", "plainly"]

STEPS = 12
VECTOR = np.array([0.3, -0.7, 1.1, 0.2])
PAIR = (0.5, -0.25)


def rule_of(x: Any, ybar: Any) -> Any:
    """Some rule; none has to be right for the two to agree."""
    if isinstance(x, tuple):
        return tuple(b * np.cos(a) for a, b in zip(x, ybar, strict=True))
    return ybar * np.cos(x)


def step_of(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(np.sin(a) + 0.1 for a in x)
    return np.sin(x) + 0.1


class Program:
    """A chain whose functions note every call, and what a sweep over it comes to."""

    def __init__(
        self,
        x0: Any,
        step: Callable[[Any, int], Any] = lambda x, k: step_of(x),
        rule: Callable[[Any, Any, int], Any] = lambda x, ybar, k: rule_of(x, ybar),
        *,
        alone: bool = False,
        bare: bool = False,
        params: Any = None,
        part: Callable[[Any, int], Any] = lambda p, k: p * (k + 0.1),
    ) -> None:
        self.bare, self.params, self.part = bare, params, part
        self.x0, self.step, self.rule, self.alone = x0, step, rule, alone

    def forward(self, x: Any, k: int) -> Any:
        self.log.append(("step", k, noted(x)))
        return self.step(x, k)

    def back(self, x: Any, ybar: Any, k: int) -> Any:
        self.log.append(("rule", k, noted(x), noted(ybar)))
        return self.rule(x, ybar, k)

    def forward_at(self, x: Any, params: Any, k: int) -> Any:
        self.log.append(("params", noted(params)))
        return self.forward(x, k)

    def back_at(self, x: Any, params: Any, ybar: Any, k: int) -> Any:
        xbar, part = self.back(x, ybar, k), self.part(params, k)
        return xbar if part is None else (xbar, part)

    def end_at(self, x: Any, params: Any, k: int) -> Any:
        return end(x, k)

    def end_back_at(self, x: Any, params: Any, ybar: Any, k: int) -> Any:
        return back(x, ybar, k), params

    def outcome(self, schedule: Any, steps: int = STEPS, **options: Any) -> list[Any]:
        self.log: list[Any] = []
        functions = (self.step, self.rule) if self.bare else (self.forward, self.back)
        ends: Any = end, back
        if self.params is not None:
            functions = self.forward_at, self.back_at
            ends = self.end_at, self.end_back_at
        step, last = Transition.from_vjp(*functions), Transition.from_vjp(*ends)
        chain = Chain([Chain.uniform(steps - 1, step), step if self.alone else last])
        storage = options.pop("storage", MemoryStorage())
        options |= {} if self.params is None else {"params": self.params}
        try:
            found = reverse_sweep(
                chain, self.x0, schedule=schedule, storage=storage, **options
            )
        except Exception as error:
            notes = getattr(error, "__notes__", ())
            told = [getattr(error, name, None) for name in ("step", "phase", "values")]
            left = 0 if storage is None else len(storage)
            return [type(error), str(error), notes, repr(told), left, self.log]
        assert not storage
        assert sum(getattr(found.report.seconds, n) > 0 for n in PHASES) > 1
        report = replace(found.report, seconds=None)
        given = noted((found.cotangent, found.params_cotangent))
        return [noted(found.value), given, report, self.log]


PHASES = ("advance", "record", "reverse", "storage")


def plainly(x: Any) -> Any:
    """The value without a sweep."""
    x = tuple(map(np.float64, x)) if isinstance(x, tuple) else x
    for _ in range(STEPS - 1):
        x = step_of(x)
    return end(x, STEPS - 1)


def end(x: Any, k: int) -> Any:
    return sum(x) if isinstance(x, tuple) else np.sum(x)


def back(x: Any, ybar: Any, k: int) -> Any:
    return (ybar,) * len(x) if isinstance(x, tuple) else np.full(np.shape(x), ybar)


def noted(x: Any) -> Any:
    """Types, bits, and whether one could write there."""
    if isinstance(x, (tuple, list)):
        return (type(x), *map(noted, x))
    if isinstance(x, dict):
        return (type(x), *((key, noted(part)) for key, part in x.items()))
    writeable = isinstance(x, np.ndarray) and x.ndim > 0 and x.flags.writeable
    return type(x), np.shape(x), np.asarray(x).tobytes(), writeable


def at(step: int, change: Callable[[Any], Any]) -> Callable[[Any, int], Any]:
    return lambda x, k: change(x) if k == step else step_of(x)


def rule_at(step: int, change: Callable[[Any, Any], Any]) -> Any:
    return lambda x, ybar, k: change(x, ybar) if k == step else rule_of(x, ybar)


def written(x: Any) -> Any:
    x[0] = 1.0
    return x


def buffered() -> Program:
    """Steps and rules that fill memory of their own anew."""
    memory = np.empty((3, 4)), np.empty((2, 4))
    buffers = [row.copy() for row in memory[0]]
    others = [row.copy() for row in memory[1]]

    def step(x: Any, k: int) -> Any:
        return np.sin(x, out=buffers[k % 3])

    def rule(x: Any, ybar: Any, k: int) -> Any:
        return np.multiply(ybar, np.cos(x), out=others[k % 2])

    return Program(VECTOR, step, rule)


def one_buffer() -> Any:
    own = np.empty(4)
    return lambda x, k: np.sin(x, out=own)


def later(
    step: int, change: Callable[[Any], Any], times: int = 1
) -> Callable[[Any, int], Any]:
    """A step that does something else after it was run so many times."""
    seen: list[int] = []

    def run(x: Any, k: int) -> Any:
        seen.append(k)
        return change(x) if k == step and seen.count(k) > times else step_of(x)

    return run


def silently(x: Any) -> Any:
    return np.full(4, np.inf)


def flagging(x: Any, ybar: Any, k: int) -> Any:
    np.log(-np.ones(1))
    return rule_of(x, ybar)


def passing(step: int) -> Program:
    """An infinite state that does not last, after flags of the rules."""
    return Program(
        VECTOR,
        lambda x, k: silently(x) if k == step else np.cos(k + 0 * VECTOR),
        flagging,
    )


def grown(x: Any) -> Any:
    return np.append(x, 1.0)


def fails(*_: Any) -> Any:
    msg = "an error of the user's"
    raise TypeError(msg)


# Programs are made anew for every sweep: some keep memory.
PROGRAMS: dict[str, Callable[[], Program]] = {
    "vector": lambda: Program(VECTOR),
    "long vector": lambda: Program(np.linspace(0.0, 1.0, 40)),
    "matrix": lambda: Program(VECTOR.reshape(2, 2)),
    "number": lambda: Program(0.7),
    "pair": lambda: Program(PAIR),
    "a pair of vectors": lambda: Program((VECTOR, VECTOR + 1)),
    "single precision": lambda: Program(VECTOR.astype(np.float32)),
    "Python's floats": lambda: Program(
        PAIR,
        lambda x, k: tuple(map(float, step_of(x))),
        lambda x, ybar, k: list(map(float, rule_of(x, ybar))),
    ),
    "integers from a rule": lambda: Program(
        VECTOR, rule=lambda x, ybar, k: [1, 2, 3, 4]
    ),
    "views": lambda: Program(
        VECTOR,
        lambda x, k: np.append(x, x)[4:],
        lambda x, ybar, k: ybar[::-1],
    ),
    "nothing new": lambda: Program(VECTOR, lambda x, k: x, lambda x, ybar, k: ybar),
    "the state as cotangent": lambda: Program(VECTOR, rule=lambda x, ybar, k: x),
    "buffers": buffered,
    "one buffer": lambda: Program(VECTOR, one_buffer()),
    "sums that overflow": lambda: Program(np.full(4, 1e308), lambda x, k: x * 0.99),
    "another space on the way": lambda: Program(
        VECTOR, at(5, grown), rule_at(5, lambda x, ybar: ybar[:-1])
    ),
    "a smaller space": lambda: Program(
        VECTOR, at(5, lambda x: x[:3].copy()), rule_at(5, lambda x, ybar: grown(ybar))
    ),
    "parameters": lambda: Program(VECTOR, params=VECTOR),
    "a parameter": lambda: Program(PAIR, params=0.5),
    "parameters of many kinds": lambda: Program(
        VECTOR,
        params={"a": VECTOR, "b": 0.5},
        part=lambda p, k: {"b": k, "a": p["a"].astype(np.float32)},
    ),
    "rows for columns": lambda: Program(
        PAIR, params=np.ones((2, 3)), part=lambda p, k: (p * k).T.copy().T
    ),
    "infinite for parameters": lambda: Program(
        VECTOR, params=VECTOR, part=lambda p, k: p / (k - 4 or np.nan)
    ),
    "infinite for both": lambda: Program(
        VECTOR,
        rule=rule_at(4, lambda x, ybar: ybar * np.nan),
        params=VECTOR,
        part=lambda p, k: p / (k - 4 or np.nan),
    ),
    "parameters of another shape": lambda: Program(
        VECTOR, params=VECTOR, part=lambda p, k: p[k // 4 :]
    ),
    "nothing for parameters": lambda: Program(
        VECTOR, params=VECTOR, part=lambda p, k: p if k > 4 else None
    ),
    "one function": lambda: Program(
        VECTOR,
        at(STEPS - 1, np.sum),
        rule_at(STEPS - 1, lambda x, ybar: np.full(4, ybar)),
        alone=True,
    ),
    "an innocent flag": lambda: Program(
        VECTOR, at(6, lambda x: np.where(x > 0, np.log(x), 0.5))
    ),
    "a list": lambda: Program(
        [VECTOR, VECTOR],
        lambda x, k: [x[1], np.sin(x[0])],
        lambda x, ybar, k: [ybar[1], ybar[0]],
    ),
    # What fails.
    "not finite": lambda: Program(VECTOR, at(6, lambda x: x * np.inf)),
    "a silent NaN": lambda: Program(VECTOR, at(3, lambda x: np.array([np.nan] * 4))),
    "a number that is none": lambda: Program(PAIR, at(7, lambda x: (x[0], np.nan))),
    "a rule that is not finite": lambda: Program(
        VECTOR, rule=rule_at(4, lambda x, ybar: ybar * np.nan)
    ),
    "a wrong shape": lambda: Program(VECTOR, rule=rule_at(4, lambda x, ybar: grown(x))),
    "no floats": lambda: Program(VECTOR, at(5, lambda x: x > 0)),
    "writes": lambda: Program(VECTOR, at(5, written)),
    "writes to the cotangent": lambda: Program(
        VECTOR, rule=rule_at(5, lambda x, ybar: written(ybar))
    ),
    "writes to the copy": lambda: Program(
        VECTOR, rule=rule_at(5, lambda x, ybar: written(x))
    ),
    "raises": lambda: Program(VECTOR, at(5, fails)),
    "a rule that raises": lambda: Program(VECTOR, rule=rule_at(5, fails)),
    "not finite later": lambda: Program(VECTOR, later(6, silently)),
    "another shape later": lambda: Program(VECTOR, later(6, grown)),
    "another shape much later": lambda: Program(VECTOR, later(6, grown, 2)),
    **{f"infinite at {k}": partial(passing, k) for k in range(1, STEPS - 1)},
    "a rule with too few arguments": lambda: Program(
        VECTOR, rule=lambda x, ybar: x, bare=True
    ),
    "too few arguments": lambda: Program(VECTOR, lambda x: x, bare=True),
}
