"""Programs in which every residual sees every variable: every merge in gradients."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import derivative_covers as dc

from ._report import Row
from ._timing import interleaved, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "dense"


def least_squares(m: int, n: int) -> tuple[Any, Any]:
    """Half the squared residuals of a saturating model, and a point."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(m, n)) / np.sqrt(n)
    y = rng.normal(size=m)
    return lambda x: 0.5 * np.sum((np.tanh(A @ x) - y) ** 2), rng.normal(size=n)


def logistic(m: int, n: int) -> tuple[Any, Any]:
    """Negative log-likelihood of logistic regression, and a point."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(m, n)) / np.sqrt(n)
    s = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    return lambda x: np.sum(np.logaddexp(0.0, -s * (A @ x))), rng.normal(size=n)


def rows(*, quick: bool) -> Iterator[Row]:
    """Sum, hybrid, quadrature and the exact Hessian, over the gradient of one tape."""
    m, n = (100, 40) if quick else (500, 200)
    for what, (f, x) in (
        ("least squares", least_squares(m, n)),
        ("logistic regression", logistic(4 * m, n // 2)),
    ):
        tape, out = dc.tape_function(f, x)
        calls = {
            "gradient": lambda t=tape, o=out: dc.gradient(t, o),
            "sum": lambda t=tape, o=out: dc.cover_hessian(t, o),
            "hybrid, 8 groups": lambda t=tape, o=out: dc.cover_hybrid(t, o, ngroups=8),
            "quadrature": lambda t=tape, o=out: dc.cover_hessian(
                t, o, merge="quadrature"
            ),
            "Hessian": lambda t=tape, o=out: dc.hessian(t, o),
        }
        plain = lambda f=f, x=x: f(x)  # noqa: E731
        gradient, *others, value = interleaved([*calls.values(), plain])
        for name, call in zip(list(calls)[1:], others, strict=True):
            ratios = call.over(gradient)
            yield Row(
                ITEM,
                f"{name} / gradient, {what}",
                median(ratios),
                n=x.size,
                note=f"quartiles {spread(ratios)}",
            )
        yield Row(
            ITEM,
            f"gradient of a tape / plain function, {what}",
            median(gradient.over(value)),
            n=x.size,
        )
