"""Constant arrays of the NumPy namespace while recording, against NumPy's own."""

from __future__ import annotations

import timeit
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc
import derivative_covers.numpy as dnp

from ._report import Row
from ._timing import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "constants"
LIMIT = 3.0
CALLS = 300  # in a sample: short, so that some of them meet no other process
STATEMENTS = (
    "np.zeros(n)",
    "x[1] = 2.0",
    "x[1]",
    "x[1:]",
    "x * x2",
    "x + 1.0",
    "x.sum()",
    "np.sum(x)",
    "x @ x2",
)


def _names(namespace: Any, n: int) -> dict[str, Any]:
    x, x2 = namespace.linspace(0.0, 1.0, n), namespace.linspace(1.0, 2.0, n)
    return {"np": namespace, "n": n, "x": x, "x2": x2}


def _ratio(statement: str, n: int, rounds: int) -> tuple[float, list[float], float]:
    """Ratio of the least times, ratios of the rounds, and our least time."""
    plain = timeit.Timer(statement, globals=_names(np, n))
    ours = timeit.Timer(statement, globals=_names(dnp, n))
    pairs = [(ours.timeit(CALLS), plain.timeit(CALLS)) for _ in range(rounds)]
    a, b = (min(times) for times in zip(*pairs, strict=True))
    return a / b, [p / q for p, q in pairs], a / CALLS


def rows(*, quick: bool) -> Iterator[Row]:
    """Basic operations of constants, in times of NumPy's."""
    found: list[Row] = []

    def f(x: Any) -> Any:
        for n in (40,) if quick else (40, 1000):
            for statement in STATEMENTS:
                least, ratios, seconds = _ratio(statement, n, 100 if quick else 400)
                note = (
                    f"{seconds * 1e6:.3g} us, ratio of the least times {least:.3g}, "
                    f"quartiles {spread(ratios)}"
                )
                value = median(ratios)
                found.append(Row(ITEM, statement, value, target=LIMIT, n=n, note=note))
        return x[0]

    dc.tape_function(f, np.ones(2))
    yield from found
