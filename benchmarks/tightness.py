"""How far covers lie above the Hessian of Rosenbrock's function in ten variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import derivative_covers as dc

from . import _peers
from ._programs import point, rosenbrock, rosenbrock_hessian, rosenbrock_loop
from ._report import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ITEM = "tightness"
POINTS = 20


def excess(h: np.ndarray, hessian: np.ndarray) -> float:
    """The mean decimal logarithm of `h_i h_j / |H_ij|` over the nonzeros."""
    size = np.abs(hessian)
    kept = size > 1e-12 * size.max()
    return float(np.log10(np.outer(h, h)[kept] / size[kept]).mean())


def best(hessian: np.ndarray) -> float | None:
    """The least excess that any cover of `hessian` has: a linear program in log h."""
    optimize = _peers.module("scipy.optimize")
    if optimize is None:
        return None
    size = np.abs(hessian)
    i, j = np.nonzero(size > 1e-12 * size.max())
    pairs = np.eye(len(size))[i] + np.eye(len(size))[j]
    logs = np.log10(size[i, j])
    least = optimize.linprog(
        pairs.mean(axis=0), A_ub=-pairs, b_ub=-logs, bounds=(None, None)
    )
    return float(least.fun - logs.mean())


def _mean(f: Callable, cover: Callable) -> float:
    values = []
    for seed in range(POINTS):
        x = point(10, seed)
        tape, out = dc.tape_function(f, x)
        values.append(excess(cover(tape, out).h, rosenbrock_hessian(x)))
    return float(np.mean(values))


def rows(*, quick: bool) -> Iterator[Row]:
    """Mean excess over twenty points for every merge; `quick` changes nothing."""
    del quick
    covers: tuple[tuple[str, Callable, float | None], ...] = (
        (
            "quadrature",
            lambda t, out: dc.cover_hessian(t, out, merge="quadrature"),
            0.47,
        ),
        ("hybrid, 2 groups", lambda t, out: dc.cover_hybrid(t, out, ngroups=2), None),
        ("sum", dc.cover_hessian, 0.87),
    )
    for what, cover, target in covers:
        value = _mean(rosenbrock, cover)
        loop = _mean(rosenbrock_loop, cover)
        yield Row(
            ITEM,
            f"mean log10 excess, {what}",
            value,
            "",
            target=target,
            n=10,
            note=f"as a loop {loop:.4f}",
        )
    least = [best(rosenbrock_hessian(point(10, seed))) for seed in range(POINTS)]
    yield Row(
        ITEM,
        "mean log10 excess, best cover possible",
        None if None in least else float(np.mean(least)),
        "",
        n=10,
        note="scipy not installed" if None in least else "by linear programming",
    )
