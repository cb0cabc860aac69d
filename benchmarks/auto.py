"""What ``merge="auto"`` chooses, what that costs in gradients, and how tight it is."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc

from ._programs import point, rosenbrock, rosenbrock_loop
from ._report import Row
from ._timing import interleaved, spread
from .dense import least_squares

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "auto"
BUDGETS = (5, 20, 100, 500)


def arrowhead(x: Any) -> Any:
    """Every variable meets the first one."""
    return np.sum(x[1:] ** 2 * np.exp(x[0]) + np.cos(x[1:])) + x[0] ** 4


def small(x: Any) -> Any:
    """Ten variables that all meet."""
    return np.exp(x[0] * x[1]) + np.sum(x**3) * np.sin(x[2] * x[9])


def rows(*, quick: bool) -> Iterator[Row]:
    """Each program at several budgets; a value is the measured cost."""
    n, m = (1000, 100) if quick else (10_000, 500)
    for what, f, x in (
        ("Rosenbrock, arrays", rosenbrock, point(n)),
        ("Rosenbrock, loop", rosenbrock_loop, point(n)),
        (f"dense least squares, {m} x {2 * m // 5}", *least_squares(m, 2 * m // 5)),
        ("small and dense", small, 0.3 * point(10)),
        ("arrowhead", arrowhead, point(n)),
    ):
        tape, out = dc.tape_function(f, x)
        exact = dc.hessian(tape, out, sparse=True).tocoo()
        on = np.abs(exact.data) > 1e-12 * np.abs(exact.data).max()
        i, j, size = exact.row[on], exact.col[on], np.abs(exact.data[on])
        calls = [lambda t=tape, o=out: dc.gradient(t, o)] + [
            lambda t=tape, o=out, b=b: dc.cover_hessian(t, o, merge="auto", budget=b)
            for b in BUDGETS
        ]
        gradient, *others = interleaved(calls, 11)
        for budget, call, samples in zip(BUDGETS, calls[1:], others, strict=True):
            cover = call()
            predicted = f"predicted {cover.cost:.3g}, "
            ratios = samples.over(gradient)
            excess = np.mean(np.log10(cover.h[i] * cover.h[j] / size))
            yield Row(
                ITEM,
                f"budget {budget}, {what}: {cover.merge}",
                median(ratios),
                target=None if cover.merge == "sum" else 2 * budget,
                n=x.size,
                note=f"{predicted}h h' / |H| is {10**excess:.2f} typically, "
                f"quartiles {spread(ratios)}",
            )
