"""Covers of Jacobians and of least squares, in sweeps of the same tape."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc

from ._programs import point
from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "jacobian"


def decay(m: int) -> tuple[Callable[[Any], Any], Any]:
    """Residuals of a model with four parameters, on arrays."""
    t = np.linspace(0.0, 5.0, m)
    observed = 3.0 * np.exp(-0.7 * t)
    start = np.array([1.0, 0.3, 0.2, 2.0])
    return (
        lambda x: x[0] * np.exp(-x[1] * t) + x[2] * np.sin(x[3] * t) - observed,
        start,
    )


def decay_loop(m: int) -> tuple[Callable[[Any], Any], Any]:
    """The same model, one residual after another."""
    times = np.linspace(0.0, 5.0, m).tolist()

    def residuals(x: Any) -> list[Any]:
        return [x[0] * np.exp(-x[1] * t) + x[2] * np.sin(x[3] * t) for t in times]

    return residuals, np.array([1.0, 0.3, 0.2, 2.0])


def rosenbrock_residuals(m: int) -> tuple[Callable[[Any], Any], Any]:
    """The residuals of Rosenbrock's function: fewer than three nodes each."""
    return (
        lambda x: np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]]),
        point(m // 2 + 1),
    )


def rows(*, quick: bool) -> Iterator[Row]:
    """One group, beside a reverse sweep seeded at every residual."""
    m = 10_000 if quick else 100_000
    for what, (F, x) in (
        ("four parameters, arrays", decay(m)),
        ("four parameters, loop", decay_loop(m)),
        ("Rosenbrock's residuals, arrays", rosenbrock_residuals(m)),
    ):
        tape, outs = dc.tape_function(F, x)
        outs = np.asarray(outs)
        calls = (
            lambda t=tape, o=outs: dc.abs_reverse(t, o, 1.0),
            lambda t=tape, o=outs: dc.cover_nls(t, o),
            lambda t=tape, o=outs: dc.cover_jacobian(t, o),
            lambda t=tape, o=outs: dc.cover_nls(t, o, ngroups=None),
        )
        sweep, nls, jacobian, quadrature = interleaved(calls)
        for name, call, target in (
            ("cover_nls, one group", nls, 6),
            ("cover_jacobian, one group", jacobian, 4),
            ("cover_nls, ngroups=None", quadrature, None),
        ):
            ratios = call.over(sweep)
            yield Row(
                ITEM,
                f"{name} / reverse sweep, {what}",
                median(ratios),
                target=target,
                n=outs.size,
                note=f"{tape.nnodes} nodes, quartiles {spread(ratios)}",
            )
