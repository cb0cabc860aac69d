"""The sum-merge cover sweep against the gradient sweep of the same tape."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import derivative_covers as dc

from ._programs import (
    mixture,
    point,
    products,
    quotients,
    rosenbrock,
    rosenbrock_loop,
)
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "sweeps"


def _calls(f: Callable[[Any], Any], n: int) -> tuple[int, list[Callable[[], Any]]]:
    tape, out = dc.tape_function(f, point(n))
    return dc.nnodes(tape), [
        lambda: dc.gradient(tape, out),
        lambda: dc.cover_hessian(tape, out),
    ]


def rows(*, quick: bool) -> Iterator[Row]:
    """Cover sweeps in gradient sweeps, and how that ratio grows."""
    shrink = 10 if quick else 1
    for what, f, n, target in (
        ("rosenbrock on arrays", rosenbrock, 125_000, 4),
        ("rosenbrock as a loop", rosenbrock_loop, 125_000, 4),
        ("products on arrays", products, 125_000, None),
        ("quotients on arrays", quotients, 200_000, None),
        ("exp, sin, log1p, tanh on arrays", mixture, 100_000, None),
    ):
        nodes, calls = _calls(f, n // shrink)
        gradient, cover = interleaved(calls)
        ratios = cover.over(gradient)
        note = (
            f"gradient {gradient.median / nodes * 1e9:.2f} ns a node, "
            f"quartiles {spread(ratios)}"
        )
        yield Row(
            ITEM,
            f"cover / gradient, {what}",
            median(ratios),
            target=target,
            n=nodes,
            note=note,
        )

    for what, f, large in (
        ("arrays", rosenbrock, 1_000_000),
        ("loop", rosenbrock_loop, 250_000),
    ):
        calls = [c for n in (10_000, large // shrink) for c in _calls(f, n)[1]]
        g_small, c_small, g_large, c_large = interleaved(calls)
        small = median(c_small.over(g_small))
        big = median(c_large.over(g_large))
        yield Row(
            ITEM,
            f"cover / gradient, n = 1e4 v. n, {what}",
            max(small, big) / min(small, big),
            target=1.5,
            n=large // shrink,
            note=f"ratios {small:.3g} and {big:.3g}",
        )
